/*
 * The handler s3-bucket and the policy of the bucket that it empties: one statement of its own, best effort, taken out
 * again when the deletion is refused. Scripted, since no emulator knows BlockPublicPolicy, sizes or dates in conditions.
 */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { noContent, s3Error, tagging, versions } from '../support/scripted-aws.ts';
import { policy } from '../support/scripted-control.ts';
import { OWNER_TAG, UID } from './fixtures.ts';
import { OWNED, type RunChanges, realClock } from './runs.ts';
import { one, scriptedBucket } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();

const SID = `FinalizerBridge${UID.replaceAll('-', '')}`;
const GONE = { outcome: 'gone', evidence: 'deleted' };
/** As somebody may have written it: numbers that JavaScript cannot hold, spaces, and values that look like structure. */
const theirs =
  '{ "Version" : "2008-10-17", "Id":"St\\u0061tement", "Statement" : [ {"Sid":"One","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::team-a-logs","Condition":{"NumericLessThan":{"s3:max-keys":90071992547409931}}}, {"Sid":"[]{},","Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":false}}} ] }';
const statements = z.object({ Statement: z.array(z.looseObject({ Sid: z.string() })) });
const puts = () => aws.seen.filter(({ operation }) => operation === 's3:PutBucketPolicy').map(({ body }) => body);
const refusing: RunChanges = {};

/** S3 as far as policies go: what is put is what is got. */
function keepPolicy(text?: string): { readonly text: () => string | undefined } {
  let now = text;
  aws.on('s3:GetBucketPolicy', () => (now === undefined ? s3Error(404, 'NoSuchBucketPolicy') : policy(now)));
  aws.on('s3:PutBucketPolicy', ({ body }) => {
    now = body;
    return noContent;
  });
  aws.on('s3:DeleteBucketPolicy', () => {
    now = undefined;
    return noContent;
  });
  return { text: () => now };
}

