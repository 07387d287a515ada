/*
 * Several bridges over one lease, and people who delete or write it: who leads, and who follows when.
 * Under a clock that a test moves.
 */
import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../bridge/leader-state.ts';
import { LeaseScene } from '../support/lease-scene.ts';

const SECOND = 1_000;

describe('two bridges', () => {
  it('have one leader; the other follows when it falls silent, not before its time and not long after', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(SECOND);
    const two = scene.stand('two');
    await scene.clock.advance(30 * SECOND);
    expect([one.candidate.holds(), two.candidate.holds(), two.candidate.trouble]).toEqual([true, false, undefined]);
    one.fate = 'silent';
    await scene.clock.advance(LEASE_MS - SECOND);
    expect([one.candidate.holds(), two.elected]).toEqual([false, false]);
    // The last renewal was up to two seconds old, and may have been seen a second later.
    await scene.clock.advance(3 * SECOND);
    expect([one.lost === undefined, two.candidate.holds(), scene.holder]).toEqual([false, true, 'two']);
    expect(scene.leases.stored?.record.transitions).toBe(1);
  });

  it('change places within a second when the leader gives the lease back', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(SECOND);
    const two = scene.stand('two');
    await scene.clock.advance(10 * SECOND);
    const stopped = one.candidate.stop();
    await scene.clock.advance(5);
    await stopped;
    expect([one.candidate.holds(), scene.holder, scene.leases.stored?.record.durationSeconds]).toEqual([false, '', 1]);
    await scene.clock.advance(SECOND);
    expect([two.candidate.holds(), one.lost]).toEqual([true, undefined]);
  });

  it('log who led before and until when: nobody, one that gave the lease back, one that let it run out', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(SECOND);
    const stopped = one.candidate.stop();
    await scene.clock.advance(5);
    await stopped;
    const two = scene.stand('two');
    await scene.clock.advance(SECOND);
    two.fate = 'silent';
    scene.stand('three');
    await scene.clock.advance(LEASE_MS + 3 * SECOND);
    const led = scene.kept.lines.filter(({ message }) => message.startsWith('leading:')).map(({ fields }) => fields);
    expect(led).toMatchObject([
      { identity: 'one', before: undefined, heldUntil: undefined },
      { identity: 'two', before: 'given back', heldUntil: expect.any(String) },
      { identity: 'three', before: 'two', heldUntil: expect.any(String) },
    ]);
  });

  it('the one that stands by leaves without a word', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(SECOND);
    const two = scene.stand('two');
    await scene.clock.advance(SECOND);
    const { length } = scene.leases.calls;
    await two.candidate.stop();
    await scene.clock.advance(1);
    expect(scene.leases.calls.slice(length).filter(({ holder }) => holder !== 'one')).toEqual([]);
    expect(one.candidate.holds()).toBe(true);
  });

  it('leaving does not wait for an API server that is silent', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(3 * SECOND);
    one.fate = 'silent';
    const stopped = one.candidate.stop();
    await scene.clock.advance(1_100);
    await stopped;
    expect(scene.kept.lines.map(({ message }) => message)).toContain(
      'giving the lease back: failed, it runs out by itself',
    );
  });

  it('a record that names a longer time is waited for that long', async () => {
    const scene = new LeaseScene();
    scene.leases.put({ holder: 'newer version', durationSeconds: 60 });
    const one = scene.stand('one');
    await scene.clock.advance(59 * SECOND);
    expect(one.elected).toBe(false);
    await scene.clock.advance(3 * SECOND);
    expect(one.elected).toBe(true);
  });

  it('a shorter time in the record is not believed', async () => {
    const scene = new LeaseScene();
    scene.leases.put({ holder: 'somebody', durationSeconds: 1 });
    const one = scene.stand('one');
    await scene.clock.advance(LEASE_MS - SECOND);
    expect(one.elected).toBe(false);
  });
});

describe('somebody who', () => {
  it('takes the lease ends the leader at its next renewal (K18)', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    scene.leases.put({ holder: 'thief' });
    await scene.clock.advance(3 * SECOND);
    expect([one.candidate.holds(), one.lost]).toEqual([false, 'thief has it']);
    expect(scene.holder).toBe('thief');
  });

  it('deletes the lease takes it from nobody: the leader writes it anew, and who stood by waits', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    const two = scene.stand('two');
    await scene.clock.advance(5_500);
    scene.leases.delete();
    await scene.clock.advance(60 * SECOND);
    expect([one.candidate.holds(), one.lost, two.elected, scene.holder]).toEqual([true, undefined, false, 'one']);
  });

  it('deletes the lease of a leader that is gone does not keep the next one from leading', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    const two = scene.stand('two');
    await scene.clock.advance(5 * SECOND);
    one.fate = 'refused';
    scene.leases.delete();
    await scene.clock.advance(LEASE_MS + 2 * SECOND);
    expect([one.candidate.holds(), two.candidate.holds()]).toEqual([false, true]);
  });

  it('touches the lease all the time without changing what it says keeps nobody from leading', async () => {
    const scene = new LeaseScene();
    scene.leases.put({ holder: 'dead' });
    const one = scene.stand('one');
    for (let second = 0; second < 17; second += 1) {
      scene.leases.put({});
      await scene.clock.advance(SECOND);
    }
    expect(one.candidate.holds()).toBe(true);
  });
});

it('P5 a leader whose lease is restored from a copy of before ends, and whoever follows begins with nothing', async () => {
  const scene = new LeaseScene();
  const one = scene.stand('one');
  await scene.clock.advance(SECOND);
  const copy = scene.leases.stored;
  await scene.clock.advance(10 * SECOND);

  scene.leases.stored = copy;
  await scene.clock.advance(3 * SECOND);

  expect([one.candidate.holds(), one.lost]).toEqual([false, expect.stringContaining('restored')]);
  const two = scene.stand('two');
  await scene.clock.advance(LEASE_MS + SECOND);
  expect(two.candidate.holds()).toBe(true);
});
