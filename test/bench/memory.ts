/*
 * The scenes of the benchmarks about memory: a bridge that starts over many live objects, one that stands by, and one that
 * finds a large backlog of deletions while the queue does not answer. Run by run.ts when asked for, since making objects takes minutes.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Say } from '../../infra/local/progress.ts';
import type { Made } from './objects.ts';
import type { Candidate } from './options.ts';
import type { Figures, Setting } from './scenes.ts';
import type { Contender } from './stage.ts';
import { cpuMs, memoryMb } from './usage.ts';

/** How long the queue stays silent once the bridge knows of the whole backlog. */
const SILENT_MS = 20_000;
const POLL_MS = 100;

/** Runs the scenes, every candidate over the same live objects; tells of each, since one takes minutes. */
export async function memoryOf(
  setting: Setting,
  all: readonly Candidate[],
  say: Say,
): Promise<ReadonlyMap<string, Readonly<Record<string, Figures>>>> {
  const { objects, name, options } = setting;
  const candidates = all.filter(({ peer }) => peer === undefined);
  const measured = new Map<string, Record<string, Figures>>(candidates.map((candidate) => [candidate.name, {}]));
  const inTurn = async (scene: string, run: (candidate: Candidate) => Promise<Figures>) => {
    for (const candidate of candidates) {
      const figures = await run(candidate);
      say(`${scene}, ${candidate.name}: ${JSON.stringify(figures)}`);
      const own = measured.get(candidate.name);
      if (own !== undefined) own[scene] = figures;
    }
  };
  let live: readonly Made[] = [];
  for (const count of options.live) {
    live = [...live, ...(await objects.create(`${name}-live${count}`, count - live.length))];
    await inTurn(`${count} live`, (candidate) => overLive(setting, candidate));
  }
  await inTurn('standing by', (candidate) => standingBy(setting, candidate));
  await inTurn(`backlog of ${options.backlog}`, async (candidate) => {
    const backlog = await objects.create(`${name}-backlog${candidates.indexOf(candidate)}`, options.backlog);
    return await overBacklog(setting, candidate, backlog);
  });
  return measured;
}

/** Start-up and memory over the objects that are there. */
async function overLive({ stage }: Setting, candidate: Candidate): Promise<Figures> {
  const began = performance.now();
  const bridge = await stage.start(candidate);
  await bridge.ready(120_000);
  const readyMs = performance.now() - began;
  const figures = { readyMs, startCpuMs: cpuMs(bridge.pid) };
  // What was garbage at the start is as good as memory until somebody needs it.
  await wait(SILENT_MS / 4);
  const { now, peak } = memoryMb(bridge.pid);
  await bridge.stop();
  return { ...figures, nowMb: now, peakMb: peak };
}

/** Memory of a bridge that stands by beside one that leads, over the objects that are there. */
async function standingBy({ stage }: Setting, candidate: Candidate): Promise<Figures> {
  const leader = await stage.start(candidate);
  await leader.ready(120_000);
  const standby = await stage.start(candidate);
  await standby.ready(120_000, 'standby');
  await wait(SILENT_MS / 4);
  const { now, peak } = memoryMb(standby.pid);
  await standby.stop();
  await leader.stop();
  return { nowMb: now, peakMb: peak };
}

/** Objects deleted while no bridge runs, found by a bridge whose queue does not answer, which then comes back. */
async function overBacklog(
  { stage, objects }: Setting,
  candidate: Candidate,
  backlog: readonly Made[],
): Promise<Figures> {
  await objects.delete(backlog);
  process.kill(stage.queues.pid, 'SIGSTOP');
  const watching = await objects.watch();
  try {
    const bridge = await stage.start(candidate);
    await bridge.ready(120_000);
    while ((await bridge.pending()) < backlog.length) await wait(POLL_MS);
    await wait(SILENT_MS);
    const silentMb = memoryMb(bridge.pid).peak;
    process.kill(stage.queues.pid, 'SIGCONT');
    const begun = { at: performance.now(), cpu: cpuMs(bridge.pid) };
    await Promise.race([watching.more(backlog.length), endOf(bridge)]);
    const seconds = (performance.now() - begun.at) / 1000;
    const cpu = (cpuMs(bridge.pid) - begun.cpu) / backlog.length;
    const { now, peak } = memoryMb(bridge.pid);
    await bridge.stop();
    return { perSecond: backlog.length / seconds, cpuMs: cpu, silentMb, peakMb: peak, nowMb: now };
  } finally {
    process.kill(stage.queues.pid, 'SIGCONT');
    watching.stop();
  }
}

/** Rejects when a bridge ends by itself. */
async function endOf(bridge: Contender): Promise<never> {
  const code = await bridge.exited;
  throw new Error(`waiting for a backlog to go: the bridge ended with code ${code}`);
}
