/*
 * An installation that was taken down in the wrong order (K26), each on an API server of its own: the bridge first, with its
 * namespace and its rights, or the rule kind first. A drain from an administrator's laptop leaves the cluster clean all the
 * same, and the policy that is still there makes nothing new.
 */
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { born, carriers, type LeavingSite, startLeavingSite } from '../support/leaving-site.ts';
import type { Thing } from '../support/site-things.ts';

const KINDS = ['buckets', 'comets'];
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

vi.setConfig({ maxConcurrency: 10 });

let first: LeavingSite;
let second: LeavingSite;

beforeAll(async () => {
  [first, second] = await Promise.all([startLeavingSite('bridge-first'), startLeavingSite('kind-first')]);
});
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()]);
});

async function comet({ things, site }: LeavingSite, name: string): Promise<Thing> {
  const collection = `/apis/${site.group}/v1/namespaces/${site.namespace}/comets`;
  return await things.create(collection, { apiVersion: `${site.group}/v1`, kind: 'Comet', metadata: { name } });
}

/** The bridge, its rights and its namespace, at once and without a drain. */
async function removeBridge({ bridge, kube, site }: LeavingSite): Promise<void> {
  await bridge.stop();
  const role = `finalizer-bridge-finalizer-bridge-${site.name}`;
  const paths = [
    `${RBAC}/clusterrolebindings/${role}`,
    `${RBAC}/clusterroles/${role}`,
    '/api/v1/namespaces/finalizer-bridge',
  ];
  for (const path of paths) await kube.request('DELETE', path);
}

describe.concurrent('an installation that went', () => {
  it('K26 K8 bridge first: nothing is released silently, and on a word all of it is gone', async ({ expect }) => {
    const { rule, made, things, define, matching, rights, kube, site, drain, rules } = first;
    await define('comets', 'Comet');
    await rights.grant('comets');
    await rule('bf-comets', matching('comets'));
    await rule('bf-live');
    const live = await made('live', 'bf-live');
    const stuck = await made('stuck', 'bf-live');
    const tail = await comet(first, 'tail');
    await things.claimed(tail, 'bf-comets');
    await removeBridge(first);
    await things.delete(stuck);
    await kube.request('DELETE', `${DEFINITIONS}/comets.${site.group}`);
    await eventually('the comet is going', async () => (await things.found(tail)).metadata.deletionTimestamp);

    const looked = await drain('--timeout', '10s');

    expect(looked.code).toBe(1);
    expect(looked.out).toContain('bridge-first/stuck: NoBridge');
    expect(looked.out).toContain('target {"bucket":"stuck"}');
    expect(await things.has(stuck, 'bf-live')).toBe(true);
    const drained = await drain('--release-held=now');
    expect(drained).toMatchObject({ code: 0, out: expect.stringContaining('clean: no rule is left') });
    expect(await carriers(first, KINDS)).toEqual([]);
    expect(await things.read(stuck)).toBeUndefined();
    expect(await things.read(tail)).toBeUndefined();
    const isGone = async () => (await kube.request('GET', `${DEFINITIONS}/comets.${site.group}`)).status === 404;
    await eventually('the definition of the matched kind is gone', isGone);
    expect(await things.finalizers(live)).toEqual([]);
    expect(await rules.read('bf-live')).toBeUndefined();
    expect(await born(site, { rule: 'bf-live' })).toEqual([]);
    expect((await drain()).code).toBe(0);
  });

  it('K26 rule kind first: rules that hold themselves are let go after their objects, and the kind with them', async ({
    expect,
  }) => {
    const { rule, made, things, kube, site, drain } = second;
    await rule('kf-live');
    const live = await made('live', 'kf-live');
    await removeBridge(second);
    const path = `${DEFINITIONS}/teardownrules.finalizer-bridge.dev`;
    await kube.request('DELETE', path);
    expect((await kube.request('GET', path)).status).toBe(200);

    const [one, other] = await Promise.all([drain(), drain()]);

    expect([one.code, other.code]).toEqual([0, 0]);
    expect(await things.finalizers(live)).toEqual([]);
    expect(await carriers(second, KINDS)).toEqual([]);
    await eventually('the rule kind is gone', async () => (await kube.request('GET', path)).status === 404);
    expect(await born(site, { rule: 'kf-live' })).toEqual([]);
    expect((await drain()).code).toBe(0);
  });
});
