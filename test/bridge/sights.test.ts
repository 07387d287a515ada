/*
 * What the bridge says of the kinds that it watches: one metric for a kind, in however many versions it is needed. What one watch
 * shows of a kind is in intake.test.ts.
 */
import { beforeEach, expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import type { KindRef } from '../../bridge/ports.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { Sights } from '../../bridge/sights.ts';
import { BUCKETS, counts } from '../support/bridge-builders.ts';

const SECOND = { ...BUCKETS, version: 'v2' };

let metrics: ReturnType<typeof createMetrics>;
let sights: Sights;
beforeEach(() => {
  metrics = createMetrics();
  sights = new Sights({ served: EVERYWHERE, metrics });
});

function seen(kind: KindRef, isWatching: boolean): void {
  sights.of(kind).isWatching = isWatching;
  sights.measure(kind);
}

const said = async () => Object.values(await counts(metrics.watching));

it('P7 a kind that is needed in two versions is blind while one of them is, whichever spoke last', async () => {
  seen(SECOND, false);
  seen(BUCKETS, true);
  expect(await said()).toEqual([0]);

  seen(SECOND, true);

  expect(await said()).toEqual([1]);
});

it('P7 a version that nobody needs any more says nothing of the others, and takes the metric along only as the last', async () => {
  seen(BUCKETS, false);
  seen(SECOND, true);

  sights.forgo(SECOND);
  expect(await said()).toEqual([0]);
  seen(BUCKETS, true);
  expect(await said()).toEqual([1]);

  sights.forgo(BUCKETS);
  expect(await said()).toEqual([]);
});
