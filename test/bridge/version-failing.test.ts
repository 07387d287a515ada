/*
 * What goes wrong on top of it where a kind is served in two versions, or in another one than a rule names: failing writes, what
 * only one version shows, strays. Over fakes; what is right there when nothing else fails is in two-versions.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError, type KubeObject, type ObjectMeta } from '../../bridge/ports.ts';
import { BUCKETS, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene, type SceneOptions } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';
import { converted, elsewhere, labelSelector, OTHER, SECOND } from '../support/two-versions.ts';

const MINUTE = 60_000;
const older = ruleOf();
const OTHER_ENTRY = `finalizer-bridge.dev/${OTHER}`;

interface Faults {
  readonly unserved: Set<string>;
  /** The start of the paths that cannot be patched. */
  unpatched?: string | undefined;
}

async function sceneWith(faults: Faults, options: SceneOptions = {}): Promise<Scene> {
  return await Scene.start({
    rules: [older, elsewhere],
    ...options,
    prepare: ({ cluster }) => {
      cluster.converted = converted;
      cluster.before = ({ kind, operations = [] }) => {
        if (kind !== undefined && faults.unserved.has(kind.version)) throw new ApiError('asking', 404);
        const { unpatched } = faults;
        const isStopped = unpatched !== undefined && operations.some(({ path }) => path.startsWith(unpatched));
        if (isStopped) throw new ApiError('patching', 500);
      };
    },
  });
}

