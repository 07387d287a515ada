/*
 * Defining and registering handlers: what is refused at load.
 * And what every registered handler asks of IAM.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { defineHandler, defineRegistry, gone, RESERVE_SECONDS } from '../../functions/handler.ts';
import { registry } from '../../functions/registry.ts';
import { ACCOUNT, REGION, thing } from './fixtures.ts';

const define = (changes: { readonly name?: string; readonly limits?: Readonly<Record<string, number>> }) =>
  defineHandler({
    name: 'thing',
    version: '1',
    target: z.strictObject({}),
    options: z.strictObject({}),
    permissions: [],
    identity: () => ({ names: ['x'], place: 'outside' }),
    service: 'none',
    connect: () => undefined,
    teardown: async () => gone('absent'),
    ...changes,
  });

describe('defining', () => {
  it.each(['', 'S3', 'a_b', '-a', 'a-', '1a', 'x'.repeat(41)])('refuses the name %j', (name) => {
    expect(() => define({ name })).toThrow('its name is not a label');
  });

  it.each([
    [{ timeBudgetSeconds: 271 }, 'timeBudgetSeconds is 271'],
    [{ timeBudgetSeconds: 0 }, 'timeBudgetSeconds is 0'],
    [{ batchSize: 0 }, 'batchSize is 0'],
    [{ batchSize: 11 }, 'batchSize is 11'],
    [{ maximumConcurrency: 1 }, 'maximumConcurrency is 1'],
    [{ maximumConcurrency: 1001 }, 'maximumConcurrency is 1001'],
  ])('refuses the limits %j', (limits, said) => {
    expect(() => define({ limits })).toThrow(said);
  });

  it('takes one message at a time for 270 s unless told otherwise', () => {
    expect(define({}).limits).toMatchObject({ batchSize: 1, timeBudgetSeconds: 300 - RESERVE_SECONDS });
  });

  it('names the dangerous options that a request sets, in the order of the definition', () => {
    const options = z.strictObject({ force: z.optional(z.boolean()), hard: z.optional(z.string()), dry: z.boolean() });
    const { prepare } = defineHandler({
      ...{ name: 'thing', version: '1', target: z.strictObject({}), options, permissions: [], service: 'none' },
      dangerous: ['hard', 'force'],
      identity: () => ({ names: ['x'], place: 'outside' }),
      connect: () => undefined,
      teardown: async () => gone('absent'),
    });
    expect(prepare({}, { force: true, hard: 'x', dry: true })).toMatchObject({ dangers: ['hard', 'force'] });
    expect(prepare({}, { force: false, dry: true })).toMatchObject({ dangers: [] });
  });

  it('says what is wrong with a target, with its path', () => {
    const prepared = thing(async () => gone('absent')).prepare({ name: 1, region: REGION, account: ACCOUNT }, {});
    expect(prepared).toMatchObject({ ok: false, message: expect.stringContaining('target.name: ') });
  });
});

describe('the registry', () => {
  it('refuses a handler that is registered twice', () => {
    expect(() => defineRegistry([define({}), define({}), define({ name: 'b' })])).toThrow('registered twice: thing');
  });

  const allow = { accounts: [ACCOUNT, '999999999999'], regions: [REGION, 'cn-north-1'], names: ['team-a-*', 'i-*'] };

  it.each(registry)('$name asks for permissions that its allow-list bounds', ({ service, permissions, dangerous }) => {
    const wide = { ...allow, names: [...allow.names, 'group:workers-*'], options: [...dangerous] };
    // Instances of scaling groups are terminated through these.
    const services = service === 'ec2' ? 'ec2|autoscaling' : service;
    for (const { actions, resources } of permissions) {
      expect(resources(wide).length).toBeGreaterThan(0);
      for (const action of actions) expect(action).toMatch(new RegExp(`^(${services}):[A-Z][A-Za-z]+$`));
      const isUnbounded = resources(wide).includes('*');
      if (isUnbounded)
        expect(
          actions.every((action) => /:(Describe|Get|List)/.test(action)),
          actions.join(),
        ).toBe(true);
    }
  });

  it('scopes destructive actions to accounts, regions and names, and never to what carries the keep tag', () => {
    const all = registry.flatMap(({ permissions }) => permissions);
    const terminate = all.find(({ actions }) => actions.includes('ec2:TerminateInstances'));
    expect(terminate?.resources({ ...allow, accounts: [ACCOUNT] })).toEqual([
      `arn:aws:ec2:${REGION}:${ACCOUNT}:instance/team-a-*`,
      `arn:aws:ec2:${REGION}:${ACCOUNT}:instance/i-*`,
      `arn:aws-cn:ec2:cn-north-1:${ACCOUNT}:instance/team-a-*`,
      `arn:aws-cn:ec2:cn-north-1:${ACCOUNT}:instance/i-*`,
    ]);
    expect(terminate?.condition?.(allow)).toEqual({ Null: { 'aws:ResourceTag/finalizer-bridge.dev/keep': 'true' } });
    const bucket = all.find(({ actions }) => actions.includes('s3:DeleteBucket'));
    expect(bucket?.resources({ ...allow, regions: [REGION] })).toEqual(['arn:aws:s3:::team-a-*', 'arn:aws:s3:::i-*']);
    expect(bucket?.condition?.(allow)).toEqual({ StringEqualsIfExists: { 'aws:ResourceAccount': allow.accounts } });
  });
});
