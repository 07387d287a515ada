/*
 * The chart from installation to uninstallation on an API server of its own: the bridge runs under the chart's account, rights and
 * configuration; a second release is refused; an upgrade finds deletions in flight; an uninstallation drains first, fails while
 * something is held, and leaves the API server clean; and the order that is wrong (K26). Each test goes on where the one
 * before it ended, as an operator does (chart-story.ts).
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { CHART_FOLDER } from '../support/chart.ts';
import { DEPLOYMENT, NAMESPACE, RELEASE } from '../support/chart-installation.ts';
import { MINUTES, tellChartStory } from '../support/chart-story.ts';
import { cliProcesses } from '../support/cli-process.ts';
import { eventually } from '../support/eventually.ts';
import { queuesOf } from '../support/site-queues.ts';

const RULES = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules';
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/teardownrules.finalizer-bridge.dev';
const PART = 'labelSelector=app.kubernetes.io%2Fpart-of%3Dfinalizer-bridge';
/** Values of a release for the whole cluster. */
const ALL = {};

const list = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });
const namesIn = (body: unknown) => z.parse(list, body).items;

const story = tellChartStory({ home: 'chart', namespaces: [], always: () => ({ drain: { timeout: '5m' } }) });
const { on, buckets } = story;

/** One object that lives, and another one whose deletion is held. */
async function stuck(): Promise<void> {
  if ((await buckets().read('live')) === undefined) await buckets().create('live', { versions: 'none' });
  if ((await buckets().read('stuck')) !== undefined) return;
  const answering = await on().site.startFunction();
  await buckets().create('stuck', { owned: false });
  await buckets().delete('stuck');
  await buckets().says('stuck', 'NotOwned', { within: 60_000 });
  await answering.stop();
}

/** What of the chart is in the cluster, as paths. */
async function left(): Promise<readonly string[]> {
  const { kube } = on();
  const lists = [
    ...['configmaps', 'serviceaccounts', 'services', 'pods'].map((kind) => `/api/v1/${kind}`),
    ...['/apis/apps/v1/deployments', '/apis/batch/v1/jobs', '/apis/policy/v1/poddisruptionbudgets'],
    ...['/apis/networking.k8s.io/v1/networkpolicies'],
    ...['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(
      (kind) => `/apis/rbac.authorization.k8s.io/v1/${kind}`,
    ),
    ...['mutatingadmissionpolicies', 'validatingadmissionpolicies'].flatMap((kind) => [
      `/apis/admissionregistration.k8s.io/v1/${kind}`,
      `/apis/admissionregistration.k8s.io/v1/${kind.replace('policies', 'policybindings')}`,
    ]),
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ];
  const found: string[] = [];
  for (const list of lists) {
    const { status, body } = await kube.request('GET', `${list}?${PART}`);
    if (status !== 200) throw new Error(`listing ${list}: ${status}`);
    for (const { metadata } of namesIn(body)) found.push(`${list}/${metadata.name}`);
  }
  return found;
}

