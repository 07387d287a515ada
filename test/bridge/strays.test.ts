/*
 * Live objects whose entry no rule has the name of: what is counted and told, over nothing but memory and virtual time. What
 * is done about them is in stray-acts.test.ts, the whole bridge over them in strays-bridge.test.ts.
 */
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { type StrayCount, Strays, TELL_AFTER_MS } from '../../bridge/strays.ts';
import { BUCKETS, metaOf } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { holds } from '../support/property.ts';

const HOUR = 3_600_000;

function bench() {
  const state = { areRulesKnown: true, rules: new Set<string>() };
  const clock = new ManualClock();
  const told: StrayCount[] = [];
  const released: string[] = [];
  const strays = new Strays({
    clock,
    areRulesKnown: () => state.areRulesKnown,
    hasRule: (name, { resource }) => state.rules.has(`${name} ${resource}`),
    release: ({ uid }, rule) => void released.push(`${uid} ${rule}`),
    ...{ isWatching: () => true, misread: () => {} },
    tell: (count) => void told.push(count),
  });
  return { strays, state, clock, told, released };
}

let of: ReturnType<typeof bench>;
beforeEach(() => {
  of = bench();
});

/** A live object with the entries of these names. */
function carrier(uid: string, ...names: readonly string[]): ObjectMeta {
  return metaOf({
    uid,
    name: uid,
    finalizers: ['other.example.com/a', ...names.map((name) => `finalizer-bridge.dev/${name}`)],
  });
}
const see = (...metas: readonly ObjectMeta[]) => {
  for (const meta of metas) of.strays.see(BUCKETS, meta);
};
const list = (...metas: readonly ObjectMeta[]) => {
  of.strays.listing(BUCKETS);
  see(...metas);
  of.strays.synced(BUCKETS);
};
const counted = () => Object.fromEntries(of.strays.counts().map(({ rule, count }) => [rule, count]));

describe('strays', () => {
  it('are the live objects with an entry of ours that no rule has the name of, each once a name (K33)', () => {
    of.state.rules.add('here buckets').add('elsewhere volumes');
    list(
      carrier('a', 'here'),
      carrier('b', 'gone', 'gone'),
      carrier('c', 'here', 'gone', 'elsewhere'),
      carrier('d'),
      metaOf({ uid: 'e', finalizers: undefined }),
      metaOf({
        uid: 'f',
        finalizers: ['finalizer-bridge.dev', 'finalizer-bridge.development/x', 'a.finalizer-bridge.dev/x'],
      }),
    );
    expect(counted()).toEqual({ gone: 2, elsewhere: 1 });
    expect(of.strays.counts()[0]).toMatchObject({
      kind: BUCKETS,
      name: 'gone',
      examples: [{ uid: 'b' }, { uid: 'c' }],
    });
  });

  it('are counted anew at each list, and what it lacks is none', () => {
    list(carrier('a', 'gone'), carrier('b', 'gone'));
    of.strays.listing(BUCKETS);
    see(carrier('b', 'gone'));
    expect(counted()).toEqual({ gone: 2 });
    of.strays.synced(BUCKETS);
    expect(counted()).toEqual({ gone: 1 });
    list();
    expect(counted()).toEqual({});
  });

  it('of a list that broke off are counted by the next one', () => {
    list(carrier('a', 'gone'));
    of.strays.listing(BUCKETS);
    see(carrier('b', 'gone'));
    list(carrier('c', 'gone'), carrier('d', 'gone'));
    expect(counted()).toEqual({ gone: 2 });
  });

  it('come and go with every change of an object', () => {
    list();
    see(carrier('a', 'gone', 'lost'), carrier('a', 'gone', 'lost'), carrier('b', 'gone'));
    expect(counted()).toEqual({ gone: 2, lost: 1 });
    see(carrier('a', 'gone'));
    expect(counted()).toEqual({ gone: 2 });
    see(carrier('a'));
    of.strays.off(BUCKETS, { uid: 'b' });
    expect(counted()).toEqual({});
  });

  it('are none any more when a rule of that name comes for their kind, and only for it', () => {
    list(carrier('a', 'gone', 'lost'));
    of.strays.see(VOLUMES, carrier('b', 'gone'));
    of.state.rules.add('gone buckets');
    of.strays.reconsider('gone');
    expect(of.strays.counts().map(({ rule, kind }) => `${rule} ${kind.resource}`)).toEqual([
      'lost buckets',
      'gone volumes',
    ]);
  });

  it('of a kind that nobody watches any more are forgotten', () => {
    list(carrier('a', 'gone'));
    of.strays.forget(BUCKETS);
    expect(counted()).toEqual({});
    expect(of.clock.due).toEqual([]);
  });

  it('are not judged before the rules are known; their kind is listed again then', () => {
    of.state.areRulesKnown = false;
    list(carrier('a', 'gone'));
    of.strays.see(VOLUMES, carrier('b'));
    expect(counted()).toEqual({});
    expect(of.strays.takeUnjudged()).toEqual([BUCKETS]);
    expect(of.strays.takeUnjudged()).toEqual([]);
    of.state.areRulesKnown = true;
    list(carrier('a', 'gone'));
    expect(counted()).toEqual({ gone: 1 });
  });

  it('with names that no rule can have are shown, and no object can make metrics without end', () => {
    list(
      carrier('a', '', 'Upper_Case', 'with"quote'),
      ...Array.from({ length: 40 }, (_, at) => carrier(`b${at}`, `n${at}`)),
    );
    expect(Object.keys(counted())).toHaveLength(21);
    expect(counted()).toMatchObject({ '(no name)': 1, Upper_Case: 1, 'with"quote': 1, n0: 1, n16: 1, '(others)': 23 });
    const names = of.strays.counts().map(({ rule, name }) => [rule, name]);
    expect(names).toEqual(
      expect.arrayContaining([
        ['(no name)', ''],
        ['n0', 'n0'],
        ['(others)', undefined],
      ]),
    );
    see(carrier('b39'));
    expect(counted()).toMatchObject({ '(others)': 22 });
  });

  it('are after any changes and any lists what the last look at each object says', () => {
    const entries = fc.subarray(['here', 'gone', 'lost']);
    const uid = fc.constantFrom('a', 'b', 'c', 'd');
    const change = fc.oneof(
      fc.record({ what: fc.constant('see' as const), uid, names: entries }),
      fc.record({ what: fc.constant('off' as const), uid }),
      fc.record({ what: fc.constant('list' as const), isCut: fc.boolean() }),
    );
    holds(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        of = bench();
        of.state.rules.add('here buckets');
        const world = new Map<string, readonly string[]>();
        list();
        for (const one of changes) {
          if (one.what === 'list') {
            if (one.isCut) of.strays.listing(BUCKETS);
            list(...[...world].map(([each, names]) => carrier(each, ...names)));
          } else if (one.what === 'off') {
            world.delete(one.uid);
            of.strays.off(BUCKETS, one);
          } else {
            world.set(one.uid, one.names);
            see(carrier(one.uid, ...one.names));
          }
        }
        const count = (name: string) => [...world.values()].filter((names) => names.includes(name)).length;
        const wanted = ['gone', 'lost'].map((name) => [name, count(name)] as const).filter(([, many]) => many > 0);
        expect(counted()).toEqual(Object.fromEntries(wanted));
      }),
    );
  });
});

