/*
 * The chart for some namespaces only, on an API server of its own: the bridge works under nothing but the Roles that it has there, what
 * is outside stays as it is, a kind in no namespace says why it is not held, a namespace is left in order, and the drain before the
 * uninstallation finds everything under rights as few. Each test goes on where the one before it ended (chart-story.ts).
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import type { ChartInstallation } from '../support/chart-installation.ts';
import { bindingIn, MINUTES, tellChartStory } from '../support/chart-story.ts';
import { eventually } from '../support/eventually.ts';
import { definitionOf, ruleFor } from '../support/site-kind.ts';

/** A namespace that is served beside the site's own, and one that is not. */
const [SERVED, OUTSIDE] = ['chart-some-more', 'chart-outside'];
const ENTRY = 'finalizer-bridge.dev/team';
const born = z.object({ metadata: z.object({ finalizers: z._default(z.array(z.string()), []) }) });
const vaultsOf = ({ site }: ChartInstallation) => ({ group: site.group, resource: 'vaults' });

const story = tellChartStory({
  ...{ home: 'chart-some', namespaces: [SERVED, OUTSIDE] },
  manifests: (on) => [definitionOf(on.site.group, { plural: 'vaults', kind: 'Vault', scope: 'Cluster' })],
  always: (on) => ({
    kinds: [{ group: on.site.group, resource: 'buckets' }, vaultsOf(on)],
    drain: { timeout: '8m' },
  }),
});
const { on, home, buckets } = story;
const both = () => ({ namespaces: [home(), SERVED] });
const leaving = () => ({ namespaces: [home()], leavingNamespaces: [SERVED] });
const alone = () => ({ namespaces: [home()] });

/** Creates an object, and says which finalizers it came with. */
async function bornWith(name: string, namespace: string): Promise<readonly string[]> {
  const { group } = on().site;
  const object = { apiVersion: `${group}/v1`, kind: 'Bucket', metadata: { name, labels: { rule: 'team' } } };
  const { body } = await on().kube.request('POST', `/apis/${group}/v1/namespaces/${namespace}/buckets`, object);
  return z.parse(born, body).metadata.finalizers;
}

/** A live object in the namespace that stays. */
async function probe(): Promise<void> {
  if ((await buckets().read('probe')) === undefined) await buckets().create('probe', { versions: 'none' });
}

/** A live object that a rule has chosen by a label of its namespace, the one that is left later. */
async function chosen(): Promise<void> {
  if ((await buckets().read('chosen')) !== undefined) return;
  const label = { metadata: { labels: { tier: 'prod' } } };
  const by = { contentType: 'application/merge-patch+json' };
  await on().kube.request('PATCH', `/api/v1/namespaces/${SERVED}`, label, by);
  const { spec } = ruleFor(on().site.group, 'prod', {});
  const matches = { group: on().site.group, version: 'v1', resource: 'buckets' };
  await on().rules.apply('prod', {
    ...spec,
    match: { ...matches, namespaceSelector: { matchLabels: { tier: 'prod' } } },
  });
  await on().rules.ready('prod', 60_000);
  await buckets().create('chosen', { rule: 'prod', versions: 'none', namespace: SERVED });
}

