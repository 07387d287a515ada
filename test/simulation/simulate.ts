/*
 * `npm run simulate -- --seed N --deletions M [--workers W] [--shrink S] [--json]`: runs worlds of many deletions under faults in
 * worker threads, every promise checked, until M deletions are done. Tells which worlds failed, and then makes the first ones small
 * for S seconds each. The exit status is 1 when any promise was broken. Started by infra/boot.mjs. Interrupted, it tells of the
 * worlds that have ended.
 */
import { availableParallelism } from 'node:os';
import { runCommand } from '../../infra/command.ts';
import { explain, faultOf } from './explain.ts';
import { runWorld, type WorldReport } from './fleet/batch.ts';
import { readOptions, type SimulationOptions, USAGE } from './options.ts';
import { failingOf, jsonOf, tableOf } from './summary.ts';
import { runInThreads } from './threads.ts';

const SHOWN_MAX = 3;
/** What a process that was ended by a signal has as its exit status. */
const INTERRUPTED = { SIGINT: 130, SIGTERM: 143 } as const;
const PROGRESS_EVERY_MS = 5_000;

/** Makes failing worlds small, one after the other; interrupted, it prints what is left so far and ends. */
async function explainAll(failing: readonly WorldReport[], seconds: number): Promise<void> {
  let soFar = '';
  const interrupted = () => {
    process.stdout.write(`\n${soFar}\ninterrupted: it may go smaller\n`);
    process.exit(1);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  for (const report of failing.slice(0, SHOWN_MAX)) {
    soFar = faultOf(report);
    process.stderr.write(`making world ${report.seed} small, for ${seconds} s and the attempt that runs then\n`);
    const until = Date.now() + seconds * 1_000;
    const onSmaller = (text: string) => {
      soFar = text;
    };
    process.stdout.write(`\n${await explain(report, { isOver: () => Date.now() >= until, onSmaller })}\n`);
  }
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
}

/** A line now and then of how far it is. */
function progressOf(deletions: number): (report: WorldReport) => void {
  const began = Date.now();
  let [said, deleted, worlds, failing] = [began, 0, 0, 0];
  return (report) => {
    deleted += report.deleted;
    worlds += 1;
    failing += report.broken.length > 0 ? 1 : 0;
    if (report.broken.length > 0) process.stderr.write(`${faultOf(report)}\n`);
    const now = Date.now();
    if (now - said < PROGRESS_EVERY_MS) return;
    said = now;
    const seconds = Math.round((now - began) / 1000);
    process.stderr.write(`${deleted} of ${deletions} deletions, ${worlds} worlds, ${failing} failing, ${seconds} s\n`);
  };
}

/** What to do when the run is interrupted; returns what ends that again. A thread that is at work in a world is ended with the process. */
function onInterruption(tell: () => void): () => void {
  const ends = Object.entries(INTERRUPTED).map(([signal, status]) => {
    const end = () => {
      tell();
      process.exit(status);
    };
    process.once(signal, end);
    return () => void process.off(signal, end);
  });
  return () => {
    for (const end of ends) end();
  };
}

/** Runs what is asked for; one that is interrupted tells what has ended so far, and ends the process. */
async function run(
  { seed, deletions, workers, world }: SimulationOptions,
  tell: (reports: readonly WorldReport[], isInterrupted: boolean) => void,
): Promise<readonly WorldReport[]> {
  // While its only world runs this thread hears no signal: by that it ends at once.
  if (world) return [await runWorld({ seed, deletions })];
  const progress = progressOf(deletions);
  const ended: WorldReport[] = [];
  const onWorld = (report: WorldReport) => {
    ended.push(report);
    progress(report);
  };
  const end = onInterruption(() => tell(ended, true));
  try {
    return await runInThreads({ seed, deletions, workers, onWorld });
  } finally {
    end();
  }
}

async function simulate(options: SimulationOptions): Promise<number> {
  const { seed, json, shrinkSeconds } = options;
  const began = process.hrtime.bigint();
  const tell = (reports: readonly WorldReport[], isInterrupted: boolean) => {
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    const { user, system } = process.cpuUsage();
    const summed = { seed, reports, seconds, cpuSeconds: (user + system) / 1e6, isInterrupted };
    process.stdout.write(json ? jsonOf(summed) : tableOf(summed));
    if (!json) for (const report of failingOf(reports)) process.stdout.write(`\n${faultOf(report)}\n`);
  };
  const reports = await run(options, tell);
  tell(reports, false);
  const failing = failingOf(reports);
  if (!json && shrinkSeconds > 0) await explainAll(failing, shrinkSeconds);
  return failing.length > 0 ? 1 : 0;
}

await runCommand({
  usage: USAGE,
  read: (args) => readOptions(args, availableParallelism()),
  run: simulate,
});
