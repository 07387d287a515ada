/*
 * Whether a bridge runs, seen by its lease: as any candidate for a lease judges, whatever the clocks say, and careful where
 * nothing can be read.
 */
import { describe, expect, it } from 'vitest';
import { type BridgeSaid, BridgeSight } from '../../../bridge/cli/drain/bridge-sight.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { RULE } from '../../support/bridge-builders.ts';
import { DrainScene } from '../../support/drain-scene.ts';
import { START } from '../../support/manual-clock.ts';

const HOUR = 3_600_000;

function sightOn(begun: DrainScene, said: BridgeSaid = { said: 'nothing' }): BridgeSight {
  return new BridgeSight({ cluster: begun.cluster, clock: begun.clock, said });
}

describe('the lease of a bridge', () => {
  it('that is renewed shows one that runs, however far apart the clocks are', async () => {
    const begun = new DrainScene();
    begun.lease('bridge-0', 5 * HOUR);
    const sight = sightOn(begun);
    expect(await sight.look()).toEqual({ state: 'up', who: 'bridge-0' });
    for (let round = 0; round < 5; round += 1) {
      await begun.clock.advance(10_000);
      begun.lease('bridge-0', 5 * HOUR);
      expect(await sight.look()).toEqual({ state: 'up', who: 'bridge-0' });
    }
  });

  it('that is not renewed for longer than it lasts shows that none runs, and until when one did', async () => {
    const begun = new DrainScene();
    begun.lease('bridge-0', -HOUR);
    const sight = sightOn(begun);
    await sight.look();
    await begun.clock.advance(20_000);
    expect(await sight.look()).toMatchObject({ state: 'up' });
    await begun.clock.advance(1);
    expect(await sight.look()).toEqual({ state: 'gone', lastAlive: START + HOUR + 15_000 });
  });

  it('that nobody holds shows that none runs', async () => {
    const begun = new DrainScene();
    begun.lease('', HOUR);
    expect(await sightOn(begun).look()).toEqual({ state: 'gone', lastAlive: START - HOUR + 15_000 });
  });

  it('that is not there shows nothing: an old bridge keeps none, and anybody may have deleted it', async () => {
    expect(await sightOn(new DrainScene()).look()).toEqual({
      ...{ state: 'unknown', why: 'there is no lease of its leader' },
    });
  });

  it('that cannot be read shows nothing', async () => {
    const begun = new DrainScene();
    begun.cluster.before = () => {
      throw new ApiError('getting the lease', 403);
    };
    expect(await sightOn(begun).look()).toMatchObject({ state: 'unknown', why: expect.stringContaining('403') });
  });

  it('that is not one shows nothing', async () => {
    const begun = new DrainScene();
    begun.lease('bridge-0');
    begun.cluster.change('finalizer-bridge', (object) => ({ ...object, spec: 7 }), {
      ...{ group: 'coordination.k8s.io', version: 'v1', resource: 'leases' },
    });
    expect(await sightOn(begun).look()).toMatchObject({ state: 'unknown' });
  });
});

describe('what a person says of the bridge', () => {
  it('counts where the lease says nothing, and gives the time that it went', async () => {
    const begun = new DrainScene();
    expect(await sightOn(begun, { said: 'up' }).look()).toMatchObject({ state: 'up' });
    expect(await sightOn(begun, { said: 'gone', since: 5 }).look()).toEqual({ state: 'gone', lastAlive: 5 });
    begun.lease('', HOUR);
    expect(await sightOn(begun, { said: 'gone', since: undefined }).look()).toEqual({
      ...{ state: 'gone', lastAlive: START - HOUR + 15_000 },
    });
  });

  it('does not count against a lease that is seen to be renewed', async () => {
    const begun = new DrainScene();
    begun.lease('bridge-0');
    const sight = sightOn(begun, { said: 'gone', since: undefined });
    expect(await sight.look()).toMatchObject({ state: 'gone' });
    await begun.clock.advance(5_000);
    begun.lease('bridge-0');
    expect(await sight.look()).toEqual({ state: 'up', who: 'bridge-0' });
  });
});

describe('a status that is written while a drain looks on', () => {
  const GONE: BridgeSaid = { said: 'gone', since: undefined };
  const rules = (begun: DrainScene) => {
    const rule = begun.cluster.peek(RULE, TEARDOWN_RULES);
    return rule === undefined ? [] : [rule];
  };

  it('shows a bridge that keeps no lease, whatever a person says', async () => {
    const begun = DrainScene.withRule();
    const sight = sightOn(begun, GONE);
    sight.saw(rules(begun));
    expect(await sight.look()).toMatchObject({ state: 'gone' });
    begun.cluster.delete(RULE, {}, TEARDOWN_RULES);
    sight.saw(rules(begun));
    expect(await sight.look(), 'our own delete is no sign of a bridge').toMatchObject({ state: 'gone' });
    begun.bridgeSays('Settling');
    sight.saw(rules(begun));
    expect(await sight.look()).toEqual({
      ...{ state: 'up', who: `it has written the status of rule ${RULE} just now` },
    });
    sight.saw(rules(begun));
    expect(await sight.look(), 'it still runs at the next look').toMatchObject({ state: 'up' });
  });

  it('shows one also beside the lease of another that has ended', async () => {
    const begun = DrainScene.withRule();
    begun.lease('', HOUR);
    const sight = sightOn(begun);
    sight.saw(rules(begun));
    expect(await sight.look()).toMatchObject({ state: 'gone' });
    begun.bridgeSays('Settling');
    sight.saw(rules(begun));
    expect(await sight.look()).toMatchObject({ state: 'up' });
    begun.lease('', 0);
    expect(await sight.look(), 'it has ended too, and given its lease back').toMatchObject({ state: 'gone' });
  });

  it('shows nothing more of one that held its lease and has ended since', async () => {
    const begun = DrainScene.withRule();
    begun.lease('bridge-0');
    const sight = sightOn(begun);
    sight.saw(rules(begun));
    await sight.look();
    begun.bridgeSays('Settling');
    sight.saw(rules(begun));
    await sight.look();
    await begun.clock.advance(20_001);
    sight.saw(rules(begun));
    expect(await sight.look()).toMatchObject({ state: 'gone' });
  });
});
