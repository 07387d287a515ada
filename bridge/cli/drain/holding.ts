/*
 * The objects of one rule that are being deleted: never let go silently. A bridge takes down what is pending; what is held
 * is named, and released only on a person's word. Where a bridge can act the word is written for it; where none can, the
 * entry comes off here when no sent request can still run, or at once if the word says so. Called by rule-drain.ts.
 */

import { atOnce } from '../../at-once.ts';
import { deletionBegan } from '../../contract.ts';
import { explain } from '../../log.ts';
import { othersRunsEnd } from '../../observe.ts';
import type { KubeObject } from '../../ports.ts';
import { readRecordOfAnyRule } from '../../record.ts';
import type { Rule } from '../../rule.ts';
import { type Release, releaseWord } from '../../words.ts';
import { timeOf } from '../times.ts';
import type { DrainWorld } from './api.ts';
import { freeDeleting, sayRelease } from './entries.ts';
import type { Blocker, Hands, Step } from './step.ts';
import { type Carrier, nameOfCarrier, pathOf } from './sweep.ts';

const OBJECTS_AT_ONCE = 8;
/** Targets are evaluated over whole objects; a list for people has no use for more. */
const TARGETS_MAX = 50;
const LOOK_EVERY_MS = 5_000;
/** While all that is left waits until no request can still run. */
const LOOK_SELDOM_MS = 60_000;
/** Held, and yet tried on by the bridge itself. */
const GOES_ON: ReadonlySet<string> = new Set([
  'BudgetExceeded',
  'BudgetNotKept',
  'DeadlineExceeded',
  'Failing',
  'WaitForTimedOut',
  'RuleNotAccepted',
]);

/** What is known when the objects are seen to. `sentUntil`, in ms since the epoch: nobody sends anything later. */
export interface Holding {
  readonly name: string;
  readonly rule: Rule | undefined;
  readonly deleting: readonly Carrier[];
  readonly hands: Hands;
  readonly release: Release;
  readonly sentUntil: number;
  /** Uids whose release was told already. */
  readonly told: Set<string>;
  say(line: string): void;
}

type Outcome =
  | { readonly kind: 'off' }
  | { readonly kind: 'by'; readonly blocker: Blocker; readonly moves: boolean; readonly readyAt?: number | undefined };

/** Sees to each object once. */
export async function seeToDeleting(world: DrainWorld, holding: Holding): Promise<Step> {
  const outcomes: Outcome[] = [];
  const now = await world.serverTime();
  await atOnce(OBJECTS_AT_ONCE, holding.deleting, async (carrier) => {
    outcomes.push(await seeTo(world, holding, { carrier, now }));
  });
  const left = outcomes.flatMap((outcome) => (outcome.kind === 'by' ? [outcome] : []));
  if (left.length === 0) return { state: 'waiting', why: 'released what was being deleted', nextIn: 1_000 };
  const readyAt = left.every((one) => one.readyAt !== undefined)
    ? left.reduce((first, one) => Math.min(first, one.readyAt ?? first), Number.POSITIVE_INFINITY)
    : undefined;
  const restsFor = readyAt === undefined ? 0 : Math.min(LOOK_SELDOM_MS, readyAt - now);
  return {
    state: 'blocked',
    why: summary(left.map(({ blocker }) => blocker)),
    nextIn: Math.max(LOOK_EVERY_MS, restsFor),
    moves: left.some(({ moves }) => moves),
    by: left.map(({ blocker }) => blocker),
    readyAt,
  };
}

interface One {
  readonly carrier: Carrier;
  /** ms since the epoch, as the API server has it. */
  readonly now: number;
}

async function seeTo(world: DrainWorld, holding: Holding, one: One): Promise<Outcome> {
  const { name, hands, release } = holding;
  const { carrier } = one;
  const { isHeld, blocker } = standingOf(carrier, name, hands);
  const { reason } = blocker;
  try {
    if (!isHeld) return { kind: 'by', blocker, moves: true };
    if (release === 'none') return { kind: 'by', blocker, moves: hands === 'bridge' && GOES_ON.has(reason) };
    return hands === 'bridge'
      ? await releaseByBridge(world, holding, blocker)
      : await releaseHere(world, holding, { ...one, blocker });
  } catch (error) {
    return { kind: 'by', blocker: { carrier, reason: 'NotReleased', message: explain(error) }, moves: false };
  }
}

/** Where a deletion stands, by the record on the object; what no bridge sees to is held, whatever it says. */
export function standingOf(
  carrier: Carrier,
  name: string,
  hands: Hands,
): { readonly isHeld: boolean; readonly blocker: Blocker } {
  const record = readRecordOfAnyRule(carrier.meta, name);
  const isHeld = record?.phase === 'Held';
  if (hands === 'own' && !isHeld) {
    const was = record === undefined ? '' : `; before, it was ${record.reason}: ${record.message}`;
    return { isHeld: true, blocker: { carrier, reason: 'NoBridge', message: `no bridge sees to it${was}` } };
  }
  const { reason = 'Pending', message = 'being taken down' } = record ?? {};
  return { isHeld, blocker: { carrier, reason, message } };
}

