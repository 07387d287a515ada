/*
 * A right that a rule had and that was taken away: an idle rule says so within five minutes, as each question costs calls whatever
 * happens (P8); but what keeps an object from finishing is readable within a minute (P7). The real bridge and keeper over fakes.
 */
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import { RECHECK_MS } from '../../bridge/rule-enforcing.ts';
import { HELD_MESSAGE_MAX_BYTES } from '../../bridge/rule-facts.ts';
import { BUCKETS, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

/** The only object that a status names as held. */
const heldIn = (status: Readonly<Record<string, unknown>>) =>
  z.tuple([z.object({ message: z.string() })]).parse(status.heldObjects);

/** A rule that was idle for minutes, with a live object, when a right on its kind is taken away. */
async function lost(verb: 'get' | 'patch'): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs');
  await scene.clock.advance(RECHECK_MS + 30_000);
  scene.kinds.lacks.set(kindKey(BUCKETS), [verb]);
  const { before } = scene.cluster;
  scene.cluster.before = (call) => {
    before(call);
    if (call.verb === verb && call.kind?.resource === BUCKETS.resource) throw new ApiError(`${verb} logs`, 403);
  };
  return scene;
}

it.each(['get', 'patch'] as const)('P7 without %s a rule says so within a minute of a deletion', async (verb) => {
  const scene = await lost(verb);
  await scene.clock.advance(60_000);
  expect(scene.said('Permitted')).toBe('True Permitted');
  await scene.delete('logs');
  if (verb === 'patch') await scene.answer('logs');
  await scene.clock.advance(60_000);
  expect(scene.said('Permitted')).toBe('False MissingVerbs');
  expect(scene.condition('Permitted')?.message).toBe(`may not ${verb} buckets.storage.example.com`);
  const held = { name: 'logs', reason: 'Failing', message: expect.stringContaining(`${verb} logs: HTTP 403`) };
  expect(scene.status()).toMatchObject({ pending: 1, held: 1, heldObjects: [held] });
  expect(scene.standing('logs', RULE)).toBe('Held Failing');
});

it('P7 the status has as much of what failed as fits', async () => {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs');
  const cause = new Error('é'.repeat(HELD_MESSAGE_MAX_BYTES));
  scene.cluster.before = ({ verb, name }) => {
    if (verb === 'get' && name === 'logs') throw new ApiError('getting buckets/logs', 500, { cause });
  };
  await scene.delete('logs');
  await scene.clock.advance(60_000);
  const [{ message }] = heldIn(scene.status());
  expect(message).toMatch(/^getting buckets\/logs: HTTP 500 <- é+…$/);
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(HELD_MESSAGE_MAX_BYTES);
});

it('the status does not repeat what an object says itself', async () => {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs');
  await scene.delete('logs');
  await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'the tag is missing' });
  await scene.clock.advance(60_000);
  expect(scene.standing('logs', RULE)).toBe('Held NotOwned');
  expect(scene.status().heldObjects).toEqual([expect.not.objectContaining({ message: expect.anything() })]);
});

it.each(['get', 'patch'] as const)('without %s an idle rule says so within five minutes', async (verb) => {
  const scene = await lost(verb);
  await scene.clock.advance(RECHECK_MS);
  expect(scene.said('Ready')).toBe('False MissingVerbs');
});
