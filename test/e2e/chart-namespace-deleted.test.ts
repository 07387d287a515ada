/*
 * A namespace that the chart serves is deleted, rights first, on an API server of its own: what is held there comes to its end
 * (P4), objects in the others keep their entry at birth (P10), Helm upgrades and uninstalls meanwhile, and in no order does
 * anything hang for good (P9). Each test goes on where the one before it ended, as an operator does.
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
import { type EndingNamespace, endNamespace } from '../support/namespace-controller.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { ruleFor } from '../support/site-kind.ts';

const MINUTES = 600_000;
const [HOME, DOOMED, LATER] = ['deleted-home', 'deleted-doomed', 'deleted-later'];
const ENTRY = 'finalizer-bridge.dev/team';
const KEPT = 'rights.finalizer-bridge.dev/kept';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/rolebindings';
const bindingIn = (namespace: string) =>
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/finalizer-bridge`;
const metadata = z.object({
  name: z.string(),
  namespace: z.optional(z.string()),
  finalizers: z._default(z.array(z.string()), []),
  deletionTimestamp: z.optional(z.string()),
});
const object = z.object({ metadata });
const list = z.object({ items: z.array(object) });

let on: ChartInstallation;
let buckets: Buckets;
let bridge: ChartBridge;
let ending: EndingNamespace;
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    console.error(`The bridge before ${task.name} failed:\n${await bridge?.logTail(25)}`);
});

async function release(verb: 'install' | 'upgrade', values: Values) {
  const file = await on.helm.valuesFile(await on.values({ drain: { timeout: '8m' }, ...values }));
  const words = [verb, RELEASE, CHART_FOLDER, '--namespace', NAMESPACE, '--values', file];
  return await on.helm.run(...words, ...(verb === 'install' ? ['--create-namespace'] : []));
}

async function nextBridge(): Promise<void> {
  await bridge.stop();
  bridge = await on.startBridge();
  await leads(bridge);
}

async function binding(namespace: string): Promise<z.output<typeof metadata> | undefined> {
  const { status, body } = await on.kube.request('GET', bindingIn(namespace));
  return status === 404 ? undefined : z.parse(object, body).metadata;
}

/** The last rule whose entries may be there. */
const namesNot = (namespace: string) => async () => {
  const { namespaces } = z.parse(z.object({ namespaces: z.array(z.string()) }), (await on.rules.read('team'))?.status);
  return !namespaces.includes(namespace);
};

beforeAll(async () => {
  on = await startChartInstallation(HOME);
  buckets = bucketsOf(on.site);
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await on.kube.apply([namespace(DOOMED), namespace(LATER)]);
  expect(await release('install', { namespaces: [HOME, DOOMED] })).toMatchObject({ code: 0, err: '' });
  bridge = await on.startBridge();
  await leads(bridge);
  await on.rules.apply('team', ruleFor(on.site.group, 'team', {}).spec);
  await on.rules.ready('team', 60_000);
  await buckets.create('held', { namespace: DOOMED });
}, MINUTES);
afterAll(() => on?.stop(), MINUTES);

const kinds = () => [`${on.site.group}/v1/buckets`];