describe('the chart', () => {
  it('K19 installs, and a deletion goes through its teardown under the very account, rights and configuration it gives', {
    timeout: MINUTES,
  }, async () => {
    expect(await story.released(ALL, 'older')).toContain(`runs in namespace ${NAMESPACE}`);
    await story.nextBridge();
    await story.takesOn();
    await story.tearsDown('first');
  });

  it('gives the bridge no right beyond those', { timeout: MINUTES }, async () => {
    await story.at(ALL);
    const { kube, site } = on();
    const { token } = story.bridge();
    const kind = `/apis/${site.group}/v1/namespaces/${site.namespace}/buckets`;
    const status = async (method: string, path: string, body?: unknown) =>
      (await kube.request(method, path, body, { token })).status;

    expect(await status('GET', kind)).toBe(200);
    const refused = [
      ...[status('DELETE', `${kind}/any`), status('PUT', `${kind}/any`, {}), status('POST', kind, {})],
      ...[status('GET', '/api/v1/secrets'), status('GET', '/api/v1/configmaps'), status('GET', '/api/v1/pods')],
      ...[status('DELETE', `${RULES}/team`), status('POST', RULES, {}), status('PUT', `${RULES}/team`, {})],
      ...[status('GET', DEFINITION), status('GET', '/apis/apps/v1/deployments')],
      status('GET', '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies'),
      status('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles'),
      status('POST', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${DEPLOYMENT}-drain/token`, {}),
      status('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/another'),
    ];
    expect(await Promise.all(refused)).toEqual(refused.map(() => 403));
  });

  it('is refused a second time in the cluster, and says where the first is', { timeout: MINUTES }, async () => {
    await story.at(ALL);
    const before = await left();
    const values = await on().helm.valuesFile(await on().values());

    const { code, err } = await on().helm.run(
      ...['install', 'another', CHART_FOLDER, '--namespace', 'elsewhere', '--create-namespace', '--values', values],
    );

    expect(code).not.toBe(0);
    expect(err).toContain(`is installed in this cluster already: release ${RELEASE} in namespace ${NAMESPACE}`);
    expect(await left()).toEqual(before);
  });

  it('P5 Q12 is upgraded with deletions in flight: nothing is lost, and the rule kind is of the new version', {
    timeout: MINUTES,
  }, async () => {
    await story.at(ALL, { chart: 'older' });
    const { site, kube } = on();
    const columns = async () => JSON.stringify((await kube.request('GET', DEFINITION)).body).includes('"name":"Held"');
    expect(await columns()).toBe(false);
    const made = await Promise.all(['second', 'third', 'fourth'].map((name) => buckets().create(name)));
    for (const { name } of made) await buckets().delete(name);
    const { url } = site.handler('s3-bucket').requests;
    await eventually('all are requested', async () => (await queuesOf(site).inspect(url)).ready.length === made.length);

    await story.released(ALL);

    await story.nextBridge('new one first');
    expect(await columns()).toBe(true);
    const answering = await site.startFunction();
    for (const { name } of made) await buckets().gone(name, 60_000);
    expect(await Promise.all(made.map(({ bucket }) => buckets().versions(bucket)))).toEqual(made.map(() => undefined));
    await on().rules.ready('team', 60_000);
    await answering.stop();
  });

  it('P9 K20 is not uninstalled while something is held: it says what, and the bridge goes on working', {
    timeout: MINUTES,
  }, async () => {
    await story.at(ALL);
    await stuck();

    const {
      drain: { code, said },
      ended,
    } = await story.uninstall();

    expect(code).toBe(1);
    expect(said).toContain(`${story.home()}/stuck: NotOwned`);
    expect(said).toContain('--release-held');
    expect(ended.code).not.toBe(0);
    expect(ended.err).toContain(`${DEPLOYMENT}-drain`);
    expect(
      (await on().kube.request('GET', `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${DEPLOYMENT}`)).status,
    ).toBe(200);
    expect(story.bridge().hasExited()).toBe(false);
    expect(await buckets().read('stuck')).toBeDefined();
    // What drains may do is there only while it drains.
    expect((await left()).filter((path) => /drain/.test(path) && !/jobs/.test(path))).toEqual([]);
    const kept = await story.rollBack();
    expect(kept).toMatchObject({ code: 0, out: expect.stringContaining('Rollback was a success') });
  });

  it('P9 K20 is uninstalled once a person has given that up, and leaves the API server clean', {
    timeout: MINUTES,
  }, async () => {
    await story.at(ALL);
    await stuck();
    await buckets().release('stuck', { now: true });
    await buckets().gone('stuck', 60_000);

    const { drain, ended } = await story.uninstall();

    expect(drain).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    await story.bridge().stop();
    // The definition of the kind is kept on purpose.
    expect(await left()).toEqual([
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/teardownrules.finalizer-bridge.dev',
    ]);
    expect(await buckets().finalizers('live')).toEqual([]);
    expect(namesIn((await on().kube.request('GET', RULES)).body)).toEqual([]);
  });

  it('K26 takes over what it left, and when it goes without its drain a laptop cleans up after it', {
    timeout: MINUTES,
  }, async () => {
    if (!story.wasInstalled()) {
      await story.at(ALL);
      await buckets().create('live', { versions: 'none' });
      await story.uninstall();
    }
    await story.at(ALL);
    await buckets().claimed('live');

    const ended = await story.uninstallAtOnce();
    await story.bridge().stop();

    expect(ended.code).toBe(0);
    expect(await buckets().finalizers('live')).toEqual([buckets().entry()]);
    const admin = await (await cliProcesses(on().site)).admin();
    expect(await admin('drain', '--yes')).toMatchObject({ code: 0 });
    expect(await buckets().finalizers('live')).toEqual([]);
    expect(namesIn((await on().kube.request('GET', RULES)).body)).toEqual([]);
  });
});
