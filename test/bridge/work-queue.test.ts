/*
 * The per-object queue over virtual time: one run of a key at a time, many causes one run, back-off per key.
 * A test sees each run begin and ends it by hand.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { backoff, WorkQueue } from '../../bridge/work-queue.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { holds } from '../support/property.ts';

/** Runs that a test begins to see and ends by hand. */
class Bench {
  readonly clock = new ManualClock();
  readonly begun: string[] = [];
  readonly failures: { readonly key: string; readonly failures: number }[] = [];
  readonly queue: WorkQueue;
  readonly #open = new Map<string, PromiseWithResolvers<number | undefined>>();

  constructor(concurrency = 8, random = 1) {
    this.queue = new WorkQueue({
      ...{ clock: this.clock, concurrency, random: () => random },
      run: (key) => {
        if (this.#open.has(key)) throw new Error(`${key} runs twice at once`);
        this.begun.push(key);
        const run = Promise.withResolvers<number | undefined>();
        this.#open.set(key, run);
        return run.promise.finally(() => this.#open.delete(key));
      },
      onFailure: (key, _error, failures) => void this.failures.push({ key, failures }),
    });
  }

  async end(key: string, wakeAt?: number): Promise<void> {
    this.#open.get(key)?.resolve(wakeAt);
    await settled();
  }

  async fail(key: string, error: unknown = new Error('no')): Promise<void> {
    this.#open.get(key)?.reject(error);
    await settled();
  }
}

describe('a key', () => {
  it('never runs twice at once, however often it is added', async () => {
    const bench = new Bench();
    for (let times = 0; times < 3; times += 1) bench.queue.add('a');
    await settled();
    expect(bench.begun).toEqual(['a']);
    expect(bench.queue.depth).toBe(1);
    expect(bench.failures).toEqual([]);
  });

  it('that is added while it runs runs once more, from the start', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    bench.queue.add('a');
    bench.queue.add('a');
    await bench.end('a');
    expect(bench.begun).toEqual(['a', 'a']);
    await bench.end('a');
    expect(bench.begun).toEqual(['a', 'a']);
    expect(bench.queue.depth).toBe(0);
  });

  it('waits its turn when all places are taken, and many causes are one run', async () => {
    const bench = new Bench(2);
    for (const key of ['a', 'b', 'c', 'c', 'd', 'c']) bench.queue.add(key);
    expect(bench.begun).toEqual(['a', 'b']);
    expect(bench.queue.depth).toBe(4);
    await bench.end('b');
    await bench.end('a');
    expect(bench.begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('runs again when its run said, and not before', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    await bench.end('a', bench.clock.now() + 5_000);
    await bench.clock.advance(4_999);
    expect(bench.begun).toEqual(['a']);
    await bench.clock.advance(1);
    expect(bench.begun).toEqual(['a', 'a']);
  });

  it('keeps the earliest time it is to be looked at, and a past one means now', async () => {
    const bench = new Bench();
    bench.queue.addAt('a', bench.clock.now() + 5_000);
    bench.queue.addAt('a', bench.clock.now() + 9_000);
    bench.queue.addAt('a', bench.clock.now() + 2_000);
    expect(bench.clock.due).toEqual([2_000]);
    bench.queue.addAt('b', bench.clock.now() - 60_000);
    await bench.clock.advance(0);
    expect(bench.begun).toEqual(['b']);
  });

  it('never disturbs another that fails (P10)', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    bench.queue.add('b');
    await bench.fail('a');
    await bench.end('b', bench.clock.now() + 10);
    await bench.clock.advance(10);
    expect(bench.begun).toEqual(['a', 'b', 'b']);
  });
});

describe('a run that fails', () => {
  it('is tried again with growing pauses, up to half a minute, and counted', async () => {
    const bench = new Bench(8, 0.999_999);
    bench.queue.add('a');
    const pauses: number[] = [];
    for (let failures = 1; failures <= 10; failures += 1) {
      await bench.fail('a');
      const [pause = 0] = bench.clock.due;
      pauses.push(Math.round(pause));
      expect(bench.failures.at(-1)).toEqual({ key: 'a', failures });
      await bench.clock.advance(pause);
      expect(bench.begun).toHaveLength(failures + 1);
    }
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('begins to count anew after a run that succeeded', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    await bench.fail('a');
    await bench.clock.advance(1_000);
    await bench.end('a');
    bench.queue.add('a');
    await bench.fail('a');
    expect(bench.failures).toEqual([
      { key: 'a', failures: 1 },
      { key: 'a', failures: 1 },
    ]);
  });

  it('waits at least as long as the API server asked (K13)', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    await bench.fail('a', new ApiError('getting a', 429, { retryAfter: 7_000 }));
    expect(bench.clock.due).toEqual([7_000]);
    await bench.clock.advance(7_000);
    await bench.fail('a', new ApiError('getting a', 503, { retryAfter: 1 }));
    expect(bench.clock.due).toEqual([400]);
  });

  it('runs at once when something new is seen meanwhile', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    await bench.fail('a');
    bench.queue.add('a');
    expect(bench.begun).toEqual(['a', 'a']);
  });

  it('is forgotten when its work is over', async () => {
    const bench = new Bench();
    bench.queue.add('a');
    await bench.fail('a');
    bench.queue.forget('a');
    await bench.clock.advance(60_000);
    expect(bench.begun).toEqual(['a']);
    bench.queue.add('a');
    await bench.fail('a');
    expect(bench.failures.at(-1)).toEqual({ key: 'a', failures: 1 });
  });
});

describe('stopping', () => {
  it('begins nothing new, and waits for what runs', async () => {
    const bench = new Bench(1);
    bench.queue.add('a');
    bench.queue.add('a');
    bench.queue.add('b');
    bench.queue.addAt('c', bench.clock.now() + 10);
    let isStopped = false;
    const stopped = bench.queue.stop().then(() => {
      isStopped = true;
    });
    await settled();
    expect(isStopped).toBe(false);
    await bench.end('a', bench.clock.now() + 10);
    await stopped;
    bench.queue.add('d');
    bench.queue.addAt('e', bench.clock.now() + 10);
    expect(bench.clock.due).toEqual([]);
    await bench.clock.advance(1_000);
    expect(bench.begun).toEqual(['a']);
  });

  it('is over at once when nothing runs', async () => {
    const bench = new Bench();
    await bench.queue.stop();
    expect(bench.queue.depth).toBe(0);
  });
});

describe('back-off', () => {
  it('lies between half and the whole of a doubling pause, never over half a minute', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    holds(
      fc.property(fc.integer({ min: 1, max: 5_000 }), random, (failures, chance) => {
        const pause = backoff(failures, () => chance);
        const whole = Math.min(30_000, 200 * 2 ** (failures - 1));
        expect(pause).toBeGreaterThanOrEqual(whole / 2);
        expect(pause).toBeLessThanOrEqual(whole);
      }),
    );
  });
});
