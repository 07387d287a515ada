/*
 * Rules for kinds of every sort, on a real API server: core and custom, with and without a namespace, with grace periods,
 * with finalizers and a life cycle of their own. Where a controller of Kubernetes has a part in it, the test plays it.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { sumOf } from '../support/metrics-page.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import type { Hands } from '../support/site-hands.ts';
import { definitionOf } from '../support/site-kind.ts';
import type { SiteRules } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things } from '../support/site-things.ts';

const CORE = ['configmaps', 'pods', 'persistentvolumeclaims', 'namespaces'];
const KUBELET_IS_DONE = { gracePeriodSeconds: 0 };

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'kinds' });
  ({ site, rules, things, hands } = ruled);
  const core = CORE.map((resource) => ({ group: '', resource }));
  bridge = await site.startBridgeOverApi({ kinds: [...core, { group: site.group, resource: 'zones' }] });
  await bridge.ready();
});
afterAll(() => ruled?.stop());

/** A rule for the objects of a kind that carry its name as a label. */
async function rule(name: string, kind: { readonly group?: string; readonly resource: string }, more: object = {}) {
  const labelSelector = { matchLabels: { rule: name } };
  await rules.apply(name, rules.spec(name, { match: { group: '', version: 'v1', ...kind, labelSelector }, ...more }));
  await rules.ready(name);
}

const inSite = (resource: string) => `/api/v1/namespaces/${site.namespace}/${resource}`;

async function pod(name: string, terminationGracePeriodSeconds: number): Promise<Thing> {
  const containers = [{ name: 'main', image: 'example.com/none' }];
  const spec = { nodeName: 'node-1', terminationGracePeriodSeconds, containers };
  const made = await things.create(inSite('pods'), { metadata: { name, labels: { rule: 'kinds-pods' } }, spec });
  await things.claimed(made, 'kinds-pods');
  return made;
}

describe.concurrent('an object is held and taken down', () => {
  it('of a core kind: a ConfigMap', async ({ expect }) => {
    await rule('kinds-configmaps', { resource: 'configmaps' });
    const metadata = { name: 'settings', labels: { rule: 'kinds-configmaps' } };
    const thing = await things.create(inSite('configmaps'), { metadata, data: { key: 'value' } });
    await things.claimed(thing, 'kinds-configmaps');
    await things.delete(thing);

    const { request } = await hands.requested(thing);

    const { data } = request;
    expect(data.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: thing.uid });
    expect(data.target).toEqual({ bucket: 'settings' });
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('of a custom kind without a namespace', async ({ expect }) => {
    await site.admin.apply([definitionOf(site.group, { plural: 'zones', kind: 'Zone', scope: 'Cluster' })]);
    await rule('kinds-zones', { group: site.group, resource: 'zones' });
    const apiVersion = `${site.group}/v1`;
    const metadata = { name: 'north', labels: { rule: 'kinds-zones' } };
    const thing = await things.create(`/apis/${apiVersion}/zones`, { apiVersion, kind: 'Zone', metadata });
    await things.claimed(thing, 'kinds-zones');
    await things.delete(thing);

    const { object } = (await hands.requested(thing)).request.data;

    expect(object).toMatchObject({ apiVersion, kind: 'Zone', resource: 'zones', name: 'north' });
    expect(object.namespace).toBeUndefined();
    await hands.answer(thing, { outcome: 'refused', reason: 'NotOwned', message: 'not ours' });
    await things.says(thing, 'kinds-zones', 'NotOwned');
    await expect.poll(() => things.events(thing)).toMatchObject([{ reason: 'TeardownHeld' }]);
    await things.retry(thing, 'kinds-zones');
    await expect.poll(() => hands.of(thing)).toHaveLength(2);
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('a PersistentVolumeClaim, once its protection is off', async ({ expect }) => {
    const protection = 'kubernetes.io/pvc-protection';
    const waitFor = { finalizers: [protection], atMost: '10m' };
    await rule('kinds-claims', { resource: 'persistentvolumeclaims' }, { waitFor });
    const metadata = { name: 'data', labels: { rule: 'kinds-claims' } };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = await things.create(inSite('persistentvolumeclaims'), { metadata, spec });
    await things.claimed(claim, 'kinds-claims');
    const before = await things.finalizers(claim);
    expect([...before].sort()).toEqual([entryOf('kinds-claims'), protection].sort());
    await things.delete(claim);
    // Half a minute of quiet, then the claim says for what it waits.
    const said = await things.says(claim, 'kinds-claims', 'WaitingForFinalizers', 45_000);
    expect(said).toMatchObject({ phase: 'Pending', message: expect.stringContaining(protection) });
    expect(hands.of(claim)).toEqual([]);

    await things.free(claim, protection);

    await hands.finish(claim);
    await things.gone(claim);
  });

  it('a Namespace; what Kubernetes itself waits for in its spec is not touched', async ({ expect }) => {
    await rule('kinds-spaces', { resource: 'namespaces' });
    const space = await things.namespace('kinds-space', { rule: 'kinds-spaces' });
    await things.claimed(space, 'kinds-spaces');
    await things.delete(space);
    await hands.requested(space);

    await hands.finish(space);

    await things.unclaimed(space, 'kinds-spaces');
    const left = await things.found(space);
    expect(left).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } });
    // The namespace controller has emptied it.
    await things.ask('PUT', `${space.path}/finalize`, { ...left, spec: { finalizers: [] } });
    await things.gone(space);
  });
});

describe.concurrent('a Pod', () => {
  beforeAll(async () => {
    // Which a controller makes elsewhere; without it no Pod is let in.
    await things.create(inSite('serviceaccounts'), { metadata: { name: 'default' } });
    await rule('kinds-pods', { resource: 'pods' });
  });

  it('K31 is asked for when its grace period has ended, and not before', async ({ expect }) => {
    const thing = await pod('brief', 4);
    await things.delete(thing);
    const { deletionTimestamp = '', deletionGracePeriodSeconds } = (await things.found(thing)).metadata;
    expect(deletionGracePeriodSeconds).toBe(4);

    await hands.requested(thing);

    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(deletionTimestamp));
    await hands.finish(thing);
    await things.unclaimed(thing, 'kinds-pods');
    await things.delete(thing, KUBELET_IS_DONE);
    await things.gone(thing);
  });

  it('K31 with a long grace period is asked for as soon as it has ended earlier; its age is never negative', async ({
    expect,
  }) => {
    const thing = await pod('long', 3600);
    const began = Date.now();
    await things.delete(thing);
    const said = await things.says(thing, 'kinds-pods', 'GracePeriod', 45_000);
    expect(said).toMatchObject({ phase: 'Pending', message: expect.stringContaining('grace period') });
    const age = sumOf(await bridge.metrics(), 'finalizer_bridge_oldest_pending_seconds', { rule: 'kinds-pods' });
    expect(age).toBeGreaterThan(25);
    // The API server counts whole seconds.
    expect(age).toBeLessThanOrEqual((Date.now() - began) / 1000 + 1);
    expect(hands.of(thing)).toEqual([]);

    await things.delete(thing, KUBELET_IS_DONE);

    await hands.finish(thing);
    await things.gone(thing);
  });
});
