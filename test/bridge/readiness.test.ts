/*
 * What /readyz says: a bridge that stands by is ready as one, a leader only when it watches every rule's kind and its queue
 * answers; what is missing is named.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import { QueueHealth } from '../../bridge/queue-health.ts';
import { readinessOf } from '../../bridge/readiness.ts';
import { BUCKETS, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const elected = { isElected: true, trouble: undefined };
const bridge = { whyNotReady: () => [] };

describe('a process', () => {
  it('that has not begun, or cannot tell who leads, is not ready and says why', () => {
    expect(readinessOf({})).toMatchObject({ ready: false, role: 'starting' });
    const blind = { isElected: false, trouble: 'the lease was not read yet: HTTP 403' };
    expect(readinessOf({ candidate: blind })).toEqual({ ready: false, role: 'starting', reasons: [blind.trouble] });
  });

  it('that stands by is ready, as one that stands by', () => {
    const candidate = { isElected: false, trouble: undefined };
    expect(readinessOf({ candidate })).toEqual({ ready: true, role: 'standby', reasons: [] });
  });

  it('that leads is ready when it watches and its queue answers', () => {
    expect(readinessOf({ candidate: elected })).toMatchObject({ ready: false, role: 'leader' });
    expect(readinessOf({ candidate: elected, bridge })).toEqual({ ready: true, role: 'leader', reasons: [] });
    const queue = { trouble: 'the result queue has not answered for 50 s' };
    expect(readinessOf({ candidate: elected, bridge, queue }).reasons).toEqual([queue.trouble]);
  });

  it('names so many reasons as a person reads, and says how many more there are', () => {
    const whyNotReady = () => Array.from({ length: 200 }, (_, index) => `rule r${index}: ${'x'.repeat(1_000)}`);
    const { ready, reasons } = readinessOf({ candidate: elected, bridge: { whyNotReady } });
    expect([ready, reasons.length, reasons.at(-1)]).toEqual([false, 21, 'and 180 more']);
    expect(JSON.stringify(reasons).length).toBeLessThan(7_000);
  });
});

describe('a bridge that is blind', () => {
  it('names the rule and the kind (K10)', async () => {
    const volumes = { ...BUCKETS, resource: 'volumes' };
    const scene = await Scene.start({ rules: [ruleOf(), ruleOf({ match: volumes }, 'team-volumes')] });
    expect(scene.bridge.whyNotReady()).toEqual([]);
    scene.cluster.endWatches(new ApiError('watching', 503));
    await settled();
    expect(scene.bridge.whyNotReady()).toEqual([
      'rule team-buckets: buckets.storage.example.com is not being watched',
      'rule team-volumes: volumes.storage.example.com is not being watched',
    ]);
  });

  it('by a rule that may not watch its kind is ready all the same: one such rule stops no roll-out (P10)', async () => {
    const scene = await RuleScene.start();
    scene.kinds.lacks.set(kindKey(BUCKETS), ['watch']);
    scene.cluster.refused.set('storage.example.com/buckets', 403);
    await scene.apply();
    expect([scene.said('Permitted'), scene.said('Watching')]).toEqual(['False MissingVerbs', 'False NotWatching']);
    expect([scene.bridge.isReady(), scene.bridge.whyNotReady()]).toEqual([true, []]);
    scene.kinds.lacks.clear();
    await scene.clock.advance(20_000);
    expect(scene.bridge.whyNotReady()).toEqual(['rule team-buckets: buckets.storage.example.com is not being watched']);
  });
});

describe('a queue', () => {
  function health() {
    const clock = new ManualClock();
    return { clock, queue: new QueueHealth(clock) };
  }

  it('is not asked for an answer before the first poll', async () => {
    const { clock, queue } = health();
    await clock.advance(600_000);
    expect(queue.trouble).toBeUndefined();
  });

  it('may be silent for a long poll, not for longer than two', async () => {
    const { clock, queue } = health();
    queue.begins();
    await clock.advance(44_000);
    expect(queue.trouble).toBeUndefined();
    await clock.advance(1_000);
    expect(queue.trouble).toBe('the result queue has not answered for 45 s');
    queue.answers();
    expect(queue.trouble).toBeUndefined();
  });

  it('that refuses the first poll is trouble at once; later a hiccup is none', async () => {
    const { clock, queue } = health();
    queue.begins();
    queue.fails('AccessDenied');
    expect(queue.trouble).toBe('the result queue cannot be polled for 0 s: AccessDenied');
    queue.answers();
    queue.fails('ECONNRESET');
    await clock.advance(9_000);
    expect(queue.trouble).toBeUndefined();
    queue.fails('ECONNRESET');
    await clock.advance(1_000);
    expect(queue.trouble).toBe('the result queue cannot be polled for 10 s: ECONNRESET');
    queue.answers();
    expect(queue.trouble).toBeUndefined();
  });
});
