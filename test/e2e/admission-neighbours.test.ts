/*
 * The admission policy beside what it does not control: other mutating policies, and kinds that the API server has only just
 * learnt of. Creates must pass; where the API server itself refuses some, that is shown.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definitionOf, type TestKind } from '../support/admission-kinds.ts';
import { type AdmissionScene, startAdmissionScene } from '../support/admission-scene.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';

const SITE = 'admission-beside';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const kube = sharedKube();
const gadgets = { version: 'v1', resource: 'gadgets', kind: 'Gadget', namespaced: true } as const;
const fresh: TestKind = { ...gadgets, group: `fresh.${SITE}.example.com` };
const unlabelled: TestKind = { ...gadgets, group: `unlabelled.${SITE}.example.com` };
let scene: AdmissionScene;

beforeAll(async () => {
  scene = await startAdmissionScene(kube, SITE, [fresh, unlabelled]);
  await scene.rule(`${SITE}-widgets`, scene.widgets);
  await scene.rule(`${SITE}-gadgets`, fresh);
  await scene.rule(`${SITE}-unlabelled`, unlabelled, { injects: null });
  await scene.settled();
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

describe('other mutating policies', () => {
  // The API server takes policies in any order; of several one comes after ours.
  const strippers = ['a', 'b', 'c'].map((name) => `${SITE}-strip-${name}`);
  afterAll(async () => {
    for (const name of strippers) {
      await kube.request('DELETE', `${REGISTRATION}/mutatingadmissionpolicybindings/${name}`);
      await kube.request('DELETE', `${REGISTRATION}/mutatingadmissionpolicies/${name}`);
    }
  });

  /** Takes all finalizers off widgets that ask for it, and leaves a mark. */
  function stripper(name: string) {
    const resource = { apiGroups: [scene.widgets.group], apiVersions: ['*'], resources: ['widgets'] };
    const expressions = [
      `has(object.metadata.finalizers) ? [JSONPatch{op: 'remove', path: '/metadata/finalizers'}] : []`,
      `[JSONPatch{op: 'add', path: '/metadata/labels/${name}', value: 'seen'}]`,
    ];
    const spec = {
      ...{ failurePolicy: 'Ignore', reinvocationPolicy: 'Never' },
      matchConstraints: { resourceRules: [{ ...resource, operations: ['CREATE'] }] },
      matchConditions: [{ name: 'asked', expression: `'strip' in object.metadata.?labels.orValue({})` }],
      mutations: expressions.map((expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })),
    };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    return [
      { apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name }, spec },
      { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
    ];
  }

  it('do not have the last word when they drop the entry', async () => {
    await kube.apply(strippers.flatMap(stripper));
    const metadata = { name: 'stripped', labels: { strip: 'please' }, finalizers: ['example.com/a'] };

    const born = await eventually('the other policies are at work', async () => {
      const birth = await scene.create(scene.widgets, metadata, { dryRun: true });
      return strippers.every((name) => birth.labels[name] === 'seen') && birth;
    });

    expect(born.finalizers).toEqual([scene.entry(`${SITE}-widgets`)]);
  });
});

describe('a kind that the API server has only just learnt of', () => {
  afterAll(async () => {
    for (const { resource, group } of [fresh, unlabelled]) {
      await kube.request('DELETE', `${DEFINITIONS}/${resource}.${group}`);
    }
  });

  it('is created at once while no rule for it has the label', async () => {
    await kube.apply([definitionOf(unlabelled)]);
    const { status, finalizers } = await scene.create(unlabelled, { name: 'first' }, { dryRun: true });
    expect({ status, finalizers }).toEqual({ status: 201, finalizers: [] });
  });

  it('may be refused for seconds where a labelled rule selects it, which is why rules are labelled late', async () => {
    await kube.apply([definitionOf(fresh)]);
    const refusals = new Set<string>();

    const born = await eventually('a gadget has the entry', async () => {
      const birth = await scene.create(fresh, { generateName: 'gadget-' }, { dryRun: true });
      if (birth.status !== 201) refusals.add(`${birth.status} ${birth.message}`);
      return birth.finalizers.length > 0 && birth;
    });

    expect(born.finalizers).toEqual([scene.entry(`${SITE}-gadgets`)]);
    // The one failure that `Ignore` does not cover, and no other.
    for (const refusal of refusals) expect(refusal).toMatch(/^503 Resource kind .* not found. There can be a delay/);
  });
});