describe('while it empties', () => {
  it('denies writes, and only writes, to everybody until its request expires (C8, C13)', async () => {
    keepPolicy();
    expect(await run()).toEqual(GONE);
    expect(puts()).toHaveLength(1);
    const [statement] = statements.parse(JSON.parse(puts()[0] ?? '')).Statement;
    expect(statement).toEqual({
      Sid: SID,
      Effect: 'Deny',
      Principal: '*',
      Action: ['s3:PutObject', 's3:ReplicateObject', 's3:ReplicateDelete'],
      Resource: 'arn:aws:s3:::team-a-logs/*',
      Condition: { DateLessThan: { 'aws:CurrentTime': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) } },
    });
    const operations = aws.operations();
    expect(operations.indexOf('s3:PutBucketPolicy')).toBeLessThan(operations.indexOf('s3:ListMultipartUploads'));
  });

  it('leaves every byte of what somebody else wrote, and changes nothing in a second run (C13)', async () => {
    const kept = keepPolicy(theirs);
    aws.on('s3:ListObjectVersions', versions(one));
    const began = Date.now();
    const clock = { ...realClock, now: () => began };
    const stopping: RunChanges = { clock, abortAt: { call: 's3:ListObjectVersions', time: 1 } };
    expect(await run(stopping)).toMatchObject({ reason: 'OutOfTime' });
    const [head = '', tail = ''] = theirs.split(/(?<="Statement" : )\[ /);
    const text = kept.text() ?? '';
    expect(text.startsWith(`${head}[{"Sid":"${SID}"`)).toBe(true);
    const [first = '', second = ''] = tail.slice(0, -' ] }'.length).split(/, (?=\{"Sid":"\[)/);
    expect(text.endsWith(`,${first},${second}] }`)).toBe(true);
    expect(await run(stopping)).toMatchObject({ reason: 'OutOfTime' });
    expect(puts()).toHaveLength(1);
  });

  it('writes its statement anew, and never a second one, for the request of another term (C13)', async () => {
    const kept = keepPolicy(theirs);
    aws.on('s3:ListObjectVersions', versions(one));
    await run({ abortAt: { call: 's3:ListObjectVersions', time: 1 } });
    await run({ attempt: 1, abortAt: { call: 's3:ListObjectVersions', time: 1 } });
    expect(puts()).toHaveLength(2);
    const sids = statements.parse(JSON.parse(kept.text() ?? '')).Statement.map(({ Sid }) => Sid);
    expect(sids).toEqual([SID, 'One', '[]{},']);
  });

  it.each([
    ['is full', s3Error(400, 'PolicyTooLarge')],
    ['is public, which is blocked', s3Error(403, 'AccessDenied')],
    ['names a principal that is gone', s3Error(400, 'MalformedPolicy')],
    ['belongs to another account', s3Error(405, 'MethodNotAllowed')],
    ['is written by somebody else just now', s3Error(409, 'OperationAborted')],
    ['cannot be reached', s3Error(503, 'ServiceUnavailable')],
  ])('goes on without where the policy %s (C13)', async (_what, answer) => {
    aws.on('s3:GetBucketPolicy', policy(theirs));
    aws.on('s3:PutBucketPolicy', answer);
    expect(await run()).toEqual(GONE);
    expect(puts()).toHaveLength(1);
  });

  it.each([
    ['denied', s3Error(403, 'AccessDenied')],
    ['not JSON', policy('not a policy')],
    ['without statements', policy('{"Version":"2012-10-17"}')],
  ])('never puts a policy in place of one that is %s (C13)', async (_what, answer) => {
    aws.on('s3:GetBucketPolicy', answer);
    expect(await run()).toEqual(GONE);
    expect(puts()).toEqual([]);
  });

  it('leaves the policy alone by option', async () => {
    expect(await run({ options: { denyWrites: false } })).toEqual(GONE);
    expect(aws.operations().filter((operation) => operation.includes('Policy'))).toEqual([]);
  });
});

describe('when the deletion is refused', () => {
  const keep = tagging({ ...OWNED, 'finalizer-bridge.dev/keep': '' });
  const stop: RunChanges = { abortAt: { call: 's3:ListObjectVersions', time: 1 } };

  it('takes its statement out and leaves the rest as it was, though ownership is lost by then (C13)', async () => {
    const kept = keepPolicy(theirs);
    await run(stop);
    expect(kept.text()).toContain(SID);
    aws.on('s3:GetBucketTagging', tagging({ [OWNER_TAG]: 'successor' }));
    expect(await run(refusing)).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    expect(JSON.parse(kept.text() ?? '')).toEqual(JSON.parse(theirs));
    expect(kept.text()).toContain('90071992547409931');
    expect(deletes()).toEqual([]);
  });

  it('deletes a policy that holds nothing else (C13)', async () => {
    const kept = keepPolicy();
    await run(stop);
    aws.on('s3:GetBucketTagging', keep);
    expect(await run(refusing)).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(kept.text()).toBeUndefined();
  });

  it('writes nothing where its statement is not (C13)', async () => {
    const kept = keepPolicy(theirs.replace('"One"', '"FinalizerBridgeOfAnother"'));
    aws.on('s3:GetBucketTagging', keep);
    expect(await run(refusing)).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(kept.text()).toContain('FinalizerBridgeOfAnother');
    expect(aws.operations().filter((operation) => /(Put|Delete)BucketPolicy/.test(operation))).toEqual([]);
  });

  it('refuses only once the statement is out: killed or in trouble before, the next run does it (C13)', async () => {
    const kept = keepPolicy(theirs);
    await run(stop);
    aws.on('s3:GetBucketTagging', keep);
    expect(await run({ abortAt: { call: 's3:PutBucketPolicy', time: 1 } })).toMatchObject({ reason: 'OutOfTime' });
    aws.on('s3:PutBucketPolicy', s3Error(503, 'SlowDown'));
    expect(await run(refusing)).toMatchObject({ outcome: 'pending', reason: 'Throttled' });
    const again = keepPolicy(kept.text());
    expect(await run(refusing)).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(again.text()).not.toContain(SID);
  });

  it('refuses all the same where the policy cannot be changed any more: the statement ends by itself (C13)', async () => {
    const kept = keepPolicy(theirs);
    await run(stop);
    aws.on('s3:PutBucketPolicy', s3Error(403, 'AccessDenied'));
    aws.on('s3:GetBucketTagging', keep);
    expect(await run(refusing)).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(kept.text()).toContain('DateLessThan');
  });
});
