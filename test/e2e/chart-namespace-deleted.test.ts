/*
 * A namespace that the chart serves is deleted, rights first, on an API server of its own: what is held there comes to its end
 * (P4), objects in the others keep their entry at birth (P10), Helm upgrades and uninstalls meanwhile, and in no order does
 * anything hang for good (P9). Each test goes on where the one before it ended, as an operator does (chart-story.ts).
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { bindingIn, KEPT, MINUTES, tellChartStory } from '../support/chart-story.ts';
import { eventually } from '../support/eventually.ts';
import { type EndingNamespace, endNamespace } from '../support/namespace-controller.ts';

const [DOOMED, LATER] = ['deleted-doomed', 'deleted-later'];
const ENTRY = 'finalizer-bridge.dev/team';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/rolebindings';
const list = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

const story = tellChartStory({
  ...{ home: 'deleted-home', namespaces: [DOOMED, LATER] },
  always: () => ({ drain: { timeout: '8m' } }),
});
const { on, home, buckets } = story;
const kinds = () => [`${on().site.group}/v1/buckets`];

/** The last rule whose entries may be there. */
const namesNot = (namespace: string) => async () => {
  const { namespaces } = z.parse(
    z.object({ namespaces: z.array(z.string()) }),
    (await on().rules.read('team'))?.status,
  );
  return !namespaces.includes(namespace);
};

/** An object in the namespace that will be deleted, of before the policy knows the rule. */
async function heldInDoomed(): Promise<void> {
  if ((await buckets().read('held')) === undefined) await buckets().create('held', { namespace: DOOMED });
}

/** That namespace is being deleted; done again, nothing changes. */
const ending = (): Promise<EndingNamespace> => endNamespace(on().kube, DOOMED, kinds());

describe('a served namespace that is deleted', () => {
  it('keeps its rights by a finalizer, and of the binding the bridge can change nothing else', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), DOOMED] });
    await heldInDoomed();
    expect((await story.binding(DOOMED))?.finalizers).toEqual([KEPT]);
    const eve = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' };
    const by = { token: story.bridge().token, contentType: 'application/json-patch+json' };
    const patch = async (...operations: readonly object[]) => {
      const { status, body } = await on().kube.request('PATCH', bindingIn(home()), operations, by);
      return [status, z.parse(z.object({ message: z._default(z.string(), '') }), body).message];
    };
    const [given, said] = await patch({ op: 'add', path: '/subjects/-', value: eve });
    expect([given, said]).toEqual([403, expect.stringContaining('the bridge changes nothing outside of metadata')]);
    const other = { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/other' };
    expect(await patch(other)).toEqual([403, expect.stringContaining('no finalizers of others')]);
    const { status } = await on().kube.request('GET', BINDINGS, undefined, { token: story.bridge().token });
    expect(status).toBe(403);
  });

  it('P10 stops no other: its binding goes first, and yet objects elsewhere are born with their entry', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), DOOMED] });
    await heldInDoomed();
    await on().rules.says('team', 'FinalizerAtAdmission', { status: 'Unknown', reason: 'NothingCreatedYet' }, 90_000);
    await ending();
    expect((await story.binding(DOOMED))?.deletionTimestamp).toBeDefined();

    await on().rules.says(
      'team',
      'Watching',
      { message: `being deleted: ${DOOMED} (1 objects are not done)` },
      150_000,
    );
    await on().rules.ready('team', 60_000);
    await buckets().create('born', { versions: 'none', unclaimed: true });
    expect(await buckets().finalizers('born')).toContain(ENTRY);
  });

  it('holds up no upgrade, with the same values or others, and waits for a bridge that comes back later (P5)', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), DOOMED] });
    await heldInDoomed();
    await ending();
    await story.released({ namespaces: [home(), DOOMED] });
    expect(await story.release({ namespaces: [home()], leavingNamespaces: [DOOMED] })).toMatchObject({ code: 0 });
    await story.bridge().stop();
    await story.released({ namespaces: [home(), DOOMED, LATER] });
    await story.nextBridge();
    expect((await story.binding(DOOMED))?.finalizers).toEqual([KEPT]);
    expect((await story.binding(LATER))?.deletionTimestamp).toBeUndefined();
  });

  it('P4 has its deletions finished, and then it goes: nothing hangs, and no rule names it', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), DOOMED, LATER] });
    await heldInDoomed();
    const ended = await ending();
    const answering = await on().site.startFunction();
    await buckets().gone('held', 120_000);
    await ended.over(300_000);
    await on().rules.says('team', 'Permitted', { status: 'False', reason: 'NamespaceMissing' }, 60_000);
    await eventually('the rule names it no more', namesNot(DOOMED), 150_000);
    await story.released({ namespaces: [home(), LATER] });
    await story.nextBridge();
    await on().rules.ready('team', 60_000);
    await answering.stop();
  });
});

describe('a binding that somebody deletes', () => {
  it('stays in force, which the rule says, until it is let go by hand and given again', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), LATER] });
    await on().kube.request('DELETE', bindingIn(home()));
    await on().rules.says('team', 'Permitted', { status: 'True', message: 'was deleted, and stays until' }, 150_000);
    await buckets().create('after', { versions: 'none' });
    // As after a rollback to values without the namespace: what is being deleted is taken over as it is.
    await story.released({ namespaces: [home(), LATER] });
    expect((await story.binding(home()))?.finalizers).toEqual([KEPT]);
    const free = [{ op: 'remove', path: '/metadata/finalizers' }];
    const by = { contentType: 'application/json-patch+json' };
    expect((await on().kube.request('PATCH', bindingIn(home()), free, by)).status).toBe(200);
    expect(await story.binding(home())).toBeUndefined();
    await story.released({ namespaces: [home(), LATER] });
    await story.nextBridge();
    await eventually('it is kept again', async () => (await story.binding(home()))?.finalizers.includes(KEPT), 150_000);
    await on().rules.ready('team', 60_000);
  });
});

describe('an uninstallation while a namespace is being deleted', () => {
  it('P9 drains under the rights that are there, finishes, and leaves no binding and no namespace that hangs', {
    timeout: MINUTES,
  }, async () => {
    await story.at({ namespaces: [home(), LATER] });
    const answering = await on().site.startFunction();
    await buckets().create('last', { namespace: LATER, finalizers: ['example.com/other'] });
    const later = await endNamespace(on().kube, LATER, kinds());
    expect((await story.binding(LATER))?.finalizers).toEqual([KEPT]);

    const { drain, ended } = await story.uninstall();
    expect(drain).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
    expect(ended.code).toBe(0);
    const { items } = z.parse(list, (await on().kube.request('GET', BINDINGS)).body);
    expect(items.filter(({ metadata: { name } }) => name === 'finalizer-bridge')).toEqual([]);
    expect(await buckets().finalizers('last')).toEqual(['example.com/other']);
    await buckets().edit('last', [{ op: 'remove', path: '/metadata/finalizers/0' }]);
    await later.over(60_000);
    await story.bridge().stop();
    await answering.stop();
  });
});
