/*
 * An installation for some namespaces is upgraded to the whole cluster, on an API server of its own: the bindings that gave the
 * bridge its rights there, and that it keeps by a finalizer, go, and so can the namespaces (P9); teardowns work before and after,
 * and so does the way back. Each test goes on where the one before it ended, as an operator does (chart-story.ts).
 */
import { describe, expect, it } from 'vitest';
import { bindingIn, KEPT, MINUTES, tellChartStory } from '../support/chart-story.ts';
import { eventually } from '../support/eventually.ts';
import { endNamespace } from '../support/namespace-controller.ts';

const [OTHER, OUTSIDE] = ['widened-other', 'widened-outside'];
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/rolebindings';
/** Values of a release for the whole cluster. */
const ALL = {};

const story = tellChartStory({
  ...{ home: 'widened-home', namespaces: [OTHER, OUTSIDE] },
  always: () => ({ drain: { timeout: '8m' } }),
});
const { on, home, buckets } = story;
const namesNone = async () => !('namespaces' in ((await on().rules.read('team'))?.status ?? { namespaces: [] }));
const kinds = () => [`${on().site.group}/v1/buckets`];

describe('an installation for some namespaces that is upgraded to the whole cluster', () => {
  it('P9 has its bindings gone within a minute, and what was pending there goes on', { timeout: MINUTES }, async () => {
    await story.at({ namespaces: [home(), OTHER] });
    await story.tearsDown('before', OTHER);
    await buckets().create('held', { namespace: OTHER });
    await buckets().delete('held');
    expect(await story.areKept(home(), OTHER)).toBe(true);

    await story.released(ALL);
    expect(await story.binding(OTHER)).toMatchObject({ finalizers: [KEPT], deletionTimestamp: expect.any(String) });
    await story.nextBridge();
    await eventually('the bindings are gone', () => story.areGone(home(), OTHER), 60_000);
    await on().rules.ready('team', 60_000);
    await eventually('the rule names no namespace', namesNone, 60_000);

    const answering = await on().site.startFunction();
    await buckets().gone('held', 120_000);
    await answering.stop();
  });

  it('takes deletions anywhere to their end, and a namespace that was served before can be deleted', {
    timeout: MINUTES,
  }, async () => {
    await story.at(ALL);
    await story.tearsDown('after', OTHER);
    await story.tearsDown('outside', OUTSIDE);
    await buckets().create('last', { namespace: OTHER });
    const answering = await on().site.startFunction();
    const ending = await endNamespace(on().kube, OTHER, kinds());
    await buckets().gone('last', 120_000);
    await ending.over(60_000);
    await answering.stop();
  });

  it('lets the bridge read no binding but those of its name, and list none', async () => {
    await story.at(ALL);
    const by = { token: story.bridge().token };
    const status = async (path: string) => (await on().kube.request('GET', path, undefined, by)).status;
    expect(await status(bindingIn(OUTSIDE))).toBe(404);
    expect(await status(bindingIn(OUTSIDE, 'another'))).toBe(403);
    expect(await status(BINDINGS)).toBe(403);
  });

  it('goes back when no rule is there, and keeps its rights again', { timeout: MINUTES }, async () => {
    await story.at(ALL);
    const refused = await story.release({ namespaces: [home(), OUTSIDE] });
    expect([refused.code === 0, refused.err]).toEqual([
      false,
      expect.stringContaining('The whole cluster is served, and there are rules'),
    ]);
    await on().rules.delete('team');
    await eventually('the rule is withdrawn', async () => (await on().rules.read('team')) === undefined, 300_000);
    await story.released({ namespaces: [home(), OUTSIDE] });
    await story.nextBridge();
    await story.takesOn();
    await eventually('they are kept', () => story.areKept(home(), OUTSIDE), 60_000);
    await story.tearsDown('back', OUTSIDE);
  });

  it('P9 has a namespace end that is deleted, rights first, before the upgrade and while no bridge runs', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), OUTSIDE] });
    await buckets().create('ending', { namespace: OUTSIDE });
    await story.bridge().stop();
    const ending = await endNamespace(on().kube, OUTSIDE, kinds());
    await story.released(ALL);
    await story.nextBridge();
    await eventually('the bindings are gone', () => story.areGone(home(), OUTSIDE), 60_000);
    const answering = await on().site.startFunction();
    await buckets().gone('ending', 120_000);
    await ending.over(60_000);
    await answering.stop();
  });
});

describe('an uninstallation of one that was upgraded so, and of which no bridge ever ran', () => {
  it('P9 drains under the rights that are there, and leaves no binding that hangs', { timeout: MINUTES }, async () => {
    await story.at(ALL);
    // As if the bridge of before had kept it, and a rule still answered for it.
    await on().kube.apply([
      {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
        metadata: { name: 'finalizer-bridge', namespace: home(), finalizers: [KEPT] },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [],
      },
    ]);
    await story.bridge().stop();
    const named = { status: { namespaces: ['*', home()] } };
    const by = { contentType: 'application/merge-patch+json' };
    const path = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules/team/status';
    expect((await on().kube.request('PATCH', path, named, by)).status).toBe(200);
    await on().kube.request('DELETE', bindingIn(home()));
    expect((await story.binding(home()))?.finalizers).toEqual([KEPT]);
    const { drain, ended } = await story.uninstall();
    expect(drain).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    expect(await story.binding(home())).toBeUndefined();
  });
});
