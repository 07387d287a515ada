/*
 * Until when a bridge leads: its calls fail, are lost or hang, it stands still, its wall clock is set. Under a clock that a
 * test moves.
 */
import { describe, expect, it } from 'vitest';
import { HOLD_MS } from '../../bridge/leader-state.ts';
import type { Fate } from '../support/fake-leases.ts';
import { LeaseScene } from '../support/lease-scene.ts';
import { settled } from '../support/manual-clock.ts';
import { StoppableClock } from '../support/stoppable-clock.ts';

const SECOND = 1_000;

describe('a bridge alone', () => {
  it('is elected at its first look, and leads for as long as it can renew', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    expect(one.candidate.trouble).toContain('was not read yet');
    await scene.clock.advance(SECOND);
    expect([one.elected, one.candidate.holds(), one.candidate.trouble]).toEqual([true, true, undefined]);
    await scene.clock.advance(300 * SECOND);
    expect([one.candidate.holds(), one.lost]).toEqual([true, undefined]);
    expect(scene.leases.stored?.record).toMatchObject({ holder: 'one', durationSeconds: 15, transitions: 0 });
    // A read at the start; then one write every two seconds and nothing else.
    expect(scene.leases.calls.length).toBeLessThan(155);
  });

  it.each<Fate>(['refused', 'lost', 'silent'])('goes on leading when calls are %s for six seconds', async (fate) => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    one.fate = fate;
    await scene.clock.advance(6 * SECOND);
    one.fate = 'answered';
    await scene.clock.advance(30 * SECOND);
    expect([one.candidate.holds(), one.lost]).toEqual([true, undefined]);
  });

  it.each<Fate>(['refused', 'lost', 'silent'])('has lost for good when calls are %s for longer (K18)', async (fate) => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    one.fate = fate;
    await scene.clock.advance(HOLD_MS + SECOND);
    expect(one.candidate.holds()).toBe(false);
    expect(one.lost).toMatch(/^not renewed for 10\d\d\d ms$/);
    expect(scene.kept.lines.map(({ level }) => level)).toContain('error');
    one.fate = 'answered';
    await scene.clock.advance(60 * SECOND);
    expect(one.candidate.holds()).toBe(false);
  });

  it.each<Fate>(['refused', 'silent'])('has lost when it cannot even read what became of it: %s', async (fate) => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(3 * SECOND);
    // Its next renewal meets another version, and it has to look.
    scene.leases.put({});
    await scene.clock.advance(1_050);
    one.fate = fate;
    await scene.clock.advance(HOLD_MS);
    expect(one.lost).toMatch(/^not renewed for/);
  });

  it('counts from before a renewal was sent, never from its answer (V3)', async () => {
    const scene = new LeaseScene();
    let latency = 1;
    const one = scene.stand('one', { latency: () => latency });
    await scene.clock.advance(SECOND);
    latency = 1_400;
    await scene.clock.advance(2 * SECOND);
    // Sent at 2 s, confirmed at 4.8 s.
    await scene.clock.advance(3_500);
    one.fate = 'silent';
    latency = 60 * SECOND;
    // Set back, the wall clock has no part in it.
    scene.clock.step(-60 * SECOND);
    await scene.clock.advance(5_400);
    expect(one.candidate.holds()).toBe(true);
    await scene.clock.advance(200);
    expect(one.candidate.holds()).toBe(false);
  });

  it('is not elected while it hears nothing, whatever its calls have done, and says so', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    one.fate = 'silent';
    await scene.clock.advance(20 * SECOND);
    expect([one.elected, one.candidate.isElected, one.lost]).toEqual([false, false, undefined]);
    expect(one.candidate.trouble).toMatch(/was not read for 20 s: no answer within 3000 ms/);
    one.fate = 'answered';
    await scene.clock.advance(5 * SECOND);
    expect([one.elected, one.candidate.holds()]).toEqual([true, true]);
  });

  it('is not elected by an answer that it hears of when its time is over, having stood still (V3)', async () => {
    const scene = new LeaseScene();
    const own = new StoppableClock(scene.clock);
    const one = scene.stand('one', { clock: own });
    await scene.clock.advance(3);
    // The lease is written, and the answer on its way.
    expect(scene.holder).toBe('one');
    own.stop();
    await scene.clock.advance(60 * SECOND);
    own.leap(-3_600 * SECOND);
    own.goOn();
    await settled();
    expect([one.elected, one.candidate.isElected, one.candidate.holds()]).toEqual([false, false, false]);
    await scene.clock.advance(SECOND);
    expect(one.candidate.holds()).toBe(true);
  });

  it('that stood still for longer than it may has lost before it does anything (V3)', async () => {
    const scene = new LeaseScene();
    const own = new StoppableClock(scene.clock);
    const one = scene.stand('one', { clock: own });
    await scene.clock.advance(5 * SECOND);
    own.stop();
    await scene.clock.advance(HOLD_MS + SECOND);
    own.leap(-3_600 * SECOND);
    expect(one.candidate.holds()).toBe(false);
    const { length } = scene.leases.calls;
    own.goOn();
    await settled();
    expect(one.lost).toMatch(/^not renewed for/);
    expect(scene.leases.calls.length).toBe(length);
  });

  it('takes what it wrote itself without hearing of it for its own', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    one.fate = 'lost';
    await scene.clock.advance(1_200);
    one.fate = 'answered';
    await scene.clock.advance(3 * SECOND);
    expect([one.candidate.holds(), scene.leases.stored?.record.transitions]).toEqual([true, 0]);
  });
});

describe('the wall clock', () => {
  it.each([-3_600_000, 3_600_000])('set by %s ms takes the lease from nobody and gives it to nobody', async (step) => {
    const scene = new LeaseScene();
    const [one, two] = [scene.stand('one'), scene.stand('two', { latency: () => 2 })];
    await scene.clock.advance(5 * SECOND);
    scene.clock.step(step);
    await scene.clock.advance(60 * SECOND);
    expect([one.candidate.holds(), one.lost, two.elected]).toEqual([true, undefined, false]);
  });

  it('that leaps ahead of the other one stops the leader until it has renewed: the machine may have slept (V3)', async () => {
    const scene = new LeaseScene();
    const one = scene.stand('one');
    await scene.clock.advance(5 * SECOND);
    scene.clock.step(60 * SECOND);
    expect(one.candidate.holds()).toBe(false);
    await scene.clock.advance(2 * SECOND);
    expect([one.candidate.holds(), one.lost]).toEqual([true, undefined]);
  });

  it('that stands still makes renewals that still differ', async () => {
    const scene = new LeaseScene();
    const [one, two] = [scene.stand('one'), scene.stand('two', { latency: () => 2 })];
    for (let second = 0; second < 60; second += 1) {
      await scene.clock.advance(SECOND);
      scene.clock.step(-SECOND);
    }
    expect([one.candidate.holds(), two.elected]).toEqual([true, false]);
  });
});
