/*
 * Rules that come, change and go while the bridge runs: what is in force follows what the API server has, without a
 * restart and without disturbing other rules (P10). The real bridge and keeper over fakes; rules that break or are
 * re-created are in rule-keeper-broken.test.ts, withdrawing in withdrawal.test.ts, judging in rule-judge.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const OTHER = 'other-volumes';
const labelled = (app: string) => ({ match: { ...BUCKETS, labelSelector: { matchLabels: { app } } } });
const BROKEN = { target: { bucket: 'object.spec.' } };

describe('a rule that is applied while the bridge runs', () => {
  it('is in force at once for a kind that nobody watched, also for what was there before', async () => {
    const scene = await RuleScene.start();
    await scene.create('old');
    expect(scene.bridge.isReady()).toBe(true);
    await scene.apply();
    await scene.create('new');
    expect(scene.finalizers('old')).toEqual([ENTRY]);
    expect(scene.finalizers('new')).toEqual([ENTRY]);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.bridge.isReady()).toBe(true);
  });

  it('claims what is there of a kind that another rule has watched for long', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    const before = scene.cluster.count('watch');
    await scene.apply({}, 'second');
    expect(scene.finalizers('logs')).toEqual([ENTRY, 'finalizer-bridge.dev/second']);
    expect(scene.cluster.count('watch')).toBe(before + 1);
  });

  it('claims by its labels as they are now, and keeps what no longer matches', async () => {
    const scene = await RuleScene.start();
    await scene.apply(labelled('logs'));
    await scene.create('logs', { labels: { app: 'logs' } });
    await scene.create('web', { labels: { app: 'web' } });
    expect(scene.finalizers('web')).toEqual([]);
    await scene.apply(labelled('web'));
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.finalizers('web')).toEqual([ENTRY]);
    await scene.apply({ ...labelled('web'), unmatched: 'Release' });
    expect(scene.finalizers('logs')).toEqual([]);
    expect(scene.finalizers('web')).toEqual([ENTRY]);
  });

  it('is sent with its options as they are now', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ options: { force: true } });
    await scene.create('a');
    await scene.delete('a');
    await scene.apply({ options: { force: false } });
    await scene.create('b');
    await scene.delete('b');
    const sent = scene.requests.map(({ data }) => [data.object.name, data.options]);
    expect(sent).toEqual([
      ['a', { force: true }],
      ['a', { force: false }],
      ['b', { force: false }],
    ]);
  });

  it('is paused and goes on by its own word', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ paused: true });
    await scene.create('logs');
    await scene.delete('logs');
    expect(scene.standing('logs')).toBe('Pending Paused');
    await scene.apply();
    expect(scene.requested).toEqual(['logs']);
  });

  it('has a deletion of its own term, known since the rule was created', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ term: '30m' });
    expect(scene.book.named(RULE)).toMatchObject({
      ...{ uid: `uid-of-${RULE}`, term: 30 * 60_000, generation: 1 },
      termHeldSince: Date.parse(scene.rule()?.metadata.creationTimestamp ?? ''),
    });
  });

  it('disturbs no other: neither its watch, nor its pending deletions, nor its own status (P10)', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ match: VOLUMES }, OTHER);
    await scene.create('disk', { kind: VOLUMES });
    await scene.delete('disk', VOLUMES);
    const other = scene.rule(OTHER);
    const calls = scene.cluster.calls.length;
    await scene.apply();
    await scene.apply(BROKEN);
    await scene.apply(labelled('web'));
    const touched = scene.cluster.calls.slice(calls).filter(({ kind }) => kind?.resource === VOLUMES.resource);
    expect(touched).toEqual([]);
    expect(scene.rule(OTHER)?.spec).toEqual(other?.spec);
    expect(scene.cluster.calls.slice(calls).filter(({ name, verb }) => name === OTHER && verb === 'patch')).toEqual([]);
    expect(scene.requested).toEqual(['disk']);
  });
});

describe('the keeper', () => {
  it('puts its finalizer on a rule, beside those of others', async () => {
    const scene = await RuleScene.start();
    scene.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: {}, finalizers: ['a/b'], labels: { team: 'a' } });
    await scene.apply();
    expect(scene.rule()?.metadata.finalizers).toEqual(['a/b', WITHDRAWAL_FINALIZER]);
    expect(scene.rule()?.metadata.labels).toMatchObject({ team: 'a' });
  });

  it('is ready, with results taken, when every rule was judged; one that cannot be judged holds up no other (P10)', async () => {
    const scene = await RuleScene.start({
      prepare: ({ cluster, kinds }) => {
        const match = { group: 'broken.example.com', version: 'v1', resource: 'broken' };
        cluster.create({ name: OTHER, kind: TEARDOWN_RULES, spec: ruleSpec({ match }) });
        kinds.fails.set('broken.example.com/v1/broken', new ApiError('discovering broken.example.com/v1', 503));
      },
    });
    expect(scene.keeper.isReady()).toBe(false);
    expect(scene.queue.isConsumed).toBe(false);
    await scene.clock.advance(1_000);
    expect(scene.keeper.isReady()).toBe(true);
    expect(scene.queue.isConsumed).toBe(true);
    expect(scene.book.whyNotAccepted(OTHER, { group: 'broken.example.com', resource: 'broken' })).toContain(
      'discovering broken.example.com/v1',
    );
    await scene.apply();
    expect(scene.said('Ready')).toBe('True Ready');
    scene.kinds.fails.clear();
    scene.kinds.served.set('broken.example.com/v1/broken', { kind: 'Broken', namespaced: true });
    await scene.clock.advance(31_000);
    expect(scene.said('Ready', OTHER)).toBe('True Ready');
  });

  it('is not ready while the rules are not being watched (K10), and goes on with those it knows', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'watch' && name === 'teardownrules') throw new ApiError('watching', 503);
    };
    scene.cluster.endWatches();
    await scene.clock.advance(5_000);
    expect([scene.keeper.isReady(), scene.bridge.isReady()]).toEqual([false, false]);
    await scene.delete('logs');
    expect(scene.requested).toEqual(['logs']);
    scene.cluster.before = () => {};
    await scene.clock.advance(31_000);
    expect([scene.keeper.isReady(), scene.bridge.isReady()]).toEqual([true, true]);
  });

  it('is not ready before the rules were listed', async () => {
    let isUp = false;
    const scene = await RuleScene.start({
      prepare: ({ cluster }) => {
        cluster.before = ({ verb, name }) => {
          if (verb === 'watch' && name === 'teardownrules' && !isUp) throw new ApiError('watching', 503);
        };
      },
    });
    await scene.clock.advance(60_000);
    expect(scene.keeper.isReady()).toBe(false);
    expect(scene.bridge.isReady()).toBe(false);
    expect(scene.queue.isConsumed).toBe(false);
    isUp = true;
    await scene.clock.advance(31_000);
    expect(scene.bridge.isReady()).toBe(true);
    expect(scene.queue.isConsumed).toBe(true);
  });

  it('writes nothing without the lease (V3)', async () => {
    const scene = await RuleScene.start({
      prepare: (begun) => {
        begun.holdsLease = false;
      },
    });
    await scene.apply();
    expect(scene.cluster.count('patch')).toBe(0);
    await scene.deleteRule();
    scene.cluster.create({ name: RULE, kind: TEARDOWN_RULES, finalizers: [WITHDRAWAL_FINALIZER] });
    await scene.deleteRule();
    await scene.clock.advance(180_000);
    expect(scene.cluster.count('patch')).toBe(0);
    expect(scene.rule()).toBeDefined();
  });

  it('stops with nothing left to fall due', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.apply(BROKEN, 'second');
    await scene.stop();
    expect(scene.clock.due).toEqual([]);
  });
});
