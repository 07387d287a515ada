/*
 * Deletions that are not done after half a minute, on a real API server: what the object says by then. The tests of this
 * file run side by side, so that the half minute is spent once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { startFunctionProcess } from '../../infra/local/function-process.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';

const RULES = { team: {}, thrown: { handler: 'throwing' }, released: { handler: 'by-hand' } };
/** Half a minute of quiet, and what it takes to write. */
const WITHIN = 45_000;

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'waiting', handlers: ['s3-bucket', 'throwing', 'by-hand'] });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  [bridge] = await Promise.all([site.startBridge(RULES), startThrowing()]);
});
afterAll(() => site?.stop());

/** A function as an author might write it, with a fault in it. */
async function startThrowing(): Promise<void> {
  const functions = join(import.meta.dirname, '..', '..', 'functions');
  const entry = join(site.folder, 'throwing.ts');
  const text = `
import * as z from 'zod/mini';
import { createEntry } from '${functions}/entry.ts';
import { defineHandler } from '${functions}/handler.ts';
const target = z.object({ bucket: z.string(), region: z.string(), account: z.string() });
export const handler = createEntry(defineHandler({
  name: 'throwing', version: '1.0.0', target, options: z.strictObject({}), errors: {}, permissions: [],
  identity: ({ bucket, account, region }) => ({ names: [bucket], place: { account, region } }),
  service: 's3', connect: () => ({ destroy() {} }),
  teardown: async () => { throw new TypeError('reading a field of nothing'); },
}));`;
  await writeFile(entry, text.replace("'zod/mini'", `'${import.meta.resolve('zod/mini')}'`));
  const { requests, functionName, accessKeyId } = site.handler('throwing');
  const cluster = {
    uid: site.clusterUid,
    sender: site.bridge.senderId.split(':')[0],
    resultQueueUrl: site.results.url,
  };
  const allow = { accounts: [LOCAL_ACCOUNT_ID], regions: [LOCAL_REGION], names: ['waiting-*'] };
  const configuration = {
    ...{ handler: 'throwing', account: LOCAL_ACCOUNT_ID, requestQueueUrl: requests.url },
    ...{ clusters: [cluster], allow },
  };
  site.keep(
    await startFunctionProcess({
      ...{
        functionName,
        entry,
        accessKeyId,
        queues: [requests],
        batchSize: 1,
        functionTimeoutMs: 60_000,
        concurrency: 1,
      },
      region: LOCAL_REGION,
      endpoints: { sqs: site.queues.endpoint },
      environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(configuration) },
      folder: site.folder,
    }),
  );
}

describe.concurrent('a deletion that is not done', () => {
  it('K4 the function is dead: the entry stays on, and the object says for what it waits', async ({ expect }) => {
    const made = await buckets.create('dead');
    await buckets.delete(made.name);

    const record = await buckets.says(made.name, 'Requested', { within: WITHIN });

    expect(record).toMatchObject({ phase: 'Pending', message: 'waiting for the result' });
    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry()]);
    expect(sumOf(await bridge.metrics(), 'finalizer_bridge_pending', { rule: 'team' })).toBe(1);
    const { ready } = await queues.inspect(site.handler('s3-bucket').requests.url);
    expect(ready).toHaveLength(1);
    await site.startFunction();
    await buckets.gone(made.name);
    expect(await buckets.versions(made.bucket)).toBeUndefined();
  });

  it('K4 the function throws: the entry stays on, and the object says what was thrown', async ({ expect }) => {
    const made = await buckets.create('thrown', { rule: 'thrown' });
    await buckets.delete(made.name);

    const record = await buckets.says(made.name, 'HandlerError', { rule: 'thrown', within: WITHIN });

    expect(record).toMatchObject({ phase: 'Pending', message: 'TypeError: reading a field of nothing' });
    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry('thrown')]);
    expect(await buckets.versions(made.bucket)).toBe(2);
    const metrics = await bridge.metrics();
    expect(sumOf(metrics, 'finalizer_bridge_pending', { rule: 'thrown' })).toBe(1);
    expect(sumOf(metrics, 'finalizer_bridge_results_total', { disposition: 'Pending' })).toBeGreaterThan(0);
    // Its request is still there, to be tried again.
    const { ready, delayed, inFlight } = await queues.inspect(site.handler('throwing').requests.url);
    expect(ready.length + delayed.length + inFlight.length).toBe(1);
  });

  it('released by a person while a request can still run: the object says until when it waits', async ({ expect }) => {
    const made = await buckets.create('released', { rule: 'released' });
    await buckets.delete(made.name);
    const { request } = await queues.take('by-hand', made.name);
    await buckets.release(made.name, { rule: 'released' });

    const record = await buckets.says(made.name, 'ReleaseWaiting', { rule: 'released', within: WITHIN });

    expect(await buckets.finalizers(made.name)).toEqual([buckets.entry('released')]);
    // The request's expiry, a skew of the clocks and one last call.
    const until = new Date(Date.parse(request.data.expires) + 90_000).toISOString();
    expect(record).toMatchObject({ phase: 'Pending', next: until, message: expect.stringContaining(until) });
    await buckets.release(made.name, { rule: 'released', now: true });
    await buckets.gone(made.name);
    expect(await buckets.versions(made.bucket)).toBe(2);
  });
});
