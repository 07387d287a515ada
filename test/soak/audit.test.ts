/*
 * That the soak's audit finds what it is for: each way in which a promise can be broken is made up here, and must be told;
 * and a world as it must be has no finding.
 */
import { describe, expect, it } from 'vitest';
import { audit, type Seen, type SeenObject } from './audit.ts';
import { type Made, SORTS, type Sort } from './ledger.ts';

const made = (sort: Sort, changes: Partial<Made> = {}): Made => ({
  ...{ name: sort, uid: `uid-${sort}`, sort, bucket: `bucket-${sort}`, versions: sort === 'absent' ? 0 : 2 },
  ...(sort === 'live' ? {} : { deletedAt: 1 }),
  ...changes,
});
const object = (sort: Sort, changes: Partial<SeenObject> = {}): SeenObject => ({
  ...{ uid: `uid-${sort}`, deleting: sort !== 'live', hasEntry: true },
  ...changes,
});
const seen = (objects: readonly SeenObject[], buckets: Readonly<Record<string, number>>): Seen => ({
  objects: new Map(objects.map((one) => [one.uid, one])),
  buckets: new Map(Object.entries(buckets)),
});
const kindsOf = (ledger: readonly Made[], world: Seen) =>
  audit(ledger, world).map(({ kind, name }) => `${kind} ${name}`);

const RIGHT = seen(
  [
    object('foreign', { reason: 'NotOwned' }),
    object('kept', { reason: 'Kept' }),
    object('retained', { reason: 'RetainWaiting' }),
    object('live'),
  ],
  { 'bucket-foreign': 2, 'bucket-kept': 2, 'bucket-retained': 2, 'bucket-live': 2 },
);

describe('the audit of a soak', () => {
  it('finds nothing where each sort of object ended as it must', () => {
    expect(
      audit(
        SORTS.map((sort) => made(sort)),
        RIGHT,
      ),
    ).toEqual([]);
  });

  it('finds a bucket that outlived its object (P1)', () => {
    expect(kindsOf([made('plain')], seen([], { 'bucket-plain': 1 }))).toEqual(['leaked plain']);
  });

  it.each(['foreign', 'kept', 'retained', 'live'] as const)(
    'finds the bucket of a %s object gone, or touched (P2)',
    (sort) => {
      const there = [...RIGHT.objects.values()];
      expect(kindsOf([made(sort)], seen(there, {}))).toEqual([`overDeleted ${sort}`]);
      expect(kindsOf([made(sort)], seen(there, { [`bucket-${sort}`]: 1 }))).toEqual([`overDeleted ${sort}`]);
    },
  );

  it('finds the bucket of a released object gone: a release tears nothing down (P2)', () => {
    expect(kindsOf([made('foreign', { released: true })], seen([], {}))).toEqual(['overDeleted foreign']);
  });

  it('finds a deletion that neither ended nor says what keeps it (P4, P7)', () => {
    expect(kindsOf([made('plain')], seen([object('plain')], {}))).toEqual(['stuck plain']);
    expect(kindsOf([made('kept')], seen([object('kept')], { 'bucket-kept': 2 }))).toEqual(['stuck kept']);
    expect(kindsOf([made('foreign', { mended: true })], RIGHT)).toEqual(['stuck foreign']);
  });

  it('finds an object that is gone although it was held, or never deleted', () => {
    const buckets = { 'bucket-kept': 2, 'bucket-live': 2 };
    expect(kindsOf([made('kept'), made('live')], seen([], buckets))).toEqual(['lost kept', 'lost live']);
  });

  it('finds a live object without its entry', () => {
    expect(kindsOf([made('live')], seen([object('live', { hasEntry: false })], { 'bucket-live': 2 }))).toEqual([
      'unclaimed live',
    ]);
  });
});
