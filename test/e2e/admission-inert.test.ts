/*
 * When the admission policy must do nothing: without rules, for rules that the bridge has not labelled or that are being
 * withdrawn, for other kinds. Each "nothing" is vouched for by a rule that was made later and is at work already.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import type { TestKind } from '../support/admission-kinds.ts';
import { type AdmissionScene, startAdmissionScene } from '../support/admission-scene.ts';
import { sharedKube } from '../support/e2e.ts';

const SITE = 'admission-inert';
const MERGE = { contentType: 'application/merge-patch+json' };
const kube = sharedKube();
let scene: AdmissionScene;

beforeAll(async () => {
  scene = await startAdmissionScene(kube, SITE);
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

async function entriesOn(kind: TestKind): Promise<readonly string[]> {
  const { status, finalizers } = await scene.create(kind, { name: 'probe' }, { dryRun: true });
  expect(status).toBe(201);
  return finalizers;
}

async function label(name: string, value: string | null): Promise<void> {
  const patch = { metadata: { labels: { [INJECTS_LABEL]: value } } };
  expect((await kube.request('PATCH', `${scene.rulePath}/${name}`, patch, MERGE)).status).toBe(200);
  await scene.settled();
}

async function drop(name: string): Promise<void> {
  await kube.request('PATCH', `${scene.rulePath}/${name}`, { metadata: { finalizers: null } }, MERGE);
  await kube.request('DELETE', `${scene.rulePath}/${name}`);
  await scene.settled();
}

describe('nothing is put on', () => {
  it('without rules', async () => {
    expect(await entriesOn(scene.widgets)).toEqual([]);
  });

  it('for a rule without the label, whatever it selects, until the label is there and after it is taken off', async () => {
    const name = `${SITE}-label`;
    await scene.rule(name, scene.widgets, { injects: null });
    await scene.settled();
    expect(await entriesOn(scene.widgets)).toEqual([]);

    await label(name, injectsLabel(scene.widgets));
    expect(await entriesOn(scene.widgets)).toEqual([scene.entry(name)]);

    await label(name, null);
    expect(await entriesOn(scene.widgets)).toEqual([]);
    await drop(name);
  });

  it('for a rule of another kind, even if it has the label of this one', async () => {
    await scene.rule(`${SITE}-other`, scene.depots);
    await scene.rule(`${SITE}-mislabelled`, scene.depots, { injects: scene.widgets });
    await scene.settled();
    expect(await entriesOn(scene.widgets)).toEqual([]);
    expect(await entriesOn(scene.depots)).toEqual([scene.entry(`${SITE}-other`)]);
    await drop(`${SITE}-other`);
    await drop(`${SITE}-mislabelled`);
  });

  it('K25 for a rule that is being withdrawn, though it still has label and finalizer', async () => {
    const name = `${SITE}-withdrawn`;
    await scene.rule(name, scene.widgets, { finalizers: ['finalizer-bridge.dev/rule'] });
    await scene.settled();
    expect(await entriesOn(scene.widgets)).toEqual([scene.entry(name)]);

    await kube.request('DELETE', `${scene.rulePath}/${name}`);
    await scene.settled();

    expect(await kube.request('GET', `${scene.rulePath}/${name}`)).toMatchObject({
      status: 200,
      body: { metadata: { labels: { [INJECTS_LABEL]: injectsLabel(scene.widgets) } } },
    });
    expect(await entriesOn(scene.widgets)).toEqual([]);
    await drop(name);
  });
});
