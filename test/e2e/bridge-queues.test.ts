/*
 * The queues between real processes when they misbehave: entries of a batch that were not taken, copies, strangers, bodies
 * that cannot be read. A tripwire in front of the queue makes what the emulator never does by itself.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { look } from '../support/bridge-calls.ts';
import { receipt } from '../support/cloud-calls.ts';
import { eventually } from '../support/eventually.ts';
import { entriesTo, loseFirst } from '../support/lossy-queue.ts';
import { growthOf, sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';
import type { Passing, Tripwire } from '../support/tripwire.ts';

const RULES = { team: {}, byhand: { handler: 'by-hand' } };
const bodies = z.object({ Entries: z.array(z.object({ MessageBody: z.string() })) });

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
let sqs: Tripwire;
logFailures(() => site);

beforeAll(async () => {
  // Short, so that what is never acknowledged reaches the dead-letter queue while a test looks.
  const short = { resultVisibility: 1, maxReceiveCount: 3 };
  site = await startSite({ name: 'queues', handlers: ['s3-bucket', 'by-hand', 'other'], tripwires: true, ...short });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  [bridge] = await Promise.all([site.startBridge(RULES), site.startFunction()]);
  ({ sqs } = site.wires());
});
afterAll(() => site?.stop());

const metric = async (name: string, labels: Readonly<Record<string, string>>) =>
  sumOf(await bridge.metrics(), `finalizer_bridge_${name}`, labels);

describe('a batch of which the queue takes only some', () => {
  const isLook = (passing: Passing, name: string) => look(buckets.path(name), 'answered').matches(passing);

  it('Q2 requests: each entry is accounted for, and what was not taken is sent again', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `q2-${index}`);
    await bridge.stop();
    for (const name of names) await buckets.create(name, { unclaimed: true, finalizers: [buckets.entry()] });
    for (const name of names) await buckets.delete(name);
    const url = site.handler('s3-bucket').requests.url;
    // The first calls are kept on their way until all others wait behind them, so that a batch has more than one entry.
    const { api } = site.wires();
    const all = eventually('all were looked at', () =>
      names.every((name) => api.passed.some((one) => one.phase === 'answered' && isLook(one, name))),
    );
    const sizes: number[] = [];
    const unwatch = sqs.watch(async (passing) => {
      const size = entriesTo(url, passing);
      if (size === undefined || passing.phase === 'answered') return 'pass';
      sizes.push(size);
      await all;
      return 'pass';
    });
    const lost = loseFirst(sqs, url, 2);

    bridge = await site.startBridge(RULES);
    await lost;
    await Promise.all(names.map((name) => buckets.gone(name)));
    unwatch();

    expect(await metric('requests_failed_total', { rule: 'team' })).toBe(1);
    expect(await metric('requests_sent_total', { rule: 'team' })).toBe(12);
    expect(await metric('queue_calls_total', { call: 'send', outcome: 'partial' })).toBe(1);
    // Twelve requests and the one that was sent again.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(13);
    await queues.drained();
  });

  it('Q2 results: a result that the queue did not take is sent again, and its request stays until then', async () => {
    const { name } = await buckets.create('q2-result');
    const requests: number[] = [];
    const unwatch = sqs.watch(async (passing) => {
      if (passing.phase === 'asked' && entriesTo(site.results.url, passing) === 1) {
        requests.push((await queues.inspect(site.handler('s3-bucket').requests.url)).inFlight.length);
      }
      return 'pass';
    });
    const lost = loseFirst(sqs, site.results.url);
    await buckets.delete(name);

    await lost;

    await buckets.gone(name);
    unwatch();
    expect(requests).toEqual([1, 1]);
    await queues.drained();
  });
});

describe('copies', () => {
  it('Q5 a request that comes again after its end is answered, acknowledged and harmless, to a successor too', async () => {
    const { name } = await buckets.create('twice');
    const url = site.handler('s3-bucket').requests.url;
    const sent: string[] = [];
    const unwatch = sqs.watch(async (passing) => {
      if (passing.phase === 'asked' && entriesTo(url, passing) !== undefined) {
        sent.push(...z.parse(bodies, JSON.parse(passing.body)).Entries.map(({ MessageBody }) => MessageBody));
      }
      return 'pass';
    });
    await buckets.delete(name);
    await buckets.gone(name);
    unwatch();
    // By now there is another object of that name, with a bucket of that name: the copy is not about them.
    const { bucket } = await buckets.create(name);
    const [body = ''] = sent;
    const unknown = await metric('results_total', { disposition: 'UnknownObject' });

    for (let copy = 0; copy < 3; copy += 1) await queues.send(url, body, site.bridge.accessKeyId);

    // Each at every receive: on a busy machine one may come again before it is acknowledged.
    await eventually('all three are answered', async () => {
      return (await metric('results_total', { disposition: 'UnknownObject' })) >= unknown + 3;
    });
    await queues.drained();
    expect(await buckets.versions(bucket)).toBe(2);
    expect(await buckets.finalizers(name)).toEqual([buckets.entry()]);
  });

  it('Q5 a result that comes twice ends the deletion once', async () => {
    const { name } = await buckets.create('answered-twice', { rule: 'byhand' });
    await buckets.delete(name);
    const taken = await queues.take('by-hand', name);
    const removed = await growthOf(bridge, () => metric('entries_removed_total', { rule: 'byhand', reason: 'Gone' }));

    const gone = { outcome: 'gone', evidence: 'deleted' } as const;
    await Promise.all([queues.answer(taken, gone), queues.answer(taken, gone)]);

    await buckets.gone(name);
    await queues.done(taken);
    await queues.drained();
    expect(await removed()).toBe(1);
  });
});

describe('strangers', () => {
  const dead = async () => (await queues.inspect(site.resultDeadLetters.url)).ready;

  it("Q11 a gone with another function's key is not acted on, is counted, and is never lost", async () => {
    const { name } = await buckets.create('forged', { rule: 'byhand' });
    await buckets.delete(name);
    const taken = await queues.take('by-hand', name);

    const forged = await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' }, 'other');

    await eventually('it is a dead letter', async () => (await dead()).some(({ messageId }) => messageId === forged));
    expect(await buckets.finalizers(name)).toEqual([buckets.entry('byhand')]);
    await expect.poll(() => metric('results_total', { disposition: 'WrongSender' })).toBe(3);
    await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });
    await buckets.gone(name);
    await queues.done(taken);
  });

  it('Q11 a request with another key than the bridge has is not acted on, and stays', async () => {
    const { name, bucket } = await buckets.create('asked-by-stranger', { rule: 'byhand' });
    await buckets.delete(name);
    const taken = await queues.take('by-hand', name);
    const url = site.handler('s3-bucket').requests.url;
    const body = taken.body.replace('"handler":"by-hand"', '"handler":"s3-bucket"');

    const sent = await queues.send(url, body, site.handler('other').accessKeyId);

    await eventually('it was looked at', async () => {
      const { inFlight } = await queues.inspect(url);
      return inFlight.some(({ messageId, receiveCount }) => messageId === sent && receiveCount > 0);
    });
    await queues.answer(taken, { outcome: 'gone', evidence: 'absent' });
    await buckets.gone(name);
    await queues.done(taken);
    expect(await buckets.versions(bucket)).toBe(2);
  });
});

describe('a body that cannot be read', () => {
  const junk = '{"specversion":"1.0","type":"dev.finalizer-bridge.teardown.result.v1"';

  it('Q3 among the results disturbs none of its batch, is counted, and becomes a dead letter', async () => {
    const names = ['junk-a', 'junk-b', 'junk-c'] as const;
    for (const name of names) await buckets.create(name, { rule: 'byhand' });
    for (const name of names) await buckets.delete(name);
    const take = () => queues.take('by-hand', ...names);
    const taken = [await take(), await take(), await take()];
    // Sent while nobody listens, so that one receive brings them all, and none of before.
    await eventually('no result is left', async () => {
      const { ready, delayed, inFlight } = await queues.inspect(site.results.url);
      return ready.length + delayed.length + inFlight.length === 0;
    });
    await bridge.stop();
    const sent = await queues.send(site.results.url, junk, site.handler('by-hand').accessKeyId);
    for (const one of taken) await queues.answer(one, { outcome: 'gone', evidence: 'deleted' });
    await eventually('all are in the queue', async () => (await queues.inspect(site.results.url)).ready.length === 4);
    const received = sqs.once(receipt(site.results.url, 4), async () => 'pass');
    bridge = await site.startBridge(RULES);
    expect((await received).answer).toContain(sent);

    await Promise.all(names.map((name) => buckets.gone(name)));
    await eventually('it is a dead letter', async () => {
      const { ready } = await queues.inspect(site.resultDeadLetters.url);
      return ready.some(({ messageId, body }) => messageId === sent && body === junk);
    });
    await expect.poll(() => metric('results_total', { disposition: 'NotJson' })).toBeGreaterThan(1);
    for (const one of taken) await queues.done(one);
  });

  it('Q3 among the requests disturbs none of them, and stays in its queue', async () => {
    const url = site.handler('s3-bucket').requests.url;
    const sent = await queues.send(url, junk, site.bridge.accessKeyId);
    const made = await Promise.all(['junk-d', 'junk-e'].map((name) => buckets.create(name)));

    for (const { name } of made) await buckets.delete(name);

    await Promise.all(made.map(({ name }) => buckets.gone(name)));
    expect(await Promise.all(made.map(({ bucket }) => buckets.versions(bucket)))).toEqual([undefined, undefined]);
    const { ready, inFlight } = await queues.inspect(url);
    expect([...ready, ...inFlight].map(({ messageId }) => messageId)).toContain(sent);
  });
});
