/*
 * The selectors of the admission policy, in CEL on a real API server, held against the bridge's own (label-selector.ts): an
 * entry that one puts on and the other would not is an object held, and torn down, for a rule that never meant it.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Labels, labelSelector, selectorPredicate } from '../../bridge/label-selector.ts';
import { namespaces, type TestKind } from '../support/admission-kinds.ts';
import { type AdmissionScene, startAdmissionScene } from '../support/admission-scene.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';

const SITE = 'admission-select';
const kube = sharedKube();
let scene: AdmissionScene;

beforeAll(async () => {
  scene = await startAdmissionScene(kube, SITE, [namespaces]);
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

type Selector = z.input<typeof labelSelector>;

/** Few keys and values, so that selectors and labels meet often; an empty value is not an absent one. */
const keys = ['tier', 'example.com/tier', 'zone'];
const values = ['', 'gold', 'silver'];
const anyLabels = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...values), { maxKeys: 3 });
const anyExpression = fc.oneof(
  fc.record({
    key: fc.constantFrom(...keys),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }),
  }),
  fc.record({ key: fc.constantFrom(...keys), operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
const anySelector: fc.Arbitrary<Selector> = fc.record(
  {
    matchLabels: fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...values), { maxKeys: 1 }),
    matchExpressions: fc.array(anyExpression, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** One of each operator and of each way to be empty; the rest at random, the same in each run. */
const selectors: readonly Selector[] = [
  {},
  { matchLabels: {}, matchExpressions: [] },
  { matchLabels: { tier: 'gold' } },
  { matchLabels: { tier: '' } },
  { matchLabels: { tier: 'gold', zone: 'silver' } },
  { matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', ''] }] },
  { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold', ''] }] },
  { matchExpressions: [{ key: 'example.com/tier', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'example.com/tier', operator: 'DoesNotExist' }] },
  { matchLabels: { zone: 'gold' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
  ...fc.sample(anySelector, { numRuns: 20, seed: 4 }),
];
const labelSets: readonly Labels[] = [
  ...keys.flatMap((key) => values.map((value) => ({ [key]: value }))),
  { tier: 'gold', zone: 'silver' },
  { tier: 'gold', 'example.com/tier': 'gold', zone: 'gold' },
  ...fc.sample(anyLabels, { numRuns: 28, seed: 4 }),
];

const nameOf = (group: string, index: number) => `${SITE}-${group}-${index}`;

function expected(group: string, labels: Labels): readonly string[] {
  const isSelected = (selector: Selector) => selectorPredicate(z.parse(labelSelector, selector))(labels);
  return selectors.flatMap((selector, index) => (isSelected(selector) ? [scene.entry(nameOf(group, index))] : []));
}

async function makeRules(group: string, kind: TestKind, matchOf: (selector: Selector) => object) {
  await Promise.all(
    selectors.map((selector, index) => scene.rule(nameOf(group, index), kind, { match: { ...matchOf(selector) } })),
  );
  await scene.settled();
}

async function removeRules(group: string) {
  await Promise.all(selectors.map((_, index) => kube.request('DELETE', `${scene.rulePath}/${nameOf(group, index)}`)));
}

describe('labelSelector', () => {
  beforeAll(() => makeRules('labels', scene.widgets, (selector) => ({ labelSelector: selector })));
  afterAll(() => removeRules('labels'));

  it('selects by matchLabels and every operator what the bridge would select', async () => {
    for (const labels of labelSets) {
      const { finalizers } = await scene.create(scene.widgets, { name: 'probe', labels }, { dryRun: true });
      expect({ labels, finalizers: finalizers.toSorted() }).toEqual({
        labels,
        finalizers: expected('labels', labels).toSorted(),
      });
    }
  });

  it('sees an object without any labels as one whose labels are all absent', async () => {
    const { finalizers } = await scene.create(scene.widgets, { name: 'probe' }, { dryRun: true });
    expect(finalizers.toSorted()).toEqual(expected('labels', {}).toSorted());
    expect(finalizers).not.toEqual([]);
  });
});

describe('namespaceSelector', () => {
  const places = labelSets.slice(0, 14).map((labels, index) => ({ labels, name: `${SITE}-${index}` }));
  beforeAll(async () => {
    for (const { name, labels } of places) await scene.create(namespaces, { name, labels });
    await makeRules('spaces', scene.widgets, (selector) => ({ namespaceSelector: selector }));
  });
  afterAll(() => removeRules('spaces'));

  it('selects by matchLabels and every operator what the bridge would select', async () => {
    for (const { name, labels } of places) {
      const { finalizers } = await scene.create(scene.widgets, { name: 'probe' }, { namespace: name, dryRun: true });
      expect({ labels, finalizers: finalizers.toSorted() }).toEqual({
        labels,
        finalizers: expected('spaces', labels).toSorted(),
      });
    }
  });

  it('sees the labels that the namespace has now', async () => {
    const [place] = places;
    const patch = { metadata: { labels: { tier: 'silver', zone: 'gold' } } };
    const by = { contentType: 'application/merge-patch+json' };
    await kube.request('PATCH', `/api/v1/namespaces/${place?.name}`, patch, by);
    const wanted = expected('spaces', { tier: 'silver', zone: 'gold' }).toSorted();
    await eventually('the new labels count', async () => {
      const options = { namespace: place?.name ?? '', dryRun: true };
      const { finalizers } = await scene.create(scene.widgets, { name: 'probe' }, options);
      return JSON.stringify(finalizers.toSorted()) === JSON.stringify(wanted);
    });
  });
});

describe('namespaceSelector without a namespace', () => {
  const tier = { matchLabels: { tier: 'gold' } };

  it('looks at the labels of a Namespace itself', async () => {
    await makeRules('self', namespaces, (selector) => ({ namespaceSelector: selector }));
    for (const labels of labelSets.slice(0, 14)) {
      const { finalizers } = await scene.create(namespaces, { name: `${SITE}-self`, labels }, { dryRun: true });
      expect({ labels, finalizers: finalizers.toSorted() }).toEqual({
        labels,
        finalizers: expected('self', labels).toSorted(),
      });
    }
    await removeRules('self');
  });

  it('selects every object of another cluster-scoped kind', async () => {
    await scene.rule(`${SITE}-depots`, scene.depots, { match: { namespaceSelector: tier } });
    await scene.settled();
    const { finalizers } = await scene.create(scene.depots, { name: 'probe' }, { dryRun: true });
    expect(finalizers).toEqual([scene.entry(`${SITE}-depots`)]);
  });

  it('and labelSelector have to select both', async () => {
    const labelled = { matchLabels: { zone: 'both' } };
    await scene.create(namespaces, { name: `${SITE}-gold`, labels: { tier: 'gold' } });
    const match = { namespaceSelector: tier, labelSelector: labelled };
    await scene.rule(`${SITE}-both`, scene.widgets, { match });
    await scene.settled();
    const born = async (namespace: string, zone: string) => {
      const metadata = { name: 'probe', labels: { zone } };
      return (await scene.create(scene.widgets, metadata, { namespace, dryRun: true })).finalizers;
    };
    expect(await born(`${SITE}-gold`, 'both')).toEqual([scene.entry(`${SITE}-both`)]);
    expect(await born(`${SITE}-gold`, 'other')).toEqual([]);
    expect(await born(SITE, 'both')).toEqual([]);
  });
});

describe('the namespaces that the status of a rule names', () => {
  const by = { contentType: 'application/merge-patch+json' };
  const rules = [
    { rule: `${SITE}-here`, names: [SITE] },
    { rule: `${SITE}-elsewhere`, names: ['elsewhere'] },
    { rule: `${SITE}-nowhere`, names: [] },
    { rule: `${SITE}-anywhere`, names: ['*', 'elsewhere'] },
    { rule: `${SITE}-unsaid`, names: undefined },
  ];

  it('are where its entry comes at birth, which nobody would know of anywhere else (P9)', async () => {
    for (const { rule, names } of rules) {
      await scene.rule(rule, scene.widgets);
      if (names === undefined) continue;
      const { status } = await kube.request(
        'PATCH',
        `${scene.rulePath}/${rule}/status`,
        { status: { namespaces: names } },
        by,
      );
      expect(status).toBe(200);
    }
    await scene.settled();
    const { finalizers } = await scene.create(scene.widgets, { name: 'probe' }, { dryRun: true });
    const wanted = ['here', 'anywhere', 'unsaid'].map((name) => scene.entry(`${SITE}-${name}`));
    expect(finalizers.toSorted()).toEqual(wanted.toSorted());
    for (const { rule } of rules) await kube.request('DELETE', `${scene.rulePath}/${rule}`);
  });
});
