/*
 * `npm run simulate -- --seed N --deletions M [--workers W] [--json]`: runs worlds of many deletions under faults in worker
 * threads, every promise checked, until M deletions are done. A world that fails is made small and its trace printed. The
 * exit status is 1 when any promise was broken. Started by infra/boot.mjs.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runWorld, type WorldReport } from './fleet/batch.ts';
import { drawPlan } from './fleet/draw.ts';
import { shrink } from './fleet/shrink.ts';
import { Tally } from './fleet/tally.ts';
import { runInThreads } from './threads.ts';

const DEFAULTS = { seed: '1', deletions: '10000' } as const;
const SHOWN_MAX = 3;
const PROGRESS_EVERY_MS = 5_000;

interface Asked {
  readonly seed: number;
  readonly deletions: number;
  readonly workers: number;
  readonly json: boolean;
  readonly world: boolean;
}

function asked(): Asked {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: DEFAULTS.seed },
      deletions: { type: 'string', default: DEFAULTS.deletions },
      workers: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      world: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'seed' | 'deletions' | 'workers') => {
    const value = Number(values[name]);
    if (!Number.isSafeInteger(value) || value < 1) throw new Error(`reading --${name}: expected a whole number from 1`);
    return value;
  };
  const { json, world } = values;
  return { seed: number('seed'), deletions: number('deletions'), workers: number('workers'), json, world };
}

/** One number for the whole run: it is the same when every world was the same. */
function hashOf(reports: readonly WorldReport[]): string {
  const text = reports.map(({ seed, hash }) => `${seed} ${hash}`).join('\n');
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** What a world broke, and how to see it again. */
function faultOf({ seed, deletions, broken }: WorldReport): string {
  return `world ${seed} of ${deletions} objects breaks ${broken.join('; ')}; replay: npm run simulate -- --world --seed ${seed} --deletions ${deletions}`;
}

/** What a failing world comes down to. */
async function explain(report: WorldReport): Promise<string> {
  const { seed, deletions, broken } = report;
  const [promise = 'P4'] = (broken[0] ?? '').split(':');
  const { plan, outcome, runs } = await shrink(drawPlan(seed, deletions), { promise });
  const { objects, acts, weather } = plan;
  return [
    faultOf(report),
    `made small in ${runs} runs: ${objects.length} objects, ${acts.length} acts`,
    `  weather ${JSON.stringify(weather)}`,
    ...objects.map((object) => `  object ${JSON.stringify(object)}`),
    ...acts.map((act) => `  act ${JSON.stringify(act)}`),
    ...outcome.broken.map(({ promise: broke, what }) => `  broken ${broke}: ${what}`),
    ...outcome.lines.map((line) => `    ${line}`),
  ].join('\n');
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

const { seed, deletions, workers, json, world } = asked();
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
  for (const report of failing.slice(0, SHOWN_MAX)) process.stdout.write(`\n${await explain(report)}\n`);
}
process.exitCode = failing.length > 0 ? 1 : 0;
