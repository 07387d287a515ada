/*
 * A rule that is broken by an edit while deletions are pending, and one that goes and comes again under its name: nothing
 * is sent that should not be, nothing is lost, and it recovers by itself. The real bridge and keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const labelled = (app: string) => ({ match: { ...BUCKETS, labelSelector: { matchLabels: { app } } } });
/** An accepted rule that is larger than a status keeps. */
const TOO_LARGE = { target: keysOf(17, `'${'x'.repeat(4_000)}'.substring(3990) + object.spec.bucket`) };
const BROKEN = { target: { bucket: 'object.spec.' } };

function keysOf(count: number, value: string) {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
}

describe('a rule whose latest generation is broken', () => {
  it('publishes nothing, says so on what is pending, and goes on by itself when it is mended', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.apply(BROKEN);
    await scene.delete('logs');
    await scene.clock.advance(3 * 3_600_000);
    expect(scene.requests).toEqual([]);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(scene.bridge.pendings()[0]?.standing?.message).toContain('spec.target.bucket');
    expect(scene.said('Accepted')).toBe('False Invalid');
    expect(scene.said('Ready')).toBe('False Invalid');
    await scene.apply();
    expect(scene.requested).toEqual(['logs']);
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('lets a valid gone count for what was sent before (row 1)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.delete('logs');
    expect(scene.requested).toEqual(['logs']);
    await scene.apply(BROKEN);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('claims by its last accepted generation, and takes its label off the rule', async () => {
    const scene = await RuleScene.start();
    await scene.apply(labelled('logs'));
    await scene.labelled();
    expect(scene.rule()?.metadata.labels).toBeDefined();
    await scene.apply({ ...labelled('web'), ...BROKEN });
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    await scene.create('logs', { labels: { app: 'logs' } });
    await scene.create('web', { labels: { app: 'web' } });
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.finalizers('web')).toEqual([]);
  });

  it('and that no generation was ever accepted of holds what carries its entry, as not accepted', async () => {
    const scene = await RuleScene.start();
    await scene.apply(BROKEN);
    await scene.create('logs', { finalizers: [ENTRY] });
    await scene.delete('logs');
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(scene.requests).toEqual([]);
    await scene.apply();
    expect(scene.requested).toEqual(['logs']);
  });

  it('keeps a gone in its queue after a restart, until it is mended, if it was too large to be remembered', async () => {
    const first = await RuleScene.start();
    await first.apply(TOO_LARGE);
    await first.create('logs');
    await first.delete('logs');
    await first.apply(BROKEN);
    await first.stop();
    const scene = await RuleScene.start({ world: first });
    await scene.clock.advance(1_000);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(await scene.answer('logs')).toBe(false);
    expect(scene.finalizers('logs')).toContain(ENTRY);
    await scene.apply(TOO_LARGE);
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('a rule that goes', () => {
  it('and comes again under its name is another one: the digests of the first count no more', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.delete('logs');
    const [first] = scene.requests;
    // Somebody took our finalizer off it and deleted it, and no watch told.
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'get' && name === RULE) throw new ApiError('getting', 503);
    };
    scene.forceDelete();
    await scene.apply({ options: { again: true } }, RULE, 'uid-2');
    scene.cluster.before = () => {};
    await scene.clock.advance(31_000);
    expect(scene.book.named(RULE)?.uid).toBe('uid-2');
    expect(scene.request?.data.rule).toEqual({ name: RULE, uid: 'uid-2' });
    expect(scene.request?.data.ruleDigest).not.toBe(first?.data.ruleDigest);
    expect(await scene.deliver(first)).toBe(true);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('and comes again broken lends nothing from the one before it', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    scene.forceDelete();
    await scene.apply(BROKEN, RULE, 'uid-2');
    expect(scene.book.named(RULE)).toBeUndefined();
    expect(scene.book.whyNotAccepted(RULE, BUCKETS)).toContain('spec.target.bucket');
    await scene.delete('logs');
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
  });

  it('while its watch is broken is found gone when the watch is back', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'watch' && name === 'teardownrules') throw new ApiError('watching', 410);
    };
    scene.cluster.endWatches(new ApiError('watching', 410));
    scene.forceDelete();
    await scene.clock.advance(1_000);
    expect(scene.book.named(RULE)).toBeDefined();
    scene.cluster.before = () => {};
    await scene.clock.advance(30_000);
    expect(scene.book.named(RULE)).toBeUndefined();
  });

  it('leaves what is pending as NoRule, watched until it is off', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.delete('logs');
    scene.forceDelete();
    await scene.clock.advance(1_000);
    expect(scene.rule()).toBeUndefined();
    expect(scene.standing('logs')).toBe('Held NoRule');
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
    await settled();
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});
