/*
 * Puts one live TeardownRule in force as it was judged: in the book, by its label at the admission policy, and in words
 * in its status. Called by rule-keeper.ts for every look at a rule; a rule that is being deleted goes to withdrawal.ts.
 */
import { atAdmission, POLICIES } from './at-admission.ts';
import type { Births } from './births.ts';
import { INJECTS_LABEL, injectsLabel } from './injects.ts';
import { lostWords } from './kept-status.ts';
import { kindName } from './kind-key.ts';
import { explain, type Log } from './log.ts';
import type { Clock, Cluster, Kinds, KubeObject, Lease, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { putInForce } from './rule-force.ts';
import { isPermitted, type Judgement, mayHold } from './rule-judge.ts';
import { formerNamespaces, leftBehind, namesAll } from './rule-namespaces.ts';
import { deniedTo, goingFrom, rightsSeen } from './rule-places.ts';
import { lostIn, STATUS_EVERY_MS, type StatusOptions, type Told, type Written, writeStatus } from './rule-status.ts';
import { type TakingOptions, takeOn, takeOnAsSaid } from './rule-taking.ts';
import type { Served } from './served.ts';
import type { LabelWord, Serving } from './serving.ts';
import { type Condition, labelRule, matchOf, rulePath, statusOf } from './teardown-rules.ts';

/** A rule that is not ready is judged again this often: a kind may have come, a right may have been given. */
export const REJUDGE_MS = 15_000;
/** Until the watch of a new rule's kind is open, its status is looked at this often. */
const OPENING_MS = 1_000;
/** A ready rule is judged again this often: a right may have been taken. */
export const RECHECK_MS = 5 * 60_000;

const OFF: LabelWord = { isWanted: false, dueIn: undefined };

/** What enforcing needs. */
export interface EnforcingOptions extends StatusOptions, TakingOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly book: RuleBook;
  readonly served: Served;
  readonly births: Births;
  readonly serving: Serving;
  readonly log: Log;
  /** Per rule the label that this process wrote last. */
  readonly marked: Map<string, Written>;
  /** Whether the API server serves admission policies; undefined when nobody could ask. */
  isPolicyServed(): Promise<boolean | undefined>;
}

/** Puts a live rule's latest generation, or the last accepted one, in force, and says so; resolves to when to look again. */
export async function enforce(options: EnforcingOptions, seen: KubeObject, judgement: Judgement): Promise<number> {
  const { book, clock, lease, serving, served } = options;
  const { name } = seen.metadata;
  const { object, left, heldIn } = lease.holds() ? await takeOn(options, seen, judgement) : takeOnAsSaid(options, seen);
  putInForce(book, object, judgement);
  if (judgement.fault?.reason === 'UnknownResource') serving.down(matchOf(object));
  const isInForce = judgement.rule !== undefined && mayHold(judgement);
  const { labelled, dueAt } = await label(options, object.metadata, isInForce ? judgement.rule : undefined);
  let statusDueAt: number | undefined;
  if (lease.holds()) {
    const alsoSaid = await conditionsAtAdmission(options, object, labelled);
    const sighting = {
      ...{ isWatching: options.isWatching(name), blindIn: options.blindIn(name), served },
      ...{ left: leftBehind(object, served), leaving: left?.carriers ?? new Map() },
      ...{ going: goingFrom(options, judgement), ...rightsSeen(options, object, judgement) },
    };
    // What a write of this look says to be there is not believed to be stored.
    const read = object === seen ? { seen } : {};
    statusDueAt = await sayStatus({ ...options, alsoSaid }, { name, judgement, sighting, ...read });
  }
  const isEmptying = (left?.carriers.size ?? 0) + options.rights.ending.length > 0 || isOutgrowing(options, object);
  const isPlaced = !isEmptying && namesAll(object, served);
  const mayChange =
    !isInForce || lostIn(options, name).length > 0 || judgement.isIncomplete || !isPermitted(judgement) || !isPlaced;
  const pause = mayChange ? REJUDGE_MS : options.isWatching(name) ? RECHECK_MS : OPENING_MS;
  const holdAt = heldIn === undefined ? undefined : clock.now() + heldIn;
  return Math.min(clock.now() + pause, ...[statusDueAt, dueAt, holdAt].filter((at) => at !== undefined));
}

/** Writes the status, and logs when something of it is not stored, or is at last. */
async function sayStatus(options: EnforcingOptions & StatusOptions, told: Told): Promise<number | undefined> {
  const before = lostIn(options, told.name);
  const dueAt = await writeStatus(options, told);
  const lost = lostIn(options, told.name);
  if (lost.join() === before.join()) return dueAt;
  if (lost.length > 0)
    options.log.error({ rule: told.name, err: lostWords(lost) }, 'writing the status of a rule: not stored');
  else options.log.info({ rule: told.name }, 'writing the status of a rule: stored again');
  return dueAt;
}

/** Whether rights from before the whole cluster was served may be kept, and may be given up. */
function isOutgrowing(options: EnforcingOptions, object: KubeObject): boolean {
  const isAll = options.served.namespaces === undefined && options.lease.holds();
  return isAll && formerNamespaces(object).length > deniedTo(options, object).length;
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
  const wanted = isWanted ? value : undefined;
  const waitFor = lease.holds() ? waitToMark(options, meta, wanted) : undefined;
  const isMine = lease.holds() && waitFor === undefined;
  if (lease.holds()) await mark(options, meta, isMine ? wanted : meta.labels?.[INJECTS_LABEL]);
  const labelled = (isMine ? isWanted : isOn) ? rule : undefined;
  if (labelled === undefined) births.forget(meta.name);
  else births.label(labelled.name, meta.uid, labelled.match);
  const dueAfter = waitFor ?? dueIn;
  return { labelled, dueAt: dueAfter === undefined ? undefined : clock.now() + dueAfter };
}

/**
 * For how many ms a label stays as another process has written it; undefined when it may be written now. Two that both lead and
 * judge a rule differently see each other's writes: each would answer with its own, at once and without end.
 */
function waitToMark(
  { clock, marked }: EnforcingOptions,
  { name, uid, labels }: ObjectMeta,
  wanted: string | undefined,
): number | undefined {
  const last = marked.get(name);
  if (labels?.[INJECTS_LABEL] === wanted || last?.verdict !== markOf(uid, wanted)) return undefined;
  const left = last.at + STATUS_EVERY_MS - clock.monotonic();
  return left > 0 ? left : undefined;
}

function markOf(uid: string, injects: string | undefined): string {
  return `${uid} ${injects ?? 'none'}`;
}

async function mark(
  { cluster, clock, log, marked }: EnforcingOptions,
  meta: ObjectMeta,
  injects: string | undefined,
): Promise<void> {
  const operations = labelRule(meta, injects);
  if (operations === undefined) return;
  const at = clock.monotonic();
  const outcome = await cluster.patch(rulePath(meta.name), operations);
  if (outcome.kind === 'conflict') throw new Error(`marking rule ${meta.name}: it has changed`);
  marked.set(meta.name, { at, verdict: markOf(meta.uid, injects) });
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
