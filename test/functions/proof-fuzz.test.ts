/*
 * Whatever tags a resource carries and whatever a rule requires, whatever a request asks for and a configuration allows: nothing is
 * owned, or run, that the two do not name. A failure prints its seed and the smallest case.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS } from '../../bridge/contract.ts';
import { judgeRequest, matchesPattern } from '../../functions/guards.ts';
import { gone } from '../../functions/handler.ts';
import { isStrong, judgeAge, judgeOwnership, KEEP_TAG, MARK_TAG, markOf, tagsFrom } from '../../functions/ownership.ts';
import { arnPartition } from '../../functions/places.ts';
import { queueUrlOf } from '../../functions/sqs.ts';
import { holds } from '../support/property.ts';
import { ACCOUNT, CLUSTER, configOf, DELETED_AT, HOUR, REGION, requestOf, SENDER, thing } from './fixtures.ts';

const UID = 'uid-1';
const key = fc.constantFrom<string>('owner', 'Owner', 'team', 'x', KEEP_TAG, MARK_TAG, '__proto__');
const value = fc.constantFrom('', UID, `${UID} `, 'UID-1', `cluster/${UID}`, 'a', `${UID}2`);
const carried = fc.array(fc.tuple(key, value), { maxLength: 5 }).map((pairs) => new Map(pairs));
const required = fc
  .uniqueArray(fc.tuple(key, value), { maxLength: 3, selector: ([name]) => name })
  .map((pairs) => Object.fromEntries(pairs));

/** What is required and what is there; half of the time all that is required is there as well. */
const proofs = fc.tuple(required, carried, fc.boolean()).map(([tags, others, isThere]) => ({
  tags,
  has: new Map([...(isThere ? Object.entries(tags) : []), ...others]),
}));

