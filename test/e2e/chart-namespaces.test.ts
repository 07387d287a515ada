/*
 * The chart for some namespaces only, on an API server of its own: the bridge works under nothing but the Roles that it has there, what
 * is outside stays as it is, a kind in no namespace says why it is not held, a namespace is left in order, and the drain before the
 * uninstallation finds everything under rights as few. Each test goes on where the one before it ended, as an operator does.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { CHART_FOLDER, type Values } from '../support/chart.ts';
import {
  type ChartBridge,
  type ChartInstallation,
  leads,
  NAMESPACE,
  RELEASE,
  startChartInstallation,
} from '../support/chart-installation.ts';
import { runNextJob } from '../support/chart-kubelet.ts';
import { eventually } from '../support/eventually.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { definitionOf, ruleFor } from '../support/site-kind.ts';

const MINUTES = 600_000;
/** The namespace of the site, and another one that is served. */
const [HOME, SERVED, OUTSIDE] = ['chart-some', 'chart-some-more', 'chart-outside'];
const ENTRY = 'finalizer-bridge.dev/team';
const born = z.object({ metadata: z.object({ finalizers: z._default(z.array(z.string()), []) }) });

let on: ChartInstallation;
let buckets: Buckets;
let bridge: ChartBridge;
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    console.error(`The bridge before ${task.name} failed:\n${await bridge?.logTail(25)}`);
});

const vaults = () => ({ group: on.site.group, resource: 'vaults' });

async function release(verb: 'install' | 'upgrade', namespaces: Values) {
  const kinds = [{ group: on.site.group, resource: 'buckets' }, vaults()];
  const values = await on.helm.valuesFile(await on.values({ kinds, drain: { timeout: '5m' }, ...namespaces }));
  const words = [verb, RELEASE, CHART_FOLDER, '--namespace', NAMESPACE, '--values', values];
  return await on.helm.run(...words, ...(verb === 'install' ? ['--create-namespace'] : []));
}

beforeAll(async () => {
  on = await startChartInstallation(HOME);
  buckets = bucketsOf(on.site);
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const kind = definitionOf(on.site.group, { plural: 'vaults', kind: 'Vault', scope: 'Cluster' });
  await on.kube.apply([namespace(SERVED), namespace(OUTSIDE), kind]);
  expect(await release('install', { namespaces: [HOME, SERVED] })).toMatchObject({ code: 0, err: '' });
  bridge = await on.startBridge();
  await leads(bridge);
  await on.rules.apply('team', ruleFor(on.site.group, 'team', {}).spec);
  await on.rules.ready('team', 60_000);
}, MINUTES);
afterAll(() => on?.stop(), MINUTES);

/** Creates an object, and says which finalizers it came with. */
async function bornWith(name: string, namespace: string): Promise<readonly string[]> {
  const { group } = on.site;
  const object = { apiVersion: `${group}/v1`, kind: 'Bucket', metadata: { name, labels: { rule: 'team' } } };
  const { body } = await on.kube.request('POST', `/apis/${group}/v1/namespaces/${namespace}/buckets`, object);
  return z.parse(born, body).metadata.finalizers;
}