describe('a deletion whose rule names a version that is not served, and that fails again and again', () => {
  /** The second of two bridges; the first has asked for a target. */
  async function failing(faults: Faults): Promise<Scene> {
    const first = await sceneWith(faults);
    await first.deleted();
    first.cluster.endWatches();
    faults.unserved.add('v1');
    first.cluster.annotate('logs', 'touched', 'yes');
    await first.clock.advance(MINUTE);
    expect(first.record()?.targets).toMatchObject([{ requested: true }]);
    await first.bridge.stop();

    faults.unpatched = '/metadata/finalizers';
    first.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
    const second = await sceneWith(faults, { after: first });
    await second.clock.advance(10_000);
    expect(second.standing()).toBe('Held Failing');
    return second;
  }

  it('goes on naming what was asked for on the object (P1, V10)', async () => {
    const scene = await failing({ unserved: new Set() });
    expect(scene.record()).toMatchObject({ reason: 'Failing', targets: [{ requested: true }] });
  });

  it('ends when the write that failed is taken (P4)', async () => {
    const faults: Faults = { unserved: new Set() };
    const scene = await failing(faults);
    faults.unpatched = undefined;
    await scene.clock.advance(MINUTE);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

it('V10 V14 what was asked for under a rule is known to it over a time unserved, whatever record a namesake has left', async () => {
  const faults: Faults = { unserved: new Set() };
  const first = await sceneWith(faults);
  await first.deleted();
  await first.answer({ outcome: 'pending', reason: 'Deleting' });
  await first.bridge.stop();
  first.retarget('another');

  const younger = [{ ...older, uid: 'younger' }, elsewhere];
  const second = await sceneWith(faults, { after: first, rules: younger });
  expect(second.request.data.target.bucket).toBe('another');
  second.cluster.endWatches();
  faults.unserved.add('v1');
  second.cluster.annotate('logs', 'touched', 'yes');
  await second.clock.advance(MINUTE);
  expect(second.standing()).toBe('Held RuleNotAccepted');
  await second.bridge.stop();
  faults.unserved.clear();
  first.retarget('third');

  const third = await sceneWith(faults, { after: second, rules: younger });
  await third.clock.advance(MINUTE);
  expect(third.standing()).toBe('Held TargetChanged');
});

it('P4 a deletion that was read in another version for a moment only goes on within a minute, though nothing tells', async () => {
  const state = { isUnserved: true };
  const scene = await Scene.start({
    rules: [older, elsewhere],
    prepare: ({ cluster }) => {
      cluster.before = ({ verb, kind }) => {
        if (state.isUnserved && verb === 'get' && kind?.version === 'v1') throw new ApiError('asking', 404);
      };
    },
  });
  await scene.deleted();
  expect(scene.standing()).toBe('Held RuleNotAccepted');
  state.isUnserved = false;
  await scene.clock.advance(31_000);
  expect(scene.standing()).toBe('Pending Requested');
  expect(scene.requests).toHaveLength(1);
});

it('P4 a deletion is read in whichever version is still served, though another one that has shown it is not any more either', async () => {
  const third = ruleOf({ match: { ...BUCKETS, version: 'v3', labelSelector } }, 'third-rule');
  const faults: Faults = { unserved: new Set() };
  const scene = await sceneWith(faults, { rules: [older, elsewhere, third] });
  await scene.deleted();
  await scene.clock.advance(MINUTE);
  scene.cluster.endWatches();
  faults.unserved.add('v1').add('v2');

  scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
  await scene.clock.advance(MINUTE);

  expect(scene.cluster.peek('logs')).toBeUndefined();
});

it('P8 the answer to the write of a record is the next look in the version that the rule names', async () => {
  const target = { bucket: 'object.spec.name', region: "'eu-central-1'", account: "'111122223333'" };
  const scene = await sceneWith({ unserved: new Set() }, { rules: [ruleOf({ match: SECOND, target }, OTHER)] });
  await scene.deleted({ finalizers: [OTHER_ENTRY] });
  await scene.clock.advance(31_000);
  const gets = scene.cluster.count('get');
  expect(await scene.answer({ outcome: 'pending', reason: 'Deleting' })).toBe(true);
  expect(scene.bridge.pendings()[0]?.standing?.reason).toBe('Deleting');
  expect(await scene.answer({ outcome: 'gone', evidence: 'deleted' })).toBe(true);
  expect(scene.cluster.peek('logs')).toBeUndefined();
  expect(scene.cluster.count('get')).toBe(gets);
});

it('P3 a record is written beside the annotations of the version that it is written in, which others may not show', async () => {
  const converted = (metadata: ObjectMeta) => ({ ...metadata, annotations: { 'example.com/lost-by-v1': '{}' } });
  const scene = await Scene.start({
    rules: [older, elsewhere],
    prepare: ({ cluster }) => {
      const watch = cluster.watch.bind(cluster);
      cluster.watch = async function* (kind, from, signal) {
        for await (const frame of watch(kind, from, signal)) {
          const isOlder = kind.version === 'v1' && frame.type === 'present';
          yield isOlder ? { ...frame, meta: converted(frame.meta) } : frame;
        }
      };
      cluster.converted = (object, version) =>
        version === 'v1' ? { ...object, metadata: converted(object.metadata) } : object;
    },
  });
  await scene.deleted();
  // Both list again, the newer version after the older one.
  scene.cluster.endWatches(new ApiError('watching', 410));
  await settled();
  await scene.clock.advance(31_000);
  const written = scene.cluster.calls.flatMap(({ verb, operations = [] }) => (verb === 'patch' ? operations : []));
  const added = written.filter(({ op }) => op === 'add').map(({ path }) => path);
  expect(added).toEqual([`/metadata/annotations/status.finalizer-bridge.dev~1${RULE}`]);
});

it('P7 strays are counted and told in another version while the first one that is needed is not served', async () => {
  const scene = await sceneWith({ unserved: new Set(['v1']) });
  scene.cluster.create({ name: 'logs', finalizers: ['finalizer-bridge.dev/nobody', ENTRY, OTHER_ENTRY] });
  await scene.clock.advance(2 * MINUTE);
  expect(scene.bridge.strays()).toMatchObject([{ rule: 'nobody', count: 1 }]);
  expect(scene.kept.lines.filter(({ message }) => message.includes('nobody: NoRule'))).toHaveLength(1);
});

it('P7 a deletion that somebody ended while the version of its rule was not served is over as soon as another one shows that', async () => {
  const { group, resource } = BUCKETS;
  const scene = await RuleScene.start({ listed: [{ group, resource }] });
  await scene.apply({ paused: true });
  await scene.create('logs');
  await scene.delete('logs');
  expect(scene.standing('logs')).toBe('Pending Paused');
  scene.cluster.before = ({ kind }) => {
    if (kind?.resource === resource && kind.version === 'v1') throw new ApiError('asking', 404);
  };
  scene.kinds.served.delete(`${group}/v1/${resource}`);
  scene.kinds.served.set(`${group}/v2/${resource}`, { kind: 'Bucket', namespaced: true });
  scene.cluster.endWatches();
  const bare = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, finalizers: [] } });
  scene.cluster.change('logs', bare);
  expect(scene.cluster.peek('logs')).toBeUndefined();

  await scene.clock.advance(6 * MINUTE);

  expect(scene.bridge.pendings()).toEqual([]);
  expect(scene.kept.lines.filter(({ message }) => message.includes('the object is gone before'))).toHaveLength(1);
});
