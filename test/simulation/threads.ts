/*
 * The threads of `npm run simulate`: hands out worlds in order, each to the first thread that is free, until enough have ended.
 * Called by simulate.ts and the tests; what counts is chosen by batch.ts, so that the number of threads changes nothing.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { enough, type WorldReport, worldsFrom } from './fleet/batch.ts';

/** Short-lived garbage is what a world mostly makes: room for it, in MB, so that little of it is ever copied. */
const YOUNG_MB = 96;

/** What is to be run. */
export interface Run {
  readonly seed: number;
  readonly deletions: number;
  readonly workers: number;
  /** Told of each world that has ended, in any order. */
  onWorld?(report: WorldReport): void;
}

/** Runs worlds until so many deletions are done; resolves to the worlds that count, in order of their seeds. */
export async function runInThreads({ seed, deletions, workers, onWorld }: Run): Promise<readonly WorldReport[]> {
  const orders = worldsFrom(seed, deletions);
  const reports = new Map<number, WorldReport>();
  const thread = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(join(import.meta.dirname, 'simulate-worker.ts'), {
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      const next = () => {
        if (enough(reports, seed, deletions) === undefined) worker.postMessage(orders.next().value);
        else void worker.terminate().then(() => resolve());
      };
      worker.on('error', reject);
      worker.on('message', (report: WorldReport) => {
        reports.set(report.seed, report);
        onWorld?.(report);
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: workers }, thread));
  return enough(reports, seed, deletions) ?? [];
}
