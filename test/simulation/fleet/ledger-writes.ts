/*
 * The promises that every write is asked for: P1 (no entry comes off without a reason), P3 (only ours), P9 (a rule goes when
 * nobody carries its entry). Listens to the model of the API server; part of ledger.ts.
 */
import type { KubeObject } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { Write } from '../api-server.ts';
import { ON_DELETE } from '../installation.ts';
import { type Hold, type Ledger, type Off, RECORD, rulesOn } from './ledger.ts';
import { faultsOfPatch } from './ledger-patches.ts';
import { isBeyondSight, noteWritten } from './ledger-unseen.ts';
import { FLEET_KINDS } from './plan.ts';
import { at, selects } from './selection.ts';

/** A `gone` counts this long after its request expired, and clocks may be off by as much again. */
const GONE_GRACE_MS = 120_000;
/** Under an ownership that cannot tell a successor's resource, it counts as long as copies have to be waited for. */
const COPIES_MS = 24 * 60 * 60_000;
const RELEASE = 'release.finalizer-bridge.dev/';
const APPROVE = 'approve.finalizer-bridge.dev/';
/** In every record that says so. */
const HELD = '"Held"';
/** Reasons for being held that only a person, or another word of the rule, ends. */
const FINAL = new Set(
  [
    'NotOwned',
    'Kept',
    'TargetMissing',
    'TargetInvalid',
    'PolicyInvalid',
    'FoundNothing',
    'TargetChanged',
    'NoRule',
  ].concat('RuleNotAccepted', 'OwnershipNoneNotAllowed'),
);

/** Begins to look at writes. */
export function watchWrites(ledger: Ledger): void {
  const { server } = ledger.world;
  for (const kind of Object.values(FLEET_KINDS)) server.onWrite((write) => onObject(ledger, write), kind);
  server.onWrite((write) => onRule(ledger, write), TEARDOWN_RULES);
}

const isBridge = (by: string) => by.startsWith('bridge-');
const isDeleting = (object: KubeObject | undefined) => object?.metadata.deletionTimestamp !== undefined;

function onObject(ledger: Ledger, write: Write): void {
  const { before, after, by } = write;
  const uid = (after ?? before)?.metadata.uid ?? '';
  if (after === undefined) ledger.objects.delete(uid);
  else ledger.objects.set(uid, after);
  const had = rulesOn(before);
  const has = before?.metadata.finalizers === after?.metadata.finalizers ? had : rulesOn(after);
  for (const rule of has) if (!had.includes(rule)) count(ledger, rule, 1);
  for (const rule of had) if (!has.includes(rule)) count(ledger, rule, -1);
  if (before !== undefined && isBridge(by)) {
    for (const fault of faultsOfPatch(write)) ledger.note('P3', uid, `${by} ${fault}`);
  }
  if (isDeleting(before)) {
    for (const rule of had) if (!has.includes(rule)) onOff(ledger, write, rule);
  } else if (isDeleting(after)) begin(ledger, write, has);
  else if (before !== undefined && isBridge(by)) onLive(ledger, write, { had, has });
  if (after !== undefined && isDeleting(after)) for (const rule of has) follow(ledger, after, rule);
}

function count(ledger: Ledger, rule: string, change: 1 | -1): void {
  ledger.carriers.set(rule, (ledger.carriers.get(rule) ?? 0) + change);
}

function begin(ledger: Ledger, { after, path }: Write, has: readonly string[]): void {
  ledger.deletions += 1;
  const holds: Hold[] = [];
  ledger.namesakes.set(`${path.resource}/${path.name}`, holds);
  for (const rule of has) {
    const uid = after?.metadata.uid ?? '';
    const hold: Hold = {
      ...{ uid, rule, deletedAt: ledger.now(), requested: new Map(), unseen: new Map(), gones: new Map() },
      ...{ isMoved: false, isApproved: false },
      ...{ retainedSince: undefined, off: undefined, heldFor: undefined, isAlone: has.length === 1 },
      calls: { get: 0, patch: 0 },
    };
    ledger.holds.set(`${uid}/${rule}`, hold);
    ledger.open.add(hold);
    holds.push(hold);
  }
}

/** What the object says of itself after a write. */
function follow(ledger: Ledger, object: KubeObject, rule: string): void {
  const { metadata } = object;
  const hold = ledger.hold(metadata.uid, rule);
  if (hold === undefined) return;
  const { annotations = {} } = metadata;
  if (annotations[ON_DELETE] !== 'Retain') hold.retainedSince = undefined;
  else hold.retainedSince ??= ledger.now();
  // Whoever read the word may act on it when the object is gone.
  hold.isApproved ||= annotations[APPROVE + rule] === metadata.uid;
  const record = annotations[RECORD + rule];
  if (hold.unseen.size > 0) noteWritten(hold, record, ledger.targetOf(object, rule));
  hold.heldFor = heldFor(record, metadata.uid);
  const isReleased = annotations[RELEASE + rule]?.startsWith(metadata.uid) === true;
  if (hold.heldFor !== undefined && FINAL.has(hold.heldFor) && !isReleased) ledger.open.delete(hold);
  else ledger.open.add(hold);
}

