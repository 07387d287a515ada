/*
 * The promise of a budget under everything that may happen: in no window more deletions than its limit, whatever crashes,
 * however many processes lead at once, and however late within its life each token is used (P5, V21).
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../../bridge/brake.ts';
import { BrakeBench } from '../support/brake-bench.ts';

const MINUTE = 60_000;

/** Two leaders' clocks, each off by up to a minute this way or that. */
const skew = fc.constantFrom(-MINUTE, 0, MINUTE);

/** What happens next: processes ask at once, time passes, one crashes, or somebody else writes the rule's status. */
const happening = fc.oneof(
  {
    weight: 4,
    // How late in their lives the tokens are used: 0 at once, 1 in the last ms.
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      first: fc.nat(12),
      second: fc.nat(12),
      late: fc.constantFrom(0, 0.5, 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 10 * MINUTE }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, MINUTE - 1, MINUTE, MINUTE + 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), which: fc.nat(1), skew }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disturb' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface Plan {
  readonly limit: number;
  readonly windowMinutes: number;
  /** How far the two processes' clocks are off at first; after a crash it may be another. */
  readonly skews: readonly [number, number];
  readonly happenings: readonly Happening[];
}

/** Runs a plan; gives when, in true time, each granted deletion was requested. */
async function requestsOf({ limit, windowMinutes, skews, happenings }: Plan): Promise<readonly number[]> {
  const bench = new BrakeBench(limit, `${windowMinutes}m`);
  const processes = skews.map((ms) => bench.process(ms));
  const requests: number[] = [];
  let turns = 0;
  const use = (grant: Grant, late: number) => {
    if (!grant.ok) return;
    const life = grant.lapsesAt - bench.clock.monotonic();
    requests.push(bench.clock.monotonic() + Math.min(life - 1, Math.floor(late * life)));
  };
  const ask = async (which: number, times: number, late: number) =>
    await Promise.all(
      Array.from({ length: times }, async () => {
        // Losing a race five times is no grant.
        const grant = await processes[which]?.take(bench.rule).catch(() => undefined);
        if (grant !== undefined) use(grant, late);
      }),
    );
  for (const happening of happenings) {
    if (happening.kind === 'ask')
      await Promise.all([ask(0, happening.first, happening.late), ask(1, happening.second, happening.late)]);
    else if (happening.kind === 'pass') await bench.clock.advance(happening.ms);
    else if (happening.kind === 'crash') processes[happening.which] = bench.process(happening.skew);
    else
      bench.cluster.before = ({ verb }) => {
        if (verb !== 'patch') return;
        bench.cluster.before = () => {};
        turns += 1;
        bench.writeStatus({ pending: turns });
      };
  }
  return requests.sort((left, right) => left - right);
}

/** The most requests within any one window. */
function mostWithin(requests: readonly number[], window: number): number {
  let [most, start] = [0, 0];
  for (const [end, at] of requests.entries()) {
    while (at - (requests[start] ?? at) >= window) start += 1;
    most = Math.max(most, end - start + 1);
  }
  return most;
}

const plan = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 13, max: 60 })),
  windowMinutes: fc.integer({ min: 1, max: 20 }),
  skews: fc.tuple(skew, skew),
  happenings: fc.array(happening, { minLength: 5, maxLength: 40 }),
});

describe('a budget', () => {
  it('is never exceeded in any window, by two leaders that crash and race with different clocks (P5, V21)', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (planned) => {
        const requests = await requestsOf(planned);
        expect(mostWithin(requests, planned.windowMinutes * MINUTE)).toBeLessThanOrEqual(planned.limit);
      }),
      { numRuns: 300 },
    );
  });

  it('is not exceeded where the one clock is a minute behind, the other ahead, its tokens used late, those of the other at once (V21)', async () => {
    const ask = (first: number, second: number, late: 0 | 1) => ({ kind: 'ask' as const, first, second, late });
    for (const skews of [
      [-MINUTE, MINUTE],
      [0, 0],
    ] as const) {
      for (let wait = 2 * MINUTE; wait <= 4 * MINUTE; wait += 2_500) {
        for (const ms of [wait - 1, wait]) {
          const pass = { kind: 'pass' as const, ms };
          const happenings = [ask(10, 0, 1), pass, ask(0, 10, 0), ask(10, 0, 0), pass, ask(10, 10, 0)];
          const requests = await requestsOf({ limit: 10, windowMinutes: 2, skews, happenings });
          expect(mostWithin(requests, 2 * MINUTE)).toBe(10);
        }
      }
    }
  });

  it('lets through all that it allows at any pace, by one process that lives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 63 }),
        fc.array(fc.integer({ min: 1, max: 150_000 }), { minLength: 1, maxLength: 24 }),
        async (limit, pauses) => {
          const bench = new BrakeBench(limit);
          let granted = 0;
          for (const pause of pauses) {
            granted += await bench.granted(1);
            await bench.clock.advance(pause);
          }
          expect(granted + (await bench.granted(limit))).toBe(limit);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is used up by one process that asks for it within a minute: nothing is wasted without a crash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        async (limit, asks) => {
          const bench = new BrakeBench(limit);
          let granted = 0;
          for (const times of asks) granted += await bench.granted(times);
          const asked = asks.reduce((sum, times) => sum + times, 0);
          expect(granted).toBe(Math.min(asked, limit));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('loses a block at most to each crash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.nat(8), { maxLength: 12 }),
        async (limit, runs) => {
          const bench = new BrakeBench(limit);
          const block = Math.max(1, Math.floor(limit / 10));
          let granted = 0;
          for (const times of runs) {
            granted += await bench.granted(times);
            bench.brakes = bench.process();
          }
          granted += await bench.granted(limit);
          expect(granted).toBeLessThanOrEqual(limit);
          expect(granted).toBeGreaterThanOrEqual(limit - runs.length * (block - 1));
        },
      ),
      { numRuns: 100 },
    );
  });
});
