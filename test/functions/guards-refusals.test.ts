/*
 * What a refusal of the guards says, which people read on the object; and targets that are outside of any account and region.
 * What is refused, and in which order, is in guards.test.ts.
 */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { judgeRequest } from '../../functions/guards.ts';
import { defineHandler, gone, type Identity } from '../../functions/handler.ts';
import { ACCOUNT, configOf, NOW, REGION, requestOf, SENDER, thing } from './fixtures.ts';

const handler = thing(async () => gone('deleted'));
const target = { name: 'team-a-logs', region: REGION, account: ACCOUNT };
const OTHER = '999999999999';
const allow = { accounts: [ACCOUNT], regions: [REGION], names: ['team-a-*'] };
const usual = { request: requestOf(), senderId: `${SENDER}:session`, handler, ownAccount: ACCOUNT, now: NOW };
const judge = (changes: Partial<Parameters<typeof judgeRequest>[0]> = {}) =>
  judgeRequest({ ...usual, config: configOf(), ...changes });

/** A handler that says so of every target. */
const identifiedAs = (identity: Identity) =>
  defineHandler({
    ...{ name: 'thing', version: '1.0.0', target: z.record(z.string(), z.unknown()), options: z.strictObject({}) },
    ...{ permissions: [], limits: { batchSize: 10, timeBudgetSeconds: 60 }, errors: {}, identity: () => identity },
    ...{ service: 'thing', connect: () => undefined, teardown: async () => gone('deleted') },
  });

describe('a refusal says what is not allowed', () => {
  it.each([
    [{ request: requestOf({ target: { ...target, account: OTHER } }) }, `account ${OTHER} is not in the allow-list`],
    [
      {
        request: requestOf({ target: { ...target, account: OTHER } }),
        config: configOf({ allow: { ...allow, accounts: [OTHER] } }),
      },
      `account ${OTHER} is not this function's own, ${ACCOUNT}`,
    ],
    [
      { request: requestOf({ target: { ...target, region: 'us-east-1' } }) },
      'region us-east-1 is not in the allow-list',
    ],
    [{ request: requestOf({ target: { ...target, name: 'team-b-logs' } }) }, 'team-b-logs matches no name'],
    [{ request: requestOf({ options: { force: true } }) }, 'does not allow option force'],
    [{ config: configOf({ allow: { ...allow, namespaces: {} } }) }, 'namespace team-a may not use this function'],
    [
      { request: requestOf({ namespace: '' }), config: configOf({ allow: { ...allow, namespaces: {} } }) },
      'cluster-scoped objects may not use this function',
    ],
    [{ request: requestOf({ ownership: { none: true } }) }, 'asks for no ownership proof'],
  ])('%#', (changes, says) => {
    expect(judge(changes)).toMatchObject({
      verdict: 'answer',
      outcome: { outcome: 'refused', message: expect.stringContaining(says) },
    });
  });

  it('of a target that has no name: nothing could be compared (C12)', () => {
    const nameless = identifiedAs({ names: [], place: { account: ACCOUNT, region: REGION } });
    expect(judge({ handler: nameless })).toMatchObject({
      outcome: { outcome: 'refused', reason: 'NameNotAllowed', message: expect.stringContaining('no name') },
    });
  });
});

describe('a target that is in no account', () => {
  const outside = identifiedAs({ names: ['team-a-hook'], place: 'outside' });

  it('is run as from the function’s own account and region, without a look at accounts and regions', () => {
    const config = configOf({ allow: { ...allow, accounts: [OTHER], regions: ['us-east-1'] } });
    expect(judge({ handler: outside, config })).toMatchObject({ verdict: 'run', account: ACCOUNT, region: REGION });
  });

  it('has a name all the same, and only an allowed one', () => {
    const config = configOf({ allow: { ...allow, names: ['team-b-*'] } });
    expect(judge({ handler: outside, config })).toMatchObject({ outcome: { reason: 'NameNotAllowed' } });
  });
});
