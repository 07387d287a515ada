/*
 * Who leads, as `status` says it first of all: by one look at the lease of the bridges, where the caller may read that.
 * That nobody does is not clean.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { LEASE_PLACE } from '../../../bridge/leader-state.ts';
import { ApiError, type Cluster } from '../../../bridge/ports.ts';
import { ENTRY } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const MINUTE = 60_000;
const scenes: RuleScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

/** A bridge with a ready rule, and nothing that a person has to see to. */
async function ruled(): Promise<{ line: CommandLine }> {
  const scene = await RuleScene.start();
  scenes.push(scene);
  await scene.apply();
  await scene.clock.advance(MINUTE);
  return { line: new CommandLine(scene) };
}

function refuseLeases(get: Cluster['get']): Cluster['get'] {
  return async (path) => {
    if (path.resource === 'leases') throw new ApiError('getting the lease', 403, { body: 'forbidden' });
    return await get(path);
  };
}

describe('who leads', () => {
  const lease = (line: CommandLine, holderIdentity: string, secondsAgo: number) => {
    const renewTime = new Date(line.clock.now() - secondsAgo * 1000).toISOString();
    const { name, namespace } = LEASE_PLACE;
    line.cluster.create({ name, namespace, kind: LEASE_PLACE, spec: { holderIdentity, renewTime } });
  };

  it('is no secret to `explain`: nothing goes on while none does, where something is to go on', async () => {
    const { line } = await ruled();
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    lease(line, 'bridge-1', 2);
    expect((await line.run('explain bucket/logs')).out).not.toContain('leads');
    line.cluster.delete('logs');
    expect((await line.run('explain bucket/logs')).out).not.toContain('leads');
    await line.clock.advance(10 * MINUTE);
    expect((await line.run('explain bucket/logs')).out).toMatch(
      /no bridge leads: the last lease was renewed at \S+; nothing/,
    );
    line.cluster.get = refuseLeases(line.cluster.get.bind(line.cluster));
    expect((await line.run('explain bucket/logs')).out).not.toContain('leads');
  });

  it('is said first, where the lease can be read', async () => {
    const { line } = await ruled();
    lease(line, 'pod-1', 2);
    const { out } = await line.run('status');
    expect(out).toMatch(/^Bridge: pod-1 leads; it renewed its lease 2s ago\.\n/);
    expect(JSON.parse((await line.run('status -o json')).out)).toMatchObject({ bridge: { leader: 'pod-1' } });
  });

  it.each([
    ['its holder gave it back', '', 2],
    ['nobody has renewed it for long', 'pod-1', 120],
  ])('is nobody when %s, and that is not clean', async (_why, holder, secondsAgo) => {
    const { line } = await ruled();
    expect((await line.run('status')).exit).toBe(0);
    lease(line, holder, secondsAgo);
    const { exit, out } = await line.run('status');
    expect(out).toMatch(/^Bridge: none leads, since .* ago; nothing goes on until one does\.\n/);
    expect(exit).toBe(1);
  });

  it('is left out where the lease cannot be read', async () => {
    const { line } = await ruled();
    lease(line, 'pod-1', 2);
    line.cluster.get = refuseLeases(line.cluster.get.bind(line.cluster));
    expect((await line.run('status')).out).toMatch(/^RULE/);
  });
});
