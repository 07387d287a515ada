/*
 * Deletions as users make them, on a real API server under the bridge's own few rights, with the real function: what a
 * happy one costs, propagation policies, entries twice, entries stripped, policies.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { BRIDGE_NAMESPACE } from '../../infra/local/installation.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf } from '../support/site-queues.ts';

const RULES = {
  team: {},
  choosy: { policy: "object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')" },
};
const names = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

let site: TestSite;
let buckets: Buckets;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'deletion' });
  buckets = bucketsOf(site);
  [bridge] = await Promise.all([site.startBridge(RULES), site.startFunction()]);
});
afterAll(() => site?.stop());

const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
  sumOf(await bridge.metrics(), `finalizer_bridge_${name}`, labels);

/** Calls that the API server itself has counted for this site's kind; it counts one when others may have seen its effect. */
async function counted(): Promise<{ readonly get: number; readonly patch: number; readonly update: number }> {
  const page = String((await site.admin.request('GET', '/metrics')).body);
  const of = (verb: string) => sumOf(page, 'apiserver_request_total', { group: site.group, resource: 'buckets', verb });
  return { get: of('GET'), patch: of('PATCH'), update: of('PUT') };
}

describe('a happy deletion', () => {
  it('P8 costs exactly one GET and one PATCH of the object, no Event and no annotation', async () => {
    const { patch } = await counted();
    const made = await Promise.all(['p8-a', 'p8-b', 'p8-c', 'p8-d'].map((name) => buckets.create(name)));
    await eventually('all claims are counted', async () => (await counted()).patch === patch + made.length);
    const before = await counted();

    for (const { name } of made) await buckets.delete(name);
    // Asked by LIST, which is counted apart.
    await eventually('all are gone', async () => {
      const { body } = await site.admin.request('GET', `/apis/${site.group}/v1/buckets`);
      return z.parse(names, body).items.every(({ metadata }) => !metadata.name.startsWith('p8-'));
    });

    // Which the bridge sees to last.
    await queuesOf(site).drained();
    const grown = async () => {
      const after = await counted();
      return { get: after.get - before.get, patch: after.patch - before.patch, update: after.update - before.update };
    };
    // Four objects are gone and each entry needed a PATCH, so none is left that could have written an annotation.
    await expect.poll(grown).toEqual({ get: 4, patch: 4, update: 0 });
    expect((await Promise.all(made.map(buckets.events))).flat()).toEqual([]);
    expect(await Promise.all(made.map(({ bucket }) => buckets.versions(bucket)))).toEqual(Array(4).fill(undefined));
  });

  it('needs no right but to get, list, watch and patch the kind, to read one namespace and to write Events', async () => {
    const { token } = await site.admin.serviceAccount(BRIDGE_NAMESPACE, site.name);
    const kind = `/apis/${site.group}/v1/namespaces/${site.namespace}/buckets`;
    const status = async (method: string, path: string, body?: unknown) =>
      (await site.admin.request(method, path, body, { token })).status;

    expect(await status('GET', kind)).toBe(200);
    expect(await status('GET', '/api/v1/namespaces/kube-system')).toBe(200);
    const refused = [
      status('DELETE', `${kind}/any`),
      status('PUT', `${kind}/any`, {}),
      status('POST', kind, {}),
      status('GET', '/api/v1/secrets'),
      status('GET', '/api/v1/namespaces'),
      status('GET', '/apis/events.k8s.io/v1/events'),
      status('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'),
    ];
    expect(await Promise.all(refused)).toEqual(refused.map(() => 403));
  });
});

