/*
 * What has to be true of a world that has settled: P1 (nothing leaked), P4 (every deletion is over, or held for a reason that
 * is true), P6 (no dead letters but the strangers'), P7 (rules say how much is pending), P8 (what a happy deletion cost, and
 * nothing kept of what is over). Called by fleet-world.ts; part of ledger.ts.
 */

import type { Bridge } from '../../../bridge/bridge.ts';
import type { KubeObject } from '../../../bridge/ports.ts';
import { rulePath } from '../../../bridge/teardown-rules.ts';
import { type Hold, type Ledger, rulesOn } from './ledger.ts';
import { FLEET_KINDS } from './plan.ts';
import { at, selects } from './selection.ts';

/** Asks a world that should have settled. */
export function checkSettled(ledger: Ledger, isSettled: boolean): void {
  if (!isSettled && ledger.open.size === 0) ledger.note('P4', '', 'it never came to an end');
  for (const { uid, rule, heldFor } of ledger.open) {
    ledger.note('P4', uid, `${nameOf(ledger, uid)} of ${rule} is neither gone nor held (${heldFor ?? 'no reason'})`);
  }
  for (const hold of ledger.holds.values()) if (hold.off === undefined) checkHeld(ledger, hold);
  checkResources(ledger);
  const { requests, results } = ledger.world;
  for (const { messageId } of [...requests, results].flatMap(({ deadLetters }) => deadLetters)) {
    if (!ledger.forged.has(messageId)) ledger.note('P6', '', `${messageId} became a dead letter`);
  }
}

/** P4: the reason is one that the world bears out. */
function checkHeld(ledger: Ledger, hold: Hold): void {
  const object = ledger.objects.get(hold.uid);
  if (object === undefined || hold.heldFor === undefined || ledger.open.has(hold)) return;
  if (isTrue(ledger, hold, object)) return;
  ledger.note(
    'P4',
    hold.uid,
    `${nameOf(ledger, hold.uid)} of ${hold.rule} is held as ${hold.heldFor}, which is not so`,
  );
}

function isTrue(ledger: Ledger, hold: Hold, object: KubeObject): boolean {
  const target = ledger.targetOf(object, hold.rule);
  const resource = target === undefined ? undefined : ledger.world.cloud.find(target);
  const rule = ledger.rules.get(hold.rule);
  const binding = ledger.plans.get(hold.rule)?.binding;
  switch (hold.heldFor) {
    case 'NotOwned':
      return resource !== undefined && !isOwn(ledger, hold, target ?? '') && binding !== 'none';
    case 'OwnershipNoneNotAllowed':
      return binding === 'none' && ledger.world.plan.allowsNone !== true;
    case 'Kept':
      return resource?.tags.has('finalizer-bridge.dev/keep') === true;
    case 'TargetMissing':
      return target === undefined;
    case 'TargetInvalid':
      return target === '';
    case 'PolicyInvalid':
      return object.metadata.annotations?.['example.com/on-delete'] === 'Perhaps';
    case 'FoundNothing':
      return resource === undefined && rule?.mayFindNothing === true;
    case 'TargetChanged':
      // Which targets were asked for stood in a form that this version cannot read.
      return hold.isMoved || ledger.world.plan.later === 'targets';
    case 'NoRule':
      return rule === undefined;
    default:
      return false;
  }
}

function isOwn(ledger: Ledger, { uid }: Hold, target: string): boolean {
  const resource = ledger.world.cloud.find(target);
  return resource !== undefined && resource.owner === uid && !resource.tags.has('stranger');
}

/** P1: what no longer has an owner that answers for it, without anybody having said so, has leaked. */
function checkResources(ledger: Ledger): void {
  for (const { name, owner, tags } of ledger.world.cloud.all()) {
    for (const rule of ledger.plans.keys()) {
      const hold = ledger.hold(owner, rule);
      if (hold?.off?.how !== 'gone' || !isFor(ledger, { name, rule, owner })) continue;
      const wasAsked = (hold.requested.has(name) && !hold.unseen.has(name)) || hold.off.target === name;
      if (wasAsked && !tags.has('stranger')) ledger.note('P1', owner, `${name} of ${owner} has leaked`);
    }
  }
}

function isFor(ledger: Ledger, { name, rule }: { name: string; rule: string; owner: string }): boolean {
  return name.startsWith(`${ledger.plans.get(rule)?.field ?? ''}-`);
}

/** P7: rules say truly what is pending and held. P8: nothing is kept of what is over. */
export function checkBooks(ledger: Ledger, bridges: readonly Bridge[]): void {
  const pending = Map.groupBy(
    [...ledger.holds.values()].filter(({ off }) => off === undefined),
    ({ rule }) => rule,
  );
  for (const rule of ledger.rules.keys()) {
    const status = ledger.world.server.get(rulePath(rule))?.status;
    const [said, is] = [Number(at(status, 'pending') ?? 0), pending.get(rule)?.length ?? 0];
    if (said !== is) ledger.note('P7', '', `rule ${rule} says that ${said} deletions are pending, ${is} are`);
  }
  for (const bridge of bridges) {
    const keys = bridge.pendings().filter(({ key }) => ledger.holds.get(key)?.off !== undefined);
    if (keys.length > 0) ledger.note('P8', '', `${keys.length} deletions that are over are kept: ${keys[0]?.key}`);
    const waiting = [...bridge.unclaimed()].filter(([, waits]) => waits > 0);
    if (waiting.length > 0) ledger.note('P8', '', `${waiting.map(String).join(' ')} live objects still wait`);
  }
}

/** P1: what a rule selects carries its entry. */
export function checkClaims(ledger: Ledger): void {
  for (const kind of Object.values(FLEET_KINDS)) {
    for (const object of ledger.world.server.all(kind)) {
      const { uid, name, namespace, labels = {}, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined || ledger.world.chart?.serves(namespace) === false) continue;
      for (const [rule, { object: written }] of ledger.rules) {
        const isWanted =
          written.metadata.deletionTimestamp === undefined && selects(written, { kind, labels, namespace });
        if (isWanted && !rulesOn(object).includes(rule)) ledger.note('P1', uid, `${name} lacks the entry of ${rule}`);
      }
    }
  }
}

/** What takes longer than this is written down, and so no happy deletion any more. */
const HAPPY_MS = 10_000;

/** P8: in a world without faults a happy deletion is read once and written once. */
export function checkCosts(ledger: Ledger): void {
  for (const { uid, rule, off, deletedAt, isAlone, calls } of ledger.holds.values()) {
    const isBraked = ledger.rules.get(rule)?.limit !== 0;
    const isHappy = off?.how === 'gone' && off.at - deletedAt < HAPPY_MS && isAlone && !isBraked;
    if (!isHappy || (calls.get === 1 && calls.patch === 1)) continue;
    ledger.note('P8', uid, `one deletion under ${rule} took ${calls.get} GETs and ${calls.patch} PATCHes`);
  }
}

function nameOf(ledger: Ledger, uid: string): string {
  return ledger.objects.get(uid)?.metadata.name ?? uid;
}
