/*
 * A withdrawal of a rule whose version of a kind is not served: whether anybody carries the entry can only be known when no
 * version is (P9). Other things that hold a withdrawal up are in withdrawal-blocked.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { SETTLE_MS } from '../../bridge/settling.ts';
import { ENTRY } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const SERVED = 'storage.example.com/v1/buckets';
const OTHER = 'storage.example.com/v2/buckets';

it('waits while only another version of the kind is served, where nobody has counted', async () => {
  const begun = await RuleScene.start();
  await begun.apply();
  begun.kinds.served.delete(SERVED);
  begun.kinds.served.set(OTHER, { kind: 'Bucket', namespaced: true });
  await begun.deleteRule();
  await begun.clock.advance(3 * SETTLE_MS);
  expect(begun.said('WithdrawalBlocked')).toBe('True VersionNotServed');
  begun.kinds.served.delete(OTHER);
  await begun.clock.advance(2 * SETTLE_MS + 10_000);
  expect(begun.rule()).toBeUndefined();
});

describe('a withdrawal whose lists nobody answers', () => {
  it('waits while discovery knows the kind: entries may be there (P9)', async () => {
    const begun = await RuleScene.start();
    await begun.apply();
    await begun.create('logs');
    begun.cluster.refused.set('storage.example.com/buckets', 404);
    await begun.deleteRule();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.said('WithdrawalBlocked')).toBe('True VersionNotServed');
    expect(begun.finalizers('logs')).toEqual([ENTRY]);
    begun.cluster.refused.clear();
    await begun.clock.advance(2 * SETTLE_MS + 10_000);
    expect(begun.finalizers('logs')).toEqual([]);
    expect(begun.rule()).toBeUndefined();
  });
});
