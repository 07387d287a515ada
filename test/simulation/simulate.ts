/*
 * `npm run simulate -- --seed N --deletions M [--workers W] [--shrink S] [--json]`: runs worlds of many deletions under faults in
 * worker threads, every promise checked, until M deletions are done. Tells which worlds failed, and then makes the first ones small
 * for S seconds each. The exit status is 1 when any promise was broken. Started by infra/boot.mjs.
 */
import { availableParallelism } from 'node:os';
import { runCommand } from '../../infra/command.ts';
import { explain, faultOf } from './explain.ts';
import { runWorld, type WorldReport } from './fleet/batch.ts';
import { Tally } from './fleet/tally.ts';
import { readOptions, type SimulationOptions, USAGE } from './options.ts';
import { runInThreads } from './threads.ts';

const SHOWN_MAX = 3;
const PROGRESS_EVERY_MS = 5_000;

/** One number for the whole run: it is the same when every world was the same. */
function hashOf(reports: readonly WorldReport[]): string {
  const text = reports.map(({ seed, hash }) => `${seed} ${hash}`).join('\n');
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

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

function tableOf(rows: readonly (readonly [string, string | number])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

async function simulate(options: SimulationOptions): Promise<number> {
  const { seed, deletions, workers, json, world, shrinkSeconds } = options;
  const began = process.hrtime.bigint();
  const onWorld = progressOf(deletions);
  const reports = world
    ? [await runWorld({ seed, deletions })]
    : await runInThreads({ seed, deletions, workers, onWorld });
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const sum = (of: (report: WorldReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const deleted = sum((report) => report.deleted);
  const failing = reports.filter(({ broken }) => broken.length > 0);
  const faults = new Tally();
  for (const report of reports) faults.add(report.faults);
  const figures = {
    ...{ seed, worlds: reports.length, deletions: deleted, failing: failing.length, hash: hashOf(reports) },
    ...{ seconds: Math.round(seconds), cpuSeconds: Math.round(cpuSeconds) },
    cpuSecondsPerThousand: Number(((1000 * cpuSeconds) / deleted).toFixed(2)),
    virtualDays: Number((sum(({ virtualMs }) => virtualMs) / 86_400_000).toFixed(1)),
    steps: sum(({ steps }) => steps),
  };
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...figures, faults: faults.byName, broken: failing })}\n`);
  } else {
    process.stdout.write(tableOf([...Object.entries(figures), ...Object.entries(faults.byName)]));
    for (const report of failing) process.stdout.write(`\n${faultOf(report)}\n`);
    if (shrinkSeconds > 0) await explainAll(failing, shrinkSeconds);
  }
  return failing.length > 0 ? 1 : 0;
}

await runCommand({
  usage: USAGE,
  read: (args) => readOptions(args, availableParallelism()),
  run: simulate,
});
