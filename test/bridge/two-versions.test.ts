/*
 * A kind that is served in two versions, with a rule for each: every object is shown by two watches, and what a rule's
 * expressions see is the object in the version that the rule names, whichever watch was first. And what becomes of the
 * deletions of a rule whose version is not served any more. The whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { BUCKETS, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';
import { converted, OTHER, SECOND } from '../support/two-versions.ts';

const OTHER_ENTRY = `finalizer-bridge.dev/${OTHER}`;
const MINUTE = 60_000;

const older = ruleOf({ whenTargetMissing: 'Release' });
const newer = ruleOf(
  {
    match: SECOND,
    target: { bucket: 'object.spec.name', region: "'eu-central-1'", account: "'111122223333'" },
    whenTargetMissing: 'Release',
  },
  OTHER,
);

/** A bridge that watches both versions, in this order; `unserved` may be filled later. */
async function sceneOf(rules: readonly (typeof older)[], unserved = new Set<string>()): Promise<Scene> {
  return await Scene.start({
    rules,
    prepare: ({ cluster }) => {
      cluster.converted = converted;
      cluster.before = ({ kind }) => {
        if (kind !== undefined && unserved.has(kind.version)) throw new ApiError('asking', 404);
      };
    },
  });
}

const asked = (scene: Scene) =>
  scene.requests.map(({ data: { rule, object, target } }) => [rule.name, object.apiVersion, target.bucket]).sort();

describe('P1 an object of a kind with a rule for each of two versions', () => {
  it.each([
    { first: 'v1', rules: [older, newer] },
    { first: 'v2', rules: [newer, older] },
  ])(
    'is asked for under each rule as its own version shows it, where the watch of $first is first',
    async ({ rules }) => {
      const scene = await sceneOf(rules);

      await scene.deleted({ finalizers: [ENTRY, OTHER_ENTRY] });
      await scene.clock.advance(1_000);

      expect(asked(scene)).toEqual([
        [OTHER, `${BUCKETS.group}/v2`, 'team-a-logs'],
        [RULE, `${BUCKETS.group}/v1`, 'team-a-logs'],
      ]);
      expect(scene.finalizers()).toEqual([ENTRY, OTHER_ENTRY]);
      for (const request of scene.requests) {
        expect(await scene.answer({ outcome: 'gone', evidence: 'deleted' }, request)).toBe(true);
      }
      expect(scene.cluster.peek('logs')).toBeUndefined();
    },
  );
});