async function releaseByBridge(world: DrainWorld, holding: Holding, blocker: Blocker): Promise<Outcome> {
  const { name, release } = holding;
  await tell(world, holding, blocker);
  if (release !== 'none') await sayRelease(world, blocker.carrier, { rule: name, release });
  return { kind: 'by', blocker: { ...blocker, message: `released: ${blocker.message}` }, moves: true };
}

async function releaseHere(
  world: DrainWorld,
  holding: Holding,
  { carrier, now, blocker }: One & { readonly blocker: Blocker },
): Promise<Outcome> {
  const { name, rule, release, sentUntil } = holding;
  const { deletionTimestamp, deletionGracePeriodSeconds } = carrier.meta;
  await tell(world, holding, blocker);
  const began = deletionBegan(deletionTimestamp ?? carrier.meta.creationTimestamp, deletionGracePeriodSeconds);
  const readyAt = othersRunsEnd(rule, { began, until: sentUntil });
  const said = releaseWord(carrier.meta, name);
  const isNow = release === 'now' || said === 'now';
  // Not before a word of an earlier look: a bridge that has begun since this one must not send behind the entry's back.
  if (isNow || (said === 'wait' && now >= readyAt)) {
    const object = await world.cluster.get(pathOf(carrier));
    const written = await freeDeleting(world, carrier, name);
    if (written === 'written') await recordRelease(world, object, blocker);
    return { kind: 'off' };
  }
  // So that a bridge that comes back meanwhile sends nothing more, and finishes it.
  await sayRelease(world, carrier, { rule: name, release: 'wait' });
  const message =
    now >= readyAt
      ? 'released; the entry comes off at the next look, unless a bridge runs then'
      : `released; waiting until ${timeOf(readyAt)}, when no sent request can still run`;
  return { kind: 'by', blocker: { carrier, reason: 'ReleaseWaiting', message }, moves: true, readyAt };
}

/** Says once whose entry is released, why it was held, and what is left outside. */
async function tell({ cluster }: DrainWorld, { told, rule, say, name }: Holding, blocker: Blocker): Promise<void> {
  const { carrier, reason } = blocker;
  if (told.has(carrier.meta.uid)) return;
  const object = await cluster.get(pathOf(carrier));
  if (object?.metadata.uid !== carrier.meta.uid) return;
  say(`releasing ${nameOfCarrier(carrier)} from ${name} (${reason}), without teardown: ${targetOf(rule, object)}`);
  told.add(carrier.meta.uid);
}

/** Best effort: in a namespace that is going nothing can be created (K9). */
async function recordRelease({ cluster }: DrainWorld, object: KubeObject | undefined, { reason }: Blocker) {
  if (object === undefined) return;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion } = metadata;
  const message = `released by drain on a person's word, without teardown; it was ${reason}`;
  await cluster
    .recordEvent({
      object: { apiVersion, kind, name, namespace, uid, resourceVersion },
      ...{ type: 'Warning', reason: 'Released', action: 'Drain', message },
    })
    .catch(() => undefined);
}

function targetOf(rule: Rule | undefined, object: KubeObject): string {
  if (rule === undefined) return 'target not known, its rule is gone';
  const { target } = rule.evaluate(object);
  return target.kind === 'found' ? `target ${JSON.stringify(target.target)}` : `no target: ${target.detail}`;
}

/** Says of objects what would be left outside, as far as it is known: for people, so of a few only. */
export async function withTargets(
  { cluster }: Pick<DrainWorld, 'cluster'>,
  rule: Rule | undefined,
  blockers: readonly Blocker[],
): Promise<readonly Blocker[]> {
  const targets = new Map<string, string>();
  await atOnce(OBJECTS_AT_ONCE, blockers.slice(0, TARGETS_MAX), async ({ carrier }) => {
    const object = await cluster.get(pathOf(carrier)).catch(() => undefined);
    const { uid } = carrier.meta;
    if (object?.metadata.uid === uid) targets.set(uid, targetOf(rule, object));
  });
  return blockers.map((blocker) => ({ ...blocker, target: targets.get(blocker.carrier.meta.uid) }));
}

function summary(blockers: readonly Blocker[]): string {
  const counts = Map.groupBy(blockers, ({ reason }) => reason);
  const parts = [...counts].map(([reason, { length }]) => `${length} ${reason}`);
  return `being deleted, and with the entry still on: ${parts.join(', ')}`;
}
