/*
 * The axes of the decision table: named values, each with the part of an observation that it stands for.
 * test/bridge/decide.test.ts crosses them; decision-table.ts says what must come out by the names alone.
 */
import { TERM_DEFAULT_MS } from '../../bridge/contract.ts';
import type { Gone, LiveTarget, Observation, Refusal, RuleView, Seen, Sent } from '../../bridge/observation.ts';
import { START } from './manual-clock.ts';

/** Digests: the live target and another one, the rule as it is and another one. */
export const LIVE = 'a'.repeat(64);
export const OTHER = 'b'.repeat(64);
export const RULED = 'c'.repeat(64);
export const RULED_OTHERWISE = 'd'.repeat(64);
export const UID = 'uid-1';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Half way through the fourth term of a deletion. */
export const BEGAN = START;
export const ATTEMPT = 3;
/** How many retries were handled before. */
export const RETRIES = 2;
export const NOW = BEGAN + ATTEMPT * TERM_DEFAULT_MS + HOUR / 2;
export const TERM_ENDS = NOW + HOUR / 2;
export const RUNS_END = NOW + 90 * MINUTE;
export const DUE = NOW + 5 * HOUR;
export const WAIT_UNTIL = NOW + 10 * MINUTE;
export const BUDGET_AT = NOW + 40 * MINUTE;
export const GRACE_ENDS = NOW + 20_000;
/** When a request of this term expires. */
export const EXPIRES = BEGAN + (ATTEMPT + 2) * TERM_DEFAULT_MS;

