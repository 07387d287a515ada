/*
 * `npm run simulate -- --seed N --deletions M [--workers W] [--json]`: runs worlds of many deletions under faults in worker
 * threads, every promise checked, until M deletions are done. A world that fails is made small and its trace printed. The
 * exit status is 1 when any promise was broken. Started by infra/boot.mjs.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type WorldOrder, type WorldReport, worldsOf } from './fleet/batch.ts';
import { drawPlan } from './fleet/draw.ts';
import { shrink } from './fleet/shrink.ts';

const DEFAULTS = { seed: '1', deletions: '10000' } as const;
const SHOWN_MAX = 3;

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
      workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
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

/** Hands the worlds to the threads, each the next one when it is done. */
async function runAll(orders: readonly WorldOrder[], workers: number): Promise<readonly WorldReport[]> {
  const waiting = [...orders];
  const reports: WorldReport[] = [];
  const thread = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(join(import.meta.dirname, 'simulate-worker.ts'));
      const next = () => {
        const order = waiting.shift();
        if (order !== undefined) worker.postMessage(order);
        else void worker.terminate().then(() => resolve());
      };
      worker.on('error', reject);
      worker.on('message', (report: WorldReport) => {
        reports.push(report);
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: Math.min(workers, orders.length) }, thread));
  return reports.sort((one, other) => one.seed - other.seed);
}

/** One number for the whole run: it is the same when every world was the same. */
function hashOf(reports: readonly WorldReport[]): string {
  const text = reports.map(({ seed, hash }) => `${seed} ${hash}`).join('\n');
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** What a failing world comes down to. */
async function explain({ seed, deletions, broken }: WorldReport): Promise<string> {
  const [promise = 'P4'] = (broken[0] ?? '').split(':');
  const { plan, outcome, runs } = await shrink(drawPlan(seed, deletions), { promise });
  const { objects, acts, weather } = plan;
  return [
    `world ${seed} of ${deletions} objects breaks ${promise}; replay: npm run simulate -- --world --seed ${seed} --deletions ${deletions}`,
    ...broken.map((text) => `  ${text}`),
    `made small in ${runs} runs: ${objects.length} objects, ${acts.length} acts`,
    `  weather ${JSON.stringify(weather)}`,
    ...objects.map((object) => `  object ${JSON.stringify(object)}`),
    ...acts.map((act) => `  act ${JSON.stringify(act)}`),
    ...outcome.broken.map(({ promise: broke, what }) => `  broken ${broke}: ${what}`),
    ...outcome.lines.map((line) => `    ${line}`),
  ].join('\n');
}

const { seed, deletions, workers, json, world } = asked();
const began = process.hrtime.bigint();
const reports = await runAll(world ? [{ seed, deletions }] : worldsOf(seed, deletions), workers);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const { user, system } = process.cpuUsage();
const deleted = reports.reduce((sum, report) => sum + report.deleted, 0);
const failing = reports.filter(({ broken }) => broken.length > 0);
const figures = {
  ...{ seed, worlds: reports.length, deletions: deleted, failing: failing.length, hash: hashOf(reports) },
  ...{ seconds: Math.round(seconds), cpuSeconds: Math.round((user + system) / 1e6) },
  virtualDays: Math.round(reports.reduce((sum, report) => sum + report.virtualMs, 0) / 86_400_000),
};
if (json) {
  process.stdout.write(`${JSON.stringify({ ...figures, broken: failing })}\n`);
} else {
  const said = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`${said.join(', ')}\n`);
  for (const report of failing.slice(0, SHOWN_MAX)) process.stdout.write(`\n${await explain(report)}\n`);
}
process.exitCode = failing.length > 0 ? 1 : 0;
