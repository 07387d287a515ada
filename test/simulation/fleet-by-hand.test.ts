/*
 * Worlds of a fleet (fleet/) that are written down, not drawn: what the ledger has to tell apart. Drawn ones are in
 * fleet.slow.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { drawPlan } from './fleet/draw.ts';
import { runFleet } from './fleet/fleet.ts';
import {
  type Act,
  type Doing,
  LATER_FORMS,
  type LaterForm,
  type ObjectPlan,
  type RulePlan,
  type Weather,
} from './fleet/plan.ts';

const SECOND = 1000;
const CALM_AT = 30 * 60 * SECOND;
const DELETED_AT = 600 * SECOND;

/** Machines under one rule, one deleted after the other, in fine weather but for what is told. */
async function runMachines(
  objects: readonly Partial<ObjectPlan>[],
  {
    weather,
    acts = [],
    binding = 'uid',
    budget,
    ...later
  }: {
    readonly weather: Partial<Weather>;
    readonly acts?: readonly Act[];
    readonly binding?: RulePlan['binding'];
    readonly budget?: { readonly limit: number; readonly window: string };
    readonly later?: LaterForm;
  },
) {
  const { served: _, ...drawn } = drawPlan(2, 1);
  const spec = { term: '30m', whenAbsent: 'Release', deadline: '24h', ...(budget === undefined ? {} : { budget }) };
  return await runFleet({
    ...drawn,
    ...later,
    ...(binding === 'none' ? { allowsNone: true } : {}),
    ...{
      acts,
      weather: { ...drawn.weather, isFair: false, calmAt: CALM_AT, leaders: 'one', admission: true, ...weather },
    },
    rules: drawn.rules.filter(({ name }) => name === 'machines').map((rule) => ({ ...rule, binding, spec })),
    objects: objects.map((object, index) => ({
      ...{ index, kind: 'machines', namespace: 'team-a', labels: {}, isRetained: false, doings: [] },
      ...{ createdAt: 0, deletedAt: DELETED_AT },
      things: [{ rule: 'machines', tags: 'own', isThere: true, isNamed: true, deletionMs: 0 }],
      ...object,
    })),
  });
}

it('P2 who asked for a deletion is known also where it arrives when its run is over', async () => {
  const objects = Array.from({ length: 600 }, (_, index) => ({ deletedAt: DELETED_AT + index * 300 }));
  const weather = { faultShare: 0.2, faults: [{ kind: 'error', side: 'late' }] } as const;

  const { broken, faults, deletions } = await runMachines(objects, { weather });

  expect(broken).toEqual([]);
  expect(deletions).toBeGreaterThan(100);
  expect(faults['call error late']).toBeGreaterThan(100);
});

it.each(['name', 'none'] as const)(
  'P2 V12 one of two that both lead, which has sent nothing, frees no name while what the other has sent can run (proof by %s)',
  async (binding) => {
    const again = (index: number) => ({ deletedAt: DELETED_AT + index * SECOND, comesAgain: true }) as const;
    const objects = Array.from({ length: 40 }, (_, index) => again(index));
    // Whose clock is behind sends half a minute later; by then the first answer is there, and a copy of the request may not be.
    const bridgeSkews = [-30 * SECOND, 0] as const;
    const queue = { copies: 0.4, delayMs: 20 * SECOND, shuffled: true };
    const weather = { leaders: 'two', bridgeSkews, faultShare: 0, faults: [], queue, lostShare: 0 } as const;

    const { broken, deletions } = await runMachines(objects, { weather, binding });

    expect(broken).toEqual([]);
    expect(deletions).toBeGreaterThanOrEqual(objects.length);
  },
);

it('P5 what a person approved counts in no budget, whoever takes the object away while its request is on its way', async () => {
  const approved = (index: number): Partial<ObjectPlan> => {
    const at = DELETED_AT + 60 * SECOND + index * SECOND;
    const say = (doing: Doing, afterMs: number) => ({ at: at + afterMs, doing, rule: 'machines' }) as const;
    return { deletedAt: DELETED_AT + SECOND, doings: [say('approve', 0), say('strip', 2 * index)] };
  };
  const objects = [{}, ...Array.from({ length: 60 }, (_, index) => approved(index))];
  const weather = { faultShare: 0, faults: [], lostShare: 0 } as const;

  const { broken, deletions } = await runMachines(objects, { weather, budget: { limit: 1, window: '10m' } });

  expect(broken).toEqual([]);
  expect(deletions).toBe(objects.length);
});

describe('P1 V10 a target that was asked for, whose request is lost and whose sender is killed, and that is changed', () => {
  const weather = { faultShare: 0, faults: [], lostShare: 1, restartMs: 5 * SECOND } as const;
  const later = (seconds: number, doing: Doing) =>
    ({ at: DELETED_AT + seconds * SECOND, doing, rule: 'machines' }) as const;
  const crash = (seconds: number) =>
    ({ at: DELETED_AT + seconds * SECOND, happening: 'crashBridge', forMs: 0, chance: 0 }) as const;

  it('before anything was written and before anybody looks again is beyond sight, which is counted and no fault', async () => {
    const { broken, faults } = await runMachines([{ doings: [later(3, 'move')] }], { weather, acts: [crash(2)] });
    expect(broken).toEqual([]);
    expect(faults['P1 beyond sight']).toBe(1);
  });

  it.each([
    ['after its first record', [later(46, 'move')], [crash(45)]],
    ['when somebody has seen that there was none in between', [later(3, 'clear'), later(60, 'move')], [crash(2)]],
    ['while its sender lives', [later(3, 'move')], []],
  ])('%s is held: nothing is beyond sight', async (_when, doings, acts) => {
    const { broken, faults } = await runMachines([{ doings }], { weather, acts });
    expect(broken).toEqual([]);
    expect(faults).not.toHaveProperty('P1 beyond sight');
    expect(faults['queue lost']).toBeGreaterThan(0);
  });
});

describe('P1 a target that was asked for by a bridge of a later version, and refused', () => {
  const others = {
    things: [{ rule: 'machines', tags: 'stranger', isThere: true, isNamed: true, deletionMs: 0 }],
  } as const;
  const move = { at: DELETED_AT + 60 * SECOND, doing: 'move', rule: 'machines' } as const;
  const rollback = { at: DELETED_AT + 120 * SECOND, happening: 'changeVersion', forMs: 0, chance: 0 } as const;

  it.each(LATER_FORMS)('is not forgotten after a rollback, whatever the record says beside it: %s', async (later) => {
    const weather = { faultShare: 0, faults: [], restartMs: 5 * SECOND } as const;
    const { broken, deletions } = await runMachines([{ ...others, doings: [move] }], {
      ...{ weather, acts: [rollback], later },
    });
    expect(broken).toEqual([]);
    expect(deletions).toBe(1);
  });
});
