/*
 * Every message that must not end a deletion, put into the result queue of a running bridge: each has an end (answered
 * for good, or a dead letter) and a counter, none disturbs its neighbours, and the right answer still works afterwards.
 * Real API server, real queue protocol, real processes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  encodeResult,
  MESSAGE_MAX_BYTES,
  makeRequest,
  makeResult,
  type Outcome,
  type Request,
} from '../../bridge/contract.ts';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { growthOf, sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues, type Taken } from '../support/site-queues.ts';

const RULES = { byhand: { handler: 'by-hand' } };
const RECEIVES = 2;
const TERM = 60 * 60_000;
const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({
    name: 'messages',
    handlers: ['by-hand', 'other'],
    ...{ resultVisibility: 1, maxReceiveCount: RECEIVES },
  });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  bridge = await site.startBridge(RULES);
});
afterAll(() => site?.stop());

const metric = async (name: string, labels: Readonly<Record<string, string>>) =>
  sumOf(await bridge.metrics(), `finalizer_bridge_${name}`, labels);
const handled = (disposition: string) => metric('results_total', { disposition });

function resultOf(request: Request, outcome: Outcome = gone, handler = request.data.handler): string {
  const made = { request, outcome, nonce: 'fire', now: Date.now(), durationMs: 1 };
  return encodeResult(makeResult({ ...made, handler: { name: handler, version: '1.0.0' } }));
}

/** The request with something else in it, and digests and id that match. */
function requestWith(taken: Taken, changes: Partial<Parameters<typeof makeRequest>[0]>): Request {
  const { data, subject } = taken.request;
  const { cluster, rule, handler, object, target, options, ownership, attempt } = data;
  const same = { cluster, rule, handler, path: subject, object, target, options, ownership, attempt };
  return makeRequest({ ...same, gracePeriodSeconds: 0, term: TERM, ...changes });
}

interface Bad {
  readonly disposition: string;
  readonly body: (taken: Taken) => string;
  readonly signedBy?: string;
}

/** Never acted on and never deleted by the bridge: what the queue does with it in the end is make it a dead letter. */
const undecided: Readonly<Record<string, Bad>> = {
  'that is junk': { disposition: 'NotJson', body: () => '{"specversion":' },
  'that is no event': { disposition: 'NotCloudEvent', body: () => '[1]' },
  'larger than any can be': {
    disposition: 'TooLarge',
    body: ({ request }) => `${resultOf(request)}${' '.repeat(MESSAGE_MAX_BYTES)}`,
  },
  'of a dry run': {
    disposition: 'UnknownType',
    body: ({ request }) => resultOf(request).replace('teardown.result.v1', 'teardown.preview.v1'),
  },
  'of a version to come (Q12)': {
    disposition: 'UnknownType',
    body: ({ request }) => resultOf(request).replace('teardown.result.v1', 'teardown.result.v2'),
  },
  'with an outcome that nobody knows': {
    disposition: 'Invalid',
    body: ({ request }) => resultOf(request).replace('"outcome":"gone"', '"outcome":"deleted"'),
  },
  'whose id is that of another request': {
    disposition: 'Invalid',
    body: ({ request }) => resultOf(request).replace('"attempt":0', '"attempt":7'),
  },
  'of another cluster': {
    disposition: 'OtherCluster',
    body: (taken) => resultOf(requestWith(taken, { cluster: { uid: 'another-cluster' } })),
  },
  "with another function's key (Q11)": {
    disposition: 'WrongSender',
    body: ({ request }) => resultOf(request),
    signedBy: 'other',
  },
  'by the function of another handler, under its own name (Q11)': {
    disposition: 'WrongHandler',
    body: ({ request }) => resultOf(request, gone, 'other'),
    signedBy: 'other',
  },
};

/** Read, understood, worth nothing for this deletion: counted and acknowledged. */
const worthless: Readonly<Record<string, Bad>> = {
  'about an object with another uid (K3)': {
    disposition: 'UnknownObject',
    body: (taken) =>
      resultOf(requestWith(taken, { object: { ...taken.request.data.object, uid: 'of-the-one-before' } })),
  },
  'about an object that never was': {
    disposition: 'UnknownObject',
    body: (taken) =>
      resultOf(requestWith(taken, { object: { ...taken.request.data.object, name: 'nobody', uid: 'none' } })),
  },
  'of a rule whose entry the object does not carry': {
    disposition: 'UnknownObject',
    body: (taken) => resultOf(requestWith(taken, { rule: { name: 'no-such-rule', uid: 'of-no-rule' } })),
  },
  'of a request that expired weeks ago (V22)': {
    disposition: 'Stale',
    body: (taken) => {
      const { object } = taken.request.data;
      return resultOf(requestWith(taken, { object: { ...object, deletionTimestamp: '2026-01-01T00:00:00Z' } }));
    },
  },
  'under another rule digest': {
    disposition: 'Gone',
    body: (taken) => resultOf(requestWith(taken, { options: { another: true } })),
  },
};

async function taken(name: string): Promise<Taken> {
  await buckets.create(name, { rule: 'byhand' });
  await buckets.delete(name);
  return await queues.take('by-hand', name);
}

const say = (bad: Bad, request: Taken) =>
  queues.send(site.results.url, bad.body(request), site.handler(bad.signedBy ?? 'by-hand').accessKeyId);

describe('messages under fire', () => {
  it('that cannot be believed end as dead letters, each counted at every receive, and end no deletion (P1, P10)', async () => {
    const request = await taken('unbelieved');
    const expected = Map.groupBy(Object.values(undecided), ({ disposition }) => disposition);

    const sent = await Promise.all(Object.values(undecided).map((bad) => say(bad, request)));

    await eventually('all are dead letters', async () => {
      const ids = (await queues.inspect(site.resultDeadLetters.url)).ready.map(({ messageId }) => messageId);
      return sent.every((id) => ids.includes(id));
    });
    for (const [disposition, messages] of expected) {
      await expect.poll(() => handled(disposition), { message: disposition }).toBe(messages.length * RECEIVES);
    }
    expect(await buckets.finalizers('unbelieved')).toEqual([buckets.entry('byhand')]);
    await queues.answer(request, gone);
    await buckets.gone('unbelieved');
    await queues.done(request);
    await queues.drained();
  });

  it.each(Object.entries(worthless))('a gone %s is counted, acknowledged, and ends nothing', async (_why, bad) => {
    const request = await taken(`worthless-${Object.values(worthless).indexOf(bad)}`);
    const { name } = request.request.data.object;
    const before = await handled(bad.disposition);

    await say(bad, request);

    // At every receive: on a busy machine it may come again before it is acknowledged.
    await eventually('it is counted', async () => (await handled(bad.disposition)) > before);
    expect(await buckets.finalizers(name)).toEqual([buckets.entry('byhand')]);
    await queues.answer(request, gone);
    await buckets.gone(name);
    await queues.done(request);
    await queues.drained();
  });

  it('all of them at once, and the right one among them, end the deletion once', async () => {
    const request = await taken('crowd');
    const removed = await growthOf(bridge, () => metric('entries_removed_total', { rule: 'byhand', reason: 'Gone' }));

    const crowd = [...Object.values(undecided), ...Object.values(worthless)].map((bad) => say(bad, request));
    await Promise.all([...crowd, queues.answer(request, gone), queues.answer(request, gone)]);

    await buckets.gone('crowd');
    await queues.done(request);
    await queues.drained();
    expect(await removed()).toBe(1);
  });
});
