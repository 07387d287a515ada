/*
 * An installation for some namespaces is upgraded to the whole cluster, on an API server of its own: the bindings that gave the
 * bridge its rights there, and that it keeps by a finalizer, go, and so can the namespaces (P9); teardowns work before and after,
 * and so does the way back. Each test goes on where the one before it ended, as an operator does.
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
import { endNamespace } from '../support/namespace-controller.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { ruleFor } from '../support/site-kind.ts';

const MINUTES = 600_000;
const [HOME, OTHER, OUTSIDE] = ['widened-home', 'widened-other', 'widened-outside'];
const KEPT = 'rights.finalizer-bridge.dev/kept';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/rolebindings';
const bindingIn = (namespace: string, name = 'finalizer-bridge') =>
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/${name}`;
const object = z.object({
  metadata: z.object({
    name: z.string(),
    finalizers: z._default(z.array(z.string()), []),
    deletionTimestamp: z.optional(z.string()),
  }),
});

let on: ChartInstallation;
let buckets: Buckets;
let bridge: ChartBridge;
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    console.error(`The bridge before ${task.name} failed:\n${await bridge?.logTail(25)}`);
});

async function release(verb: 'install' | 'upgrade', values: Values) {
  const file = await on.helm.valuesFile(await on.values({ drain: { timeout: '5m' }, ...values }));
  const words = [verb, RELEASE, CHART_FOLDER, '--namespace', NAMESPACE, '--values', file];
  return await on.helm.run(...words, ...(verb === 'install' ? ['--create-namespace'] : []));
}

async function nextBridge(): Promise<void> {
  await bridge.stop();
  bridge = await on.startBridge();
  await leads(bridge);
}

async function binding(namespace: string): Promise<z.output<typeof object>['metadata'] | undefined> {
  const { status, body } = await on.kube.request('GET', bindingIn(namespace));
  return status === 404 ? undefined : z.parse(object, body).metadata;
}

const all = (namespaces: readonly string[]) => Promise.all(namespaces.map(binding));
const areGone = async (...namespaces: readonly string[]) => (await all(namespaces)).every((one) => one === undefined);
const areKept = async (...namespaces: readonly string[]) =>
  (await all(namespaces)).every((one) => one?.finalizers.includes(KEPT) === true);
const namesNone = async () => !('namespaces' in ((await on.rules.read('team'))?.status ?? { namespaces: [] }));

async function tearsDown(name: string, namespace = OTHER): Promise<void> {
  const answering = await on.site.startFunction();
  const { bucket } = await buckets.create(name, { namespace });
  await buckets.delete(name);
  await buckets.gone(name, 60_000);
  expect(await buckets.versions(bucket)).toBeUndefined();
  await answering.stop();
}

async function takesOn(): Promise<void> {
  await on.rules.apply('team', ruleFor(on.site.group, 'team', {}).spec);
  await on.rules.ready('team', 60_000);
}

beforeAll(async () => {
  on = await startChartInstallation(HOME);
  buckets = bucketsOf(on.site);
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await on.kube.apply([namespace(OTHER), namespace(OUTSIDE)]);
  expect(await release('install', { namespaces: [HOME, OTHER] })).toMatchObject({ code: 0, err: '' });
  bridge = await on.startBridge();
  await leads(bridge);
  await takesOn();
}, MINUTES);
afterAll(() => on?.stop(), MINUTES);

describe('an installation for some namespaces that is upgraded to the whole cluster', () => {
  it('P9 has its bindings gone within a minute, and what was pending there goes on', { timeout: MINUTES }, async () => {
    await tearsDown('before');
    await buckets.create('held', { namespace: OTHER });
    await buckets.delete('held');
    expect(await areKept(HOME, OTHER)).toBe(true);

    expect(await release('upgrade', {})).toMatchObject({ code: 0, err: '' });
    expect(await binding(OTHER)).toMatchObject({ finalizers: [KEPT], deletionTimestamp: expect.any(String) });
    await nextBridge();
    await eventually('the bindings are gone', () => areGone(HOME, OTHER), 60_000);
    await on.rules.ready('team', 60_000);
    await eventually('the rule names no namespace', namesNone, 60_000);

    const answering = await on.site.startFunction();
    await buckets.gone('held', 120_000);
    await answering.stop();
  });

  it('takes deletions anywhere to their end, and a namespace that was served before can be deleted', {
    timeout: MINUTES,
  }, async () => {
    await tearsDown('after');
    await tearsDown('outside', OUTSIDE);
    await buckets.create('last', { namespace: OTHER });
    const answering = await on.site.startFunction();
    const ending = await endNamespace(on.kube, OTHER, [`${on.site.group}/v1/buckets`]);
    await buckets.gone('last', 120_000);
    await ending.over(60_000);
    await answering.stop();
  });

  it('lets the bridge read no binding but those of its name, and list none', async () => {
    const status = async (path: string) =>
      (await on.kube.request('GET', path, undefined, { token: bridge.token })).status;
    expect(await status(bindingIn(OUTSIDE))).toBe(404);
    expect(await status(bindingIn(OUTSIDE, 'another'))).toBe(403);
    expect(await status(BINDINGS)).toBe(403);
  });

  it('goes back when no rule is there, and keeps its rights again', { timeout: MINUTES }, async () => {
    const refused = await release('upgrade', { namespaces: [HOME, OUTSIDE] });
    expect([refused.code === 0, refused.err]).toEqual([
      false,
      expect.stringContaining('The whole cluster is served, and there are rules'),
    ]);
    await on.rules.delete('team');
    await eventually('the rule is withdrawn', async () => (await on.rules.read('team')) === undefined, 300_000);
    expect(await release('upgrade', { namespaces: [HOME, OUTSIDE] })).toMatchObject({ code: 0, err: '' });
    await nextBridge();
    await takesOn();
    await eventually('they are kept', () => areKept(HOME, OUTSIDE), 60_000);
    await tearsDown('back', OUTSIDE);
  });

  it('P9 has a namespace end that is deleted, rights first, before the upgrade and while no bridge runs', {
    timeout: MINUTES,
  }, async () => {
    await buckets.create('ending', { namespace: OUTSIDE });
    await bridge.stop();
    const ending = await endNamespace(on.kube, OUTSIDE, [`${on.site.group}/v1/buckets`]);
    expect(await release('upgrade', {})).toMatchObject({ code: 0, err: '' });
    await nextBridge();
    await eventually('the bindings are gone', () => areGone(HOME, OUTSIDE), 60_000);
    const answering = await on.site.startFunction();
    await buckets.gone('ending', 120_000);
    await ending.over(60_000);
    await answering.stop();
  });
});

describe('an uninstallation of one that was upgraded so, and of which no bridge ever ran', () => {
  it('P9 drains under the rights that are there, and leaves no binding that hangs', { timeout: MINUTES }, async () => {
    // As if the bridge of before had kept it, and a rule still answered for it.
    await on.kube.apply([
      {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
        metadata: { name: 'finalizer-bridge', namespace: HOME, finalizers: [KEPT] },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [],
      },
    ]);
    await bridge.stop();
    const named = { status: { namespaces: ['*', HOME] } };
    const by = { contentType: 'application/merge-patch+json' };
    const path = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules/team/status';
    expect((await on.kube.request('PATCH', path, named, by)).status).toBe(200);
    await on.kube.request('DELETE', bindingIn(HOME));
    expect((await binding(HOME))?.finalizers).toEqual([KEPT]);
    const uninstalling = on.helm.run('uninstall', RELEASE, '--namespace', NAMESPACE, '--timeout', '6m');
    const [{ code, said }, ended] = await Promise.all([runNextJob(on.node, NAMESPACE), uninstalling]);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    expect(await binding(HOME)).toBeUndefined();
  });
});
