/*
 * A drain where no bridge runs any more (K26): it does the withdrawal itself, from wherever it is started. Over a tiny API
 * server and virtual time; what is being deleted meanwhile is in drain-held.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../bridge/ports.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { DrainScene } from '../../support/drain-scene.ts';

const SOON = 10_000;
const CLEAN = { left: [], unseen: [] };

const scene = () => DrainScene.withRule();

describe('draining a rule when no bridge runs (P9, K26)', () => {
  it('deletes it, waits a minute, frees live objects, waits a minute, and lets the rule go', async () => {
    const begun = scene();
    const running = begun.start();
    await begun.clock.advance(1_000);
    expect(begun.cluster.peek(RULE, TEARDOWN_RULES)?.metadata.deletionTimestamp).toBeDefined();
    await begun.clock.advance(SETTLE_MS - 1_000);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.clock.advance(SOON);
    expect(['a', 'b', 'c'].map((name) => begun.finalizers(name))).toEqual([[], [], []]);
    await begun.clock.advance(SETTLE_MS - SOON);
    expect(begun.hasRule()).toBe(true);
    expect(running.end).toBeUndefined();
    await begun.clock.advance(SOON + 5_000);
    expect(begun.hasRule()).toBe(false);
    expect(running.end).toEqual(CLEAN);
    expect(running.lines).toContain(`${RULE}: done`);
  });

  it('takes off all copies of our entry and nothing of others (P3, K30)', async () => {
    const begun = scene();
    begun.object('d', { finalizers: ['a/b', ENTRY, 'foregroundDeletion', ENTRY, 'c/d'], labels: { x: 'y' } });
    const running = begun.start();
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('d')).toEqual(['a/b', 'foregroundDeletion', 'c/d']);
    const written = begun.cluster.calls.filter(({ verb }) => verb === 'patch');
    expect(written.every(({ operations }) => operations?.[0]?.path === '/metadata/uid')).toBe(true);
    expect(
      written.flatMap(({ operations = [] }) => operations).filter(({ op }) => !/^(test|remove)$/.test(op)),
    ).toEqual([]);
  });

  it('looks once more when an object got the entry after the sweep (K25)', async () => {
    const begun = scene();
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS + SOON);
    begun.object('late', { finalizers: [ENTRY, 'a/b'] });
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.finalizers('late')).toEqual(['a/b']);
    expect(begun.hasRule()).toBe(true);
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.hasRule()).toBe(false);
    expect(running.end).toEqual(CLEAN);
  });

  it('waits as long for a rule that no bridge ever took in hand, and so goes at once (K25)', async () => {
    const begun = new DrainScene();
    begun.rule(RULE, {}, []);
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS);
    expect(begun.hasRule()).toBe(false);
    begun.object('late');
    await begun.clock.advance(SETTLE_MS - 1_000);
    expect(running.end).toBeUndefined();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('late')).toEqual([]);
  });

  it('leaves an object alone that is deleted between the list and the write', async () => {
    const begun = scene();
    let isDone = false;
    begun.cluster.before = ({ verb, name }) => {
      if (verb !== 'patch' || name !== 'a' || isDone) return;
      isDone = true;
      begun.cluster.delete('a');
    };
    const running = begun.start();
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(isDone).toBe(true);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    expect(begun.finalizers('b')).toEqual([]);
    expect(running.end?.left.map(({ rule }) => rule)).toEqual([RULE]);
  });

  it('drains only the rules that are named', async () => {
    const begun = scene();
    begun.rule('other');
    begun.object('o', { finalizers: ['finalizer-bridge.dev/other'] });
    const running = begun.start({ names: [RULE] });
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(running.end).toEqual(CLEAN);
    expect([begun.hasRule(), begun.hasRule('other')]).toEqual([false, true]);
    expect(begun.finalizers('o')).toEqual(['finalizer-bridge.dev/other']);
  });

  it('can be stopped at any point, begun again, and run twice at once', async () => {
    const begun = scene();
    begun.start({ timeout: SETTLE_MS + 5_000 });
    await begun.clock.advance(SETTLE_MS + SOON);
    const [second, third] = [begun.start(), begun.start()];
    await begun.clock.advance(4 * SETTLE_MS);
    expect([second.end, third.end]).toEqual([CLEAN, CLEAN]);
    expect(begun.hasRule()).toBe(false);
    const again = begun.start();
    await begun.clock.advance(0);
    expect(again.end).toEqual(CLEAN);
  });

  it('goes on through an API server that is away for a while', async () => {
    const begun = scene();
    const running = begun.start();
    const up = begun.clock.now() + SETTLE_MS + 30_000;
    begun.cluster.before = ({ verb }) => {
      if (begun.clock.now() < up && verb !== 'watch') throw new ApiError(verb, 503);
    };
    await begun.clock.advance(4 * SETTLE_MS);
    expect(running.end).toEqual(CLEAN);
    expect(running.lines.join('\n')).toContain('503');
  });

  it('gives up when time is up, and says what was in the way', async () => {
    const begun = scene();
    begun.cluster.before = ({ verb }) => {
      if (verb === 'list') throw new ApiError('listing', 500);
    };
    const running = begun.start({ timeout: 30_000 });
    await begun.clock.advance(60_000);
    expect(running.end?.left).toMatchObject([{ rule: '(all)', step: { why: expect.stringContaining('500') } }]);
  });

  it('leaves a rule that others hold, and says who', async () => {
    const begun = new DrainScene();
    begun.rule(RULE, {}, ['finalizer-bridge.dev/withdrawal', 'others.example.com/keep']);
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end?.left).toMatchObject([{ step: { why: expect.stringContaining('others.example.com/keep') } }]);
    expect(begun.finalizers(RULE, TEARDOWN_RULES)).toEqual(['others.example.com/keep']);
  });
});
