/*
 * The function's configuration: closed, and refused with every fault and its path.
 * Read as at cold start, from an environment that is an argument.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ConfigError, readConfig } from '../../functions/config.ts';
import { ACCOUNT, CLUSTER, configured, REGION, rawConfig } from './fixtures.ts';

const read = (value: unknown, more: Readonly<Record<string, string>> = {}) =>
  readConfig(configured('thing'), {
    FINALIZER_BRIDGE_CONFIG: typeof value === 'string' ? value : JSON.stringify(value),
    ...more,
  });
const complaint = (value: unknown): string => {
  try {
    read(value);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no complaint';
};

it('reads what is allowed and gives everything else its careful default', () => {
  expect(read(rawConfig())).toMatchObject({
    handler: 'thing',
    region: REGION,
    ownershipNone: false,
    endpoints: {},
    allow: { accounts: [ACCOUNT], regions: [REGION], names: ['team-a-*'] },
  });
});

it('takes the region of Lambda if it names none itself', () => {
  const { region: _, ...rest } = rawConfig();
  expect(read(rest, { AWS_REGION: 'eu-west-1' }).region).toBe('eu-west-1');
  expect(complaint(rest)).toContain('region: neither given here nor by AWS_REGION');
});

describe('refusing', () => {
  it('names every fault at once, each with its path', () => {
    const message = complaint({
      ...rawConfig(),
      clusters: [{ uid: CLUSTER, sender: '', resultQueueUrl: 'queue' }],
      allow: { accounts: ['12'], regions: ['here'], names: [], names2: [] },
      ownershipNone: 'yes',
      allowEverything: true,
    });
    for (const path of [
      'clusters.0.sender: ',
      'clusters.0.resultQueueUrl: ',
      'allow.accounts.0: an AWS account is 12 digits',
      'allow.regions.0: not the name of an AWS region',
      'allow.names: ',
      'allow: Unrecognized key: "names2"',
      'ownershipNone: Invalid input: expected boolean',
      'Unrecognized key: "allowEverything"',
    ]) {
      expect(message).toContain(path);
    }
  });

  it.each(['clusters', 'allow', 'handler'])('needs %s', (key) => {
    const { [key]: _, ...rest } = rawConfig();
    expect(complaint(rest)).toContain(`${key}: Invalid input`);
  });

  it.each([
    ['no variable', undefined, 'the variable is not set'],
    ['an empty variable', '', 'the variable is not set'],
    ['what is not JSON', '{', 'the value is not JSON'],
    ['what is not an object', '[]', 'expected object'],
  ])('refuses %s', (_what, text, said) => {
    expect(() => readConfig(configured('thing'), { FINALIZER_BRIDGE_CONFIG: text })).toThrow(said);
  });

  it('refuses the configuration of another handler', () => {
    expect(complaint(rawConfig({ handler: 'other' }))).toContain('handler: this function is thing');
  });

  it('carries its faults one by one', () => {
    const faults = (value: unknown) => {
      try {
        return read(value);
      } catch (error) {
        return error instanceof ConfigError ? error.faults : error;
      }
    };
    expect(
      faults(rawConfig({ handler: 'other', allow: { accounts: [ACCOUNT], regions: [REGION] }, extra: 1 })),
    ).toEqual([expect.stringMatching(/^allow\.names: /), 'Unrecognized key: "extra"']);
    expect(faults('{')).toEqual(['the value is not JSON']);
  });

  it('takes an endpoint for any service, and only URLs', () => {
    const endpoints = { sqs: 'http://127.0.0.1:1', rds: 'https://rds.example.com' };
    expect(read(rawConfig({ endpoints })).endpoints).toEqual(endpoints);
    expect(complaint(rawConfig({ endpoints: { rds: 'here' } }))).toContain('endpoints.rds: ');
  });

  it('allows only dangerous options that the handler has', () => {
    const { allow } = rawConfig();
    const withOptions = (options: readonly string[]) =>
      JSON.stringify(rawConfig({ allow: { ...z.parse(z.record(z.string(), z.json()), allow), options } }));
    const readFor = (options: readonly string[], dangerous?: readonly string[]) => () =>
      readConfig(configured('thing', dangerous), { FINALIZER_BRIDGE_CONFIG: withOptions(options) }).allow.options;
    expect(readFor(['force'], ['force', 'hard'])()).toEqual(['force']);
    expect(readFor(['force', 'fource'], ['force', 'hard'])).toThrow(
      'allow.options.1: thing has no such option, only force, hard',
    );
    expect(readFor(['force'])).toThrow('allow.options.0: thing has no such option, only none');
  });

  it('refuses a cluster that is named twice', () => {
    const cluster = { uid: CLUSTER, sender: 'A', resultQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/r' };
    expect(complaint(rawConfig({ clusters: [cluster, cluster] }))).toContain('clusters: a cluster is named twice');
  });
});
