/*
 * What `finalizer-bridge/testing` has beside the conformance suite: one run with scripted answers, requests and events that
 * a whole function takes, a clock that a test moves.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { decodeRequest } from '../../bridge/contract.ts';
import { createEntry } from '../../functions/entry.ts';
import { defineHandler, gone, pending, refused } from '../../functions/handler.ts';
import { ServiceError } from '../../functions/service-error.ts';
import { lambdaEvent, manualClock, requestFor, tryTeardown } from '../../functions/testing.ts';
import { json, startScriptedAws } from '../support/scripted-aws.ts';
import { sentResults, takesAll } from '../support/scripted-queue.ts';
import { useNoCredentials } from './runs.ts';

useNoCredentials();
const OWNER = 'finalizer-bridge.dev/owner-uid';
const UID = '00000000-0000-4000-8000-000000000001';

interface Licence {
  readonly tags: Readonly<Record<string, string>>;
}

const licence = defineHandler({
  ...{ name: 'licence', version: '1', permissions: [], service: 'licences' },
  target: z.strictObject({ id: z.string() }),
  options: z.strictObject({}),
  errors: { 'licences:Get': { NoLicence: { means: 'gone', reason: 'NotFound' } } },
  identity: ({ id }) => ({ names: [id], place: 'outside' }),
  connect: () => undefined,
  async teardown({ calls, inSeconds }) {
    const unreached = async (): Promise<Licence> => {
      throw new Error('there is no server');
    };
    const found = await calls.look('licences:Get', unreached);
    if (found.means === 'gone') return gone('absent');
    if (found.means !== 'done') return refused({ reason: found.reason, message: found.code });
    const proof = calls.prove(new Map(Object.entries(found.value.tags)));
    if (!proof.owned) return refused(proof);
    await calls.destroy('licences:Return', unreached);
    const left = await calls.look('licences:Get', unreached);
    return left.means === 'gone' ? gone('deleted') : pending({ reason: 'Returning', retryAt: inSeconds(60) });
  },
});
const notFound = new ServiceError({ code: 'NoLicence', status: 404, message: 'no such licence' });
const owned: Licence = { tags: { [OWNER]: UID } };
const trial = { handler: licence, target: { id: 'l-1' } };

describe('one run of a handler', () => {
  it('gets the answers of a script in their order, and tells the calls that were made', async () => {
    const answers = { 'licences:Get': [owned, notFound], 'licences:Return': [{}] };
    const { outcome, calls } = await tryTeardown({ ...trial, answers });
    expect(outcome).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(calls).toEqual([
      { call: 'licences:Get', kind: 'look' },
      { call: 'licences:Return', kind: 'destroy' },
      { call: 'licences:Get', kind: 'look' },
    ]);
  });

  it('repeats the last answer, and counts a retryAt from the time of its clock', async () => {
    const clock = manualClock(Date.parse('2030-01-01T00:00:00Z'));
    const answers = { 'licences:Get': [() => owned], 'licences:Return': [{}] };
    const { outcome } = await tryTeardown({ ...trial, answers, clock });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Returning', retryAt: '2030-01-01T00:01:00.000Z' });
  });

  it('keeps the guards of a run: ownership is judged, and codes mean what the table of the handler says', async () => {
    const foreign = await tryTeardown({ ...trial, answers: { 'licences:Get': [{ tags: {} }] } });
    expect(foreign.outcome).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    const absent = await tryTeardown({ ...trial, answers: { 'licences:Get': [notFound] } });
    expect(absent.outcome).toEqual({ outcome: 'gone', evidence: 'absent' });
    const denied = new ServiceError({ code: 'NoLicence', status: 403, message: 'go away' });
    const wall = await tryTeardown({ ...trial, answers: { 'licences:Get': [denied] } });
    expect(wall.outcome).toMatchObject({ outcome: 'pending', reason: 'AccessDenied' });
  });

  it('counts what fails below fetch by its cause, and nothing else by one', async () => {
    const below = (name: string, code: string) => Object.assign(new Error('x', { cause: { code } }), { name });
    const outcomeOf = async (error: Error) =>
      (await tryTeardown({ ...trial, answers: { 'licences:Get': [error] } })).outcome;
    expect(await outcomeOf(below('TypeError', 'ECONNRESET'))).toMatchObject({
      outcome: 'pending',
      reason: 'Unreachable',
    });
    expect(await outcomeOf(below('RangeError', 'NoLicence'))).toMatchObject({ outcome: 'pending' });
  });

  it('fails the test for a call without an answer, and for a target that the schema refuses', async () => {
    await expect(tryTeardown({ ...trial, answers: { 'licences:Get': [owned] } })).rejects.toThrow(
      'trying licence: no answer is scripted for licences:Return',
    );
    await expect(tryTeardown({ ...trial, target: { id: 1 } })).rejects.toThrow('InvalidTarget: target.id');
  });

  it('begins nothing when there is no time', async () => {
    const { outcome, calls } = await tryTeardown({ ...trial, time: 30_000, answers: {} });
    expect([outcome, calls]).toMatchObject([{ outcome: 'pending', reason: 'OutOfTime' }, []]);
  });
});

describe('a request of a test', () => {
  const NOW = Date.parse('2026-03-02T10:00:00Z');

  it('is one that the functions decode, with what was asked for', () => {
    const asked = { handler: 'licence', target: { id: 'l-1' }, object: { name: 'seat', uid: 'u-1' } };
    const request = requestFor({ ...asked, now: Date.now() });
    const { Records: records } = lambdaEvent([request], { senderId: 'AROABRIDGE:x' });
    const decoded = decodeRequest(records[0]?.body ?? '');
    expect(decoded).toMatchObject({
      ok: true,
      message: { data: { target: { id: 'l-1' }, object: { name: 'seat' }, ownership: { tags: { [OWNER]: 'u-1' } } } },
    });
  });

  it.each([0, 60_000, 1_799_999, Number.NaN])('has no term that no rule can have: %d ms', (term) => {
    expect(() => requestFor({ handler: 'thing', target: { id: 'x' }, now: NOW, term })).toThrow(
      `making a request: a term of ${term} ms is under the least of 1800000`,
    );
  });

  it('has the term that was asked for, in its end', () => {
    const term = 1_800_000;
    const deletionTimestamp = new Date(NOW).toISOString();
    const { data } = requestFor({
      handler: 'thing',
      target: { id: 'x' },
      now: NOW,
      term,
      object: { deletionTimestamp },
    });
    expect(Date.parse(data.expires)).toBe(NOW + 2 * term);
  });

  it('is taken by a whole function, whose configuration names its cluster and sender', async () => {
    const aws = await startScriptedAws();
    aws.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
    aws.on('sqs:SendMessageBatch', takesAll);
    const request = requestFor({ handler: 'licence', target: { id: 'other-1' }, now: Date.now() });
    const config = {
      handler: 'licence',
      clusters: [{ uid: request.data.cluster.uid, sender: 'AROABRIDGE', resultQueueUrl: `${aws.endpoint}/1/results` }],
      allow: { accounts: ['111122223333'], regions: ['eu-west-1'], names: ['l-*'] },
      ...{ endpoints: { sqs: aws.endpoint }, logLevel: 'silent' },
    };
    const environment = { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config), AWS_REGION: 'eu-west-1' };
    const context = {
      invokedFunctionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:licence',
      awsRequestId: 'r',
      getRemainingTimeInMillis: () => 300_000,
    };
    const event = lambdaEvent([request], { senderId: 'AROABRIDGE:session' });
    const answered = await createEntry(licence, { environment })(event, context);
    await aws.close();
    expect(answered).toEqual({ batchItemFailures: [] });
    expect(sentResults(aws)).toMatchObject([{ data: { result: { outcome: 'refused', reason: 'NameNotAllowed' } } }]);
  });
});
