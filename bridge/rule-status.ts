/*
 * Writes a rule's status: conditions, counts, the oldest pending deletion, the first held objects. Called by rule-keeper.ts
 * and withdrawal.ts; written only when it says something new, guarded by the resourceVersion that was read.
 */
import { type Lost, lostOf } from './kept-status.ts';
import type { Pending } from './pending.ts';
import type { Clock, Cluster, KubeObject } from './ports.ts';
import { conditionsOf, type Sighting } from './rule-conditions.ts';
import { countsOf } from './rule-counts.ts';
import { toRemember } from './rule-force.ts';
import type { Judgement } from './rule-judge.ts';
import { namespacesUnder } from './rule-namespaces.ts';
import type { Served } from './served.ts';
import {
  type Condition,
  generationOf,
  matchOf,
  overStatus,
  rulePath,
  statusOf,
  versionOf,
  type WrittenCondition,
} from './teardown-rules.ts';

/** Status is written at most this often, unless a condition changes that people and programs wait for. */
export const STATUS_EVERY_MS = 10_000;

/** When a status was written (monotonic ms), what verdict of this process it carried, and what of it was not stored. */
export interface Written {
  readonly at: number;
  readonly verdict: string;
  readonly lost?: Lost;
  /** The resourceVersion that came of it, where it told counts only: then its own sight in the watch is no reason to look. */
  readonly counted?: string | undefined;
}

/** What writing needs. */
export interface StatusOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Per rule what this process wrote last. */
  readonly written: Map<string, Written>;
  readonly served: Served;
  /** Whether a rule's kind is being watched and was listed. */
  isWatching(rule: string): boolean;
  /** Namespaces in which a rule's kind is not being watched. */
  blindIn(rule: string): readonly string[];
  pendings(rule: string): readonly Pending[];
  /** Conditions beside those of the judgement. */
  readonly alsoSaid?: readonly Condition[];
}

/** A rule that was judged, and what is seen of its objects. */
export interface Told {
  readonly name: string;
  readonly judgement: Judgement;
  readonly sighting: Sighting;
  /** The rule as it was read for this look. */
  readonly seen?: KubeObject;
}

/** Writes the status of a rule that was judged; resolves as updateStatus does. */
export async function writeStatus(options: StatusOptions, told: Told): Promise<number | undefined> {
  const lost = lostIn(options, told.name);
  const dueAt = await writeKnowing(options, told, lost);
  const now = lostIn(options, told.name);
  if (now.join() === lost.join()) return dueAt;
  // The write itself has shown that something is not stored, or is again: that is said at once.
  const { seen: _, ...rest } = told;
  return await writeKnowing(options, rest, now);
}

/** What of a rule's status was not stored when this process wrote it last. */
export function lostIn({ written }: Pick<StatusOptions, 'written'>, name: string): Lost {
  return written.get(name)?.lost ?? [];
}

async function writeKnowing(
  options: StatusOptions,
  { name, judgement, sighting, seen }: Told,
  lost: Lost,
): Promise<number | undefined> {
  const conditions = [...conditionsOf(judgement, sighting, lost), ...(options.alsoSaid ?? [])];
  return await updateStatus({ ...options, judgement }, { name, conditions, seen });
}

type Updating = StatusOptions & { readonly judgement?: Judgement };

/** What is to stand in a status. */
export interface Update {
  readonly name: string;
  readonly conditions: readonly Condition[];
  /** The rule as it was read for this look. */
  readonly seen?: KubeObject | undefined;
}

/**
 * Writes conditions and counts over a rule's status as it is now; what else stands there stays. Whatever changes it after it was
 * seen brings another look, so what was read for this one is enough, unless it has moved by the write. What merely counts may
 * wait: resolves to when it may be written, in ms since the epoch.
 */
export async function updateStatus(options: Updating, { name, conditions, seen }: Update): Promise<number | undefined> {
  const first = seen && (await writeOver(options, seen, conditions));
  if (first !== undefined && first.kind !== 'conflict') return first.dueAt;
  const object = await options.cluster.get(rulePath(name));
  if (object === undefined) return undefined;
  const outcome = await writeOver(options, object, conditions);
  // What else has changed was not looked at, and a list shows no more of it than this write.
  const last = options.written.get(name);
  if (last !== undefined) options.written.set(name, { ...last, counted: undefined });
  if (outcome.kind === 'conflict') throw new Error(`writing the status of rule ${name}: it has changed`);
  return outcome.dueAt;
}

/** `done`: it is written, or need not be before `dueAt`. */
type Over = { readonly kind: 'conflict' } | { readonly kind: 'done'; readonly dueAt?: number | undefined };

