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

/**
 * Runs worlds until so many deletions are done; resolves to the worlds that count, in order of their seeds. What still runs
 * then can count no more and is ended.
 */
export async function runInThreads({ seed, deletions, workers, onWorld }: Run): Promise<readonly WorldReport[]> {
  const orders = worldsFrom(seed, deletions);
  const reports = new Map<number, WorldReport>();
  const threads = Array.from({ length: workers }, () => startThread());
  let deleted = 0;
  const counted = new Promise<readonly WorldReport[]>((resolve, reject) => {
    for (const thread of threads) {
      // Worlds are handed out in order: once those that have ended suffice, a later one can never count.
      const next = () => {
        if (deleted < deletions) thread.postMessage(orders.next().value);
      };
      thread.on('error', reject);
      thread.on('message', (report: WorldReport) => {
        reports.set(report.seed, report);
        deleted += report.deleted;
        onWorld?.(report);
        const first = enough(reports, seed, deletions);
        if (first === undefined) next();
        else resolve(first);
      });
      next();
    }
  });
  try {
    return await counted;
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

function startThread(): Worker {
  return new Worker(join(import.meta.dirname, 'simulate-worker.ts'), {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
}
