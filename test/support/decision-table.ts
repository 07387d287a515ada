/*
 * What must be done with a pending object, as the table in docs/promises.md has it: one line a row, the first that applies
 * wins. Written over the names of decision-axes.ts and read from that table, not from the code; decide.test.ts compares.
 * Row 11 is the mark that the rows after it carry.
 */
import type { Decision } from '../../bridge/decide.ts';
import {
  ATTEMPT,
  BUDGET_AT,
  type Case,
  DUE,
  GRACE_ENDS,
  isUnknown,
  RETRIES,
  RUNS_END,
  TERM_ENDS,
  WAIT_UNTIL,
} from './decision-axes.ts';

/** A decision in one word or two, with what a caller needs of it. */
export type Outcome = string;

interface Row {
  readonly row: string;
  readonly when: (of: Case) => boolean;
  readonly so: (of: Case) => Outcome;
}

const isCleared = ({ live }: Case) => live.startsWith('cleared');
const hasRule = ({ live }: Case) => live !== 'no rule' && live !== 'never accepted';
const isRunning = ({ runs }: Case) => runs.endsWith('running');
const isWeak = ({ runs }: Case) => runs.startsWith('weak');
const isRetry = ({ retry }: Case) => retry === 'asked';
const wasLiveAsked = ({ history, gone }: Case) =>
  ['live asked', 'both asked', 'other met', 'unknown, live asked'].includes(history) || gone === 'absent after a start';
const wasOtherAsked = ({ history }: Case) => history === 'other asked' || history === 'both asked';
const wasOtherMet = (of: Case) => wasOtherAsked(of) || of.history === 'other met';
const isOverdue = ({ sending }: Case) => sending.endsWith('overdue');

/** Same uid, same rule; in time, or under weak ownership as long as a copy may run: it came in time. */
const isGoneTrue = (of: Case) =>
  ['deleted', 'absent', 'absent, to be looked at', 'absent after a start'].includes(of.gone) ||
  (of.gone === 'late' && isWeak(of) && isRunning(of));
/** Of the live target; or of the cleared one, when no other was met. */
const isGoneOfLive = (of: Case) =>
  isGoneTrue(of) && (of.live === 'found' || of.live === 'policy invalid' || (isCleared(of) && !wasOtherMet(of)));
const needsAWord = ({ gone }: Case) => gone === 'absent, to be looked at';
const isOtherOpen = (of: Case) => isUnknown(of) || (wasOtherAsked(of) && of.goneOther === 'no');
const isValid = (of: Case) => isGoneOfLive(of) && !needsAWord(of) && !isOtherOpen(of);

const held = (reason: string) => () => `hold ${reason}`;
const waits = (reason: string, until?: number) => () => `wait ${reason} until ${until}`;
const mark = (of: Case) => (isOverdue(of) ? ', overdue' : '');

/** The table. */
export const TABLE: readonly Row[] = [
  { row: '1', when: (of) => isValid(of) && !(isWeak(of) && isRunning(of)), so: () => 'remove Gone' },
  { row: '2 now', when: ({ release }) => release === 'now', so: () => 'remove Released' },
  {
    row: '2 wait',
    when: (of) => of.release === 'wait' && isRunning(of),
    so: waits('ReleaseWaiting', RUNS_END),
  },
  { row: '2', when: ({ release }) => release === 'wait', so: () => 'remove Released' },
  { row: '1 weak', when: isValid, so: waits('WaitingForCopies', RUNS_END) },
  { row: '3', when: ({ live }) => live === 'no rule', so: held('NoRule') },
  { row: '7 never', when: (of) => !hasRule(of), so: held('RuleNotAccepted') },
  {
    row: '4 changed',
    when: (of) =>
      ['found', 'policy invalid'].includes(of.live) &&
      !isRetry(of) &&
      (wasLiveAsked(of)
        ? isGoneOfLive(of) && isOtherOpen(of)
        : wasOtherAsked(of) || of.goneOther === 'yes' || isUnknown(of)),
    so: held('TargetChanged'),
  },
  { row: '5', when: (of) => isGoneOfLive(of) && needsAWord(of) && !isRetry(of), so: held('FoundNothing') },
  { row: '6 wait', when: (of) => isRetained(of) && isRunning(of), so: waits('RetainWaiting', RUNS_END) },
  { row: '6', when: isRetained, so: () => 'remove Retained' },
  { row: '7 rule', when: ({ notYet }) => notYet === 'not accepted', so: held('RuleNotAccepted') },
  { row: '7 policy', when: ({ live }) => live === 'policy invalid', so: held('PolicyInvalid') },
  { row: '7 invalid', when: ({ live }) => live === 'invalid', so: held('TargetInvalid') },
  {
    row: '7 release',
    when: ({ live, history, gone, sending }) =>
      live === 'cleared, never had one' &&
      history === 'nothing' &&
      gone !== 'absent after a start' &&
      (sending === 'never' || sending === 'never, overdue'),
    so: () => 'remove TargetMissing',
  },
  { row: '7 missing', when: isCleared, so: held('TargetMissing') },
  {
    row: '8',
    when: (of) => of.sending === 'refused' && !isRetry(of),
    so: () => `hold NotOwned until ${DUE}`,
  },
  { row: '9 paused', when: ({ notYet }) => notYet === 'paused', so: waits('Paused') },
  { row: '9 grace', when: ({ notYet }) => notYet === 'grace', so: waits('GracePeriod', GRACE_ENDS) },
  { row: '9 waits', when: ({ notYet }) => notYet === 'waiting', so: waits('WaitingForFinalizers', WAIT_UNTIL) },
  { row: '9 late', when: ({ notYet }) => notYet === 'waited out', so: held('WaitForTimedOut') },
  {
    row: '10',
    when: ({ notYet }) => notYet === 'over budget',
    so: () => `hold BudgetExceeded until ${BUDGET_AT}`,
  },
  {
    row: '12',
    when: (of) =>
      isRetry(of) ||
      ['never', 'never, overdue', 'unconfirmed', 'an earlier term', 'refused and due'].includes(of.sending),
    so: (of) => `publish ${ATTEMPT}/${RETRIES + (isRetry(of) ? 1 : 0)}`,
  },
  { row: '13', when: () => true, so: (of) => `wait Requested until ${TERM_ENDS}${mark(of)}` },
];

function isRetained({ live, policy }: Case): boolean {
  return policy === 'Retain' && live !== 'policy invalid';
}

/** A decision in the table's words. */
export function said(decision: Decision): Outcome {
  switch (decision.act) {
    case 'remove':
      return `remove ${decision.reason}`;
    case 'publish':
      return `publish ${decision.attempt}/${decision.retry}`;
    case 'hold':
      return `hold ${decision.reason}${decision.wakeAt === undefined ? '' : ` until ${decision.wakeAt}`}`;
    case 'wait':
      return `wait ${decision.reason} until ${decision.wakeAt}${decision.overdue ? ', overdue' : ''}`;
    default:
      return decision satisfies never;
  }
}
