/*
 * The rule kind is taken away, or changed, under the admission policy (K26, CRD first): whatever is left of the installation,
 * objects can be created. On an API server of its own, because rules and policies of all tests would go with the kind.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ruleDefinition } from '../../infra/crd/definition.ts';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import type { Manifest } from '../../infra/local/kube-apply.ts';
import { configMaps } from '../support/admission-kinds.ts';
import { type AdmissionScene, startAdmissionScene } from '../support/admission-scene.ts';
import { eventually } from '../support/eventually.ts';

const SITE = 'admission-leaving';
const MERGE = { contentType: 'application/merge-patch+json' };
const DEFINITION = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${ruleDefinition.metadata.name}`;
const HELD = `${SITE}-held`;
let kube: Kube;
let scene: AdmissionScene;

beforeAll(async () => {
  kube = await startKube({ say: (line) => void process.stderr.write(`${line}\n`) });
  scene = await startAdmissionScene(kube, SITE, [configMaps]);
});
afterAll(() => kube?.stop());

const birth = async () => {
  const { status, finalizers } = await scene.create(configMaps, { generateName: 'born-' });
  return { status, finalizers };
};

/** The rule kind with a schema that checks nothing. */
function unchecked(): Manifest {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const [version] = ruleDefinition.spec.versions;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } };
  return { ...ruleDefinition, spec: { ...ruleDefinition.spec, versions: [{ ...version, schema }] } };
}

describe('creates pass', () => {
  it('K24 when the rule kind lets a name through that is too long for a finalizer', async () => {
    const name = 'x'.repeat(64);
    await kube.apply([unchecked()]);
    await eventually('the longer name is let through', () =>
      scene.rule(name, configMaps).then(
        () => true,
        () => false,
      ),
    );
    await scene.settled();

    expect(await birth()).toEqual({ status: 201, finalizers: [] });

    await kube.request('DELETE', `${scene.rulePath}/${name}`);
    await kube.apply([ruleDefinition]);
  });

  it('K26 while the rule kind is being deleted and waits for a rule that holds itself', async () => {
    await scene.rule(HELD, configMaps, { finalizers: ['finalizer-bridge.dev/rule'] });
    await scene.settled();
    expect(await birth()).toEqual({ status: 201, finalizers: [scene.entry(HELD)] });

    await kube.request('DELETE', DEFINITION);
    await eventually('new objects have no entry', async () => (await birth()).finalizers.length === 0);

    expect(await kube.request('GET', `${scene.rulePath}/${HELD}`)).toMatchObject({ status: 200 });
    expect(await birth()).toEqual({ status: 201, finalizers: [] });
  });

  it('K26 when the rule kind is gone, while policy and bindings are still there', async () => {
    await kube.request('PATCH', `${scene.rulePath}/${HELD}`, { metadata: { finalizers: null } }, MERGE);
    await eventually('the rule kind is gone', async () => (await kube.request('GET', DEFINITION)).status === 404);
    for (let count = 0; count < 20; count++) expect(await birth()).toEqual({ status: 201, finalizers: [] });
  });

  it('K26 when the API server has started anew and never knew the rule kind', async () => {
    await kube.restart();
    const [policy] = scene.manifests;
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/${policy?.metadata.name}`;
    expect((await kube.request('GET', path)).status).toBe(200);
    for (let count = 0; count < 20; count++) expect(await birth()).toEqual({ status: 201, finalizers: [] });
  });
});
