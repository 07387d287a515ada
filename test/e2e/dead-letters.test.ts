/*
 * Dead letters come home: what no function brings to an end is kept, told to its bridge and counted, and the deletion
 * goes on with the next request. Real API server, real queue protocol with real dead-letter queues, real processes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues, type Taken } from '../support/site-queues.ts';

const RULES = { byhand: { handler: 'by-hand' } };

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  // Received once and not answered within a second, a request is a dead letter.
  const short = { requestVisibility: 1, resultVisibility: 1, maxReceiveCount: 1 };
  site = await startSite({ name: 'letters', handlers: ['by-hand'], ...short });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  [bridge] = await Promise.all([site.startBridge(RULES), site.startDeadLetters()]);
});
afterAll(() => site?.stop());

const metric = async (name: string, labels: Readonly<Record<string, string>>) =>
  sumOf(await bridge.metrics(), `finalizer_bridge_${name}`, labels);
const archived = async () => (await queues.inspect(site.deadLetters.archive.url)).ready.map(({ body }) => body);

/** Waits until whatever is a dead letter has been told to the bridge, and the bridge has counted it. */
async function told(): Promise<void> {
  await eventually('no dead letter is left', async () => {
    const left = [site.handler('by-hand').deadLetters.url, site.resultDeadLetters.url].map(queues.inspect);
    return (await Promise.all(left)).every(({ ready, inFlight }) => ready.length + inFlight.length === 0);
  });
  await queues.drained();
}

/** Takes a request and dies with it: the next look at the queue makes it a dead letter. */
async function abandon(name: string): Promise<Taken> {
  const taken = await queues.take('by-hand', name);
  await eventually('it is a dead letter', async () => {
    const left = await queues.receive('by-hand');
    return left === undefined && (await archived()).includes(taken.body);
  });
  return taken;
}

describe('a request that no function brings to an end', () => {
  it('is kept, told to the bridge and counted (Q7); the deletion goes on by a retry', async () => {
    const { name } = await buckets.create('abandoned', { rule: 'byhand' });
    await buckets.delete(name);

    const taken = await abandon(name);

    await eventually(
      'the bridge has counted it',
      async () => (await metric('dead_letters_total', { rule: 'byhand' })) === 1,
    );
    expect(await buckets.finalizers(name)).toEqual([buckets.entry('byhand')]);
    await buckets.retry(name, { rule: 'byhand' });
    const again = await queues.take('by-hand', name);
    expect(again.request.data.targetDigest).toBe(taken.request.data.targetDigest);
    await queues.answer(again, { outcome: 'gone', evidence: 'deleted' });
    await queues.done(again);
    await buckets.gone(name);
  });

  it('ends its deletion all the same when its answer comes late', async () => {
    const { name } = await buckets.create('slow', { rule: 'byhand' });
    await buckets.delete(name);
    const taken = await abandon(name);

    await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });

    await buckets.gone(name);
  });
});

describe('what is no request of ours', () => {
  it('is kept, and told to nobody, whichever queue it was a dead letter of', async () => {
    // Those of the tests before may still be on their way.
    await told();
    const before = await metric('dead_letters_total', {});
    const url = site.handler('by-hand').requests.url;
    await queues.send(url, 'junk among requests', site.bridge.accessKeyId);
    await queues.send(site.results.url, 'junk among results', site.handler('by-hand').accessKeyId);

    await eventually('both are kept', async () => {
      await queues.receive('by-hand').catch(() => undefined);
      const kept = await archived();
      return kept.includes('junk among requests') && kept.includes('junk among results');
    });

    await told();
    expect(await metric('dead_letters_total', {})).toBe(before);
  });
});
