/*
 * Words of a person and policies, through the whole bridge over fakes: release, retry, Retain. None of them overtakes a
 * request that can still run, unless the word says so.
 */
import { describe, expect, it } from 'vitest';
import { type Outcome, runEndsBy } from '../../bridge/contract.ts';
import { counts, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const RELEASE = `release.finalizer-bridge.dev/${RULE}`;
const RETRY = `retry.finalizer-bridge.dev/${RULE}`;
const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };
const HOUR = 3_600_000;

async function requested(rules = [ruleOf()]): Promise<Scene> {
  const scene = await Scene.start({ rules });
  await scene.deleted();
  return scene;
}

async function says(scene: Scene, key: string, word: string): Promise<void> {
  scene.cluster.annotate('logs', key, word);
  await settled();
}

describe('a release', () => {
  it('waits until no sent request can still run, and then takes the entry off (Q13, V1)', async () => {
    const scene = await requested();
    const ends = runEndsBy(Date.parse(scene.request.data.expires));
    await says(scene, RELEASE, 'uid-logs');
    expect(scene.standing()).toBe('Pending ReleaseWaiting');
    await scene.clock.advance(ends - scene.clock.now() - 1);
    expect(scene.finalizers()).toEqual([ENTRY]);
    const until = new Date(ends).toISOString();
    expect(scene.record()).toMatchObject({
      reason: 'ReleaseWaiting',
      next: until,
      message: expect.stringContaining(until),
    });
    await scene.clock.advance(1);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.requests).toHaveLength(1);
    expect(scene.events).toEqual(['ReleaseAsked', 'Released']);
    expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Released`]: 1 });
  });

  it('that says now takes it off at once', async () => {
    const scene = await requested();
    await says(scene, RELEASE, 'uid-logs/now');
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.events).toEqual(['ReleaseAsked', 'Released']);
  });

  it('has the reason that the person gave in its Event, if it was given for this deletion', async () => {
    const scene = await requested();
    const key = `reason.finalizer-bridge.dev/${RULE}`;
    await says(scene, key, 'uid-logs/moved elsewhere');
    await says(scene, RELEASE, 'uid-logs/now');
    expect(scene.cluster.events.map(({ message }) => message)).toEqual([
      expect.stringMatching(/release was asked for.*: moved elsewhere$/),
      expect.stringMatching(/without teardown: moved elsewhere$/),
    ]);
    const copied = await requested();
    await says(copied, key, 'uid-of-the-original/moved elsewhere');
    await says(copied, RELEASE, 'uid-logs/now');
    expect(copied.cluster.events.at(-1)?.message).toMatch(/without teardown$/);
  });

  it('of a refused object works as of any other (V7)', async () => {
    const scene = await requested();
    await scene.answer(refused);
    await says(scene, RELEASE, 'uid-logs/now');
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('for another object’s uid says nothing (K33)', async () => {
    const scene = await requested();
    await says(scene, RELEASE, 'uid-of-the-original/now');
    expect(scene.finalizers()).toEqual([ENTRY]);
  });

  it('is overtaken by a gone', async () => {
    const scene = await requested();
    await says(scene, RELEASE, 'uid-logs');
    expect(await scene.answer(gone)).toBe(true);
    expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Gone`]: 1 });
  });

  it('read by a new leader waits for what the one before may have sent, in the largest term there is (V1, V6)', async () => {
    const first = await requested();
    await first.bridge.stop();
    first.cluster.annotate('logs', RELEASE, 'uid-logs');
    const second = await Scene.start({ after: first });
    await second.clock.advance(12 * HOUR);
    expect(second.finalizers()).toEqual([ENTRY]);
    await second.clock.advance(0.1 * HOUR);
    expect(second.cluster.peek('logs')).toBeUndefined();
    expect(second.requests).toHaveLength(1);
  });

  it('frees an entry without a rule, which is held as NoRule before (K33)', async () => {
    const scene = await Scene.start();
    await scene.deleted({ finalizers: ['finalizer-bridge.dev/removed-rule'] });
    const pending = scene.bridge.pendings().find(({ rule }) => rule === 'removed-rule');
    expect(pending?.standing?.reason).toBe('NoRule');
    expect(scene.events).toEqual(['TeardownHeld']);
    await says(scene, 'release.finalizer-bridge.dev/removed-rule', 'uid-logs');
    expect(scene.finalizers()).toEqual([ENTRY]);
  });
});