describe('a served namespace that is deleted', () => {
  it('keeps its rights by a finalizer, and of the binding the bridge can change nothing else', async () => {
    expect((await binding(DOOMED))?.finalizers).toEqual([KEPT]);
    const eve = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' };
    const by = { token: bridge.token, contentType: 'application/json-patch+json' };
    const patch = async (...operations: readonly object[]) => {
      const { status, body } = await on.kube.request('PATCH', bindingIn(HOME), operations, by);
      return [status, z.parse(z.object({ message: z._default(z.string(), '') }), body).message];
    };
    const [given, said] = await patch({ op: 'add', path: '/subjects/-', value: eve });
    expect([given, said]).toEqual([403, expect.stringContaining('the bridge changes nothing outside of metadata')]);
    const other = { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/other' };
    expect(await patch(other)).toEqual([403, expect.stringContaining('no finalizers of others')]);
    const { status } = await on.kube.request('GET', BINDINGS, undefined, { token: bridge.token });
    expect(status).toBe(403);
  });

  it('P10 stops no other: its binding goes first, and yet objects elsewhere are born with their entry', {
    timeout: MINUTES,
  }, async () => {
    await on.rules.says('team', 'FinalizerAtAdmission', { status: 'Unknown', reason: 'NothingCreatedYet' }, 90_000);
    ending = await endNamespace(on.kube, DOOMED, kinds());
    expect((await binding(DOOMED))?.deletionTimestamp).toBeDefined();

    await on.rules.says('team', 'Watching', { message: `being deleted: ${DOOMED} (1 objects are not done)` }, 150_000);
    await on.rules.ready('team', 60_000);
    await buckets.create('born', { versions: 'none', unclaimed: true });
    expect(await buckets.finalizers('born')).toContain(ENTRY);
  });

  it('holds up no upgrade, with the same values or others, and waits for a bridge that comes back later (P5)', {
    timeout: MINUTES,
  }, async () => {
    expect(await release('upgrade', { namespaces: [HOME, DOOMED] })).toMatchObject({ code: 0, err: '' });
    expect(await release('upgrade', { namespaces: [HOME], leavingNamespaces: [DOOMED] })).toMatchObject({ code: 0 });
    await bridge.stop();
    expect(await release('upgrade', { namespaces: [HOME, DOOMED, LATER] })).toMatchObject({ code: 0, err: '' });
    await nextBridge();
    expect((await binding(DOOMED))?.finalizers).toEqual([KEPT]);
    expect((await binding(LATER))?.deletionTimestamp).toBeUndefined();
  });

  it('P4 has its deletions finished, and then it goes: nothing hangs, and no rule names it', {
    timeout: MINUTES,
  }, async () => {
    const answering = await on.site.startFunction();
    await buckets.gone('held', 120_000);
    await ending.over(300_000);
    await eventually('the rule names it no more', namesNot(DOOMED));
    await on.rules.says('team', 'Permitted', { status: 'False', reason: 'NamespaceMissing' }, 60_000);
    expect(await release('upgrade', { namespaces: [HOME, LATER] })).toMatchObject({ code: 0, err: '' });
    await nextBridge();
    await on.rules.ready('team', 60_000);
    await answering.stop();
  });
});

describe('a binding that somebody deletes', () => {
  it('stays in force, which the rule says, until it is let go by hand and given again', {
    timeout: MINUTES,
  }, async () => {
    await on.kube.request('DELETE', bindingIn(HOME));
    await on.rules.says('team', 'Permitted', { status: 'True', message: 'was deleted, and stays until' }, 150_000);
    await buckets.create('after', { versions: 'none' });
    // As after a rollback to values without the namespace: what is being deleted is taken over as it is.
    expect(await release('upgrade', { namespaces: [HOME, LATER] })).toMatchObject({ code: 0, err: '' });
    expect((await binding(HOME))?.finalizers).toEqual([KEPT]);
    const free = [{ op: 'remove', path: '/metadata/finalizers' }];
    const by = { contentType: 'application/json-patch+json' };
    expect((await on.kube.request('PATCH', bindingIn(HOME), free, by)).status).toBe(200);
    expect(await binding(HOME)).toBeUndefined();
    expect(await release('upgrade', { namespaces: [HOME, LATER] })).toMatchObject({ code: 0, err: '' });
    await nextBridge();
    await eventually('it is kept again', async () => (await binding(HOME))?.finalizers.includes(KEPT), 150_000);
    await on.rules.ready('team', 60_000);
  });
});

describe('an uninstallation while a namespace is being deleted', () => {
  it('P9 drains under the rights that are there, finishes, and leaves no binding and no namespace that hangs', {
    timeout: MINUTES,
  }, async () => {
    const answering = await on.site.startFunction();
    await buckets.create('last', { namespace: LATER, finalizers: ['example.com/other'] });
    ending = await endNamespace(on.kube, LATER, kinds());
    expect((await binding(LATER))?.finalizers).toEqual([KEPT]);

    const uninstalling = on.helm.run('uninstall', RELEASE, '--namespace', NAMESPACE, '--timeout', '9m');
    const [{ code, said }, ended] = await Promise.all([runNextJob(on.node, NAMESPACE), uninstalling]);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    const { items } = z.parse(list, (await on.kube.request('GET', BINDINGS)).body);
    expect(items.filter(({ metadata: { name } }) => name === 'finalizer-bridge')).toEqual([]);
    expect(await buckets.finalizers('last')).toEqual(['example.com/other']);
    await buckets.edit('last', [{ op: 'remove', path: '/metadata/finalizers/0' }]);
    await ending.over(60_000);
    await bridge.stop();
    await answering.stop();
  });
});