describe('propagation policies', () => {
  it('K6 Background: the object goes with the entry', async () => {
    const { bucket } = await buckets.create('background');
    await buckets.delete('background', 'Background');
    await buckets.gone('background');
    expect(await buckets.versions(bucket)).toBeUndefined();
  });

  // No controllers run here, so the test plays the garbage collector.
  it.each([
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ] as const)('K6 %s: takes its own entry off and leaves %s to the garbage collector', async (policy, finalizer) => {
    const name = policy.toLowerCase();
    const { bucket } = await buckets.create(name);
    await buckets.delete(name, policy);
    expect(await buckets.finalizers(name)).toContain(finalizer);

    await eventually('only that is left', async () => (await buckets.finalizers(name)).length === 1);

    expect(await buckets.finalizers(name)).toEqual([finalizer]);
    expect(await buckets.versions(bucket)).toBeUndefined();
    await buckets.edit(name, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
    await buckets.gone(name);
  });
});

describe('entries', () => {
  it('K30 all copies of ours come off in one PATCH, and nothing else', async () => {
    const entry = buckets.entry();
    const finalizers = [entry, 'example.com/one', entry, 'example.com/two', entry];
    await buckets.create('thrice', { finalizers });
    const before = await counted();
    await buckets.delete('thrice');

    await eventually('ours are off', async () => !(await buckets.finalizers('thrice')).includes(entry));

    expect(await buckets.finalizers('thrice')).toEqual(['example.com/one', 'example.com/two']);
    await expect.poll(async () => (await counted()).patch - before.patch).toBe(1);
    await buckets.edit('thrice', [{ op: 'remove', path: '/metadata/finalizers' }]);
    await buckets.gone('thrice');
  });

  it('K27 stripped by a replace of a live object, the entry is put back', async () => {
    await buckets.create('stripped-live');
    await buckets.replaceWithout('stripped-live');
    expect((await buckets.found('stripped-live')).metadata.deletionTimestamp).toBeUndefined();

    await buckets.claimed('stripped-live');

    await buckets.delete('stripped-live');
    await buckets.gone('stripped-live');
    expect(await metric('bypassed_total')).toBe(0);
  });

  it('K27 stripped by a replace of a terminating object, it is counted and reported as Bypassed with the target', async () => {
    const made = await buckets.create('stripped-dying', { owned: false });
    await buckets.delete(made.name);
    await buckets.says(made.name, 'NotOwned');

    await buckets.replaceWithout(made.name);

    await buckets.gone(made.name);
    const told = await eventually('it is told', async () => {
      const events = await buckets.events(made);
      return events.find(({ reason }) => reason === 'Bypassed');
    });
    expect(told).toMatchObject({ type: 'Warning', note: expect.stringContaining(made.bucket) });
    await expect.poll(() => metric('bypassed_total', { rule: 'team' })).toBe(1);
    // The log is written a little behind.
    await expect
      .poll(() => site.log())
      .toMatch(new RegExp(`"reason":"Bypassed","target":\\{"bucket":"${made.bucket}"`));
    // Nobody has taken it down, and nobody will: that is what is reported.
    expect(await buckets.versions(made.bucket)).toBe(2);
  });

  it('K28 the label is removed, the bridge restarted, the object deleted: it goes through teardown', async () => {
    const { name, bucket } = await buckets.create('unlabelled');
    await buckets.edit(name, [{ op: 'remove', path: '/metadata/labels/rule' }]);
    await bridge.stop();
    bridge = await site.startBridge(RULES);
    expect(await buckets.finalizers(name)).toEqual([buckets.entry()]);

    await buckets.delete(name);

    await buckets.gone(name);
    expect(await buckets.versions(bucket)).toBeUndefined();
    await expect.poll(() => metric('entries_removed_total', { reason: 'Gone' })).toBe(1);
  });
});

describe('a policy of Retain', () => {
  it('lets the object go, keeps what it stood for and says so', async () => {
    const annotations = { 'team.example.com/on-delete': 'Retain' };
    const kept = await buckets.create('kept', { rule: 'choosy', annotations });
    const deleted = await buckets.create('not-kept', { rule: 'choosy' });
    await buckets.delete(kept.name);
    await buckets.delete(deleted.name);

    await buckets.gone(kept.name);
    await buckets.gone(deleted.name);

    expect([await buckets.versions(kept.bucket), await buckets.versions(deleted.bucket)]).toEqual([2, undefined]);
    await expect
      .poll(() => buckets.events(kept))
      .toEqual([{ type: 'Normal', reason: 'Retained', note: expect.stringContaining('kept') }]);
    await expect.poll(() => metric('entries_removed_total', { reason: 'Retained' })).toBe(1);
    expect(await metric('requests_sent_total', { rule: 'choosy' })).toBe(1);
  });
});
