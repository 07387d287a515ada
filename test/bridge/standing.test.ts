/*
 * What people can see of a deletion that is not done: the record on the object, Events, metrics; when it is written, and
 * what may not go on before it is. Through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { ApiError } from '../../bridge/ports.ts';
import { recordKey } from '../../bridge/record.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const absent: Outcome = { outcome: 'gone', evidence: 'absent' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'the owner tag is another one' };
const pendingAt = (progress: string): Outcome => ({ outcome: 'pending', reason: 'InProgress', progress });

async function requested(): Promise<Scene> {
  const scene = await Scene.start();
  await scene.deleted();
  return scene;
}

describe('a record', () => {
  it('is written when a deletion is not done within half a minute, and at most once a minute', async () => {
    const scene = await requested();
    await scene.clock.advance(29_700);
    expect(scene.record()).toBeUndefined();
    await scene.clock.advance(200);
    expect(scene.record()).toMatchObject({
      ...{ phase: 'Pending', reason: 'Requested', uid: 'uid-logs', ruleUid: `uid-of-${RULE}` },
      targets: [{ requested: true, started: false }],
    });
    expect(scene.cluster.count('patch')).toBe(1);
    for (let second = 0; second < 120; second += 5) {
      await scene.answer(pendingAt(`${second} of 5000`));
      await scene.clock.advance(5_000);
    }
    expect(scene.cluster.count('patch')).toBe(3);
    expect(scene.record()?.message).toContain('of 5000');
    expect(scene.record()?.targets).toMatchObject([{ started: true }]);
  });

  it('is not written again while it would say the same', async () => {
    const scene = await requested();
    await scene.clock.advance(50 * 60_000);
    expect(scene.cluster.count('patch')).toBe(1);
    expect(scene.cluster.count('get')).toBeLessThanOrEqual(2);
  });

  it('touches no other annotation', async () => {
    const scene = await Scene.start();
    await scene.deleted({ annotations: { 'team.example.com/a': 'b' } });
    await scene.clock.advance(31_000);
    expect(Object.keys(scene.cluster.peek('logs')?.metadata.annotations ?? {})).toEqual([
      'team.example.com/a',
      recordKey(RULE),
    ]);
  });
});

describe('a refusal', () => {
  it('holds the object, says so on it and in one Event, and goes on when it is due (K4)', async () => {
    const scene = await requested();
    expect(await scene.answer(refused)).toBe(true);
    expect(scene.standing()).toBe('Held NotOwned');
    expect(scene.record()).toMatchObject({
      phase: 'Held',
      reason: 'NotOwned',
      message: 'the owner tag is another one',
    });
    expect(scene.events).toEqual(['TeardownHeld']);
    expect(await scene.answer(refused)).toBe(true);
    await scene.clock.advance(23 * 3_600_000);
    expect(scene.finalizers()).toEqual([ENTRY]);
    expect(scene.requests).toHaveLength(1);
    expect(scene.events).toEqual(['TeardownHeld']);
    await scene.clock.advance(1.5 * 3_600_000);
    expect(scene.requests.map(({ data }) => data.attempt)).toEqual([0, 24]);
  });

  it('is remembered by the next bridge, which does not ask again before it is due (P5)', async () => {
    const first = await requested();
    await first.answer(refused);
    await first.bridge.stop();
    const second = await Scene.start({ after: first });
    expect(second.standing()).toBe('Held NotOwned');
    expect(second.requests).toHaveLength(1);
    expect(second.events).toEqual(['TeardownHeld']);
    await second.clock.advance(24.5 * 3_600_000);
    expect(second.requests).toHaveLength(2);
  });

  it('of which no Event can be recorded changes nothing (K9)', async () => {
    const scene = await requested();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'event') throw new ApiError('recording', 403);
    };
    expect(await scene.answer(refused)).toBe(true);
    expect(scene.standing()).toBe('Held NotOwned');
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('a changed target', () => {
  it('is written down before the result that told of it is acknowledged (V8)', async () => {
    const scene = await requested();
    const asked = scene.request;
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new ApiError('patching', 500);
    };
    scene.retarget('another-bucket');
    expect(await scene.answer(gone, asked)).toBe(false);
    expect(scene.record()).toBeUndefined();
    scene.cluster.before = () => {};
    expect(await scene.answer(gone, asked)).toBe(true);
    expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'TargetChanged' });
    expect(scene.record()?.targets).toMatchObject([{ requested: true }, { requested: false }]);
    expect(scene.requests).toHaveLength(1);
  });

  it('is written down at once, however lately something else was', async () => {
    const scene = await requested();
    await scene.clock.advance(31_000);
    expect(scene.record()?.reason).toBe('Requested');
    scene.retarget('another-bucket');
    await settled();
    expect(scene.record()?.reason).toBe('TargetChanged');
  });

  it('stays held after a restart: the new target is not asked for (V8)', async () => {
    const first = await requested();
    first.retarget('another-bucket');
    await settled();
    expect(first.standing()).toBe('Held TargetChanged');
    await first.bridge.stop();
    const second = await Scene.start({ after: first });
    expect(second.standing()).toBe('Held TargetChanged');
    await second.clock.advance(3 * 3_600_000);
    expect(second.requests).toHaveLength(1);
  });

  it('that is cleared after the old one is gone is held, not leaked (V9)', async () => {
    const scene = await requested();
    const asked = scene.request;
    scene.retarget('another-bucket');
    await settled();
    scene.retarget(undefined);
    await scene.answer(gone, asked);
    expect(scene.standing()).toBe('Held TargetMissing');
    expect(scene.finalizers()).toEqual([ENTRY]);
  });

  it('met by a bridge that knows nothing of the first needs its gone too, once an answer tells of it (V10)', async () => {
    const first = await requested();
    const asked = first.request;
    await first.bridge.stop();
    first.retarget('another-bucket');
    const second = await Scene.start({ after: first });
    const other = second.request;
    expect(other.data.target.bucket).toBe('another-bucket');
    await second.answer({ outcome: 'pending', reason: 'InProgress' }, asked);
    await second.answer(gone, other);
    expect(second.standing()).toBe('Held TargetChanged');
    expect(await second.answer(gone, asked)).toBe(true);
    expect(second.cluster.peek('logs')).toBeUndefined();
  });
});

describe('a target that is cleared', () => {
  it('after it was asked for is gone when the answer says so (K32)', async () => {
    const scene = await requested();
    scene.retarget(undefined);
    await settled();
    expect(scene.standing()).toBe('Held TargetMissing');
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('was never there: released by policy, but only by a bridge that saw the deletion begin (V11)', async () => {
    const rules = [ruleOf({ whenTargetMissing: 'Release' })];
    const scene = await Scene.start({ rules });
    await scene.deleted({ spec: {} });
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.requests).toEqual([]);
    expect(scene.events).toEqual(['TargetMissing']);
    await scene.bridge.stop();
    await scene.deleted({ spec: {} });
    const second = await Scene.start({ after: scene, rules });
    expect(second.standing()).toBe('Held TargetMissing');
    expect(second.record()).toMatchObject({ phase: 'Held', reason: 'TargetMissing' });
  });
});

describe('a first look that found nothing', () => {
  it('is released with a Warning, or held where the rule says so', async () => {
    const scene = await requested();
    expect(await scene.answer(absent)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.events).toEqual(['FoundNothing']);
    const holding = await Scene.start({ rules: [ruleOf({ whenAbsent: 'Hold' })] });
    await holding.deleted();
    expect(await holding.answer(absent)).toBe(true);
    expect(holding.standing()).toBe('Held FoundNothing');
    expect(holding.record()?.reason).toBe('FoundNothing');
  });

  it('after this deletion had begun is simply the end of it (V16)', async () => {
    const scene = await Scene.start({ rules: [ruleOf({ whenAbsent: 'Hold' })] });
    await scene.deleted();
    await scene.answer(pendingAt('1 of 2'));
    expect(await scene.answer(absent)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});
