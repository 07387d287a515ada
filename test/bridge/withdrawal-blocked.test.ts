/*
 * What holds a withdrawal up, and what does not: pending and held deletions, rights, kinds that are gone, specs that cannot
 * be read, restarts (P9, K20). The straight course is in withdrawal.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { SETTLE_MS } from '../../bridge/settling.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../support/bridge-builders.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const BROKEN = { target: { bucket: 'object.spec.' } };
const KIND = 'storage.example.com/v1/buckets';
const SOON = 10_000;
const FOREVER = 30 * 60_000;

/** A rule in force, and deletions of it that have been requested. */
async function scene(...deleting: readonly string[]): Promise<RuleScene> {
  const begun = await RuleScene.start();
  await begun.apply();
  for (const name of deleting) {
    await begun.create(name);
    await begun.delete(name);
  }
  return begun;
}

describe('a withdrawal waits', () => {
  it('for pending deletions, which go on as ever: the rule goes two clean lists after the last', async () => {
    const begun = await scene('a');
    await begun.create('b');
    await begun.deleteRule();
    await begun.delete('b');
    expect(begun.requested).toEqual(['a', 'b']);
    await begun.clock.advance(FOREVER);
    expect(begun.said('WithdrawalBlocked')).toBe('True PendingObjects');
    expect(begun.condition('WithdrawalBlocked')?.message).toBe('2 objects are being taken down');
    expect(begun.status()).toMatchObject({ pending: 2 });
    expect(await begun.answer('a')).toBe(true);
    expect(await begun.answer('b')).toBe(true);
    await begun.clock.advance(SETTLE_MS - 1);
    expect(begun.rule()).toBeDefined();
    await begun.clock.advance(2 * SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('does not list a large kind again and again meanwhile', async () => {
    const begun = await scene('a');
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS + FOREVER);
    expect(begun.cluster.count('list')).toBeLessThanOrEqual(FOREVER / 60_000 + 2);
    expect(begun.cluster.count('list')).toBeGreaterThan(2);
  });

  it('for held ones, naming them, until they are released', async () => {
    const begun = await scene('a', 'b');
    for (const name of ['a', 'b']) {
      await begun.answer(name, { outcome: 'refused', reason: 'ObjectLock', message: 'locked until 2030' });
    }
    await begun.deleteRule();
    await begun.clock.advance(FOREVER);
    expect(begun.said('WithdrawalBlocked')).toBe('True HeldObjects');
    expect(begun.condition('WithdrawalBlocked')?.message).toContain('team-a/a, team-a/b');
    expect(begun.status()).toMatchObject({ held: 2, heldObjects: [{ name: 'a' }, { name: 'b' }] });
    for (const name of ['a', 'b']) {
      begun.cluster.annotate(name, `release.finalizer-bridge.dev/${RULE}`, `uid-${name}/now`);
    }
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('for deletions of a rule that was broken by its last edit, and goes on when it is mended', async () => {
    const begun = await scene();
    await begun.create('a');
    await begun.apply(BROKEN);
    await begun.delete('a');
    await begun.deleteRule();
    await begun.clock.advance(FOREVER);
    expect(begun.standing('a')).toBe('Held RuleNotAccepted');
    expect(begun.said('WithdrawalBlocked')).toBe('True HeldObjects');
    expect(begun.requests).toEqual([]);
    await begun.apply();
    expect(begun.requested).toEqual(['a']);
    await begun.answer('a');
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('while nobody may list the kind, since nobody can tell who carries the entry', async () => {
    const begun = await scene();
    await begun.create('a');
    begun.cluster.refused.set('storage.example.com/buckets', 403);
    await begun.deleteRule();
    await begun.clock.advance(FOREVER);
    expect(begun.said('WithdrawalBlocked')).toBe('True NotPermitted');
    expect(begun.rule()).toBeDefined();
    begun.cluster.refused.clear();
    await begun.clock.advance(SETTLE_MS + 2 * SOON);
    expect(begun.finalizers('a')).toEqual([]);
    await begun.clock.advance(SETTLE_MS);
    expect(begun.rule()).toBeUndefined();
  });

  it('a full clean minute when nobody could list in the middle of it', async () => {
    const begun = await scene();
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS + 1_000);
    begun.cluster.refused.set('storage.example.com/buckets', 403);
    await begun.clock.advance(SETTLE_MS);
    expect(begun.said('WithdrawalBlocked')).toBe('True NotPermitted');
    begun.cluster.refused.clear();
    await begun.clock.advance(SETTLE_MS - 1_000);
    expect(begun.rule()).toBeDefined();
    await begun.clock.advance(SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('while the API server does not answer, trying again', async () => {
    const begun = await scene();
    await begun.create('a');
    await begun.deleteRule();
    begun.cluster.before = ({ verb }) => {
      if (verb === 'list') throw new ApiError('listing buckets', 503);
    };
    await begun.clock.advance(FOREVER);
    expect(begun.rule()).toBeDefined();
    begun.cluster.before = () => {};
    await begun.clock.advance(30_000 + SETTLE_MS + 2 * SOON);
    expect(begun.rule()).toBeUndefined();
    expect(begun.finalizers('a')).toEqual([]);
  });

  it('both its minutes again after a restart in the middle', async () => {
    const first = await scene();
    await first.create('a');
    await first.deleteRule();
    await first.clock.advance(SETTLE_MS + SOON);
    await first.stop();
    const second = await RuleScene.start({ world: first });
    await second.create('late', { finalizers: [ENTRY] });
    expect(second.said('WithdrawalBlocked')).toBe('True Settling');
    await second.clock.advance(SETTLE_MS - 1_000);
    expect(second.finalizers('late')).toEqual([ENTRY]);
    await second.create('unclaimed');
    await second.clock.advance(SOON);
    expect(second.finalizers('late')).toEqual([]);
    expect(second.finalizers('unclaimed')).toEqual([]);
    expect(second.rule()).toBeDefined();
    await second.clock.advance(SETTLE_MS + SOON);
    expect(second.rule()).toBeUndefined();
  });

  it('for what is pending after a restart as well, sent under the rule as it reads', async () => {
    const first = await scene('a');
    await first.deleteRule();
    await first.stop();
    const second = await RuleScene.start({ world: first });
    await second.clock.advance(FOREVER);
    expect(second.requested).toEqual(['a', 'a']);
    expect(second.said('WithdrawalBlocked')).toBe('True PendingObjects');
    expect(await second.answer('a')).toBe(true);
    await second.clock.advance(2 * SETTLE_MS + SOON);
    expect(second.rule()).toBeUndefined();
  });
});

describe('a withdrawal does not wait', () => {
  it('for a kind that is not served any more: nobody carries the entry', async () => {
    const begun = await scene();
    begun.kinds.served.delete(KIND);
    begun.cluster.refused.set('storage.example.com/buckets', 404);
    await begun.deleteRule();
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('for a spec that can be read: its match is enough to let live objects go', async () => {
    const first = await scene();
    await first.create('a');
    await first.create('b');
    await first.stop();
    first.cluster.change(RULE, (object) => ({ ...object, spec: ruleSpec(BROKEN) }), TEARDOWN_RULES);
    const second = await RuleScene.start({ world: first });
    await second.delete('b');
    await second.deleteRule();
    await second.clock.advance(SETTLE_MS + SOON);
    expect(second.finalizers('a')).toEqual([]);
    expect(second.standing('b')).toBe('Held RuleNotAccepted');
    expect(second.said('WithdrawalBlocked')).toBe('True HeldObjects');
    expect(second.requests).toEqual([]);
    second.cluster.annotate('b', `release.finalizer-bridge.dev/${RULE}`, 'uid-b/now');
    await second.clock.advance(2 * SETTLE_MS + SOON);
    expect(second.rule()).toBeUndefined();
  });

  it('for a handler: a rule that was never accepted for want of a queue sends nothing, and goes', async () => {
    const begun = await RuleScene.start({ prepare: ({ handlers }) => handlers.clear() });
    await begun.apply();
    await begun.create('a', { finalizers: [ENTRY] });
    await begun.create('b', { finalizers: [ENTRY] });
    await begun.delete('b');
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.finalizers('a')).toEqual([]);
    expect(begun.standing('b')).toBe('Held RuleNotAccepted');
    expect(begun.requests).toEqual([]);
  });

  it('for a queue: a gone for what was sent before counts under a rule that may send nothing more', async () => {
    const first = await scene('a');
    await first.deleteRule();
    await first.stop();
    const second = await RuleScene.start({ world: first, prepare: ({ handlers }) => handlers.clear() });
    await second.clock.advance(1_000);
    expect(second.standing('a')).toBe('Held RuleNotAccepted');
    expect(await second.answer('a')).toBe(true);
    expect(second.cluster.peek('a')).toBeUndefined();
  });

  it('for anything when the rule never got our finalizer: it is gone, and forgotten', async () => {
    const begun = await RuleScene.start();
    begun.cluster.before = ({ verb, name }) => {
      if (verb === 'patch' && name === RULE) throw new ApiError('patching', 403);
    };
    await begun.apply();
    expect(begun.rule()?.metadata.finalizers).toBeUndefined();
    await begun.deleteRule();
    await begun.clock.advance(1_000);
    expect(begun.rule()).toBeUndefined();
    expect(begun.book.rules).toEqual([]);
  });
});

it('a withdrawal without the lease changes nothing (V3)', async () => {
  const begun = await scene();
  await begun.create('a');
  begun.holdsLease = false;
  const before = begun.cluster.count('patch');
  await begun.deleteRule();
  await begun.clock.advance(FOREVER);
  expect(begun.cluster.count('patch')).toBe(before);
  expect(begun.finalizers('a')).toEqual([ENTRY]);
  expect(begun.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
  begun.holdsLease = true;
  await begun.clock.advance(SETTLE_MS + 3 * SOON);
  expect(begun.rule()).toBeUndefined();
});
