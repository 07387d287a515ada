/*
 * The handler sns-notify against scripted answers of SNS, through the real SDK client: what is sent, and when it counts.
 * Topics of the emulator and what subscribers receive are in test/e2e.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { snsNotify } from '../../functions/handlers/sns-notify.ts';
import { xml } from '../support/scripted-aws.ts';
import { root } from '../support/tracked-files.ts';
import { ACCOUNT, CLUSTER, OWNER_TAG, REGION, UID } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const topicArn = `arn:aws:sns:${REGION}:${ACCOUNT}:deletions`;
const answer = (call: string, result: string) =>
  xml(
    `<${call}Response xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><${call}Result>${result}</${call}Result></${call}Response>`,
  );
const tagged = (tags: Readonly<Record<string, string>>) => {
  const members = Object.entries(tags).map(
    ([key, value]) => `<member><Key>${key}</Key><Value>${value}</Value></member>`,
  );
  return answer('ListTagsForResource', `<Tags>${members.join('')}</Tags>`);
};
const failed = (status: number, code: string) =>
  xml(
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>m</Message></Error></ErrorResponse>`,
    status,
  );

const aws = await scriptedAws();
beforeEach(() => {
  aws.on('sns:ListTagsForResource', tagged({}));
  aws.on('sns:Publish', answer('Publish', '<MessageId>m-1</MessageId>'));
});

const run = (changes: RunChanges = {}, arn = topicArn) =>
  runOnce(snsNotify, { topicArn: arn }, aws.endpoint, { ownership: { none: true }, ...changes });
/** The notices that were sent, as SNS was given them. */
const sent = () =>
  aws.seen
    .filter(({ operation }) => operation === 'sns:Publish')
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

describe('telling', () => {
  it('is gone, deleted, when SNS has named the message, and tells again when asked again', async () => {
    for (let time = 0; time < 2; time += 1) expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations()).toEqual([
      ...['sns:ListTagsForResource', 'sns:Publish', 'sns:ListTagsForResource', 'sns:Publish'],
    ]);
    const ids = sent().map(({ Message = '' }) => JSON.parse(Message).id);
    expect(ids).toEqual([`${UID}/team-buckets`, `${UID}/team-buckets`]);
  });

  it('says who goes where, for people and for programs', async () => {
    await run();
    const [{ Message = '', ...form } = {}] = sent();
    expect(form).toMatchObject({ TopicArn: topicArn, Subject: 'Deletion of Bucket team-a/logs' });
    expect(JSON.parse(Message)).toEqual({
      type: 'dev.finalizer-bridge.notice.v1',
      id: `${UID}/team-buckets`,
      text: 'Bucket team-a/logs is being deleted in cluster test.',
      cluster: { uid: CLUSTER, name: 'test' },
      rule: 'team-buckets',
      object: {
        ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket', namespace: 'team-a', name: 'logs', uid: UID },
        deletionTimestamp: expect.stringMatching(/Z$/),
      },
    });
    const values = Object.entries(form).filter(([key]) => /^MessageAttributes.*(Name|StringValue)$/.test(key));
    expect(values.map(([, value]) => value)).toEqual([
      ...['cluster', CLUSTER, 'rule', 'team-buckets', 'kind', 'Bucket', 'namespace', 'team-a'],
    ]);
    expect(form).not.toHaveProperty('MessageGroupId');
  });

  it('sends what the page shows', async () => {
    await run();
    const page = readFileSync(join(root, 'docs/handlers.md'), 'utf8');
    const [, example = ''] = /```json\n(\{\n {2}"type": "dev\.finalizer-bridge\.notice[\s\S]*?)```/.exec(page) ?? [];
    const keys = (value: object): unknown =>
      Object.entries(value).map(([key, inner]) => [key, typeof inner === 'object' ? keys(inner) : typeof inner]);
    expect(keys(JSON.parse(sent()[0]?.Message ?? ''))).toEqual(keys(JSON.parse(example)));
  });

  it('gives a FIFO topic what it needs to drop the second message of a deletion', async () => {
    for (let time = 0; time < 2; time += 1) await run({}, `${topicArn}.fifo`);
    const [first, second] = sent();
    expect(first).toMatchObject({
      ...{ MessageGroupId: UID, MessageDeduplicationId: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(second?.MessageDeduplicationId).toBe(first?.MessageDeduplicationId);
  });

  it('is not done when the answer names no message', async () => {
    aws.on('sns:Publish', answer('Publish', ''));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'NotConfirmed' });
  });

  it.each([
    [404, 'NotFound', 'refused', 'TopicNotFound'],
    [400, 'InvalidParameter', 'refused', 'InvalidRequest'],
    [400, 'KMSDisabled', 'refused', 'KeyUnusable'],
    [400, 'KMSThrottling', 'pending', 'Throttled'],
    [403, 'AuthorizationError', 'pending', 'AccessDenied'],
    [429, 'Throttled', 'pending', 'Throttled'],
    [500, 'InternalError', 'pending', 'ServiceError'],
  ] as const)('answered with %i %s is %s, %s, and is not repeated within the run', async (...row) => {
    const [status, code, outcome, reason] = row;
    aws.on('sns:Publish', failed(status, code));
    expect(await run()).toMatchObject({ outcome, reason });
    expect(sent()).toHaveLength(1);
  });
});

describe('a topic', () => {
  it('that is not there is refused, since nobody was told', async () => {
    aws.on('sns:ListTagsForResource', failed(404, 'ResourceNotFound'));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'TopicNotFound' });
    expect(sent()).toEqual([]);
  });

  it.each([
    ['with the keep tag', { 'finalizer-bridge.dev/keep': '' }, { none: true } as const, 'Kept'],
    ['without the tags that the rule requires', {}, { tags: OWNED }, 'NotOwned'],
    ['with those of somebody else', { [OWNER_TAG]: 'other' }, { tags: OWNED }, 'NotOwned'],
  ])('%s hears nothing', async (_what, tags, ownership, reason) => {
    aws.on('sns:ListTagsForResource', tagged(tags));
    expect(await run({ ownership })).toMatchObject({ outcome: 'refused', reason });
    expect(sent()).toEqual([]);
  });

  it('that proves to be the object’s own is told without an exception from ownership', async () => {
    aws.on('sns:ListTagsForResource', tagged(OWNED));
    expect(await run({ ownership: { tags: OWNED } })).toMatchObject({ outcome: 'gone' });
  });

  it.each([
    ['another service', topicArn.replace('sns', 'sqs')],
    ['a subscription', `${topicArn}:0d9e4f0a-7b1c-4d5e-8f6a-7b8c9d0e1f2a`],
    ['no region', 'arn:aws:sns::123456789012:deletions'],
    ['no account', 'arn:aws:sns:eu-central-1::deletions'],
    ['a partition that the region is not in', topicArn.replace('arn:aws:', 'arn:aws-cn:')],
    ['a pattern', topicArn.replace('deletions', '*')],
    ['no name', topicArn.replace('deletions', '')],
    ['too long a name', topicArn.replace('deletions', 'x'.repeat(257))],
    ['a name alone', 'deletions'],
  ])('is not named by the ARN of %s (C12)', (_what, arn) => {
    expect(snsNotify.prepare({ topicArn: arn }, {})).toMatchObject({ ok: false, reason: 'InvalidTarget' });
  });

  it('is compared with the allow-list by its account, region and name', () => {
    expect(snsNotify.prepare({ topicArn }, {})).toMatchObject({
      identity: { names: ['deletions'], place: { account: ACCOUNT, region: REGION } },
    });
  });
});