describe('a retry', () => {
  it('of a refused object is written down, then sent, once a word', async () => {
    const scene = await requested();
    await scene.answer(refused);
    await says(scene, RETRY, 'uid-logs/1');
    expect(scene.requests.map(({ data }) => [data.attempt, data.retry])).toEqual([
      [0, undefined],
      [0, 1],
    ]);
    expect(scene.record()).toMatchObject({ retry: '1', retries: 1 });
    await scene.clock.advance(10_000);
    expect(scene.requests).toHaveLength(2);
    await says(scene, RETRY, 'uid-logs/2');
    expect(scene.requests.map(({ data }) => data.retry)).toEqual([undefined, 1, 2]);
  });

  it('is not sent while it cannot be written down, nor forgotten (V8)', async () => {
    const scene = await requested();
    await scene.answer(refused);
    const patch = scene.cluster.patch.bind(scene.cluster);
    scene.cluster.patch = async () => ({ kind: 'conflict' });
    await says(scene, RETRY, 'uid-logs/1');
    await scene.clock.advance(60_000);
    expect(scene.requests).toHaveLength(1);
    scene.cluster.patch = patch;
    await scene.clock.advance(31_000);
    expect(scene.requests.map(({ data }) => data.retry)).toEqual([undefined, 1]);
    expect(scene.record()).toMatchObject({ retry: '1', retries: 1 });
  });

  it('that was handled is not handled again by the next bridge (P5)', async () => {
    const first = await requested();
    await says(first, RETRY, 'uid-logs/1');
    expect(first.requests).toHaveLength(2);
    await first.bridge.stop();
    const second = await Scene.start({ after: first });
    expect(second.requests.map(({ data }) => data.retry)).toEqual([undefined, 1, 1]);
    expect(second.queue.taken[2]).toBe(second.queue.taken[1]);
  });

  it('of a changed target sends it, after it was written down, and then needs both gones (V8, V10)', async () => {
    const scene = await requested();
    const first = scene.request;
    scene.cluster.change('logs', (object) => ({ ...object, spec: { bucket: 'another-bucket' } }));
    await settled();
    expect(scene.standing()).toBe('Held TargetChanged');
    await says(scene, RETRY, 'uid-logs/1');
    const second = scene.request;
    expect(second.data).toMatchObject({ target: { bucket: 'another-bucket' }, retry: 1 });
    expect(scene.record()?.targets.map(({ requested: asked }) => asked)).toEqual([true, true]);
    expect(await scene.answer(gone, second)).toBe(true);
    expect(scene.standing()).toBe('Held TargetChanged');
    expect(await scene.answer(gone, first)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('of something found absent asks again instead of holding it', async () => {
    const scene = await requested([ruleOf({ whenAbsent: 'Hold' })]);
    await scene.answer({ outcome: 'gone', evidence: 'absent' });
    expect(scene.standing()).toBe('Held FoundNothing');
    await says(scene, RETRY, 'uid-logs/1');
    expect(scene.request.data.retry).toBe(1);
    await scene.answer({ outcome: 'gone', evidence: 'deleted' });
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('Retain', () => {
  it('sends nothing and lets the object go at once, when the bridge saw its deletion begin', async () => {
    const scene = await Scene.start();
    await scene.deleted({ annotations: { 'on-delete': 'Retain' } });
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(scene.requests).toEqual([]);
    expect(scene.events).toEqual(['Retained']);
  });

  it('set after a request was sent sends nothing more, and waits for that one (V2, Q13)', async () => {
    const scene = await requested();
    await says(scene, 'on-delete', 'Retain');
    expect(scene.standing()).toBe('Pending RetainWaiting');
    await scene.clock.advance(2 * HOUR);
    expect(scene.requests).toHaveLength(1);
    expect(scene.finalizers()).toEqual([ENTRY]);
    await scene.clock.advance(0.1 * HOUR);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('that says something else is held, and nothing is sent', async () => {
    const scene = await Scene.start();
    await scene.deleted({ annotations: { 'on-delete': 'Keep' } });
    expect(scene.standing()).toBe('Held PolicyInvalid');
    expect(scene.requests).toEqual([]);
  });
});

describe('a word that is not understood', () => {
  it.each([
    [RELEASE, 'uid-logs/NOW', 'release is not uid-logs or uid-logs/now'],
    [RELEASE, '0', 'release is not uid-logs or uid-logs/now'],
    [RETRY, '0/1', 'retry is not uid-logs/ and something new of at most 128 characters'],
    [RETRY, 'uid-logs', 'retry is not uid-logs/ and something new of at most 128 characters'],
    ['approve.finalizer-bridge.dev/team-buckets', 'yes', 'approve is not uid-logs'],
  ])('%s=%s is answered on the object with what was expected (P7)', async (key, word, expected) => {
    const scene = await requested();
    await scene.answer(refused);
    await says(scene, key, word);
    await scene.clock.advance(3_000);
    expect(scene.finalizers()).toEqual([ENTRY]);
    expect(scene.record()).toMatchObject({ reason: 'NotOwned', message: `another owner; not understood: ${expected}` });
  });
});

it('answers a person on the object within seconds, not after a minute (P7)', async () => {
  const scene = await requested();
  await scene.answer(refused);
  await says(scene, RETRY, 'uid-logs/1');
  await scene.answer({ ...refused, reason: 'Kept' });
  await scene.clock.advance(3_000);
  expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'Kept' });
});

it('begins the record with what a person wants to know', async () => {
  const scene = await requested();
  await scene.answer(refused);
  const written = scene.cluster.peek('logs')?.metadata.annotations?.[`status.finalizer-bridge.dev/${RULE}`];
  expect(written).toMatch(/^\{"phase":"Held","reason":"NotOwned","message":"another owner","since":/);
});
