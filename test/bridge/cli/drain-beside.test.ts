/*
 * A drain beside a running bridge: the real bridge and its keeper over a tiny API server do the withdrawal, and the drain
 * deletes the rules, watches, passes on a person's word, and does itself only what the bridge cannot.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../bridge/ports.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../../bridge/teardown-rules.ts';
import { counts, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { blocking, DrainScene } from '../../support/drain-scene.ts';
import { VOLUMES } from '../../support/fake-kinds.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const SOON = 10_000;
const HOUR = 3_600_000;
const CLEAN = { left: [], unseen: [] };
const WORD = `release.finalizer-bridge.dev/${RULE}`;
const OTHER = 'finalizer-bridge.dev/gone';

/** A bridge with a rule and three live objects, and a drain that can see that it runs. */
async function scene() {
  const bridge = await RuleScene.start();
  await bridge.apply();
  for (const name of ['a', 'b', 'c']) await bridge.create(name);
  await bridge.clock.advance(1_000);
  const begun = new DrainScene(bridge);
  return { bridge, begun, ending: begun.leading() };
}

const patched = ({ cluster }: DrainScene, name: string) =>
  cluster.calls.filter((call) => call.verb === 'patch' && call.name === name).length;

describe('draining beside a bridge', () => {
  it('leaves the withdrawal to it, and ends when the rule is gone (K20)', async () => {
    const { bridge, begun } = await scene();
    const before = patched(begun, 'a');
    const running = begun.start();
    await begun.clock.advance(2 * SETTLE_MS + 3 * SOON);
    expect(running.end).toEqual(CLEAN);
    expect(await counts(bridge.metrics.removed)).toEqual({ [`${RULE}/Withdrawn`]: 3 });
    expect(['a', 'b', 'c'].map((name) => begun.finalizers(name))).toEqual([[], [], []]);
    expect(patched(begun, 'a')).toBe(before + 1);
    expect(bridge.book.rules).toEqual([]);
    expect(running.lines.join('\n')).toContain('a bridge said Settling');
  });

  it('waits for what is being taken down', async () => {
    const { bridge, begun } = await scene();
    await bridge.delete('a');
    await begun.clock.advance(1_000);
    const running = begun.start();
    await begun.clock.advance(5 * 60_000);
    expect(running.end).toBeUndefined();
    expect(running.lines.join('\n')).toContain('1 Requested');
    await bridge.answer('a');
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end).toEqual(CLEAN);
    expect(await counts(bridge.metrics.removed)).toMatchObject({ [`${RULE}/Gone`]: 1 });
  });

  it('ends when only what needs a person is left, and names it', async () => {
    const { bridge, begun } = await scene();
    await bridge.create('odd', { spec: {} });
    await bridge.delete('odd');
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(blocking(running)).toEqual(['odd: TargetMissing']);
    expect(begun.finalizers('odd')).toEqual([ENTRY]);
    expect(begun.hasRule()).toBe(true);
  });

  it('passes a release on, and has the bridge act on it when no request can still run (Q13)', async () => {
    const { bridge, begun } = await scene();
    await bridge.delete('a');
    await begun.clock.advance(1_000);
    await bridge.answer('a', { outcome: 'refused', reason: 'NotOwned', message: 'no tag' });
    await begun.clock.advance(60_000);
    const running = begun.start({ release: 'wait', timeout: 24 * HOUR });
    await begun.clock.advance(SETTLE_MS + 3 * SOON);
    expect(begun.cluster.peek('a')?.metadata.annotations?.[WORD]).toBe('uid-a');
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.clock.advance(3 * HOUR);
    expect(running.end).toEqual(CLEAN);
    expect(await counts(bridge.metrics.removed)).toMatchObject({ [`${RULE}/Released`]: 1 });
  });

  it('gives up nothing that is being taken down by a bridge whose lease is not there', async () => {
    const bridge = await RuleScene.start();
    await bridge.apply();
    await bridge.create('a');
    await bridge.clock.advance(1_000);
    await bridge.delete('a');
    await bridge.clock.advance(5_000);
    const running = new DrainScene(bridge).start({ release: 'now', timeout: 5 * 60_000, said: { said: 'nothing' } });
    await bridge.clock.advance(6 * 60_000);
    expect(blocking(running)).toEqual(['a: Requested']);
    expect(bridge.cluster.peek('a')?.metadata.annotations?.[WORD]).toBeUndefined();
    expect(bridge.finalizers('a')).toEqual([ENTRY]);
  });

  it('waits for a bridge that keeps no lease, though a person says that none runs', async () => {
    const bridge = await RuleScene.start();
    await bridge.apply();
    await bridge.create('a');
    await bridge.clock.advance(1_000);
    await bridge.delete('a');
    await bridge.clock.advance(5_000);
    const said = { said: 'gone', since: undefined } as const;
    const running = new DrainScene(bridge).start({ release: 'wait', timeout: 5 * 60_000, said });
    await bridge.clock.advance(6 * 60_000);
    expect(running.lines.join('\n')).toContain(`it has written the status of rule ${RULE}`);
    expect(bridge.cluster.peek('a')?.metadata.annotations?.[WORD]).toBeUndefined();
    expect(blocking(running)).toEqual(['a: Requested']);
  });

  it('releases nothing that is being taken down and not held', async () => {
    const { bridge, begun } = await scene();
    await bridge.delete('a');
    const running = begun.start({ release: 'now', timeout: 5 * 60_000 });
    await begun.clock.advance(6 * 60_000);
    expect(blocking(running)).toEqual(['a: Requested']);
    expect(begun.cluster.peek('a')?.metadata.annotations?.[WORD]).toBeUndefined();
    expect(begun.finalizers('a')).toEqual([ENTRY]);
  });

  it('does the withdrawal itself where the bridge may not (RBAC first, K26)', async () => {
    const { bridge, begun } = await scene();
    begun.asAdmin = true;
    begun.cluster.refused.set('storage.example.com/buckets', 403);
    const running = begun.start();
    await begun.clock.advance(4 * SETTLE_MS);
    expect(running.lines.join('\n')).toMatch(/coming off 3 live objects/);
    expect(running.lines.join('\n')).toContain('NotPermitted');
    expect(running.end).toEqual(CLEAN);
    expect(await counts(bridge.metrics.removed)).toEqual({});
  });

  it('gives up itself, on a word, what the bridge may not see any more', async () => {
    const begun = new DrainScene();
    begun.rule();
    begun.deleting('a');
    begun.leading();
    begun.bridgeSays('NotPermitted');
    const running = begun.start({ release: 'now' });
    await begun.clock.advance(5_000);
    expect(begun.cluster.peek('a')).toBeUndefined();
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
  });

  it('does itself, a little later, what a bridge that hangs has not done', async () => {
    const begun = new DrainScene();
    begun.rule();
    begun.object('a');
    begun.leading();
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.clock.advance(SOON);
    expect(begun.finalizers('a')).toEqual([]);
    await begun.clock.advance(SETTLE_MS + 2 * SOON);
    expect(running.end).toEqual(CLEAN);
  });

  it('takes the bridge’s word for a kind that it may not look at itself', async () => {
    const begun = new DrainScene();
    begun.rule();
    begun.leading();
    begun.cluster.refused.set('storage.example.com/buckets', 403);
    const running = begun.start();
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(running.end).toBeUndefined();
    begun.bridgeLetsGo();
    await begun.clock.advance(SOON);
    expect(running.end?.left).toEqual([]);
  });

  it('lets no rule go but the one that it has withdrawn (K3)', async () => {
    const begun = new DrainScene();
    begun.rule();
    let isDone = false;
    const end = begun.clock.now() + 2 * SETTLE_MS;
    begun.cluster.before = ({ verb, name }) => {
      // After its last list the drain goes by what it knows of the rule.
      if (isDone && verb === 'list') throw new ApiError('listing', 503);
      if (verb !== 'list' || name !== 'buckets' || begun.clock.now() < end) return;
      begun.bridgeLetsGo();
      begun.cluster.create({
        ...{ name: RULE, uid: 'uid-of-successor', kind: TEARDOWN_RULES, spec: {} },
        finalizers: [WITHDRAWAL_FINALIZER],
      });
      isDone = true;
    };
    begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(isDone).toBe(true);
    expect(begun.finalizers(RULE, TEARDOWN_RULES)).toEqual([WITHDRAWAL_FINALIZER]);
  });

  it('takes over when the bridge goes in the middle, and hands back when one comes (P5)', async () => {
    const { bridge, begun, ending } = await scene();
    await bridge.delete('a');
    await begun.clock.advance(1_000);
    const running = begun.start();
    await begun.clock.advance(30_000);
    await bridge.stop();
    ending();
    await begun.clock.advance(2 * SETTLE_MS);
    expect(begun.finalizers('b')).toEqual([]);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    expect(blocking(running)).toEqual(['a: NoBridge']);
    const next = await RuleScene.start({ world: bridge });
    begun.leading('bridge-1');
    const again = begun.start();
    await begun.clock.advance(2_000);
    await next.answer('a');
    await begun.clock.advance(4 * SETTLE_MS);
    expect(again.end).toEqual(CLEAN);
    expect(await counts(next.metrics.removed)).toMatchObject({ [`${RULE}/Gone`]: 1 });
  });

  it('frees live objects of a rule that is gone, since no bridge looks for them (K33)', async () => {
    const { bridge, begun } = await scene();
    await begun.clock.advance(60_000);
    begun.object('lost', { kind: VOLUMES, finalizers: [OTHER, ENTRY] });
    const running = begun.start({ names: ['gone'] });
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('lost', VOLUMES)).toEqual([ENTRY]);
    expect(bridge.rule()?.metadata.deletionTimestamp).toBeUndefined();
  });
});
