/*
 * Requests that the guards refuse, through the very function of each shipped handler and its real SDK clients, against a
 * scripted server that notes every call: what is refused before any look makes no call to the service at all.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Target } from '../../bridge/contract.ts';
import { createEntry } from '../../functions/entry.ts';
import type { Handler } from '../../functions/handler.ts';
import { registry } from '../../functions/registry.ts';
import { isAws } from '../support/aws-services.ts';
import { json } from '../support/scripted-aws.ts';
import { sentResults, takesAll } from '../support/scripted-queue.ts';
import { HOOKS_SECRET } from '../support/webhook-endpoint.ts';
import { ACCOUNT, NOW, REGION, rawConfig, recordOf, requestOf } from './fixtures.ts';
import { realClock } from './runs.ts';
import { scriptedAws } from './scripted.ts';

interface Place {
  readonly account: string;
  readonly region: string;
}

/** What each handler's targets look like in a place, and what its function has to be told. */
const scenes: Readonly<Record<string, { readonly target: (place: Place) => Target; readonly settings?: unknown }>> = {
  's3-bucket': { target: (place) => ({ bucket: 'team-a-logs', ...place }) },
  'ec2-instance': { target: (place) => ({ instanceId: 'i-0123456789abcdef0', ...place }) },
  'ebs-volume': { target: (place) => ({ volumeId: 'vol-0123456789abcdef0', ...place }) },
  'sns-notify': {
    target: ({ account, region }) => ({ topicArn: `arn:aws:sns:${region}:${account}:deletions` }),
  },
  webhook: {
    target: () => ({ webhook: 'crm', id: 't-1' }),
    settings: { webhooks: { crm: { url: 'https://crm.example.com', secret: HOOKS_SECRET } } },
  },
};
const own: Place = { account: ACCOUNT, region: REGION };

const aws = await scriptedAws();
beforeEach(() => {
  aws.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
  aws.on('sqs:SendMessageBatch', takesAll);
});

/** Has a handler's function work one request; gives the result and the calls that went elsewhere than to the queue. */
async function work(handler: Handler, place: Partial<Place>, names = ['*']) {
  const { endpoint } = aws;
  const scene = scenes[handler.name];
  if (scene === undefined) throw new Error(`working for ${handler.name}: this test has no target for it`);
  const config = rawConfig({
    handler: handler.name,
    allow: { accounts: [ACCOUNT, '999999999999'], regions: [REGION], names },
    settings: scene.settings ?? {},
    endpoints: Object.fromEntries(['sqs', ...registry.map(({ service }) => service)].map((name) => [name, endpoint])),
  });
  const began = performance.now();
  const invoke = createEntry(handler, {
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config) },
    clock: { ...realClock, now: () => NOW + performance.now() - began },
    write: () => {},
  });
  const target = scene.target({ ...own, ...place });
  const { messageId, receiptHandle, body, senderId } = recordOf(requestOf({ handler: handler.name, target }));
  const attributes = { SenderId: senderId, ApproximateReceiveCount: '1' };
  const eventSourceARN = `arn:aws:sqs:${REGION}:${ACCOUNT}:requests`;
  await invoke(
    { Records: [{ messageId, receiptHandle, body, attributes, eventSourceARN }] },
    {
      invokedFunctionArn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:any`,
      awsRequestId: 'r',
      getRemainingTimeInMillis: () => 300_000,
    },
  );
  const results = sentResults(aws).map(({ data }) => data.result);
  return { results, looked: aws.operations().filter((operation) => !operation.startsWith('sqs:')) };
}

/** Handlers whose targets live in AWS; the others have no account and no region to be wrong. */
const inAws = registry.filter(({ name, prepare }) => {
  const prepared = prepare(scenes[name]?.target(own) ?? {}, {});
  return prepared.ok && prepared.identity.place !== 'outside';
});

it('is tried with a target of every registered handler', () => {
  expect(Object.keys(scenes).sort()).toEqual(registry.map(({ name }) => name).sort());
  expect(inAws.map(({ service }) => service)).toEqual(registry.map(({ service }) => service).filter(isAws));
});

describe.each(inAws)('the function of $name', (handler) => {
  it.each([
    ['an account that is not allowed', { account: '111111111111' }, 'AccountNotAllowed'],
    ['a region that is not allowed', { region: 'us-east-1' }, 'RegionNotAllowed'],
  ])('makes no call for a target in %s (C11)', async (_what, place, reason) => {
    const { results, looked } = await work(handler, place);
    expect(results).toMatchObject([{ outcome: 'refused', reason }]);
    expect(looked).toEqual([]);
  });

  it('looks for a target in another allowed account only if it can tell it from an absent one (C11)', async () => {
    const { results, looked } = await work(handler, { account: '999999999999' });
    if (handler.crossAccount) expect(looked.length).toBeGreaterThan(0);
    else {
      expect(results).toMatchObject([{ outcome: 'refused', reason: 'AccountMismatch' }]);
      expect(looked).toEqual([]);
    }
  });
});

describe.each(registry)('the function of $name', (handler) => {
  it('makes no call for a name that is not allowed', async () => {
    const { results, looked } = await work(handler, {}, ['something-else-*']);
    expect(results).toMatchObject([{ outcome: 'refused', reason: 'NameNotAllowed' }]);
    expect(looked).toEqual([]);
  });

  it('looks for a target where it may', async () => {
    expect((await work(handler, {})).looked.length).toBeGreaterThan(0);
  });
});
