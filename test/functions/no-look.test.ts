/*
 * Requests that the guards refuse, through the very function of each shipped handler and its real SDK clients, against a
 * scripted server that notes every call: what is refused before any look makes no call to the service at all.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Target } from '../../bridge/contract.ts';
import { createEntry } from '../../functions/entry.ts';
import { registry } from '../../functions/registry.ts';
import { json, type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';
import { sentResults, takesAll } from '../support/scripted-queue.ts';
import { ACCOUNT, NOW, REGION, rawConfig, recordOf, requestOf } from './fixtures.ts';
import { realClock, useNoCredentials } from './runs.ts';

/** What each handler's targets name beside account and region. */
const named = new Map<string, Target>([
  ['s3-bucket', { bucket: 'team-a-logs' }],
  ['ebs-volume', { volumeId: 'vol-0123456789abcdef0' }],
  ['ec2-instance', { instanceId: 'i-0123456789abcdef0' }],
]);

let aws: ScriptedAws;
beforeAll(async () => {
  useNoCredentials();
  aws = await startScriptedAws();
});
afterAll(() => aws.close());
beforeEach(() => {
  aws.reset();
  aws.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
  aws.on('sqs:SendMessageBatch', takesAll);
});

/** Has a handler's function work one request; gives the result and the calls that went elsewhere than to the queue. */
async function work(handler: (typeof registry)[number], place: Target) {
  const { endpoint } = aws;
  const config = rawConfig({
    handler: handler.name,
    allow: { accounts: [ACCOUNT, '999999999999'], regions: [REGION], names: ['*'] },
    endpoints: { sqs: endpoint, s3: endpoint, ec2: endpoint },
  });
  const began = performance.now();
  const invoke = createEntry(handler, {
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config) },
    clock: { ...realClock, now: () => NOW + performance.now() - began },
    write: () => {},
  });
  const target = { ...named.get(handler.name), account: ACCOUNT, region: REGION, ...place };
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

describe.each(registry)('the function of $name', (handler) => {
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

  it('looks for a target where it may', async () => {
    expect((await work(handler, {})).looked.length).toBeGreaterThan(0);
  });
});
