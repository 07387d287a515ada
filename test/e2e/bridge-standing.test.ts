/*
 * Deletions that stand still, on a real API server: why, and where a person reads it (annotation, Event, metric), and how
 * each goes on. Where a test says what a function answers, it takes the request and answers with that function's key.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { growthOf, sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';

const RULES = {
  team: {},
  byhand: { handler: 'by-hand' },
  patient: { whenTargetMissing: 'Hold' },
  lenient: { whenTargetMissing: 'Release' },
};

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'standing', handlers: ['s3-bucket', 'by-hand'] });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  [bridge] = await Promise.all([site.startBridge(RULES), site.startFunction()]);
});
afterAll(() => site?.stop());

const metric = async (name: string, labels: Readonly<Record<string, string>>) =>
  sumOf(await bridge.metrics(), `finalizer_bridge_${name}`, labels);
const held = (rule: string, reason: string) => metric('held', { rule, reason });

describe('a refusal', () => {
  it('K4 keeps the entry on; annotation, Event and metric say why; a retry after the repair finishes', async () => {
    const made = await buckets.create('not-owned', { owned: false });
    await buckets.delete(made.name);

    const record = await buckets.says(made.name, 'NotOwned');

    expect(record).toMatchObject({ phase: 'Held', message: expect.stringContaining('owner-uid is missing') });
    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry()]);
    expect(await buckets.versions(made.bucket)).toBe(2);
    await expect.poll(() => held('team', 'NotOwned')).toBe(1);
    await expect
      .poll(() => buckets.events(made))
      .toEqual([{ type: 'Warning', reason: 'TeardownHeld', note: expect.stringContaining('NotOwned') }]);

    await buckets.tag(made.bucket, made.uid);
    await buckets.retry(made.name);
    await buckets.gone(made.name);
    expect(await buckets.versions(made.bucket)).toBeUndefined();
    await expect.poll(() => held('team', 'NotOwned')).toBe(0);
  });

  it('K9 in a namespace that is terminating no Event can be made, and the deletion finishes anyway', async () => {
    const namespace = 'standing-terminating';
    const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await site.admin.apply([manifest]);
    const made = await buckets.create('in-terminating', { namespace, owned: false });
    await site.admin.request('DELETE', `/api/v1/namespaces/${namespace}`);
    await buckets.delete(made.name);

    expect(await buckets.says(made.name, 'NotOwned')).toMatchObject({ phase: 'Held' });

    await expect.poll(() => metric('events_total', { outcome: 'failed' })).toBeGreaterThan(0);
    expect(await buckets.events(made)).toEqual([]);
    await buckets.tag(made.bucket, made.uid);
    await buckets.retry(made.name);
    await buckets.gone(made.name);
    expect(await buckets.versions(made.bucket)).toBeUndefined();
  });
});

describe('a target that is missing', () => {
  it('is held by whenTargetMissing: Hold, and let go at once on the word of a person, as nothing was sent', async () => {
    const made = await buckets.create('nameless', { rule: 'patient', versions: 'none', unnamed: true });
    await buckets.delete(made.name);
    const record = await buckets.says(made.name, 'TargetMissing', { rule: 'patient' });
    expect(record).toMatchObject({ phase: 'Held', message: expect.stringContaining('bucket') });
    await expect.poll(() => held('patient', 'TargetMissing')).toBe(1);

    await buckets.release(made.name, { rule: 'patient' });

    await buckets.gone(made.name);
    const reasons = async () => (await buckets.events(made)).map(({ reason }) => reason).sort();
    await expect.poll(reasons).toEqual(['ReleaseAsked', 'Released', 'TeardownHeld']);
    expect(await metric('requests_sent_total', { rule: 'patient' })).toBe(0);
  });

  it('is let go by whenTargetMissing: Release, and said', async () => {
    const made = await buckets.create('never-made', { rule: 'lenient', versions: 'none', unnamed: true });
    await buckets.delete(made.name);

    await buckets.gone(made.name);

    await expect
      .poll(() => buckets.events(made))
      .toEqual([{ type: 'Warning', reason: 'TargetMissing', note: expect.stringContaining('never got') }]);
    await expect.poll(() => metric('entries_removed_total', { rule: 'lenient', reason: 'TargetMissing' })).toBe(1);
  });
});

describe('a target that changes while its request is on its way', () => {
  const rename = (bucketName: string) => [{ op: 'replace', path: '/status', value: { bucketName } } as const];

  it('K32 cleared by its owner: a gone for what was sent counts', async () => {
    const removed = await growthOf(bridge, () => metric('entries_removed_total', { rule: 'byhand', reason: 'Gone' }));
    const made = await buckets.create('cleared', { rule: 'byhand', versions: 'none' });
    await buckets.delete(made.name);
    const taken = await queues.take('by-hand', made.name);
    await buckets.edit(made.name, [{ op: 'replace', path: '/status', value: {} }]);
    await buckets.says(made.name, 'TargetMissing', { rule: 'byhand' });

    await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });

    await buckets.gone(made.name);
    await queues.done(taken);
    await expect.poll(removed).toBe(1);
  });

  it('K32 changed to another one: recorded and held, the gone for the first does not free the second', async () => {
    const sent = await growthOf(bridge, () => metric('requests_sent_total', { rule: 'byhand' }));
    const made = await buckets.create('renamed', { rule: 'byhand', versions: 'none' });
    await buckets.delete(made.name);
    const first = await queues.take('by-hand', made.name);
    await buckets.edit(made.name, rename('standing-other'));

    const record = await buckets.says(made.name, 'TargetChanged', { rule: 'byhand' });
    await queues.answer(first, { outcome: 'gone', evidence: 'deleted' });

    await queues.done(first);
    await queues.drained();
    expect(record).toMatchObject({ phase: 'Held', targets: [{ requested: true }, { requested: false }] });
    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry('byhand')]);
    // The first was taken above, and no other was sent; the queue is empty.
    expect(await sent()).toBeLessThanOrEqual(1);
    await expect.poll(() => held('byhand', 'TargetChanged')).toBe(1);
    // A person has looked at both: the second is taken down as well.
    await buckets.retry(made.name, { rule: 'byhand' });
    const second = await queues.take('by-hand', made.name);
    expect(second.request.data.target).toMatchObject({ bucket: 'standing-other' });
    await queues.answer(second, { outcome: 'gone', evidence: 'deleted' });
    await buckets.gone(made.name);
    await queues.done(second);
  });
});

describe('an object that is deleted and made again with its name', () => {
  it('K3 a late result for the first does nothing to the second, and is counted', async () => {
    const options = { rule: 'byhand', versions: 'none' } as const;
    const first = await buckets.create('again', options);
    await buckets.delete('again');
    const late = await queues.take('by-hand', 'again');
    await buckets.edit('again', [{ op: 'remove', path: '/metadata/finalizers' }]);
    await buckets.gone('again');
    const second = await buckets.create('again', options);
    await buckets.delete('again');
    const current = await queues.take('by-hand', 'again');
    expect([late.request.data.object.uid, current.request.data.object.uid]).toEqual([first.uid, second.uid]);
    const unknown = await growthOf(bridge, () => metric('results_total', { disposition: 'UnknownObject' }));

    await queues.answer(late, { outcome: 'gone', evidence: 'deleted' });

    // At every receive: on a busy machine it may come again before it is acknowledged.
    await eventually('it is counted', async () => (await unknown()) >= 1);
    await queues.done(late);
    expect(await buckets.finalizers('again')).toEqual([buckets.entry('byhand')]);
    await queues.answer(current, { outcome: 'gone', evidence: 'deleted' });
    await buckets.gone('again');
    await queues.done(current);
    await queues.drained();
  });
});

describe("a person's word to release now", () => {
  it('takes the entry off although a request is on its way, and leaves the bucket', async () => {
    const made = await buckets.create('let-go', { rule: 'byhand' });
    await buckets.delete(made.name);
    const taken = await queues.take('by-hand', made.name);
    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry('byhand')]);

    await buckets.release(made.name, { rule: 'byhand', now: true });

    await buckets.gone(made.name);
    // They are recorded side by side, so in any order.
    await expect
      .poll(async () => (await buckets.events(made)).toSorted((one, other) => one.reason.localeCompare(other.reason)))
      .toEqual([
        { type: 'Warning', reason: 'ReleaseAsked', note: expect.stringMatching(/, by field manager \S+ at \d{4}-/) },
        { type: 'Warning', reason: 'Released', note: expect.stringContaining('without teardown') },
      ]);
    await expect.poll(() => metric('words_total', { rule: 'byhand', word: 'release' })).toBe(1);
    expect(await buckets.versions(made.bucket)).toBe(2);
    await expect.poll(() => metric('entries_removed_total', { rule: 'byhand', reason: 'Released' })).toBe(1);
    await queues.done(taken);
  });
});
