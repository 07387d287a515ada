/*
 * Objects and rules with far more of everything than anybody means: an API server takes tens of thousands of finalizers on
 * one object, and a rule may have more deletions than a call takes arguments. None may hold up the others (P10).
 */
import { describe, expect, it } from 'vitest';
import { updateStatus } from '../../bridge/rule-status.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { Strays } from '../../bridge/strays.ts';
import { statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, counts, deletingMeta, metaOf, pendingOf, RULE } from '../support/bridge-builders.ts';
import { busyMs } from '../support/busy.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock, START, stamp } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

/** More than an API server takes on one object. */
const ENTRIES = 50_000;
/** Of them. */
const PART = 10;
/** Ten times as many take ten times as long, and a hundred times where each is compared with each. */
const PROPORTION = 35;
const TRIES = 5;
const entries = (count: number) => Array.from({ length: count }, (_, at) => `finalizer-bridge.dev/r${at}`);

function bench() {
  const released: string[] = [];
  const strays = new Strays({
    clock: new ManualClock(),
    areRulesKnown: () => true,
    hasRule: () => false,
    release: (_object, rule) => void released.push(rule),
    ...{ isWatching: () => true, misread: () => {} },
    tell: () => {},
  });
  return { strays, released };
}

async function busyDuring(work: () => unknown): Promise<number> {
  const began = busyMs();
  await work();
  return busyMs() - began;
}

/** By how much all entries take longer than a part of them: the least of some tries, as other work only ever adds to one of both. */
async function growth(took: (count: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  // The first time its code is compiled.
  await took(ENTRIES / PART);
  for (let tries = 0; tries < TRIES && least >= PROPORTION; tries += 1) {
    // A clock of the processor's may count in steps of some ms.
    const part = Math.max(5, await took(ENTRIES / PART));
    least = Math.min(least, (await took(ENTRIES)) / part);
  }
  return least;
}

describe('one object with very many entries', () => {
  it('is seen alive in an instant (P10)', async () => {
    const seeing = async (count: number) => {
      const { strays } = bench();
      const meta = metaOf({ finalizers: entries(count) });
      const took = await busyDuring(() => strays.see(BUCKETS, meta));
      expect(strays.counts()).toHaveLength(20);
      return took;
    };
    expect(await growth(seeing)).toBeLessThan(PROPORTION);
  });

  it('is released by the words on it before it is followed by what else it carries', () => {
    const { strays, released } = bench();
    const annotations = { 'release.finalizer-bridge.dev/r900': 'uid-logs', 'release.finalizer-bridge.dev/r3': 'other' };
    strays.see(BUCKETS, metaOf({ finalizers: entries(1_000), annotations }));
    expect(released).toEqual(['r900']);
    expect(strays.counts().map(({ rule }) => rule)).toContain('r900');
  });

  it('that many words speak of is released a few at a time', () => {
    const { strays, released } = bench();
    const words = Array.from(
      { length: 1_000 },
      (_, at) => [`release.finalizer-bridge.dev/r${at}`, 'uid-logs'] as const,
    );
    strays.see(BUCKETS, metaOf({ finalizers: entries(1_000), annotations: Object.fromEntries(words) }));
    expect(released).toHaveLength(20);
  });

  it('is seen being deleted in an instant, and others with it (P10)', async () => {
    const deleting = async (count: number) => {
      const scene = await RuleScene.start();
      await scene.apply();
      await scene.create('logs');
      await scene.create('crowded', { finalizers: entries(count) });
      const took = await busyDuring(async () => {
        await scene.delete('crowded');
        await scene.delete('logs');
      });
      await scene.clock.advance(1_000);
      expect(scene.requested).toContain('logs');
      await scene.stop();
      return took;
    };
    expect(await growth(deleting)).toBeLessThan(PROPORTION);
  });
});

it('counts more deletions of a rule than a call takes arguments (P10)', async () => {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: { match: BUCKETS } });
  const newest = pendingOf();
  const oldest = pendingOf({ meta: deletingMeta({ deletionTimestamp: stamp(START - 60_000) }) });
  const pendings = [oldest, ...Array.from({ length: 200_000 }, () => newest)];
  const seen = { served: EVERYWHERE, isWatching: () => true, blindIn: () => [], pendings: () => pendings };
  await updateStatus({ cluster, clock, written: new Map(), ...seen }, { name: RULE, conditions: [] });
  const rule = cluster.peek(RULE, TEARDOWN_RULES);
  expect(rule === undefined ? undefined : statusOf(rule)).toMatchObject({
    pending: 200_001,
    oldestPendingTime: new Date(START - 60_000).toISOString(),
  });
});

it('names out of objects make no metrics and no allowances without end (P10)', { timeout: 480_000 }, async () => {
  const scene = await RuleScene.start();
  await scene.apply();
  const names = Array.from({ length: 60 }, (_, at) => `o${at}`);
  for (const name of names) {
    const annotations = { [`release.finalizer-bridge.dev/none-${name}`]: `uid-${name}` };
    scene.cluster.create({
      name,
      uid: `uid-${name}`,
      finalizers: [`finalizer-bridge.dev/none-${name}`],
      annotations,
      spec: {},
    });
  }
  await scene.create('bare', { finalizers: ['finalizer-bridge.dev/none-bare'] });
  for (const name of names) await scene.delete(name);
  await scene.delete('bare');
  await scene.clock.advance(1_000);
  scene.cluster.change('bare', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
  await scene.clock.advance(24 * 3_600_000);
  const { words, removed, bypassed, failures } = scene.metrics;
  for (const metric of [words, removed, bypassed, failures]) {
    const labels = Object.keys(await counts(metric)).map((label) => label.split('/')[0]);
    expect(labels.filter((label) => label !== RULE && label !== '(no rule)')).toEqual([]);
  }
  expect(await counts(words)).toMatchObject({ '(no rule)/release': 60 });
  expect(scene.cluster.events.filter(({ reason }) => reason === 'ReleaseAsked').length).toBeLessThanOrEqual(50);
  await scene.stop();
});
