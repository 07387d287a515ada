/*
 * A bridge that cannot read its rules when it starts, because their definition is not there or it may not list them: it says so
 * loudly, and what is pending in the kinds of its configuration is seen and told of all the same (P7).
 */
import { describe, expect, it } from 'vitest';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, counts, ENTRY, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const { group, resource } = BUCKETS;
const RULES = `${TEARDOWN_RULES.group}/${TEARDOWN_RULES.resource}`;
const MINUTE = 60_000;

/** A bridge over an API server that refuses the rules; one object of a listed kind is being deleted. */
async function blind(status: 403 | 404): Promise<RuleScene> {
  return await RuleScene.start({
    listed: [{ group, resource }],
    prepare: ({ cluster }) => {
      cluster.refused.set(RULES, status);
      cluster.create({ name: 'logs', finalizers: [ENTRY], spec: { bucket: 'team-a-logs' } });
      cluster.delete('logs');
    },
  });
}
const loud = ({ kept }: RuleScene) => kept.lines.filter(({ level }) => level === 'error').map(({ message }) => message);

describe.each([
  [403, 'the bridge may not list or watch teardownrules', 'bind its ServiceAccount to a ClusterRole'],
  [404, 'the API server does not serve teardownrules: their definition is not installed', 'apply it, by the chart'],
] as const)('a bridge whose rules are answered %i', (status, why, next) => {
  it('says so in log, metrics and readiness, and sees what is pending all the same (P7)', async () => {
    const scene = await blind(status);
    await scene.clock.advance(MINUTE);

    expect(loud(scene)).toEqual([expect.stringContaining(`reading the rules: ${why}; nothing is published`)]);
    expect(loud(scene)[0]).toContain(` Next: ${next}`);
    expect(scene.bridge.whyNotReady()).toContain(why);
    expect(await counts(scene.metrics.watching)).toEqual({ [RULES]: 0, [`${group}/${resource}`]: 1 });
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(scene.bridge.pendings()[0]?.standing?.message).toBe(why);
    expect(scene.cluster.peek('logs')?.metadata.annotations?.[`status.finalizer-bridge.dev/${RULE}`]).toContain(why);
    expect(scene.queue.taken).toEqual([]);
    await scene.clock.advance(60 * MINUTE);
    // It stays where somebody looks who comes later, about every ten minutes, and fills no log.
    expect(loud(scene).length).toBeGreaterThanOrEqual(6);
    expect(loud(scene).length).toBeLessThanOrEqual(7);
    await scene.stop();
  });

  it('goes on by itself when they can be read', async () => {
    const scene = await blind(status);
    await scene.clock.advance(2 * MINUTE);
    scene.cluster.refused.delete(RULES);
    await scene.apply();
    await scene.clock.advance(2 * MINUTE);

    expect(scene.queue.taken).toHaveLength(1);
    expect(await scene.answer('logs', { outcome: 'gone', evidence: 'deleted' })).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.bridge.whyNotReady()).toEqual([]);
    expect(await counts(scene.metrics.watching)).toMatchObject({ [RULES]: 1 });
    const again = scene.kept.lines.filter(({ message }) => message === 'reading the rules: they can be read again');
    expect(again).toHaveLength(1);
    await scene.stop();
  });

  it('hears the release of a person', async () => {
    const scene = await blind(status);
    await scene.clock.advance(MINUTE);
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    await scene.clock.advance(MINUTE);
    expect(scene.bridge.pendings()[0]?.standing?.reason).toBe('ReleaseWaiting');
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
    await scene.clock.advance(1_000);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    await scene.stop();
  });
});

it('a definition that is created a moment after the start is no trouble', async () => {
  const scene = await blind(404);
  await scene.clock.advance(300);
  scene.cluster.refused.delete(RULES);
  await scene.clock.advance(MINUTE);
  expect(loud(scene)).toEqual([]);
  expect(scene.bridge.whyNotReady()).toEqual([]);
  await scene.stop();
});