function heldFor(record: string | undefined, uid: string): string | undefined {
  if (record === undefined || !record.includes(HELD)) return undefined;
  const value: unknown = JSON.parse(record);
  const reason = at(value, 'reason');
  return at(value, 'phase') === 'Held' && at(value, 'uid') === uid && typeof reason === 'string' ? reason : undefined;
}

function onOff(ledger: Ledger, { before, by }: Write, rule: string): void {
  if (before === undefined) return;
  const hold = ledger.hold(before.metadata.uid, rule);
  if (hold === undefined) return;
  const target = ledger.targetOf(before, rule);
  const how: Off = isBridge(by) ? whyOff(ledger, { before, by, hold, target }) : 'bypassed';
  hold.off = { how, at: ledger.now(), target };
  ledger.open.delete(hold);
}

interface OffInput {
  readonly before: KubeObject;
  readonly by: string;
  readonly hold: Hold;
  readonly target: string | undefined;
}

/** P1: off only for a valid gone of what is gone indeed, a policy, or a person's word. */
function whyOff(ledger: Ledger, { before, by, hold, target }: OffInput): Off {
  const { uid, name, annotations = {} } = before.metadata;
  const word = annotations[RELEASE + hold.rule];
  if (word === `${uid}/now`) return 'now';
  if (word === uid || annotations[ON_DELETE] === 'Retain') return 'waited';
  const rule = ledger.rules.get(hold.rule);
  if (target === undefined && hold.requested.size === 0 && rule?.mayMiss === true) return 'missing';
  const grace = ledger.plans.get(hold.rule)?.binding === 'uid' ? GONE_GRACE_MS : COPIES_MS;
  const asked = [...hold.requested.keys()];
  const { isBridgeAlive } = ledger.world;
  const unseen = asked.filter(
    (one) => one !== target && !hold.gones.has(one) && isBeyondSight(hold, one, isBridgeAlive),
  );
  ledger.beyondSight += unseen.length;
  for (const name of hold.unseen.keys()) if (!unseen.includes(name)) hold.unseen.delete(name);
  const wanted = [...asked.filter((one) => !unseen.includes(one)), ...(target === undefined ? [] : [target])];
  const isGone = (one: string) => ledger.now() <= (hold.gones.get(one) ?? 0) + grace;
  const open = wanted.filter((one) => !(one === target ? isGone(one) : hold.gones.has(one)));
  if (wanted.length === 0 || open.length > 0) {
    ledger.note('P1', uid, `${by} freed ${name} of ${hold.rule} without a gone that counts (${open.join(', ')})`);
  }
  for (const one of wanted) {
    const resource = ledger.world.cloud.find(one);
    if (resource?.owner === uid) ledger.note('P1', uid, `${by} freed ${name} while its ${one} still exists`);
  }
  return 'gone';
}

/** On a live object an entry is put on where its rule selects it, and comes off where the rule goes or does not. */
function onLive(
  ledger: Ledger,
  { after, before, by, path }: Write,
  { had, has }: { readonly had: readonly string[]; readonly has: readonly string[] },
): void {
  if (after === undefined || before === undefined) return;
  const { uid, name, namespace, labels = {}, annotations = {} } = before.metadata;
  for (const rule of had.filter((one) => !has.includes(one))) {
    const object = ledger.rules.get(rule)?.object;
    const isLeaving = object === undefined || object.metadata.deletionTimestamp !== undefined;
    const isReleased = annotations[RELEASE + rule]?.startsWith(uid) === true;
    const isSelected = object !== undefined && selects(object, { kind: path, labels, namespace });
    const isLeft = ledger.world.chart?.wasLeft(namespace) === true;
    if (!isLeaving && !isReleased && !isLeft && isSelected)
      ledger.note('P1', uid, `${by} took ${rule} off ${name}, which is live`);
  }
  for (const rule of has.filter((one) => !had.includes(one))) {
    if (!ledger.plans.has(rule)) ledger.note('P3', uid, `${by} put on ${name} the entry of ${rule}, which is no rule`);
  }
}

function onRule(ledger: Ledger, { before, after, by }: Write): void {
  const name = (after ?? before)?.metadata.name ?? '';
  if (after === undefined) {
    ledger.rules.delete(name);
    const carriers = ledger.carriers.get(name) ?? 0;
    if (isBridge(by) && carriers > 0)
      ledger.note('P9', '', `${by} let rule ${name} go while ${carriers} carry its entry`);
    return;
  }
  const isSpecKept = before === undefined || JSON.stringify(before.spec) === JSON.stringify(after.spec);
  if (isBridge(by) && !isSpecKept) ledger.note('P3', '', `${by} changed the spec of rule ${name}`);
  const known = ledger.rules.get(name);
  const limit = at(at(after.spec, 'budget'), 'limit');
  ledger.rules.set(name, {
    object: after,
    mayMiss: known?.mayMiss === true || at(after.spec, 'whenTargetMissing') === 'Release',
    mayFindNothing: known?.mayFindNothing === true || at(after.spec, 'whenAbsent') === 'Hold',
    limit: Math.max(known?.limit ?? 0, typeof limit === 'number' ? limit : 0),
  });
}