describe('a deletion under a rule whose version is not served any more', () => {
  const elsewhere = ruleOf({ match: { ...SECOND, labelSelector: { matchLabels: { app: 'other' } } } }, OTHER);

  async function dropped(unserved: Set<string>): Promise<Scene> {
    const scene = await sceneOf([older, elsewhere], unserved);
    await scene.deleted({ finalizers: [ENTRY] });
    scene.cluster.endWatches();
    unserved.add('v1');
    scene.cluster.annotate('logs', 'touched', 'yes');
    await scene.clock.advance(MINUTE);
    return scene;
  }

  it('P7 says so on the object, as another version shows it', async () => {
    const scene = await dropped(new Set());

    expect(scene.standing()).toBe('Held RuleNotAccepted');
    const record = scene.cluster.peek('logs')?.metadata.annotations?.[`status.finalizer-bridge.dev/${RULE}`];
    expect(record).toContain('buckets.v1.storage.example.com is not served');
    expect(scene.finalizers()).toEqual([ENTRY]);
  });

  it('P4 ends by a release', async () => {
    const scene = await dropped(new Set());

    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
    await settled();

    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('V10 names what was asked for on the object: whoever comes after it asks for no other target', async () => {
    const unserved = new Set<string>();
    const first = await dropped(unserved);
    expect(asked(first)).toHaveLength(1);
    await first.bridge.stop();

    unserved.clear();
    first.cluster.change('logs', (object) => ({ ...object, spec: { bucket: 'another' } }));
    const second = await Scene.start({ after: first, rules: [older, elsewhere] });
    await second.clock.advance(3 * 60 * MINUTE);

    expect(second.standing()).toBe('Held TargetChanged');
    expect(asked(second)).toHaveLength(1);
  });

  it('V10 leaves a result in its queue: nothing on the object would name what it was about', async () => {
    const unserved = new Set<string>();
    const scene = await dropped(unserved);
    expect(await scene.answer({ outcome: 'pending', reason: 'Deleting' })).toBe(false);
    expect(await scene.answer({ outcome: 'gone', evidence: 'deleted' })).toBe(false);
    expect(scene.finalizers()).toEqual([ENTRY]);

    unserved.clear();
    await scene.clock.advance(2 * MINUTE);

    // What it said is known by then; what still lies in the queue is acknowledged.
    expect(await scene.answer({ outcome: 'gone', evidence: 'deleted' })).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('P4 goes on when the version is served again', async () => {
    const unserved = new Set<string>();
    const scene = await dropped(unserved);

    unserved.clear();
    await scene.clock.advance(2 * MINUTE);

    expect(await scene.answer({ outcome: 'gone', evidence: 'deleted' })).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    expect(asked(scene)).toEqual([[RULE, `${BUCKETS.group}/v1`, 'team-a-logs']]);
  });
});

it('P7 a deletion that begins while the version of its only rule is not served is seen where the kind is listed', async () => {
  const { group, resource } = BUCKETS;
  const scene = await RuleScene.start({ listed: [{ group, resource }] });
  await scene.apply();
  await scene.create('logs');
  expect(scene.finalizers('logs')).toEqual([ENTRY]);
  scene.cluster.before = ({ kind }) => {
    if (kind?.resource === resource && kind.version === 'v1') throw new ApiError('asking', 404);
  };
  scene.kinds.served.delete(`${group}/v1/${resource}`);
  scene.kinds.served.set(`${group}/v2/${resource}`, { kind: 'Bucket', namespaced: true });
  scene.cluster.endWatches();
  await scene.clock.advance(6 * MINUTE);

  await scene.delete('logs');

  expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
  scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
  await settled();
  expect(scene.cluster.peek('logs')).toBeUndefined();
});

it('P8 a kind that is listed is watched in one version again when the one that its rule names is served again', async () => {
  const { group, resource } = BUCKETS;
  const scene = await RuleScene.start({ listed: [{ group, resource }] });
  await scene.apply();
  const served = { kind: 'Bucket', namespaced: true };
  const refuse = ({
    kind,
  }: {
    readonly kind?: { readonly resource: string; readonly version: string } | undefined;
  }) => {
    if (kind?.resource === resource && kind.version === 'v1') throw new ApiError('asking', 404);
  };
  const watched = async () => {
    const before = scene.cluster.calls.length;
    scene.cluster.endWatches();
    await scene.clock.advance(20_000);
    const opened = scene.cluster.calls
      .slice(before)
      .filter(({ verb, kind }) => verb === 'watch' && kind?.group === group);
    return [...new Set(opened.map(({ kind }) => kind?.version))].sort();
  };
  expect(await watched()).toEqual(['v1']);

  scene.cluster.before = refuse;
  scene.kinds.served.delete(`${group}/v1/${resource}`);
  scene.kinds.served.set(`${group}/v2/${resource}`, served);
  scene.cluster.endWatches();
  await scene.clock.advance(6 * MINUTE);
  expect(await watched()).toContain('v2');

  scene.cluster.before = () => {};
  scene.kinds.served.set(`${group}/v1/${resource}`, served);
  await scene.clock.advance(6 * MINUTE);
  expect(scene.said('Ready')).toBe('True Ready');
  expect(await watched()).toEqual(['v1']);
});

it('P7 strays of a kind that is watched in two versions are counted and told once', async () => {
  const scene = await Scene.start({ rules: [older, newer] });
  scene.cluster.create({ name: 'logs', finalizers: ['finalizer-bridge.dev/nobody', ENTRY, OTHER_ENTRY] });
  await scene.clock.advance(2 * MINUTE);

  expect(scene.bridge.strays()).toMatchObject([{ rule: 'nobody', count: 1 }]);
  expect(scene.kept.lines.filter(({ message }) => message.includes('nobody: NoRule'))).toHaveLength(1);
});
