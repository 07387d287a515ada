/*
 * What an object's author, a clock or another controller may do to make the bridge forget, storm or trust too much,
 * through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { ENTRY, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };
const MINUTE = 60_000;

describe('an object', () => {
  it('with hundreds of entries of unknown rules is no storm (P10)', async () => {
    const scene = await Scene.start();
    const strangers = Array.from({ length: 300 }, (_, index) => `finalizer-bridge.dev/y${index}`);
    await scene.deleted({ name: 'evil', finalizers: strangers });
    await scene.clock.advance(2 * MINUTE);
    const calls = scene.cluster.calls.filter(({ name }) => name === 'evil').length;
    expect(calls).toBeLessThan(40);
    await scene.deleted({ name: 'logs' });
    expect(scene.requests.map(({ data }) => data.object.name)).toContain('logs');
  });

  it('whose target changes all the time is written once a minute, and its record stays small (P8)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    for (let second = 0; second < 300; second += 1) {
      scene.cluster.change('logs', (object) => ({ ...object, spec: { bucket: `bucket-${second}` } }));
      await scene.clock.advance(1_000);
    }
    expect(scene.standing()).toBe('Held TargetChanged');
    expect(scene.cluster.calls.filter(({ verb }) => verb === 'patch').length).toBeLessThan(12);
    expect(JSON.stringify(scene.record()).length).toBeLessThan(4_000);
  });

  it('is told of once an hour, however often its reason goes to and fro (P8)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new Error('a webhook refuses every update');
    };
    await scene.answer(refused);
    await scene.clock.advance(50 * MINUTE);
    expect(scene.events.filter((reason) => reason === 'TeardownHeld').length).toBeLessThanOrEqual(3);
  });

  it('whose proof reads the uid without holding it is waited for like any weak one (V12)', async () => {
    const tags = {
      owner: "object.metadata.uid.startsWith('x') ? 'x' : object.metadata.namespace + '/' + object.metadata.name",
    };
    const scene = await Scene.start({ rules: [ruleOf({ ownership: { tags } })] });
    await scene.deleted();
    await scene.answer(gone);
    expect(scene.finalizers()).toEqual([ENTRY]);
    expect(scene.standing()).toBe('Pending WaitingForCopies');
  });
});

it('a record from a clock far ahead does not hold off what is written and told now (P7)', async () => {
  const scene = await Scene.start();
  await scene.deleted();
  await scene.answer(refused);
  const forged = JSON.stringify({ ...scene.record(), since: '9999-01-01T00:00:00Z', reason: 'Forged' });
  scene.cluster.annotate('logs', 'status.finalizer-bridge.dev/team-buckets', forged);
  await scene.bridge.stop();
  const next = await Scene.start({ after: scene });
  await next.clock.advance(2 * MINUTE);
  await settled();
  expect(next.record()).toMatchObject({ phase: 'Held', reason: 'NotOwned' });
});
