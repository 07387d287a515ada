/*
 * When and what the bridge sends, through the whole of it over fakes: the lease and a fresh read directly before, what
 * fails is tried again, what is too large is held, waiting is waited out.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import type { SendFailure } from '../../bridge/ports.ts';
import type { Rule } from '../../bridge/rule.ts';
import { FRESH_MS } from '../../bridge/run.ts';
import { counts, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { LIVE } from '../support/decision-axes.ts';
import { START, settled, stamp } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const failure = (id: string): SendFailure => ({ id, code: 'InternalError', detail: 'try again' });

describe('a queue that', () => {
  it('fails is asked again, the object says so, and nothing is lost (Q2)', async () => {
    const scene = await Scene.start();
    scene.queue.sending = async () => {
      throw new Error('connect ECONNREFUSED');
    };
    await scene.deleted();
    await scene.clock.advance(5_000);
    expect(scene.standing()).toBe('Held Failing');
    expect(scene.events).toEqual(['TeardownHeld']);
    const { length } = scene.queue.calls;
    expect(length).toBeGreaterThan(2);
    expect(await counts(scene.metrics.queueCalls)).toEqual({ 'send/failed': length });
    scene.queue.sending = async () => [];
    await scene.clock.advance(31_000);
    expect(scene.requests).toHaveLength(1);
    expect(scene.standing()).toMatch(/^Pending/);
    expect(await scene.answer(gone)).toBe(true);
  });

  it('takes part of a batch gets the rest again, and only the rest (Q2)', async () => {
    const scene = await Scene.start();
    const gates: (() => void)[] = [];
    scene.queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) await scene.deleted({ name });
    scene.queue.sending = async (batch) => {
      scene.queue.sending = async () => [];
      return batch.slice(1, 2).map(({ id }) => failure(id));
    };
    for (const open of gates) open();
    await scene.clock.advance(1_000);
    expect(scene.queue.calls.map(({ batch }) => batch.length)).toEqual([1, 1, 1, 1, 3, 1]);
    expect(scene.requests.map(({ data }) => data.object.name).sort()).toEqual(names);
    expect(await counts(scene.metrics.requestFailures)).toEqual({ [RULE]: 1 });
    expect(await counts(scene.metrics.queueCalls)).toEqual({ 'send/ok': 5, 'send/partial': 1 });
  });

  it('may have taken what it did not confirm: a release waits for that too (V1)', async () => {
    const scene = await Scene.start();
    scene.queue.sending = async () => {
      throw new Error('socket hang up');
    };
    await scene.deleted();
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    await scene.clock.advance(2 * 3_600_000);
    expect(scene.finalizers()).toEqual([ENTRY]);
    await scene.clock.advance(91_000);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('without the lease', () => {
  it('nothing is sent and nothing is patched, and it is tried again (V3, K18)', async () => {
    const scene = await Scene.start();
    scene.holdsLease = false;
    await scene.deleted();
    await scene.clock.advance(2_000);
    expect(scene.queue.calls).toEqual([]);
    scene.holdsLease = true;
    await scene.clock.advance(31_000);
    expect(scene.requests).toHaveLength(1);
    scene.holdsLease = false;
    const patches = scene.cluster.count('patch');
    expect(await scene.answer(gone)).toBe(false);
    expect(scene.cluster.count('patch')).toBe(patches);
  });

  it('that is lost between the decision and the call, the call is not made (V3)', async () => {
    const scene = await Scene.start();
    const gates: (() => void)[] = [];
    scene.queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    for (const name of ['a', 'b', 'c', 'd']) await scene.deleted({ name });
    await scene.deleted({ name: 'late' });
    expect(gates).toHaveLength(4);
    scene.holdsLease = false;
    for (const open of gates.splice(0)) open();
    await settled();
    expect(scene.requests.map(({ data }) => data.object.name)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('what is sent', () => {
  it('stands on a read that is fresh: after waiting its turn too long the object is read again', async () => {
    const scene = await Scene.start();
    const gates: (() => void)[] = [];
    scene.queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    for (const name of ['a', 'b', 'c', 'd', 'late']) await scene.deleted({ name });
    const reads = () => scene.cluster.calls.filter(({ verb, name }) => verb === 'get' && name === 'late').length;
    expect(reads()).toBe(1);
    await scene.clock.advance(FRESH_MS);
    for (const open of gates.splice(0)) open();
    await settled();
    expect(reads()).toBe(2);
    expect(scene.queue.calls.at(-1)?.batch).toHaveLength(1);
  });

  it('is not sent when the object said Retain meanwhile', async () => {
    const scene = await Scene.start();
    scene.cluster.before = ({ verb }) => {
      if (verb !== 'get') return;
      scene.cluster.before = () => {};
      scene.cluster.annotate('logs', 'on-delete', 'Retain');
    };
    await scene.deleted();
    expect(scene.requests).toEqual([]);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('under an edited rule is written down before, as a second pair of digests in one deletion (V8)', async () => {
    const first = await Scene.start();
    await first.deleted();
    await first.clock.advance(31_000);
    await first.bridge.stop();
    const edited = [ruleOf({ options: { keepVersions: true } })];
    const second = await Scene.start({ after: first, rules: edited });
    const [old, young] = second.requests;
    expect(young?.data.targetDigest).toBe(old?.data.targetDigest);
    expect(young?.data.ruleDigest).not.toBe(old?.data.ruleDigest);
    const asked = second.record()?.targets.map(({ rule, requested }) => [rule, requested]);
    expect(asked).toEqual([
      [old?.data.ruleDigest, true],
      [young?.data.ruleDigest, true],
    ]);
    expect(await second.answer(gone, old)).toBe(true);
    expect(second.finalizers()).toEqual([ENTRY]);
    expect(await second.answer(gone, young)).toBe(true);
    expect(second.cluster.peek('logs')).toBeUndefined();
  });

  it('for the first time is not written down, even if another target was met before (P8)', async () => {
    const other = 'kubernetes.io/pvc-protection';
    const scene = await Scene.start({ rules: [ruleOf({ waitFor: { finalizers: [other], atMost: '10m' } })] });
    await scene.deleted({ finalizers: [other, ENTRY] });
    scene.cluster.change('logs', ({ metadata, ...rest }) => ({
      ...{ ...rest, spec: { bucket: 'another-bucket' } },
      metadata: { ...metadata, finalizers: [ENTRY] },
    }));
    await settled();
    expect(scene.request.data.target.bucket).toBe('another-bucket');
    expect(scene.record()).toBeUndefined();
  });

  it('and would be too large for a message is held, for that object only (Q6)', async () => {
    const rule = ruleOf();
    const keys = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(1_024, 'k'));
    const large: Rule = {
      ...rule,
      evaluate: (object) => ({
        ...rule.evaluate(object),
        ...(object.metadata.name === 'logs' ? { target: { kind: 'found', target: { keys }, digest: LIVE } } : {}),
      }),
    };
    const scene = await Scene.start({ rules: [large] });
    await scene.deleted();
    expect(scene.requests).toEqual([]);
    expect(scene.standing()).toBe('Held RequestTooLarge');
    expect(scene.record()?.reason).toBe('RequestTooLarge');
    await scene.deleted({ name: 'other' });
    expect(scene.requests).toHaveLength(1);
  });
});

describe('waiting', () => {
  it('for a Pod’s grace period ends by itself, and ages count from the request to delete (K31)', async () => {
    const scene = await Scene.start();
    scene.cluster.create({ name: 'logs', spec: { bucket: 'b' }, finalizers: [ENTRY] });
    await settled();
    scene.cluster.delete('logs', { deletionTimestamp: stamp(START + 20_000), deletionGracePeriodSeconds: 20 });
    await settled();
    expect(scene.standing()).toBe('Pending GracePeriod');
    expect(scene.requests).toEqual([]);
    await scene.clock.advance(20_000);
    expect(scene.requests).toHaveLength(1);
    expect(Date.parse(scene.request.data.expires)).toBe(START + 2 * 3_600_000);
  });

  it('for other finalizers ends when they are off, and is held when that takes too long (K7)', async () => {
    const other = 'kubernetes.io/pvc-protection';
    const rules = [ruleOf({ waitFor: { finalizers: [other], atMost: '10m' } })];
    const scene = await Scene.start({ rules });
    await scene.deleted({ finalizers: [other, ENTRY] });
    expect(scene.standing()).toBe('Pending WaitingForFinalizers');
    await scene.clock.advance(10 * 60_000);
    expect(scene.standing()).toBe('Held WaitForTimedOut');
    expect(scene.requests).toEqual([]);
    scene.cluster.change('logs', ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: [ENTRY] },
    }));
    await settled();
    expect(scene.requests).toHaveLength(1);
  });

  it('for a paused rule is shown, and a result that is under way still ends it (K22)', async () => {
    const first = await Scene.start();
    await first.deleted();
    const asked = first.request;
    await first.bridge.stop();
    const paused = await Scene.start({ after: first, rules: [ruleOf({ paused: true })] });
    expect(paused.standing()).toBe('Pending Paused');
    expect(paused.requests).toHaveLength(1);
    expect(await paused.answer(gone, asked)).toBe(true);
    expect(paused.cluster.peek('logs')).toBeUndefined();
  });

  it('for copies under weak ownership ends, and no second request is sent for it (V12, P4)', async () => {
    const tags = { owner: 'object.metadata.namespace + "/" + object.metadata.name' };
    const scene = await Scene.start({ rules: [ruleOf({ ownership: { tags } })] });
    await scene.deleted();
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.standing()).toBe('Pending WaitingForCopies');
    await scene.clock.advance(2 * 3_600_000 + 89_000);
    expect(scene.finalizers()).toEqual([ENTRY]);
    await scene.clock.advance(2_000);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.requests).toHaveLength(1);
  });
});