describe('a word on a stray', () => {
  const word = (uid: string, value: string) => ({
    ...carrier(uid, 'gone'),
    annotations: { 'release.finalizer-bridge.dev/gone': value },
  });

  it.each(['a', 'a/now'])('%j is heard, in a list and after it', (value) => {
    list(word('a', value));
    see(word('a', value));
    expect(of.released).toEqual(['a gone', 'a gone']);
  });

  it('for another object, for another rule, or before the rules are known is not', () => {
    list(word('a', 'b'), word('a', 'a/later'), {
      ...carrier('a', 'gone'),
      annotations: { 'release.finalizer-bridge.dev/lost': 'a' },
    });
    of.state.rules.add('gone buckets');
    see(word('a', 'a'));
    of.state.rules.clear();
    of.state.areRulesKnown = false;
    see(word('a', 'a'));
    expect(of.released).toEqual([]);
  });
});

describe('strays are told', () => {
  it('when they have been some for half a minute, all of a name at once, and again each hour', async () => {
    list(carrier('a', 'gone'), carrier('b', 'gone'));
    await of.clock.advance(TELL_AFTER_MS - 1);
    see(carrier('c', 'gone'), carrier('d', 'gone'));
    expect(of.told).toEqual([]);
    await of.clock.advance(1);
    expect(of.told).toMatchObject([{ rule: 'gone', count: 4, examples: [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }] }]);
    list(carrier('a', 'gone'));
    await of.clock.advance(HOUR - 1);
    expect(of.told).toHaveLength(1);
    await of.clock.advance(1);
    expect(of.told[1]).toMatchObject({ rule: 'gone', count: 1 });
  });

  it('not where their rule was only about to be read, nor when they are gone by then', async () => {
    list(carrier('a', 'gone', 'lost'));
    of.state.rules.add('gone buckets');
    of.strays.reconsider('gone');
    see(carrier('a', 'gone'));
    await of.clock.advance(2 * HOUR);
    expect(of.told).toEqual([]);
    expect(of.clock.due).toEqual([]);
  });

  it('not any more when all is over', async () => {
    list(carrier('a', 'gone'));
    of.strays.stop();
    see(carrier('b', 'gone'));
    await of.clock.advance(2 * HOUR);
    expect(of.told).toEqual([]);
  });
});
