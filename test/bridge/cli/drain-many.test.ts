/*
 * A drain of several rules: they are seen to side by side, so that a slow API server, or one that hangs for the objects of one
 * rule, costs the time of a few and not of all; and never more than a few at once. Over a tiny API server and virtual time.
 */
import { expect, it } from 'vitest';
import { entryOf } from '../../../bridge/finalizer.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { BUCKETS } from '../../support/bridge-builders.ts';
import { DrainScene } from '../../support/drain-scene.ts';

const RULES = Array.from({ length: 6 }, (_, at) => `rule-${at}`);

it('several rules are given up side by side, four at once', async () => {
  const begun = new DrainScene();
  for (const rule of RULES) {
    begun.rule(rule);
    begun.object(`of-${rule}`, { finalizers: [entryOf(rule)] });
  }
  const list = begun.cluster.list.bind(begun.cluster);
  let [under, most] = [0, 0];
  begun.cluster.list = async (kind, page) => {
    if (kind.resource !== BUCKETS.resource) return await list(kind, page);
    under += 1;
    most = Math.max(most, under);
    await new Promise<void>((resolve) => void begun.clock.after(1_000, resolve));
    under -= 1;
    return await list(kind, page);
  };
  const running = begun.start();
  await begun.clock.advance(3 * SETTLE_MS);
  expect(most).toBe(4);
  expect(running.end).toEqual({ left: [], unseen: [] });
  expect(RULES.map((rule) => begun.finalizers(`of-${rule}`))).toEqual(RULES.map(() => []));
});
