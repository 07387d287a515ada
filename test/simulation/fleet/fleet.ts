/*
 * Runs worlds of many deletions: creates what is there, lets the plan and the weather happen, ends the faults, waits until
 * nothing is under way, has a person release what is held and the authors withdraw their rules, and asks the ledger at each
 * stage. Called by simulate-worker.ts, shrink.ts and the tests.
 */
import { rulePath } from '../../../bridge/teardown-rules.ts';
import type { FleetProduct } from './fleet-bridges.ts';
import { FleetWorld } from './fleet-world.ts';
import { checkBooks, checkClaims, checkCosts, checkSettled } from './ledger-end.ts';
import { checkLeft, checkNamed, checkRightless } from './ledger-places.ts';
import { createObject, releaseHold, scheduleObject } from './object-acts.ts';
import type { FleetPlan } from './plan.ts';
import { Trace } from './trace.ts';
import { happen, mendRules, type WorldActs } from './world-acts.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Rules are judged, kinds listed and labels on before anything happens. */
const BEGIN_MS = 45 * SECOND;
/** Longer than a day, so that what was refused has been asked for again. */
const PATIENCE_MS = 30 * HOUR;
/** How long two both believe to lead while nothing is wrong any more: a lease ends that within seconds. */
const SHARED_MS = 10 * MINUTE;
const QUIET_MS = 3 * MINUTE;
/** Within this a rule says of rights that they are gone, whatever was wrong until then: bridges may have to be started first. */
const SAID_MS = 10 * MINUTE;
/** Objects that are created while all rules are being withdrawn. */
const LATECOMERS = 4;
const LATECOMERS_EVERY_MS = 7 * SECOND;

/** What became of a world. */
export interface FleetOutcome {
  readonly broken: readonly { readonly promise: string; readonly uid: string; readonly what: string }[];
  readonly deletions: number;
  /** Port calls and writes, and what they come to. */
  readonly hash: string;
  readonly virtualMs: number;
  /** Tasks that were run. */
  readonly steps: number;
  /** What went wrong, and how often. */
  readonly faults: Readonly<Record<string, number>>;
  readonly lines: readonly string[];
}

/** Runs a plan to its end. `about`: names of which the trace is kept. */
export async function runFleet(
  plan: FleetPlan,
  { product, about = [] }: { readonly product?: Partial<FleetProduct>; readonly about?: readonly string[] } = {},
): Promise<FleetOutcome> {
  const world = new FleetWorld(plan, product, new Trace(about));
  const { ledger, site, bridges, functions, time } = world;
  const began = time.now();
  for (const { happening } of plan.acts) world.faults.count(`act ${happening}`);
  for (const { doing } of plan.objects.flatMap(({ doings }) => doings)) world.faults.count(`person ${doing}`);
  const acts: WorldActs = { ledger, site, bridges, functions, stall: () => world.stall() };
  for (const rule of plan.rules) site.createRule(rule);
  bridges.start();
  await world.run(BEGIN_MS);
  for (const object of plan.objects) scheduleObject({ ledger, site }, object);
  for (const act of plan.acts) time.after(act.at, () => happen(acts, act));
  await world.run(plan.weather.calmAt);
  await endWell(world, acts);
  bridges.end();
  const copied = [...world.requests, world.results].reduce((sum, queue) => sum + queue.copied, 0);
  if (copied > 0) world.faults.count('queue copy', copied);
  if (ledger.beyondSight > 0) world.faults.count('P1 beyond sight', ledger.beyondSight);
  return {
    broken: ledger.broken,
    deletions: ledger.deletions,
    hash: world.trace.hash,
    virtualMs: time.now() - began,
    steps: time.steps,
    faults: world.faults.byName,
    lines: world.trace.lines,
  };
}

/** The faults stop: everything settles, what is held is released, the rules are withdrawn. */
async function endWell(world: FleetWorld, acts: WorldActs): Promise<void> {
  const { ledger, site } = world;
  world.calm();
  if (site.chart !== undefined && world.isRightless) {
    await world.run(SAID_MS);
    checkRightless(ledger, site.chart);
    world.mend();
  }
  mendRules(acts);
  await world.run(QUIET_MS);
  checkSettled(ledger, await settleInTheEnd(world));
  await world.run(QUIET_MS);
  checkBooks(ledger, world.bridges.acting);
  checkClaims(ledger);
  if (world.site.chart !== undefined) checkNamed(ledger, world.site.chart);
  if (world.plan.weather.isFair) checkCosts(ledger);
  if (ledger.broken.length > 0) return;
  releaseHeld(world);
  if (!(await settle(world))) ledger.note('P4', '', 'what was released is still held');
  await withdrawAll(world);
}

async function settle(world: FleetWorld, ms = PATIENCE_MS): Promise<boolean> {
  return await world.run(ms, () => world.isSettled());
}

/**
 * Who stands by has nothing to do once the faults have ended, and would look at the lease every second for hours. Two that both
 * lead share the answers: one hears that nothing was found, the other one only that no answer came, and each writes
 * its record over the other's. That they do so without end is no fault of the product's: then one of them is left, as by a lease.
 */
async function settleInTheEnd(world: FleetWorld): Promise<boolean> {
  const { leaders } = world.plan.weather;
  if (leaders === 'two' && (await settle(world, SHARED_MS))) return true;
  if (leaders !== 'one') world.bridges.leaveOne();
  return await settle(world);
}

/** V7: out of every held state a release leads. */
function releaseHeld({ ledger }: FleetWorld): void {
  for (const hold of ledger.holds.values()) {
    if (hold.off !== undefined || !ledger.objects.has(hold.uid)) continue;
    ledger.open.add(hold);
    releaseHold(ledger, hold, hold.uid);
  }
}

/** P9: every rule goes, and nobody carries an entry any more; K25: whoever comes while they go is freed of it as well. */
async function withdrawAll(world: FleetWorld): Promise<void> {
  const { ledger, server, site, plan, time } = world;
  site.leave();
  for (const { name } of plan.rules) server.delete(rulePath(name), 'author');
  plan.objects.slice(0, LATECOMERS).forEach((object, index) => {
    const late = { ...object, index: plan.objects.length + index, things: [], doings: [], isRetained: false };
    time.after((index + 1) * LATECOMERS_EVERY_MS, () => createObject({ ledger, site }, late));
  });
  const areGone = () => plan.rules.every(({ name }) => server.get(rulePath(name)) === undefined);
  if (!(await world.run(HOUR, areGone))) {
    const left = plan.rules.filter(({ name }) => server.get(rulePath(name)) !== undefined);
    ledger.note('P9', '', `not withdrawn within an hour: ${left.map(({ name }) => name).join(', ')}`);
  }
  // Whoever is still to come finds out whether the rules went too soon.
  await world.run(MINUTE);
  if (site.chart !== undefined) checkLeft(ledger, site.chart);
  for (const [rule, carriers] of ledger.carriers) {
    if (carriers > 0) ledger.note('P9', '', `${carriers} objects still carry the entry of ${rule}`);
  }
}
