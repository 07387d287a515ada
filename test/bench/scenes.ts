/*
 * The scenes of the benchmarks: a burst of deletions, a backlog that a bridge finds at its start, deletions at a steady
 * pace, and the floor, which is the same PATCH by a plain client. Run by run.ts; each gives figures, none judges them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Made, Objects } from './objects.ts';
import type { BenchOptions, Candidate } from './options.ts';
import { CPU_OF } from './report.ts';
import type { Calls, Contender, Stage } from './stage.ts';
import { cpuMs, memoryMb } from './usage.ts';

/** Names a figure; its unit is part of the name. */
export type Figures = Readonly<Record<string, number>>;

/** What scenes have in common. */
export interface Setting {
  readonly stage: Stage;
  readonly objects: Objects;
  readonly options: BenchOptions;
  /** Unique in a run; names of objects begin with it. */
  readonly name: string;
}

const PER_SECOND = 50;

/** Bare PATCHes by a plain client of objects that are being deleted. */
export async function floor({ objects, options, name }: Setting): Promise<Figures> {
  const made = await objects.create(`${name}-floor`, options.deletions);
  await objects.delete(made);
  const cpu = process.cpuUsage();
  const began = performance.now();
  await objects.free(made);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: made.length / seconds, cpuMs: (user + system) / 1000 / made.length };
}

/** Runs the scenes that are asked for, by name. */
export async function scenesOf(setting: Setting, candidate: Candidate): Promise<Readonly<Record<string, Figures>>> {
  const { scenes } = setting.options;
  const onWarm = scenes.has('saturated') || scenes.has('paced') ? await onWarmBridge(setting, candidate) : {};
  return { ...onWarm, ...(scenes.has('drain') ? { drain: await drain(setting, candidate) } : {}) };
}

/** A burst of deletions on a warm bridge, then deletions at a steady pace. */
async function onWarmBridge(setting: Setting, candidate: Candidate): Promise<Readonly<Record<string, Figures>>> {
  const { stage, objects, options, name } = setting;
  const bridge = await stage.start(candidate);
  await bridge.ready();
  const startMb = memoryMb(bridge.pid).now;
  const warm = await objects.create(`${name}-warm`, options.warm);
  await measured(setting, bridge, { made: warm, act: () => objects.delete(warm) });
  const figures: Record<string, Figures> = {};
  if (options.scenes.has('saturated')) {
    const made = await objects.create(`${name}-burst`, options.deletions);
    const burst = await measured(setting, bridge, { made, act: () => objects.delete(made) });
    // A peer does not tell when it has started.
    const own = candidate.peer === undefined ? { startMb } : {};
    figures.saturated = { ...burst, ...own, peakMb: memoryMb(bridge.pid).peak };
  }
  if (options.scenes.has('paced')) {
    const made = await objects.create(`${name}-slow`, options.pacedSeconds * PER_SECOND);
    figures.paced = await measured(setting, bridge, { made, act: () => deleteAtPace(objects, made) });
  }
  await bridge.stop();
  return figures;
}

/** Objects that were deleted while no bridge ran. */
async function drain(setting: Setting, candidate: Candidate): Promise<Figures> {
  const { stage, objects, options, name } = setting;
  const made = await objects.create(`${name}-drain`, options.deletions);
  await objects.delete(made);
  const watching = await objects.watch();
  const before = await stage.calls();
  const bridge = await stage.start(candidate);
  try {
    await watching.more(1);
    const begun = { at: performance.now(), cpu: cpuOf(stage, bridge), gone: watching.gone.size };
    await watching.more(made.length - begun.gone);
    const count = watching.gone.size - begun.gone;
    const cpu = cpuBetween(begun.cpu, cpuOf(stage, bridge), count);
    const seconds = (performance.now() - begun.at) / 1000;
    const calls = callsBetween(before, await stage.calls(), made.length);
    return { perSecond: count / seconds, ...cpu, ...calls, peakMb: memoryMb(bridge.pid).peak };
  } finally {
    watching.stop();
    await bridge.stop();
  }
}

interface Deleting {
  readonly made: readonly Made[];
  /** Resolves to when each was asked for, in monotonic ms, where that is of interest. */
  act(): Promise<unknown>;
}

/** Deletes and waits until all are gone; figures are per deletion. */
async function measured({ stage, objects }: Setting, bridge: Contender, { made, act }: Deleting): Promise<Figures> {
  const watching = await objects.watch();
  try {
    const before = { calls: await stage.calls(), cpu: cpuOf(stage, bridge), at: performance.now() };
    const all = watching.more(made.length);
    const asked = await act();
    await all;
    const seconds = (performance.now() - before.at) / 1000;
    const cpu = cpuBetween(before.cpu, cpuOf(stage, bridge), made.length);
    const calls = callsBetween(before.calls, await stage.calls(), made.length);
    return {
      ...{ perSecond: made.length / seconds, ...cpu, ...calls },
      ...(asked instanceof Map ? latencies(asked, watching.gone) : {}),
    };
  } finally {
    watching.stop();
  }
}

/** Resolves to when each was asked for, in monotonic ms. */
async function deleteAtPace(objects: Objects, made: readonly Made[]): Promise<ReadonlyMap<string, number>> {
  const asked = new Map<string, number>();
  const began = performance.now();
  const deleting: Promise<unknown>[] = [];
  for (const [index, object] of made.entries()) {
    const early = began + (index * 1000) / PER_SECOND - performance.now();
    if (early > 0) await wait(early);
    asked.set(object.name, performance.now());
    deleting.push(objects.deleteOne(object));
  }
  await Promise.all(deleting);
  return asked;
}

function latencies(asked: ReadonlyMap<string, number>, gone: ReadonlyMap<string, number>): Figures {
  const took = [...asked].map(([name, at]) => (gone.get(name) ?? Number.NaN) - at).toSorted((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** CPU of each process; the contender's has no name. */
function cpuOf({ others }: Stage, { pid }: Contender): Figures {
  const used = Object.entries(others()).map(([name, other]) => [`${CPU_OF}${name}`, cpuMs(other)]);
  return { cpuMs: cpuMs(pid), ...Object.fromEntries(used) };
}

function cpuBetween(before: Figures, after: Figures, count: number): Figures {
  return Object.fromEntries(
    Object.entries(after).map(([name, used]) => [name, (used - (before[name] ?? Number.NaN)) / count]),
  );
}

function callsBetween(before: Calls, after: Calls, count: number): Figures {
  const of = (key: keyof Calls) => (after[key] - before[key]) / count;
  return {
    ...{ gets: of('gets'), patches: of('patches'), bridgeQueueCalls: of('bridge') },
    ...{ allQueueCalls: of('bridge') + of('function'), emptyPolls: after.bridgeEmpty - before.bridgeEmpty },
  };
}
