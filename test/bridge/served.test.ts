/*
 * Which namespaces a bridge looks into, and what of an object's place follows from it: what is looked at nowhere keeps its entry for
 * good (P9), and what is looked at outside of them is not ours. Through the whole bridge in served-namespaces.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import {
  EVERYWHERE,
  isLeaving,
  isLookedInto,
  kindOf,
  lookedInto,
  type Served,
  shows,
  watchedKey,
  watchedOf,
} from '../../bridge/served.ts';
import { BUCKETS } from '../support/bridge-builders.ts';

const SOME: Served = { namespaces: ['team-a', 'team-b'], leaving: ['team-c', 'team-b'] };

describe('a bridge that serves the whole cluster', () => {
  it('looks everywhere at once, by one watch of a kind', () => {
    expect(lookedInto(EVERYWHERE)).toBeUndefined();
    expect([{}, { namespace: 'team-a' }].map((meta) => isLookedInto(EVERYWHERE, meta))).toEqual([true, true]);
    expect(watchedOf(EVERYWHERE, BUCKETS)).toEqual([BUCKETS]);
  });

  it('leaves no namespace', () => {
    expect(isLeaving(EVERYWHERE, { namespace: 'team-a' })).toBe(false);
  });
});

describe('a bridge that serves some namespaces', () => {
  it('looks into each of them once, and into those that it is leaving', () => {
    expect(lookedInto(SOME)).toEqual(['team-a', 'team-b', 'team-c']);
    expect(watchedOf(SOME, BUCKETS)).toEqual(
      ['team-a', 'team-b', 'team-c'].map((namespace) => ({ ...BUCKETS, namespace })),
    );
  });

  it('looks at no object elsewhere, nor at one that is in no namespace', () => {
    const looksAt = (namespace?: string) => isLookedInto(SOME, namespace === undefined ? {} : { namespace });
    expect(['team-a', 'team-c', 'team-x', undefined].map(looksAt)).toEqual([true, true, false, false]);
  });

  it('looks nowhere when it serves none: not at the whole cluster', () => {
    expect(isLookedInto({ namespaces: [], leaving: [] }, { namespace: 'team-a' })).toBe(false);
    expect(watchedOf({ namespaces: [], leaving: [] }, BUCKETS)).toEqual([]);
  });

  it('takes of a kind nothing but the kind, so that one place is watched once', () => {
    const more = { ...BUCKETS, namespace: 'team-x', kind: 'Bucket' };
    expect(watchedOf(EVERYWHERE, more)).toEqual([BUCKETS]);
    expect(watchedOf({ namespaces: ['team-a'], leaving: [] }, more)).toEqual([{ ...BUCKETS, namespace: 'team-a' }]);
  });

  it('knows which it is leaving, of which none without a namespace is one', () => {
    expect(isLeaving(SOME, { namespace: 'team-c' })).toBe(true);
    expect(isLeaving(SOME, { namespace: 'team-a' })).toBe(false);
    expect(isLeaving(SOME, {})).toBe(false);
  });
});

describe('a watch', () => {
  it('has a key of its own for the kind, for each place of it and for one object', () => {
    const watches = [
      BUCKETS,
      { ...BUCKETS, version: 'v2' },
      { ...BUCKETS, namespace: 'team-a' },
      { ...BUCKETS, namespace: 'team-b' },
      { ...BUCKETS, name: 'team-a' },
      { ...BUCKETS, namespace: 'team-a', name: 'logs' },
      { ...BUCKETS, namespace: 'team-a', name: 'maps' },
      { ...BUCKETS, namespace: 'team-b', name: 'logs' },
    ];
    expect(new Set(watches.map(watchedKey)).size).toBe(watches.length);
    expect(watchedKey(BUCKETS)).toBe(kindKey(BUCKETS));
  });

  it('shows what is in its namespace, and all where it has none', () => {
    const inA = { ...BUCKETS, namespace: 'team-a' };
    expect([shows(inA, { namespace: 'team-a' }), shows(inA, { namespace: 'team-b' }), shows(inA, {})]).toEqual([
      ...[true, false, false],
    ]);
    expect([shows(BUCKETS, { namespace: 'team-a' }), shows(BUCKETS, {})]).toEqual([true, true]);
  });

  it('is of a kind, wherever it looks; one of all places is the kind itself, kept once', () => {
    expect(kindOf({ ...BUCKETS, namespace: 'team-a' })).toEqual(BUCKETS);
    expect(kindOf({ ...BUCKETS, name: 'team-a' })).toEqual(BUCKETS);
    expect(kindOf(BUCKETS)).toBe(BUCKETS);
  });
});
