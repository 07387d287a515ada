/*
 * The guards as a decision table: what happens to a request before anything outside is looked at.
 * Crossed where the order of the guards matters, listed where a boundary does.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNameAllowed, judgeRequest, matchesPattern } from '../../functions/guards.ts';
import { gone } from '../../functions/handler.ts';
import {
  ACCOUNT,
  CLUSTER,
  configOf,
  DELETED_AT,
  HOUR,
  NOW,
  REGION,
  RESULT_QUEUE,
  requestOf,
  SENDER,
  thing,
} from './fixtures.ts';

const handler = thing(async () => gone('deleted'));
const target = { name: 'team-a-logs', region: REGION, account: ACCOUNT };
const usual = {
  request: requestOf(),
  senderId: `${SENDER}:session`,
  handler,
  config: configOf(),
  ownAccount: ACCOUNT,
  now: NOW,
};
const judge = (changes: Partial<Parameters<typeof judgeRequest>[0]> = {}) => judgeRequest({ ...usual, ...changes });
/** A short word for a verdict. */
const word = (changes: Partial<Parameters<typeof judgeRequest>[0]> = {}) => {
  const verdict = judge(changes);
  if (verdict.verdict === 'run') return 'run';
  if (verdict.verdict === 'ignore') return `ignore ${verdict.reason}`;
  const { outcome } = verdict;
  return outcome.outcome === 'gone' ? 'gone' : `${outcome.outcome} ${outcome.reason}`;
};

it('lets the usual request run, with the place of its target', () => {
  expect(judge()).toMatchObject({ verdict: 'run', account: ACCOUNT, region: REGION, cluster: { uid: CLUSTER } });
});

describe('crossing all axes', () => {
  // In the order of the guards: the first axis that is off decides, whatever the later ones say.
  const axes = [
    { off: 'ignore UnknownCluster', change: { cluster: { uid: 'another' } } },
    { off: 'ignore UnknownSender', senderId: 'AROASTRANGER:session' },
    { off: 'ignore WrongHandler', change: { handler: 'other' } },
    { off: 'pending Expired', now: DELETED_AT + 2 * HOUR },
    { off: 'refused InvalidTarget', target: { extra: 'x' } },
    { off: 'refused InvalidOptions', change: { options: { unheardOf: true } } },
    { off: 'refused AccountNotAllowed', target: { account: '999999999999' } },
    { off: 'refused RegionNotAllowed', target: { region: 'us-east-1' } },
    { off: 'refused NameNotAllowed', target: { name: 'team-b-logs' } },
    { off: 'refused OwnershipNoneNotAllowed', change: { ownership: { none: true } as const } },
  ] as const;
  const combinations = Array.from({ length: 2 ** axes.length }, (_, bits) =>
    axes.filter((_axis, index) => (bits >> index) % 2 === 1),
  );

  it(`gives the first objection in each of ${combinations.length} combinations (C11, Q9, Q11)`, () => {
    for (const off of combinations) {
      const change = Object.assign({}, ...off.map((axis) => ('change' in axis ? axis.change : {})));
      const changed = Object.assign({}, target, ...off.map((axis) => ('target' in axis ? axis.target : {})));
      const senderId = off.some((axis) => 'senderId' in axis) ? 'AROASTRANGER:session' : usual.senderId;
      const now = off.some((axis) => 'now' in axis) ? DELETED_AT + 2 * HOUR : NOW;
      const request = requestOf({ ...change, target: changed });
      expect(word({ request, senderId, now })).toBe(off[0]?.off ?? 'run');
    }
  });

  it('answers every refusal to the queue of the configuration, never to one of the message', () => {
    const verdict = judge({ request: requestOf({ target: { ...target, region: 'us-east-1' } }) });
    expect(verdict).toMatchObject({ verdict: 'answer', cluster: { resultQueueUrl: RESULT_QUEUE } });
  });
});

describe('expiry', () => {
  const expires = DELETED_AT + 2 * HOUR;
  it.each([
    [expires + 14 * 24 * HOUR, 'pending Expired'],
    [expires, 'pending Expired'],
    [expires - 60_000, 'pending Expired'],
    [expires - 60_001, 'pending Expired'],
    [expires - 330_000 + 1, 'pending Expired'],
    [expires - 330_000, 'run'],
  ])('at %i, with a budget of 270 s, it says %s (Q9, V17, V18)', (now, said) => {
    expect(word({ now })).toBe(said);
  });
});

it('says in an Expired whether the request had expired or had only too little life left', () => {
  const expires = DELETED_AT + 2 * HOUR;
  expect(judge({ now: expires - 60_000 })).toMatchObject({
    outcome: { message: 'the request expired at 2030-01-01T02:00:00.000Z' },
  });
  expect(judge({ now: expires - 60_001 })).toMatchObject({
    outcome: { message: 'only 60 s were left before the request expires, too few to start' },
  });
});