describe('the chart for some namespaces', () => {
  it('takes a deletion in each of them to its end, under nothing but the rights that it gives', {
    timeout: MINUTES,
  }, async () => {
    await story.at(both());
    const answering = await on().site.startFunction();
    const made = [await buckets().create('first'), await buckets().create('second', { namespace: SERVED })];
    for (const { name } of made) await buckets().delete(name);
    for (const { name } of made) await buckets().gone(name, 60_000);
    expect(await Promise.all(made.map(({ bucket }) => buckets().versions(bucket)))).toEqual([undefined, undefined]);
    await answering.stop();
  });

  it('lets the bridge read and write nothing outside of them', { timeout: MINUTES }, async () => {
    await story.at(both());
    const { group } = on().site;
    const in_ = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/buckets`;
    const status = async (method: string, path: string) =>
      (await on().kube.request(method, path, undefined, { token: story.bridge().token })).status;
    const allowed = [
      in_(home()),
      in_(SERVED),
      `/api/v1/namespaces/${home()}`,
      `/api/v1/namespaces?fieldSelector=metadata.name%3D${home()}`,
    ];
    const refused = [
      ...[`/apis/${group}/v1/buckets`, in_(OUTSIDE), `${in_(OUTSIDE)}/any`, `/apis/${group}/v1/vaults`],
      ...['/api/v1/namespaces', `/api/v1/namespaces/${OUTSIDE}`, `/api/v1/namespaces/${home()}/secrets`],
      `/apis/events.k8s.io/v1/namespaces/${home()}/events`,
    ];
    expect(await Promise.all(allowed.map((path) => status('GET', path)))).toEqual(allowed.map(() => 200));
    expect(await Promise.all(refused.map((path) => status('GET', path)))).toEqual(refused.map(() => 403));
    expect(await status('PATCH', `${in_(OUTSIDE)}/any`)).toBe(403);
  });

  it('gives entries at birth there, and to nothing outside, whose deletion is nobody’s business', {
    timeout: MINUTES,
  }, async () => {
    await story.at(both());
    await on().rules.says('team', 'FinalizerAtAdmission', { status: 'Unknown', reason: 'NothingCreatedYet' }, 90_000);
    let made = 0;
    await eventually('objects get their entry at birth', async () => {
      made += 1;
      return (await bornWith(`born-${made}`, SERVED)).includes(ENTRY);
    });

    expect(await bornWith('stranger', OUTSIDE)).toEqual([]);

    // The bridge puts the entry on what the policy has left out: in the namespaces that it serves.
    await probe();
    const path = `/apis/${on().site.group}/v1/namespaces/${OUTSIDE}/buckets/stranger`;
    expect(z.parse(born, (await on().kube.request('GET', path)).body).metadata.finalizers).toEqual([]);
    await on().kube.request('DELETE', path);
    expect((await on().kube.request('GET', path)).status).toBe(404);
  });

  it('has a rule for a kind in no namespace say that no object of it can be seen (P7)', {
    timeout: MINUTES,
  }, async () => {
    await story.at(both());
    const { spec } = ruleFor(on().site.group, 'vaults', {});
    await on().rules.apply('vaults', { ...spec, match: { ...vaultsOf(on()), version: 'v1' } });
    for (const type of ['Permitted', 'Ready']) {
      await on().rules.says('vaults', type, { status: 'False', reason: 'ClusterScoped' }, 30_000);
    }
    expect((await on().rules.read('vaults'))?.metadata.labels).toEqual({});
  });

  it('works on labels of namespaces by their names (a rule that selects by them)', { timeout: MINUTES }, async () => {
    await story.at(both());
    await chosen();
  });

  it('is not upgraded to simply serve one namespace less: objects there would hang for good (P9, K33)', {
    timeout: MINUTES,
  }, async () => {
    await story.at(both());
    await probe();
    await chosen();
    const refused = await story.release(alone());
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(`Namespace ${SERVED} is served, and is not among the values any more`);

    await story.released(leaving());
    await story.nextBridge('new one first');

    await eventually(
      'entries come off live objects there',
      async () => (await buckets().finalizers('chosen')).length === 0,
      60_000,
    );
    expect((await on().rules.read('team'))?.status).toMatchObject({ namespaces: [home(), SERVED] });
    await buckets().claimed('probe');
    await on().rules.ready('team', 60_000);
  });

  it('is not upgraded to leave it for good before every rule says that it is left (P9)', {
    timeout: MINUTES,
  }, async () => {
    await story.at(leaving(), { by: both() });
    const refused = await story.release(alone());
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(
      `Namespace ${SERVED} is among the values no more, and objects there may carry the entry of rule`,
    );
    if ((await on().rules.read('prod')) !== undefined) await on().rules.delete('prod');
    const named = z.object({ namespaces: z.array(z.string()) });
    const isLeft = async () => !z.parse(named, (await on().rules.read('team'))?.status).namespaces.includes(SERVED);
    await eventually(
      'rule team names it no more, and rule prod is gone',
      async () => {
        return (await isLeft()) && (await on().rules.read('prod')) === undefined;
      },
      400_000,
    );
    await story.released(alone());
    expect((await on().kube.request('GET', bindingIn(SERVED))).status).toBe(404);
    await story.nextBridge();
    await on().rules.ready('team', 60_000);
  });

  it('takes a rule that a bridge has begun with, and that has no status, for one that was in force anywhere (P5)', {
    timeout: MINUTES,
  }, async () => {
    await story.at(alone());
    const { spec } = ruleFor(on().site.group, 'begun', {});
    const finalizers = ['finalizer-bridge.dev/withdrawal'];
    const apiVersion = 'finalizer-bridge.dev/v1alpha1';
    await on().kube.apply([{ apiVersion, kind: 'TeardownRule', metadata: { name: 'begun', finalizers }, spec }]);
    await on().rules.says('begun', 'Ready', { status: 'False', reason: 'NamespacesLeft' }, 60_000);
    expect((await on().rules.read('begun'))?.status).toMatchObject({ namespaces: ['*', home()] });
    // Whoever knows better says so, as docs/operations.md has it.
    const status = { status: alone() };
    const by = { contentType: 'application/merge-patch+json' };
    const path = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules/begun/status';
    expect((await on().kube.request('PATCH', path, status, by)).status).toBe(200);
    await on().rules.ready('begun', 60_000);
  });

  it('P9 K20 is uninstalled by a drain that has no more rights than that, and leaves nothing behind', {
    timeout: MINUTES,
  }, async () => {
    await story.at(alone());
    await probe();
    const { drain, ended } = await story.uninstall();
    expect(drain).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    await story.bridge().stop();
    expect(await buckets().finalizers('probe')).toEqual([]);
  });
});
