/*
 * Who still carries the entry of a rule that is being withdrawn, and how often that is asked: what is taken for nobody too easily
 * lets the rule go from objects that nothing ever frees (P9). Through the whole bridge in withdrawal.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Count } from '../../bridge/census.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import type { Pending } from '../../bridge/pending.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { countCarriers, LOOK_EVERY_MS, type Withdrawal } from '../../bridge/withdrawal-count.ts';
import { BUCKETS, ENTRY, metaOf, pendingOf, ruleOf } from '../support/bridge-builders.ts';
import { FakeKinds, VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const NOBODY: Count = { kind: 'counted', live: [], deleting: 0 };
const SOMEBODY: Count = { kind: 'counted', live: [metaOf()], deleting: 0 };

interface Prepared {
  readonly count?: Count;
  readonly pendings?: readonly Pending[];
  readonly served?: Served;
}

/** A withdrawal, and a census that answers as it is told. */
function prepare({ count = NOBODY, pendings = [], served = EVERYWHERE }: Prepared = {}) {
  const clock = new ManualClock();
  const kinds = new FakeKinds();
  const lists: unknown[] = [];
  const census = async (...asked: readonly unknown[]) => {
    lists.push(asked);
    return count;
  };
  const withdrawal: Withdrawal = {
    ...{ uid: 'uid-rule', seenAt: clock.monotonic(), cleanSince: undefined, counted: undefined, accepted: undefined },
  };
  const options = { clock, census, kinds, served, pendings: () => pendings };
  const look = async (named?: readonly string[]) => await countCarriers(options, { rule: ruleOf(), named }, withdrawal);
  return { clock, kinds, lists, withdrawal, look };
}

/** How soon after a list the next one is had, in ms. */
async function nextAfter(prepared: Prepared): Promise<number> {
  const { clock, lists, look } = prepare(prepared);
  await look();
  for (let waited = 0; waited <= 2 * MINUTE; waited += 1_000) {
    await look();
    if (lists.length > 1) return waited;
    await clock.advance(1_000);
  }
  return Number.POSITIVE_INFINITY;
}

describe('a count', () => {
  it('is a list of the kind for the entry of the rule, in the namespaces that are named, from before it was asked for', async () => {
    const { clock, lists, look, withdrawal } = prepare({ count: SOMEBODY });
    const at = clock.monotonic();
    expect(await look(['team-a'])).toEqual({ count: SOMEBODY, at, isNew: true });
    expect(lists).toEqual([[expect.objectContaining(BUCKETS), ENTRY, ['team-a']]]);
    expect(withdrawal.counted).toEqual({ count: SOMEBODY, at });
  });

  it('that is known already is told as old, with the time of its list (P8)', async () => {
    const { clock, look } = prepare();
    const { at } = await look();
    await clock.advance(LOOK_EVERY_MS - 1);
    expect(await look()).toEqual({ count: NOBODY, at, isNew: false });
    await clock.advance(1);
    expect(await look()).toEqual({ count: NOBODY, at: at + LOOK_EVERY_MS, isNew: true });
  });
});

describe('nobody carries the entry', () => {
  it('where the kind is served in no version: nothing is asked for', async () => {
    const { kinds, lists, look } = prepare({ count: SOMEBODY });
    kinds.served.delete(kindKey(BUCKETS));
    expect((await look()).count).toEqual({ kind: 'unserved' });
    expect(lists).toEqual([]);
  });

  it('is not so where the kind is served in another version only (P9)', async () => {
    const { kinds, look } = prepare();
    kinds.served.delete(kindKey(BUCKETS));
    kinds.served.set(kindKey({ ...BUCKETS, version: 'v2' }), { kind: 'Bucket', namespaced: true });
    expect((await look()).count).toEqual({ kind: 'otherVersion' });
  });

  it('is not so where a list finds nobody who serves what discovery names (P9)', async () => {
    expect((await prepare({ count: { kind: 'unserved' } }).look()).count).toEqual({ kind: 'otherVersion' });
  });

  it('is so of a kind without namespaces where some namespaces are served, and only there', async () => {
    const facts = { kind: 'Bucket', namespaced: false };
    for (const [served, expected, asked] of [
      [{ namespaces: ['team-a'], leaving: [] }, NOBODY, 0],
      [EVERYWHERE, SOMEBODY, 1],
    ] as const) {
      const { kinds, lists, look } = prepare({ count: SOMEBODY, served });
      kinds.served.set(kindKey(BUCKETS), facts);
      expect([(await look()).count, lists.length]).toEqual([expected, asked]);
    }
    const { look } = prepare({ count: SOMEBODY, served: { namespaces: ['team-a'], leaving: [] } });
    expect((await look()).count).toEqual(SOMEBODY);
  });
});

describe('the kind is listed every five seconds', () => {
  const pendings = [pendingOf()];
  it.each<readonly [string, Prepared]>([
    ['while entries are coming off', { count: SOMEBODY, pendings }],
    ['while nothing is pending: the next list may be the last', {}],
    [
      'while only something else is pending',
      { pendings: [pendingOf({ rule: 'other' }), pendingOf({ kind: VOLUMES })] },
    ],
    ['while the kind is not served', { count: { kind: 'unserved' }, pendings }],
    ['while it is served otherwise', { count: { kind: 'otherVersion' }, pendings }],
    ['while it may be listed nowhere: that costs nothing', { count: { kind: 'forbidden', live: [], places: [] } }],
    ['while entries come off where it may be', { count: { kind: 'forbidden', live: [metaOf()], places: ['team-b'] } }],
  ])('%s', async (_when, prepared) => {
    expect(await nextAfter(prepared)).toBe(5_000);
  });
});

describe('the kind is listed once a minute', () => {
  it.each<readonly [string, Prepared]>([
    ['while a deletion of the rule holds the withdrawal up', { pendings: [pendingOf({ rule: 'other' }), pendingOf()] }],
    ['while some namespaces may not be listed', { count: { kind: 'forbidden', live: [], places: ['team-b'] } }],
  ])('%s (P8)', async (_when, prepared) => {
    expect(await nextAfter(prepared)).toBe(MINUTE);
  });
});