describe('account and region', () => {
  const other = '999999999999';
  const allowed = configOf({ allow: { accounts: [ACCOUNT, other], regions: [REGION], names: ['*'] } });
  const request = requestOf({ target: { ...target, account: other } });

  it('refuses another account, even an allowed one, to a handler that cannot tell absent from foreign (C11)', () => {
    expect(word({ config: allowed, request })).toBe('refused AccountMismatch');
  });

  it('takes an allowed other account for a handler that can tell', () => {
    expect(
      word({ config: allowed, request, handler: thing(async () => gone('deleted'), { crossAccount: true }) }),
    ).toBe('run');
  });

  it('lets it look where the target is, and not where the function is: there it would find nothing (P1)', () => {
    const region = 'us-east-1';
    const wide = configOf({ allow: { accounts: [ACCOUNT, other], regions: [REGION, region], names: ['*'] } });
    const elsewhere = requestOf({ target: { ...target, account: other, region } });
    const verdict = judge({
      ...{ config: wide, request: elsewhere },
      handler: thing(async () => gone('deleted'), { crossAccount: true }),
    });
    expect(verdict).toMatchObject({ verdict: 'run', account: other, region });
  });
});

describe('names', () => {
  const config = configOf({
    allow: {
      accounts: [ACCOUNT],
      regions: [REGION],
      names: ['team-*'],
      namespaces: { 'team-a': { names: ['team-a-*', 'shared'] }, '': { names: ['team-z-*'] } },
    },
  });
  it.each([
    ['team-a', 'team-a-logs', 'run'],
    ['team-a', 'team-b-logs', 'refused NameNotAllowed'],
    ['team-a', 'shared', 'refused NameNotAllowed'],
    ['team-b', 'team-a-logs', 'refused NamespaceNotAllowed'],
    ['', 'team-z-logs', 'run'],
    ['', 'team-a-logs', 'refused NameNotAllowed'],
    ['toString', 'team-a-logs', 'refused NamespaceNotAllowed'],
  ])('from namespace %j, %s: %s', (namespace, name, said) => {
    expect(word({ config, request: requestOf({ namespace, target: { ...target, name } }) })).toBe(said);
  });

  it.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['team-a-*', 'team-a-', true],
    ['team-a-*', 'team-a', false],
    ['*-logs', 'team-a-logs', true],
    ['*-logs', 'team-a-logs-of-team-b', false],
    ['team-*-logs', 'team-a-logs-2', false],
    ['team-a', 'team-a', true],
    ['team-a', 'team-a-logs', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a.c', 'abc', false],
    ['a', 'A', false],
    ['a[b]', 'ab', false],
    ['**', 'x', true],
    ['*ab*ab*', 'ab', false],
    ['*ab*ab*', 'abab', true],
    ['x*ab*bc*y', 'xabcy', false],
    ['ab*ba', 'aba', false],
  ])('the pattern %s and the name %j: %s', (pattern, name, matches) => {
    expect(matchesPattern(pattern, name)).toBe(matches);
  });

  it('matches as the regular expression with the same meaning does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.', '-'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const escaped = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
        expect(matchesPattern(pattern, name)).toBe(new RegExp(`^${escaped.join('.*')}$`).test(name));
      }),
    );
  });
});

describe('a dangerous option', () => {
  const asking = (force: boolean) => requestOf({ options: { force } });
  const allowing = configOf({ allow: { accounts: [ACCOUNT], regions: [REGION], names: ['*'], options: ['force'] } });
  it.each([
    [true, usual.config, 'refused OptionNotAllowed'],
    [true, allowing, 'run'],
    [false, usual.config, 'run'],
  ])('set to %s needs the word of the function as well', (force, config, said) => {
    expect(word({ request: asking(force), config })).toBe(said);
  });
});

it('says of a single name whether objects of a namespace may have it touched', () => {
  const { allow } = configOf({
    allow: {
      accounts: [ACCOUNT],
      regions: [REGION],
      names: ['vol-*'],
      namespaces: { 'team-a': { names: ['vol-1*'] } },
    },
  });
  expect(isNameAllowed('vol-12', allow, 'team-a')).toBe(true);
  expect(isNameAllowed('vol-2', allow, 'team-a')).toBe(false);
  expect(isNameAllowed('vol-12', allow, 'team-b')).toBe(false);
});

describe('ownership none', () => {
  const request = requestOf({ ownership: { none: true } });
  it('needs the word of the rule and of the function', () => {
    expect(word({ request })).toBe('refused OwnershipNoneNotAllowed');
    expect(word({ request, config: configOf({ ownershipNone: true }) })).toBe('run');
  });
});
