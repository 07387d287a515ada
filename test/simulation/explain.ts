/*
 * What a failing world is told by: at once how to replay it, and later what it comes down to. Called by simulate.ts, which prints
 * the former as soon as a world has failed; making it small takes minutes, so it has a time, and can be interrupted.
 */
import type { WorldReport } from './fleet/batch.ts';
import { drawPlan } from './fleet/draw.ts';
import type { FleetProduct } from './fleet/fleet-bridges.ts';
import type { FleetPlan } from './fleet/plan.ts';
import { shrink } from './fleet/shrink.ts';

/** How long a world is made small, and for whom. */
export interface Explaining {
  /** Asked before each attempt; the one that runs is ended. */
  isOver(): boolean;
  /** Told what is left so far, each time that it is less. */
  onSmaller?(text: string): void;
  readonly product?: Partial<FleetProduct>;
}

/** What a world broke, and how to see it again. */
export function faultOf({ seed, deletions, broken }: WorldReport): string {
  return `world ${seed} of ${deletions} objects breaks ${broken.join('; ')}; replay: npm run simulate -- --world --seed ${seed} --deletions ${deletions}`;
}

/** What a failing world comes down to, with the trace of the objects concerned. */
export async function explain({ seed, deletions, broken }: WorldReport, explaining: Explaining): Promise<string> {
  const [promise = 'P4'] = (broken[0] ?? '').split(':');
  const { isOver, onSmaller, product } = explaining;
  const { plan, outcome, runs, isSmallest } = await shrink(drawPlan(seed, deletions), {
    ...{ promise, isOver, said: broken.filter((text) => text.startsWith(`${promise}:`)) },
    ...(product === undefined ? {} : { product }),
    ...(onSmaller && { onSmaller: (smaller) => onSmaller(textOf(seed, smaller)) }),
  });
  const ending = isSmallest ? '' : '; there was no time for the rest, it may go smaller';
  return [
    `${textOf(seed, plan)}`,
    `  made small in ${runs} runs${ending}`,
    ...outcome.broken.map(({ promise: broke, what }) => `  broken ${broke}: ${what}`),
    ...outcome.lines.map((line) => `    ${line}`),
  ].join('\n');
}

/** More objects than this are counted only. */
const SHOWN_MAX = 50;

function textOf(seed: number, { objects, acts, weather }: FleetPlan): string {
  const more = objects.length > SHOWN_MAX ? [`  and ${objects.length - SHOWN_MAX} objects more`] : [];
  return [
    `world ${seed} comes down to ${objects.length} objects and ${acts.length} acts`,
    `  weather ${JSON.stringify(weather)}`,
    ...objects.slice(0, SHOWN_MAX).map((object) => `  object ${JSON.stringify(object)}`),
    ...more,
    ...acts.map((act) => `  act ${JSON.stringify(act)}`),
  ].join('\n');
}