describe('whatever a resource carries', () => {
  it('proves ownership only by every required tag with exactly its value, and never beside the keep tag (P2)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(proofs, ({ tags, has }) => {
        const verdict = judgeOwnership({ tags }, has);
        seen.add(verdict.owned ? 'owned' : verdict.reason);
        const names = Object.keys(tags);
        const isProven = names.length > 0 && names.every((name) => has.has(name) && has.get(name) === tags[name]);
        expect(verdict.owned).toBe(isProven && !has.has(KEEP_TAG));
        expect(judgeOwnership({ none: true }, has).owned).toBe(!has.has(KEEP_TAG));
      }),
      { numRuns: 1_000 },
    );
    expect([...seen].sort()).toEqual(['Kept', 'NotOwned', 'owned']);
  });

  it('is younger than the deletion unless its uid, its mark or its age says otherwise (V12)', () => {
    const { object, rule } = requestOf().data;
    const began = Date.parse(object.deletionTimestamp);
    const created = fc.option(fc.integer({ min: began - 3 * CLOCK_SKEW_MS, max: began + CLOCK_SKEW_MS }), {
      nil: undefined,
    });
    const marked = fc.constantFrom(markOf({ object, rule }), `${markOf({ object, rule })}2`, object.uid, '');
    holds(
      fc.property(required, marked, fc.boolean(), created, (tags, mark, isMarked, at) => {
        const has = new Map(isMarked ? [[MARK_TAG, mark]] : []);
        const verdict = judgeAge({ object, rule }, { tags }, { tags: has, created: at });
        const isSure = isStrong({ tags }, object.uid) || (isMarked && mark === markOf({ object, rule }));
        const isOld = at !== undefined && at <= began - CLOCK_SKEW_MS;
        expect(verdict).toBe(isSure ? 'sure' : isOld ? 'unmarked' : 'younger');
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read from a list of tags as it stands there, the last of a name', () => {
    const entry = fc.record({ Key: fc.option(key, { nil: undefined }), Value: fc.option(value, { nil: undefined }) });
    holds(
      fc.property(fc.array(entry), (list) => {
        const read = tagsFrom(list);
        const named = list.filter(({ Key }) => Key !== undefined);
        expect([...read.keys()].sort()).toEqual([...new Set(named.map(({ Key }) => Key))].sort());
        for (const [name, said] of read) expect(named.findLast(({ Key }) => Key === name)?.Value ?? '').toBe(said);
      }),
    );
  });
});

describe('whatever a request asks for', () => {
  const handler = thing(async () => gone('deleted'));
  const place = { region: fc.constantFrom(REGION, 'us-east-1'), account: fc.constantFrom(ACCOUNT, '999999999999') };
  const name = fc.constantFrom('team-a-logs', 'team-a-', 'team-b-logs', 'team-a', 'TEAM-A-logs', '*', 'team-a-*');
  const patterns = fc.array(fc.constantFrom('*', 'team-a-*', '*-logs', 'team-b-logs', 'team-?-logs', 'team-a'), {
    maxLength: 3,
  });

  it('runs only what sender, time, allow-list and ownership allow, all of them (P2, Q9, Q11)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(
        fc.record({ ...place, name }),
        fc.record({ names: patterns, inner: fc.option(patterns, { nil: undefined }), none: fc.boolean() }),
        fc.record({
          sender: fc.constantFrom(SENDER, SENDER, SENDER, 'AROASTRANGER'),
          uid: fc.constantFrom(CLUSTER, CLUSTER, CLUSTER, 'another'),
          namespace: fc.constantFrom('team-a', 'team-b', undefined),
          isUnproven: fc.boolean(),
          now: fc.integer({ min: DELETED_AT - HOUR, max: DELETED_AT + 3 * HOUR }),
        }),
        (target, allowed, { sender, uid, namespace, isUnproven, now }) => {
          const { names, inner, none } = allowed;
          const allow = {
            ...{ accounts: [ACCOUNT], regions: [REGION], names },
            ...(inner === undefined ? {} : { namespaces: { 'team-a': { names: inner } } }),
          };
          const usual = requestOf();
          const object = { ...usual.data.object, namespace };
          const proof = isUnproven ? { ownership: { none: true as const } } : {};
          const request = requestOf({ target, cluster: { uid }, object, ...proof });
          const config = { ...configOf(), allow, ownershipNone: none };
          const input = { request, senderId: `${sender}:session`, handler, config, ownAccount: ACCOUNT, now };
          const { verdict } = judgeRequest(input);
          seen.add(verdict);
          const left = Date.parse(request.data.expires) - now;
          const isInTime = left >= handler.limits.timeBudgetSeconds * 1000 + CLOCK_SKEW_MS;
          const covers = (walls: readonly string[]) => walls.some((pattern) => matchesPattern(pattern, target.name));
          const isNamed = covers(names) && (inner === undefined || (namespace === 'team-a' && covers(inner)));
          const isPlaced = target.region === REGION && target.account === ACCOUNT;
          const isKnown = sender === SENDER && uid === CLUSTER;
          const isAllowed = isKnown && isInTime && isPlaced && isNamed && (!isUnproven || none);
          expect(verdict === 'run').toBe(isAllowed);
          expect(verdict === 'ignore').toBe(!isKnown);
        },
      ),
      { numRuns: 1_000 },
    );
    expect([...seen].sort()).toEqual(['answer', 'ignore', 'run']);
  });

  it('has its queue found by the ARN of the event, in the partition of its region', () => {
    const domains: Readonly<Record<string, string>> = {
      ...{ 'eu-central-1': 'amazonaws.com', 'cn-north-1': 'amazonaws.com.cn', 'us-gov-west-1': 'amazonaws.com' },
      ...{ 'eusc-de-east-1': 'amazonaws.eu', 'us-isob-east-1': 'sc2s.sgov.gov' },
    };
    const region = fc.constantFrom(...Object.keys(domains));
    const queue = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
    holds(
      fc.property(region, fc.stringMatching(/^\d{12}$/), queue, (of, account, called) => {
        const url = new URL(queueUrlOf(`arn:${arnPartition(of)}:sqs:${of}:${account}:${called}`, { endpoints: {} }));
        expect(url.pathname).toBe(`/${account}/${called}`);
        expect(url.hostname).toBe(`sqs.${of}.${domains[of]}`);
      }),
    );
  });
});
