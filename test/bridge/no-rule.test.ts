/*
 * An entry whose rule is not there any more, through the whole bridge over fakes: it says so on the object, forgets
 * nothing that was written under the rule, and keeps what comes in until somebody can tell what it is worth.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { readRecordOfAnyRule } from '../../bridge/record.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { RuleScene } from '../support/rule-scene.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };
const MINUTE = 60_000;

function written(scene: Scene) {
  const object = scene.cluster.peek('logs');
  return object === undefined ? undefined : readRecordOfAnyRule(object.metadata, RULE);
}

async function withoutRule(first: Scene): Promise<Scene> {
  await first.bridge.stop();
  const second = await Scene.start({ after: first, rules: [ruleOf({}, 'another')] });
  await second.clock.advance(2 * MINUTE);
  return second;
}

describe('an entry without a rule', () => {
  it('is held with the reason NoRule on the object itself (P7)', async () => {
    const first = await Scene.start();
    await first.deleted();
    const second = await withoutRule(first);
    expect(written(second)).toMatchObject({ phase: 'Held', reason: 'NoRule', targets: [] });
    expect(second.events).toContain('TeardownHeld');
  });

  it('keeps what was written under its rule for when that comes back (P5)', async () => {
    const first = await Scene.start();
    await first.deleted();
    await first.answer(refused);
    const before = written(first);
    expect(before?.refused).toBeDefined();
    const second = await withoutRule(first);
    const { phase, reason, message, since, ...kept } = before ?? {};
    expect(written(second)).toMatchObject({ ...kept, reason: 'NoRule' });
    await second.bridge.stop();
    const third = await Scene.start({ after: second });
    await third.clock.advance(2 * MINUTE);
    expect(third.standing()).toBe('Held NotOwned');
    expect(third.requests).toHaveLength(1);
  });

  it('leaves a gone in its queue, and is taken off by it once the rule is back (P5)', async () => {
    const first = await Scene.start();
    await first.deleted();
    const { request } = first;
    const second = await withoutRule(first);
    expect(await second.answer(gone, request)).toBe(false);
    expect(second.cluster.peek('logs')).toBeDefined();
    await second.bridge.stop();
    const third = await Scene.start({ after: second });
    expect(await third.answer(gone, request)).toBe(true);
    expect(third.cluster.peek('logs')).toBeUndefined();
  });

  it('that somebody takes off an object is over at once, whether others still hold it or not (K27)', async () => {
    const strayed = ['finalizer-bridge.dev/removed', 'a/b'];
    const scene = await Scene.start();
    await scene.deleted({ finalizers: strayed });
    await scene.deleted({ name: 'other', finalizers: strayed.slice(0, 1) });
    const strays = () => scene.bridge.pendings().filter(({ rule }) => rule === 'removed');
    expect(strays()).toHaveLength(2);

    for (const name of ['logs', 'other']) {
      scene.cluster.change(name, (object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          finalizers: object.metadata.finalizers?.filter((entry) => entry === 'a/b') ?? [],
        },
      }));
    }
    await scene.clock.advance(1_000);

    expect(strays()).toEqual([]);
  });

  it('is also one of a rule that is for another kind: nothing is published for it (P2)', async () => {
    const volumes = ruleOf({ match: { group: 'storage.example.com', version: 'v1', resource: 'volumes' } }, 'volumes');
    const scene = await Scene.start({ rules: [ruleOf(), volumes] });
    await scene.deleted({ finalizers: ['finalizer-bridge.dev/volumes'] });
    const standings = scene.bridge.pendings().map(({ rule, standing }) => [rule, standing?.reason]);
    expect(standings).toContainEqual(['volumes', 'NoRule']);
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual([RULE]);
  });
});

it('a release under a rule that came by the name with a shorter term waits for what was sent under the one before (P2, V6)', async () => {
  const scene = await RuleScene.start();
  await scene.apply({ term: '6h' });
  await scene.create('logs');
  await scene.delete('logs');
  const expires = Date.parse(scene.request?.data.expires ?? '');
  scene.forceDelete();
  await scene.clock.advance(MINUTE);
  await scene.apply({ term: '1h' }, RULE, 'younger');
  scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');

  await scene.clock.advance(expires - scene.clock.now());

  expect(scene.finalizers('logs')).toEqual([ENTRY]);
  await scene.clock.advance(2 * 60 * MINUTE);
  expect(scene.finalizers('logs')).toBeUndefined();
});
