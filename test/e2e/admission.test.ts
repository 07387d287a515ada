/*
 * Entries at birth: objects of every sort of kind are created on a real API server with the admission policy and no bridge,
 * and carry the entries of the rules that select them from their first moment. What is not a creation is left alone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { claims, collectionOf, configMaps, namespaces, type TestKind, volumes } from '../support/admission-kinds.ts';
import { type AdmissionScene, startAdmissionScene } from '../support/admission-scene.ts';
import { sharedKube } from '../support/e2e.ts';

const SITE = 'admission-birth';
const builtIn = [configMaps, namespaces, claims, volumes];
const labels = { site: SITE };
const match = { labelSelector: { matchLabels: labels } };
const APPLY = { contentType: 'application/apply-patch+yaml' };
const kube = sharedKube();
let scene: AdmissionScene;

beforeAll(async () => {
  scene = await startAdmissionScene(kube, SITE, builtIn);
  for (const kind of [...builtIn, scene.widgets, scene.depots]) await scene.rule(ruleOf(kind), kind, { match });
  await scene.settled();
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

const ruleOf = ({ resource }: TestKind) => `${SITE}-${resource}`;
const entryOf = (kind: TestKind) => scene.entry(ruleOf(kind));
const pathOf = (name: string) => `${collectionOf(scene.widgets, SITE)}/${name}`;
const widget = (metadata: object, spec = {}) => ({
  ...{ apiVersion: `${scene.widgets.group}/v1`, kind: 'Widget' },
  ...{ metadata: { labels, ...metadata }, spec },
});

const stored = z.object({
  metadata: z.looseObject({
    resourceVersion: z.string(),
    finalizers: z._default(z.array(z.string()), []),
    managedFields: z.optional(z.array(z.object({ manager: z.string(), fieldsV1: z.unknown() }))),
  }),
});

async function read(path: string) {
  const { status, body } = await kube.request('GET', path);
  expect(status).toBe(200);
  return z.parse(stored, body).metadata;
}

describe.each([
  { sort: 'custom, in a namespace', kind: () => scene.widgets, own: [] },
  { sort: 'custom, cluster-scoped', kind: () => scene.depots, own: [] },
  { sort: 'ConfigMap', kind: () => configMaps, own: [] },
  { sort: 'PersistentVolumeClaim', kind: () => claims, own: ['kubernetes.io/pvc-protection'] },
  { sort: 'PersistentVolume', kind: () => volumes, own: ['kubernetes.io/pv-protection'] },
  { sort: 'Namespace', kind: () => namespaces, own: [] },
])('an object of kind $sort', ({ kind, own }) => {
  it('is born with the entry when it has no finalizers, or only what the API server itself puts on', async () => {
    const { status, finalizers } = await scene.create(kind(), { name: `${SITE}-absent`, labels });
    expect({ status, finalizers }).toEqual({ status: 201, finalizers: [...own, entryOf(kind())] });
  });

  it('gets the entry at the end of the finalizers that it comes with', async () => {
    const given = ['example.com/b', 'example.com/a'];
    const { finalizers } = await scene.create(kind(), { name: `${SITE}-given`, labels, finalizers: given });
    expect(finalizers).toEqual([...given, ...own, entryOf(kind())]);
  });

  it('gets the entry when its name is yet to be generated', async () => {
    const { name, finalizers } = await scene.create(kind(), { generateName: `${SITE}-generated-`, labels });
    expect(name).toMatch(/-generated-./);
    expect(finalizers).toEqual([...own, entryOf(kind())]);
  });

  it('is left alone when the rule does not select it', async () => {
    const { status, finalizers } = await scene.create(kind(), { name: `${SITE}-other` });
    expect({ status, finalizers }).toEqual({ status: 201, finalizers: own });
  });
});

describe('the list of finalizers', () => {
  it.each([{ finalizers: null }, { finalizers: [] }])(
    'that is written as $finalizers counts as absent',
    async (given) => {
      const born = await scene.create(scene.widgets, { generateName: 'empty-', labels, ...given });
      expect(born.finalizers).toEqual([entryOf(scene.widgets)]);
    },
  );

  it('K30 that has the entry already does not get it twice', async () => {
    const finalizers = [entryOf(scene.widgets), 'example.com/a'];
    expect((await scene.create(scene.widgets, { name: 'already', labels, finalizers })).finalizers).toEqual(finalizers);
  });

  it('gets an entry of each rule that selects the object', async () => {
    await scene.rule(`${SITE}-also`, scene.widgets, { match });
    await scene.settled();
    const { finalizers } = await scene.create(scene.widgets, { name: 'both', labels, finalizers: ['example.com/a'] });
    expect(finalizers.toSorted()).toEqual([
      'example.com/a',
      scene.entry(`${SITE}-also`),
      scene.entry(`${SITE}-widgets`),
    ]);
    await kube.request('DELETE', `${scene.rulePath}/${SITE}-also`);
    await scene.settled();
  });
});

describe('however an object is created', () => {
  it('kubectl create --dry-run=server shows the entry and stores nothing', async () => {
    const { status, finalizers } = await scene.create(scene.widgets, { name: 'dry', labels }, { dryRun: true });
    expect({ status, finalizers }).toEqual({ status: 201, finalizers: [entryOf(scene.widgets)] });
    expect((await kube.request('GET', pathOf('dry'))).status).toBe(404);
  });

  it('server-side apply creates it with the entry, and applying it again takes nothing off', async () => {
    for (const spec of [{ size: 1 }, { size: 2 }]) {
      await kube.request('PATCH', `${pathOf('applied')}?fieldManager=them`, widget({ name: 'applied' }, spec), APPLY);
      expect((await read(pathOf('applied'))).finalizers).toEqual([entryOf(scene.widgets)]);
    }
  });

  it('another version of the kind than the rule names is as good', async () => {
    const { status, finalizers } = await scene.create({ ...scene.widgets, version: 'v2' }, { name: 'second', labels });
    expect({ status, finalizers }).toEqual({ status: 201, finalizers: [entryOf(scene.widgets)] });
  });

  it('K33 a backup that says the object was being deleted is born live, with the entry', async () => {
    const past = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    expect((await scene.create(scene.widgets, { name: 'restored', labels, ...past })).finalizers).toEqual([
      entryOf(scene.widgets),
    ]);
    expect(await read(pathOf('restored'))).not.toHaveProperty('deletionTimestamp');
  });

  it('no field manager owns an entry from birth, while a patched one has its patcher as owner', async () => {
    await scene.create(scene.widgets, { name: 'owned', labels, finalizers: ['example.com/a'] });
    const patch = [{ op: 'add', path: '/metadata/finalizers/-', value: scene.entry('patched') }];
    const by = { contentType: 'application/json-patch+json' };
    await kube.request('PATCH', `${pathOf('owned')}?fieldManager=the-bridge`, patch, by);

    const { finalizers, managedFields } = await read(pathOf('owned'));

    expect(finalizers).toEqual(['example.com/a', entryOf(scene.widgets), scene.entry('patched')]);
    const ownersOf = (entry: string) =>
      managedFields?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`v:\\"${entry}\\"`));
    expect(ownersOf(entryOf(scene.widgets))).toEqual([]);
    expect(ownersOf(scene.entry('patched'))).toMatchObject([{ manager: 'the-bridge' }]);
  });
});

describe('what is no creation', () => {
  it('an update is left alone, even one that takes the entry off a live object', async () => {
    await scene.create(scene.widgets, { name: 'updated', labels });
    const { resourceVersion } = await read(pathOf('updated'));
    await kube.request('PUT', pathOf('updated'), widget({ name: 'updated', resourceVersion }, { size: 2 }));
    expect((await read(pathOf('updated'))).finalizers).toEqual([]);
  });

  it('an object from before the rule, or from before its labels, does not get the entry by being updated', async () => {
    await scene.create(scene.widgets, { name: 'earlier' });
    const patch = { metadata: { labels } };
    await kube.request('PATCH', pathOf('earlier'), patch, { contentType: 'application/merge-patch+json' });
    expect(await read(pathOf('earlier'))).toMatchObject({ labels, finalizers: [] });
  });

  it('an object that is being deleted is left alone', async () => {
    await scene.create(scene.widgets, { name: 'going', finalizers: ['example.com/a'] });
    await kube.request('DELETE', pathOf('going'));
    const patch = { metadata: { labels } };
    const answer = await kube.request('PATCH', pathOf('going'), patch, { contentType: 'application/merge-patch+json' });
    expect(answer.status).toBe(200);
    expect((await read(pathOf('going'))).finalizers).toEqual(['example.com/a']);
  });
});

describe('the name of a rule', () => {
  it('K24 works when it is as long as it may be, and the API server refuses a longer one', async () => {
    const longest = `${SITE}-${'x'.repeat(63 - SITE.length - 1)}`;
    const only = { only: 'longest' };
    await scene.rule(longest, scene.widgets, { match: { labelSelector: { matchLabels: only } } });
    await scene.settled();

    const { status, finalizers } = await scene.create(scene.widgets, { name: 'longest', labels: only });

    expect({ status, finalizers }).toEqual({ status: 201, finalizers: [scene.entry(longest)] });
    await expect(scene.rule(`${longest}x`, scene.widgets, { match })).rejects.toThrow(/at most 63 characters/);
  });
});