async function writeOver(options: Updating, object: KubeObject, conditions: readonly Condition[]): Promise<Over> {
  const { cluster, clock, written } = options;
  const { name } = object.metadata;
  const news = newsFor(options, object, conditions);
  if (news.kind !== 'write') return { kind: 'done', dueAt: news.dueAt };
  const { status, verdict } = news;
  const at = clock.monotonic();
  const outcome = await cluster.patch(rulePath(name), overStatus(object.metadata, status), 'status');
  if (outcome.kind === 'conflict') return outcome;
  const patched = outcome.kind === 'patched' ? outcome : undefined;
  const lost = patched === undefined ? [] : lostOf(status, patched.status);
  const counted = written.get(name)?.verdict === verdict ? patched?.meta.resourceVersion : undefined;
  written.set(name, { at, verdict, lost, counted });
  return { kind: 'done' };
}

/** What there is to write over a status; `later`: nothing, or nothing before `dueAt` (ms since the epoch). */
type News =
  | { readonly kind: 'write'; readonly status: object; readonly verdict: string }
  | { readonly kind: 'later'; readonly dueAt: number | undefined };

/** A budget of which nothing was taken yet. */
const UNTOUCHED = { reservations: [] };

const NO_NEWS: News = { kind: 'later', dueAt: undefined };

function newsFor(
  { clock, pendings, written, judgement, served, isWatching, blindIn }: Updating,
  object: KubeObject,
  conditions: readonly Condition[],
): News {
  const { name } = object.metadata;
  // Edited since it was judged: the edit brings another look.
  if (judgement !== undefined && judgement.version !== versionOf(object)) return NO_NEWS;
  const before = statusOf(object);
  const counts = countsOf(pendings(name), name, matchOf(object));
  // Where nobody looks nothing is seen: what was counted last stays, unless there can be none.
  const mayBe = () => judgement?.fault?.reason !== 'UnknownResource' && !isAbsent(blindIn(name), judgement);
  const isBlind = counts.pending === 0 && Number(before.pending ?? 0) > 0 && !isWatching(name) && mayBe();
  const after = {
    ...before,
    observedGeneration: generationOf(object),
    namespaces: namespacesUnder(served, object),
    ...(judgement?.rule === undefined ? {} : { lastAccepted: toRemember(object) }),
    // Before the first deletion, so that it is known by then whether the budget can be counted at all.
    ...(judgement?.rule?.budget === undefined ? {} : { budget: before.budget ?? UNTOUCHED }),
    conditions: merged(before.conditions ?? [], conditions, { object, now: clock.now() }),
    ...(isBlind ? {} : counts),
  };
  const last = written.get(name);
  // What was not stored is written again until it is.
  if (saysTheSame(before, after) && lostIn({ written }, name).length === 0) return NO_NEWS;
  const verdict = verdictOf(object, conditions);
  const age = clock.monotonic() - (last?.at ?? Number.NEGATIVE_INFINITY);
  if (age < STATUS_EVERY_MS && last?.verdict === verdict) {
    return { kind: 'later', dueAt: clock.now() + STATUS_EVERY_MS - age };
  }
  return { kind: 'write', status: after, verdict };
}

/** Whether all that is not looked at are namespaces that are not there. */
function isAbsent(blindIn: readonly string[], judgement: Judgement | undefined): boolean {
  return blindIn.length > 0 && blindIn.every((namespace) => judgement?.absent.includes(namespace));
}

/**
 * What of a status people and programs wait for; the entry at birth is not of it, as each new object may change that. Only
 * what this process says: of two that judge differently each would answer the other's write with its own, at once.
 */
function verdictOf(object: KubeObject, conditions: readonly Condition[]): string {
  const said = conditions
    .filter(({ type }) => type !== 'FinalizerAtAdmission')
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    .sort();
  return JSON.stringify([object.metadata.uid, generationOf(object), said]);
}

interface MergeContext {
  readonly object: KubeObject;
  readonly now: number;
}

/** New conditions over the old ones of the same type; a transition time moves only with the status. */
function merged(
  before: readonly WrittenCondition[],
  conditions: readonly Condition[],
  { object, now }: MergeContext,
): readonly WrittenCondition[] {
  const written = conditions.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const isSame = old?.status === condition.status;
    return {
      ...condition,
      message: condition.message.slice(0, 1024),
      observedGeneration: generationOf(object),
      lastTransitionTime: isSame ? old.lastTransitionTime : `${new Date(now).toISOString().slice(0, 19)}Z`,
    };
  });
  const others = before.filter(({ type }) => !conditions.some((condition) => condition.type === type));
  return [...others, ...written];
}

/** Whether two statuses are one: key order is the server's, and what is undefined is not written. */
function saysTheSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((member, index) => saysTheSame(member, right[index]));
  }
  const [mine, theirs]: [object, object] = [left, right];
  return (
    Object.keys(mine).every((key) => saysTheSame(Reflect.get(mine, key), Reflect.get(theirs, key))) &&
    Object.keys(theirs).every((key) => Object.hasOwn(mine, key) || Reflect.get(theirs, key) === undefined)
  );
}
