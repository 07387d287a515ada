/*
 * How the process ends: in order and in time, whoever hangs, with a code that says how; and nothing is written by one that
 * does not lead.
 */
import { describe, expect, it } from 'vitest';
import { writingAsLeader } from '../../bridge/leading.ts';
import { Stopping } from '../../bridge/stopping.ts';
import { BUCKETS, keptLog } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { LeaseScene } from '../support/lease-scene.ts';
import { settled } from '../support/manual-clock.ts';

/** A process that leads, whose bridge ends as it is told. */
async function leading(endBridge: () => Promise<void>) {
  const scene = new LeaseScene();
  const { candidate } = scene.stand('one');
  await scene.clock.advance(1_000);
  const kept = keptLog();
  const [codes, holders]: [number[], (string | undefined)[]] = [[], []];
  const bridge = {
    async stop() {
      holders.push(scene.holder);
      await endBridge();
    },
  };
  const running = { candidate, bridge };
  const exit = (code: number) => void codes.push(code);
  const stopping = new Stopping({ running, clock: scene.clock, log: kept.log, exit });
  return { scene, candidate, stopping, codes, holders, said: () => kept.lines.map(({ message }) => message) };
}

describe('SIGTERM', () => {
  it('ends what runs, then gives the lease back, and the code says that all is well', async () => {
    const { scene, stopping, codes, holders } = await leading(async () => {});
    stopping.onSignal('SIGTERM');
    await scene.clock.advance(10);
    expect([codes, holders, scene.holder]).toEqual([[0], ['one'], '']);
  });

  it('does not wait for what hangs: it acts no more, the lease goes on within two seconds, the code is the same', async () => {
    const { scene, candidate, stopping, codes, said } = await leading(() => new Promise(() => {}));
    stopping.onSignal('SIGTERM');
    await scene.clock.advance(1_400);
    expect([candidate.holds(), scene.holder, codes]).toEqual([true, 'one', []]);
    await scene.clock.advance(300);
    expect([candidate.holds(), scene.holder, codes]).toEqual([false, '', [0]]);
    expect(said()).toContain('ending what runs: left to whoever leads next');
  });

  it('goes on where ending fails', async () => {
    const { scene, stopping, codes } = await leading(() => Promise.reject(new Error('odd')));
    stopping.onSignal('SIGTERM');
    await scene.clock.advance(10);
    expect([scene.holder, codes]).toEqual(['', [0]]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second signal %s ends at once, and says so', async (signal, code) => {
    const { stopping, codes, said } = await leading(() => new Promise(() => {}));
    stopping.onSignal('SIGTERM');
    await settled();
    stopping.onSignal(signal);
    expect(codes).toEqual([code]);
    expect(said()).toContain('ending at once: a second signal');
  });
});

it('a lost lease ends the process with a code of its own, and is not given back (K18)', async () => {
  const { scene, candidate, stopping, codes } = await leading(async () => {});
  scene.leases.put({ holder: 'thief' });
  void candidate.lost.then(() => stopping.end(3));
  await scene.clock.advance(3_000);
  expect([codes, scene.holder]).toEqual([[3], 'thief']);
});

it('a bridge that does not lead patches nothing and tells nothing, but reads (V3)', async () => {
  let holds = true;
  const real = new FakeCluster(() => 0);
  const cluster = writingAsLeader(real, { holds: () => holds });
  real.create({ name: 'logs' });
  const path = { ...BUCKETS, namespace: 'team-a', name: 'logs' };
  const patch = () => cluster.patch(path, [{ op: 'add', path: '/metadata/labels', value: {} }]);
  const object = await cluster.get(path);
  if (object === undefined) throw new Error('there is no object');
  const { apiVersion, kind, metadata } = object;
  const about = { type: 'Warning', reason: 'Bypassed', action: 'Teardown', message: 'somebody else' } as const;
  const tell = () => cluster.recordEvent({ ...about, object: { apiVersion, kind, ...metadata } });
  await patch();
  await tell();

  holds = false;

  await expect(patch()).rejects.toThrow('patching buckets/logs: the lease is not held');
  await expect(tell()).rejects.toThrow('the lease is not held');
  expect(await cluster.get(path)).toBeDefined();
  expect([real.calls.filter(({ verb }) => verb === 'patch').length, real.events.length]).toEqual([1, 1]);
});