/** The values of every axis. */
export const AXES = {
  live: [
    ...['found', 'cleared', 'cleared, never had one', 'cleared, unsure', 'invalid', 'policy invalid'],
    ...['no rule', 'never accepted'],
  ],
  policy: ['Delete', 'Retain'],
  release: ['none', 'wait', 'now'],
  gone: [
    ...['none', 'deleted', 'absent', 'absent, to be looked at', 'absent after a start'],
    ...['of another rule', 'of another object', 'late'],
  ],
  goneOther: ['no', 'yes'],
  history: ['nothing', 'live asked', 'other asked', 'both asked', 'other met', 'unknown', 'unknown, live asked'],
  runs: ['none', 'over', 'running', 'weak, over', 'weak, running'],
  notYet: ['no', 'not accepted', 'paused', 'grace', 'waiting', 'waited out', 'over budget'],
  retry: ['no', 'asked'],
  sending: [
    ...['never', 'never, overdue', 'this term', 'this term, overdue', 'unconfirmed', 'an earlier term'],
    ...['refused', 'refused and due', 'refused, due and sent again', 'another was refused'],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** One combination of values. */
export type Case = { readonly [axis in keyof typeof AXES]: (typeof AXES)[axis][number] };

const gone: Gone = { uid: UID, target: LIVE, rule: RULED, expires: EXPIRES, evidence: 'deleted' };
const gones: Readonly<Record<Case['gone'], readonly Gone[]>> = {
  none: [],
  deleted: [gone],
  absent: [{ ...gone, evidence: 'absent' }],
  'absent, to be looked at': [{ ...gone, evidence: 'absent' }],
  'absent after a start': [{ ...gone, evidence: 'absent' }],
  'of another rule': [{ ...gone, rule: RULED_OTHERWISE }],
  'of another object': [{ ...gone, uid: 'uid-2' }],
  late: [{ ...gone, expires: NOW - MINUTE - 1 }],
};
const goneOther: Gone = { ...gone, target: OTHER };

const met = (target: string, requested: boolean): Seen => ({ target, rule: RULED, requested, started: false });
const history: Readonly<Record<Case['history'], readonly Seen[]>> = {
  nothing: [],
  'live asked': [met(LIVE, true)],
  'other asked': [met(OTHER, true), met(LIVE, false)],
  'both asked': [met(OTHER, true), met(LIVE, true)],
  'other met': [met(LIVE, true), met(OTHER, false)],
  unknown: [met(LIVE, false)],
  'unknown, live asked': [met(LIVE, true)],
};

const targets: Readonly<Record<Case['live'], LiveTarget>> = {
  found: { kind: 'found', digest: LIVE },
  cleared: { kind: 'missing', detail: 'no such key: bucketName' },
  'cleared, never had one': { kind: 'missing', detail: 'no such key: bucketName' },
  'cleared, unsure': { kind: 'missing', detail: 'no such key: bucketName' },
  invalid: { kind: 'invalid', reason: 'TargetInvalid', detail: 'target bucket: empty' },
  'policy invalid': { kind: 'found', digest: LIVE },
  'no rule': { kind: 'found', digest: LIVE },
  'never accepted': { kind: 'found', digest: LIVE },
};

const runsEnd: Readonly<Record<Case['runs'], number | undefined>> = {
  none: undefined,
  over: NOW - HOUR,
  running: RUNS_END,
  'weak, over': NOW - HOUR,
  'weak, running': RUNS_END,
};

const sent: Sent = {
  ...{ target: LIVE, rule: RULED, attempt: ATTEMPT, retry: RETRIES },
  ...{ confirmed: true, at: NOW - 10 * MINUTE },
};
const refusal: Refusal = {
  ...{ target: LIVE, rule: RULED, attempt: ATTEMPT, retry: RETRIES },
  ...{ reason: 'NotOwned', message: 'the owner tag is another one', dueAt: DUE },
};
type Sending = Pick<Observation, 'sent' | 'refusal' | 'firstPublished'>;
const fresh: Sending = { sent: [], refusal: undefined, firstPublished: undefined };
const published: Sending = { ...fresh, sent: [sent], firstPublished: BEGAN };
const LONG_AGO = NOW - 25 * HOUR;
const sendings: Readonly<Record<Case['sending'], Sending>> = {
  never: fresh,
  'never, overdue': { ...fresh, firstPublished: LONG_AGO },
  'this term': published,
  'this term, overdue': { ...published, firstPublished: LONG_AGO },
  unconfirmed: { ...published, sent: [{ ...sent, confirmed: false }] },
  'an earlier term': { ...published, sent: [{ ...sent, attempt: ATTEMPT - 1 }] },
  refused: { ...published, refusal },
  'refused and due': { ...published, refusal: { ...refusal, dueAt: NOW } },
  'refused, due and sent again': { ...published, refusal: { ...refusal, dueAt: sent.at } },
  'another was refused': { ...published, refusal: { ...refusal, rule: RULED_OTHERWISE } },
};

/** A rule's view of an object whose target is found. */
export const ruleView: RuleView = {
  ...{ digest: RULED, target: targets.found, policy: 'Delete', policyDetail: '', binding: 'uid' },
  ...{ terms: { began: BEGAN, term: TERM_DEFAULT_MS }, paused: false, deadline: 24 * HOUR, waitFor: undefined },
  notAccepted: undefined,
  ...{ whenTargetMissing: 'Hold', whenAbsent: 'Release' },
};

/** A pending object of which nothing is known yet. */
export const observation: Observation = {
  ...{ uid: UID, rule: ruleView, release: 'none', retryAsked: false, retries: RETRIES, graceEnds: BEGAN },
  ...{ neverAccepted: undefined, heldBack: undefined },
  ...{ ...fresh, seen: [], gones: [], knowsAllSent: true, unknownTarget: false, runsEnd: undefined },
};

const waitFor = (until: number) => ({ finalizers: ['kubernetes.io/pvc-protection'], until });

/** Whether a request for a target that nobody knows may have been sent. */
export function isUnknown({ history: known }: Pick<Case, 'history'>): boolean {
  return known.startsWith('unknown');
}

/** Whether memory can hold this: what came back was asked for, and is remembered. */
export function canBe({ live, policy, gone: of, goneOther: ofOther, history: known }: Case): boolean {
  if (live === 'policy invalid' && policy === 'Retain') return false;
  if (ofOther === 'yes' && known !== 'other asked' && known !== 'both asked') return false;
  const isOurs = of !== 'none' && of !== 'of another object' && of !== 'absent after a start';
  return !(isOurs && known === 'nothing' && live.startsWith('cleared'));
}

function viewOf({ live, policy, gone, runs, notYet }: Case): RuleView | undefined {
  if (live === 'no rule' || live === 'never accepted') return undefined;
  return {
    ...ruleView,
    target: targets[live],
    policy: live === 'policy invalid' ? 'Invalid' : policy,
    policyDetail: 'policy: neither',
    binding: runs.startsWith('weak') ? 'name' : 'uid',
    paused: notYet === 'paused',
    notAccepted: notYet === 'not accepted' ? 'its handler is not known' : undefined,
    waitFor: notYet === 'waiting' ? waitFor(WAIT_UNTIL) : notYet === 'waited out' ? waitFor(NOW) : undefined,
    whenTargetMissing: live === 'cleared, never had one' || live === 'cleared, unsure' ? 'Release' : 'Hold',
    whenAbsent: gone === 'absent, to be looked at' || gone === 'absent after a start' ? 'Hold' : 'Release',
  };
}

/** The observation that a combination stands for. */
export function observationOf(of: Case): Observation {
  const started: Seen = { ...met(LIVE, true), started: true };
  const known = history[of.history];
  const begun =
    of.gone === 'absent after a start' ? [started, ...known.filter(({ target }) => target !== LIVE)] : known;
  return {
    ...{ uid: UID, rule: viewOf(of), release: of.release, retryAsked: of.retry === 'asked', retries: RETRIES },
    neverAccepted: of.live === 'never accepted' ? 'it does not read' : undefined,
    heldBack: of.notYet === 'over budget' ? { until: BUDGET_AT } : of.notYet === 'no' ? { until: NOW } : undefined,
    graceEnds: of.notYet === 'grace' ? GRACE_ENDS : BEGAN,
    ...sendings[of.sending],
    seen: begun,
    gones: of.goneOther === 'yes' ? [goneOther, ...gones[of.gone]] : gones[of.gone],
    knowsAllSent: of.live !== 'cleared, unsure',
    unknownTarget: isUnknown(of),
    runsEnd: runsEnd[of.runs],
  };
}
