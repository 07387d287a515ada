/*
 * The promise of a budget under everything that may happen: in no window more deletions than its limit, whatever crashes,
 * however many processes lead at once, and however late within its life each token is used (P5, V21).
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../../bridge/brake.ts';
import { BrakeBench } from '../support/brake-bench.ts';

const MINUTE = 60_000;

/** What happens next: processes ask at once, time passes, one crashes, or somebody else writes the rule's status. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), first: fc.nat(12), second: fc.nat(12) }) },
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), which: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disturb' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface Plan {
  readonly limit: number;
  readonly windowMinutes: number;
  /** How late in its life each token is used: 0 at once, 1 in its last ms. */
  readonly lateness: number;
  readonly happenings: readonly Happening[];
}

/** Runs a plan; gives when each granted deletion was requested, and how many blocks' worth was never used. */
async function requestsOf({ limit, windowMinutes, lateness, happenings }: Plan): Promise<readonly number[]> {
  const bench = new BrakeBench(limit, `${windowMinutes}m`);
  const processes = [bench.process(), bench.process()];
  const requests: number[] = [];
  let turns = 0;
  const use = (grant: Grant) => {
    if (!grant.ok) return;
    const life = grant.lapsesAt - bench.clock.monotonic();
    requests.push(bench.clock.monotonic() + Math.min(life - 1, Math.floor(lateness * life)));
  };
  const ask = async (which: number, times: number) =>
    await Promise.all(
      Array.from({ length: times }, async () => {
        // Losing a race five times is no grant.
        const grant = await processes[which]?.take(bench.rule).catch(() => undefined);
        if (grant !== undefined) use(grant);
      }),
    );
  for (const happening of happenings) {
    if (happening.kind === 'ask') await Promise.all([ask(0, happening.first), ask(1, happening.second)]);
    else if (happening.kind === 'pass') await bench.clock.advance(happening.ms);
    else if (happening.kind === 'crash') processes[happening.which] = bench.process();
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
  lateness: fc.constantFrom(0, 0.5, 1),
  happenings: fc.array(happening, { minLength: 5, maxLength: 40 }),
});

describe('a budget', () => {
  it('is never exceeded in any window, by two leaders that crash and race (P5, V21)', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (planned) => {
        const requests = await requestsOf(planned);
        expect(mostWithin(requests, planned.windowMinutes * MINUTE)).toBeLessThanOrEqual(planned.limit);
      }),
      { numRuns: 300 },
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
