/*
 * Puts one live TeardownRule in force as it was judged: in the book, by its label at the admission policy, and in words
 * in its status. Called by rule-keeper.ts for every look at a rule; a rule that is being deleted goes to withdrawal.ts.
 */
import { atAdmission, POLICIES } from './at-admission.ts';
import type { Births } from './births.ts';
import { INJECTS_LABEL, injectsLabel } from './injects.ts';
import { kindName } from './kind-key.ts';
import { explain, type Log } from './log.ts';
import type { Clock, Kinds, KubeObject, Lease, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { putInForce } from './rule-force.ts';
import type { Judgement } from './rule-judge.ts';
import { type StatusOptions, writeStatus } from './rule-status.ts';
import type { LabelWord, Serving } from './serving.ts';
import { type Condition, markRule, matchOf, rulePath, statusOf } from './teardown-rules.ts';

/** A rule that is not ready is judged again this often: a kind may have come, a right may have been given. */
export const REJUDGE_MS = 15_000;
/** Until the watch of a new rule's kind is open, its status is looked at this often. */
const OPENING_MS = 1_000;
/** A ready rule is judged again this often: a right may have been taken. */
export const RECHECK_MS = 5 * 60_000;

const OFF: LabelWord = { isWanted: false, dueIn: undefined };

/** What enforcing needs. */
export interface EnforcingOptions extends StatusOptions {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly book: RuleBook;
  readonly births: Births;
  readonly serving: Serving;
  readonly log: Log;
  /** Whether the API server serves admission policies; undefined when nobody could ask. */
  isPolicyServed(): Promise<boolean | undefined>;
}

/** Puts a live rule's latest generation, or the last accepted one, in force, and says so; resolves to when to look again. */
export async function enforce(options: EnforcingOptions, object: KubeObject, judgement: Judgement): Promise<number> {
  const { book, clock, lease, serving } = options;
  const { name } = object.metadata;
  putInForce(book, object, judgement);
  if (judgement.fault?.reason === 'UnknownResource') serving.down(matchOf(object));
  const isInForce = judgement.rule !== undefined && judgement.lacking.length === 0;
  const { labelled, dueAt } = await label(options, object.metadata, isInForce ? judgement.rule : undefined);
  let statusDueAt: number | undefined;
  if (lease.holds()) {
    const alsoSaid = await conditionsAtAdmission(options, object, labelled);
    statusDueAt = await writeStatus({ ...options, alsoSaid }, name, judgement);
  }
  const pause = !isInForce || judgement.isIncomplete ? REJUDGE_MS : options.isWatching(name) ? RECHECK_MS : OPENING_MS;
  return Math.min(clock.now() + pause, ...[statusDueAt, dueAt].filter((at) => at !== undefined));
}

/** A rule's label after a look at it. */
interface Label {
  /** The rule, if it has its label now. */
  readonly labelled: Rule | undefined;
  /** When the label may be due, in ms since the epoch. */
  readonly dueAt: number | undefined;
}

/** Sees to the label of a rule, undefined for one that is not in force. Without the lease it only looks. */
async function label(options: EnforcingOptions, meta: ObjectMeta, rule: Rule | undefined): Promise<Label> {
  const { births, serving, lease, clock } = options;
  const value = rule === undefined ? undefined : injectsLabel(rule.match);
  const isOn = value !== undefined && meta.labels?.[INJECTS_LABEL] === value;
  const { isWanted, dueIn } = rule === undefined ? OFF : serving.label(rule.match, isOn);
  if (lease.holds()) await mark(options, meta, isWanted ? value : undefined);
  const labelled = (lease.holds() ? isWanted : isOn) ? rule : undefined;
  if (labelled === undefined) births.forget(meta.name);
  else births.label(labelled.name, meta.uid, labelled.match);
  return { labelled, dueAt: dueIn === undefined ? undefined : clock.now() + dueIn };
}

async function mark({ cluster, log }: EnforcingOptions, meta: ObjectMeta, injects: string | undefined): Promise<void> {
  const operations = markRule(meta, injects);
  if (operations === undefined) return;
  const outcome = await cluster.patch(rulePath(meta.name), operations);
  if (outcome.kind === 'conflict') throw new Error(`marking rule ${meta.name}: it has changed`);
  log.debug({ rule: meta.name, injects }, 'marking a rule: done');
}

async function conditionsAtAdmission(
  { births, isPolicyServed }: EnforcingOptions,
  object: KubeObject,
  labelled: Rule | undefined,
): Promise<readonly Condition[]> {
  const { name } = object.metadata;
  const condition = atAdmission({
    isServed: await isPolicyServed(),
    isLabelled: labelled !== undefined,
    sight: births.sightOf(name),
    neighbours: labelled === undefined ? 'None' : births.neighboursOf(labelled.match),
    kind: labelled === undefined ? '' : kindName(labelled.match),
    written: statusOf(object).conditions?.find(({ type }) => type === 'FinalizerAtAdmission'),
  });
  return condition === undefined ? [] : [condition];
}

/** Asks for the policies' kind, seldom: API servers are upgraded, not reconfigured while a rule is looked at. */
export function policyProbe({
  kinds,
  clock,
  log,
}: {
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly log: Log;
}): EnforcingOptions['isPolicyServed'] {
  let last: { readonly at: number; readonly isServed: boolean } | undefined;
  return async () => {
    if (last !== undefined && clock.monotonic() - last.at < RECHECK_MS) return last.isServed;
    try {
      const isServed = (await kinds.describe(POLICIES)) !== undefined;
      last = { at: clock.monotonic(), isServed };
      return isServed;
    } catch (error) {
      // A condition that cannot be told holds up no rule.
      log.debug({ err: explain(error) }, 'discovering admission policies: trying again');
      return last?.isServed;
    }
  };
}