describe('the chart for some namespaces', () => {
  it('takes a deletion in each of them to its end, under nothing but the rights that it gives', {
    timeout: MINUTES,
  }, async () => {
    const answering = await on.site.startFunction();
    const made = [await buckets.create('first'), await buckets.create('second', { namespace: SERVED })];
    for (const { name } of made) await buckets.delete(name);
    for (const { name } of made) await buckets.gone(name, 60_000);
    expect(await Promise.all(made.map(({ bucket }) => buckets.versions(bucket)))).toEqual([undefined, undefined]);
    await answering.stop();
  });

  it('lets the bridge read and write nothing outside of them', async () => {
    const { group } = on.site;
    const in_ = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/buckets`;
    const status = async (method: string, path: string) =>
      (await on.kube.request(method, path, undefined, { token: bridge.token })).status;
    const allowed = [
      in_(HOME),
      in_(SERVED),
      `/api/v1/namespaces/${HOME}`,
      `/api/v1/namespaces?fieldSelector=metadata.name%3D${HOME}`,
    ];
    const refused = [
      ...[`/apis/${group}/v1/buckets`, in_(OUTSIDE), `${in_(OUTSIDE)}/any`, `/apis/${group}/v1/vaults`],
      ...['/api/v1/namespaces', `/api/v1/namespaces/${OUTSIDE}`, `/api/v1/namespaces/${HOME}/secrets`],
      `/apis/events.k8s.io/v1/namespaces/${HOME}/events`,
    ];
    expect(await Promise.all(allowed.map((path) => status('GET', path)))).toEqual(allowed.map(() => 200));
    expect(await Promise.all(refused.map((path) => status('GET', path)))).toEqual(refused.map(() => 403));
    expect(await status('PATCH', `${in_(OUTSIDE)}/any`)).toBe(403);
  });

  it('gives entries at birth there, and to nothing outside, whose deletion is nobody’s business', {
    timeout: MINUTES,
  }, async () => {
    await on.rules.says('team', 'FinalizerAtAdmission', { status: 'Unknown', reason: 'NothingCreatedYet' }, 90_000);
    let made = 0;
    await eventually('objects get their entry at birth', async () => {
      made += 1;
      return (await bornWith(`born-${made}`, SERVED)).includes(ENTRY);
    });

    expect(await bornWith('stranger', OUTSIDE)).toEqual([]);

    // The bridge puts the entry on what the policy has left out: in the namespaces that it serves.
    await buckets.create('probe', { versions: 'none' });
    const path = `/apis/${on.site.group}/v1/namespaces/${OUTSIDE}/buckets/stranger`;
    expect(z.parse(born, (await on.kube.request('GET', path)).body).metadata.finalizers).toEqual([]);
    await on.kube.request('DELETE', path);
    expect((await on.kube.request('GET', path)).status).toBe(404);
  });

  it('has a rule for a kind in no namespace say that no object of it can be seen (P7)', async () => {
    const { spec } = ruleFor(on.site.group, 'vaults', {});
    await on.rules.apply('vaults', { ...spec, match: { ...vaults(), version: 'v1' } });
    for (const type of ['Permitted', 'Ready']) {
      await on.rules.says('vaults', type, { status: 'False', reason: 'ClusterScoped' }, 30_000);
    }
    expect((await on.rules.read('vaults'))?.metadata.labels).toEqual({});
  });

  it('works on labels of namespaces by their names (a rule that selects by them)', async () => {
    const label = { metadata: { labels: { tier: 'prod' } } };
    await on.kube.request('PATCH', `/api/v1/namespaces/${SERVED}`, label, {
      contentType: 'application/merge-patch+json',
    });
    const { spec } = ruleFor(on.site.group, 'prod', {});
    const match = {
      group: on.site.group,
      version: 'v1',
      resource: 'buckets',
      namespaceSelector: { matchLabels: { tier: 'prod' } },
    };
    await on.rules.apply('prod', { ...spec, match });
    await on.rules.ready('prod', 60_000);
    await buckets.create('chosen', { rule: 'prod', versions: 'none', namespace: SERVED });
  });

  it('is not upgraded to simply serve one namespace less: objects there would hang for good (P9, K33)', {
    timeout: MINUTES,
  }, async () => {
    const refused = await release('upgrade', { namespaces: [HOME] });
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(`Namespace ${SERVED} is served, and is not among the values any more`);

    expect(await release('upgrade', { namespaces: [HOME], leavingNamespaces: [SERVED] })).toMatchObject({
      code: 0,
      err: '',
    });
    const old = bridge;
    bridge = await on.startBridge();
    await old.stop();
    await leads(bridge);

    await eventually(
      'entries come off live objects there',
      async () => (await buckets.finalizers('chosen')).length === 0,
      60_000,
    );
    expect((await on.rules.read('team'))?.status).toMatchObject({ namespaces: [HOME, SERVED] });
    await buckets.claimed('probe');
    await on.rules.ready('team', 60_000);
  });

  it('is not upgraded to leave it for good before every rule says that it is left (P9)', {
    timeout: MINUTES,
  }, async () => {
    const dropped = { namespaces: [HOME] };
    const refused = await release('upgrade', dropped);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(
      `Namespace ${SERVED} is among the values no more, and objects there may carry the entry of rule`,
    );
    await on.rules.delete('prod');
    const named = z.object({ namespaces: z.array(z.string()) });
    const isLeft = async () => !z.parse(named, (await on.rules.read('team'))?.status).namespaces.includes(SERVED);
    await eventually(
      'rule team names it no more, and rule prod is gone',
      async () => {
        return (await isLeft()) && (await on.rules.read('prod')) === undefined;
      },
      400_000,
    );
    expect(await release('upgrade', dropped)).toMatchObject({ code: 0, err: '' });
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${SERVED}/rolebindings/finalizer-bridge`;
    expect((await on.kube.request('GET', path)).status).toBe(404);
    await bridge.stop();
    bridge = await on.startBridge();
    await leads(bridge);
    await on.rules.ready('team', 60_000);
  });

  it('takes a rule that a bridge has begun with, and that has no status, for one that was in force anywhere (P5)', {
    timeout: MINUTES,
  }, async () => {
    const { spec } = ruleFor(on.site.group, 'begun', {});
    const finalizers = ['finalizer-bridge.dev/withdrawal'];
    const apiVersion = 'finalizer-bridge.dev/v1alpha1';
    await on.kube.apply([{ apiVersion, kind: 'TeardownRule', metadata: { name: 'begun', finalizers }, spec }]);
    await on.rules.says('begun', 'Ready', { status: 'False', reason: 'NamespacesLeft' }, 60_000);
    expect((await on.rules.read('begun'))?.status).toMatchObject({ namespaces: ['*', HOME] });
    // Whoever knows better says so, as docs/operations.md has it.
    const status = { status: { namespaces: [HOME] } };
    const by = { contentType: 'application/merge-patch+json' };
    const path = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules/begun/status';
    expect((await on.kube.request('PATCH', path, status, by)).status).toBe(200);
    await on.rules.ready('begun', 60_000);
  });

  it('P9 K20 is uninstalled by a drain that has no more rights than that, and leaves nothing behind', {
    timeout: MINUTES,
  }, async () => {
    const uninstalling = on.helm.run('uninstall', RELEASE, '--namespace', NAMESPACE, '--timeout', '6m');
    const [{ code, said }, ended] = await Promise.all([runNextJob(on.node, NAMESPACE), uninstalling]);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    await bridge.stop();
    expect(await buckets.finalizers('probe')).toEqual([]);
  });
});
