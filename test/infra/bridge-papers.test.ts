/*
 * What the bridge is given from a deployed stack: the chart's values, held against the chart's own schema, and the policies
 * of its role. The outputs are those that the service declares, with a value each as CloudFormation would answer it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { registry } from '../../functions/registry.ts';
import {
  bridgePapers,
  bridgePolicy,
  chartValues,
  irsaTrust,
  podIdentityTrust,
} from '../../infra/functions/bridge-papers.ts';
import { loadService } from '../../infra/functions/service.ts';
import { bridgeSide, clusterOf, queuesIn, readOutputs } from '../../infra/functions/stack-outputs.ts';
import { requireCredentials, valuesOf } from '../../infra/stack.ts';
import { stackOptions } from '../../infra/stack-options.ts';
import { PRODUCTION, STAGING, twoClusters } from '../support/packaged-service.ts';
import { root } from '../support/tracked-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'bridge-papers-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const file = join(folder, 'values.yml');
writeFileSync(file, twoClusters.replace('stage: dev', `stage: prod\nkmsKeyArn: '${KEY}'`));
const place = { deployed: { values: file, stage: 'prod' }, serviceDir: folder };
const values = valuesOf(place);
const production = clusterOf(values, 'production');

/** What CloudFormation answers of the stack: of each output its name, with what it is. */
const { Outputs } = loadService({ file, folder, exampleAllowed: false, handlers: registry }).resources;
const named = z.parse(z.record(z.string(), z.object({ Description: z.string() })), Outputs);
const answer = {
  Stacks: [
    { Outputs: Object.keys(named).map((OutputKey) => ({ OutputKey, OutputValue: `https://aws/${OutputKey}` })) },
  ],
};

function outputsFrom(text: unknown) {
  const path = join(folder, 'outputs.json');
  writeFileSync(path, JSON.stringify(text));
  return readOutputs(path);
}

const side = bridgeSide(outputsFrom(answer), values, production);

describe('the values for the chart', () => {
  const text = chartValues({ side, values, cluster: production, withRole: true });
  const made: unknown = parse(text);

  it('name every queue, and whose word counts, from the outputs that the stack declares', () => {
    expect(made).toEqual({
      cluster: { name: 'production' },
      queues: { region: 'eu-west-1', results: `https://aws/Result${PRODUCTION.replaceAll('-', 'Dash')}QueueUrl` },
      handlers: Object.fromEntries(
        Object.keys(values.handlers).map((name) => [
          name,
          { queue: expect.stringMatching(/RequestQueueUrl$/), sender: expect.stringMatching(/RoleId$/) },
        ]),
      ),
      deadLetters: { sender: 'https://aws/DeadDashlettersRoleId' },
      serviceAccount: { roleArn: 'arn:aws:iam::111122223333:role/finalizer-bridge' },
    });
    expect(parse(chartValues({ side, values, cluster: production, withRole: false }))).not.toHaveProperty(
      'serviceAccount',
    );
  });

  it('are what the chart takes, on top of its own defaults', () => {
    const schema = JSON.parse(readFileSync(join(root, 'infra/chart/values.schema.json'), 'utf8'));
    const isTaken = new Ajv({ strict: false }).compile(schema);
    const defaults = parse(readFileSync(join(root, 'infra/chart/values.yaml'), 'utf8'));
    // Helm merges maps key by key.
    const merged = Object.fromEntries(
      Object.entries({ ...defaults, ...parse(text) }).map(([key, value]) => [
        key,
        typeof value === 'object' && !Array.isArray(value) ? { ...defaults[key], ...value } : value,
      ]),
    );
    expect([isTaken(merged), isTaken.errors]).toEqual([true, null]);
    expect(isTaken({ ...merged, handler: {} })).toBe(false);
  });
});

describe('the outputs of a stack', () => {
  it('are also taken as a plain object of names and values', () => {
    const plain = Object.fromEntries(Object.keys(named).map((name) => [name, `https://aws/${name}`]));
    expect(bridgeSide(outputsFrom(plain), values, production)).toEqual(side);
  });

  it.each([
    ['of two stacks', { Stacks: [...answer.Stacks, ...answer.Stacks] }, 'it describes 2 stacks'],
    ['of none', { Stacks: [] }, 'it describes 0 stacks'],
    ['of something else', [1], 'reading the outputs of a stack from'],
  ])('are not taken %s', (_, text, message) => {
    expect(() => outputsFrom(text)).toThrow(message);
  });

  it('name every queue, and of each whether objects wait for what lies there', () => {
    const queues = queuesIn(outputsFrom(answer));
    const names = (isAwaited: boolean) =>
      queues.filter(({ awaited }) => awaited === isAwaited).map(({ name }) => name.replace('QueueUrl', ''));
    const handlers = Object.keys(values.handlers).length;
    const clusters = values.clusters.length;
    expect(names(true)).toHaveLength(handlers + clusters);
    expect(names(true).filter((name) => !/Request$|^Result/.test(name) || /DeadLetter/.test(name))).toEqual([]);
    // Of each its dead letters, and one archive of all.
    expect(names(false)).toHaveLength(handlers + clusters + 1);
    expect(names(false)).toContain('DeadDashlettersArchive');
    expect(queues.every(({ url }) => url.startsWith('https://aws/'))).toBe(true);
  });

  it('are not half taken: what a newer handler lacks is named', () => {
    const old = Object.fromEntries(Object.keys(named).map((name) => [name, 'x']));
    const { WebhookRequestQueueUrl: _url, WebhookRoleId: _id, ...rest } = old;
    expect(() => bridgeSide(rest, values, production)).toThrow(
      'looking at the outputs of finalizer-bridge-prod: WebhookRequestQueueUrl, WebhookRoleId missing',
    );
  });
});

describe("the bridge's role", () => {
  it('may send requests, take results, and have SQS use the key, each on exactly its queues', () => {
    const { Statement } = bridgePolicy(side, values);
    expect(Statement.map(({ Sid, Action }) => [Sid, Action])).toEqual([
      ['Requests', ['sqs:SendMessage']],
      ['Results', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes']],
      ['Key', ['kms:GenerateDataKey', 'kms:Decrypt']],
    ]);
    expect(Statement[0]?.Resource).toHaveLength(Object.keys(values.handlers).length);
    expect(Statement[1]?.Resource).toEqual([side.results.arn]);
    expect(Statement[2]).toMatchObject({
      Resource: [KEY],
      Condition: { StringLike: { 'kms:ViaService': 'sqs.*.amazonaws.com*' } },
    });
    const { kmsKeyArn: _, ...withoutKey } = values;
    expect(bridgePolicy(side, withoutKey).Statement).toHaveLength(2);
  });

  it('is trusted by exactly one ServiceAccount, by IRSA or by Pod Identity', () => {
    const bridge = { namespace: 'fb', serviceAccount: 'bridge' };
    const provider = 'oidc.eks.eu-west-1.amazonaws.com/id/ABC';
    expect(irsaTrust(production, provider, bridge).Statement[0]).toMatchObject({
      Principal: { Federated: `arn:aws:iam::111122223333:oidc-provider/${provider}` },
      Condition: {
        StringEquals: {
          [`${provider}:sub`]: 'system:serviceaccount:fb:bridge',
          [`${provider}:aud`]: 'sts.amazonaws.com',
        },
      },
    });
    expect(podIdentityTrust(bridge).Statement[0]).toMatchObject({
      Principal: { Service: 'pods.eks.amazonaws.com' },
      Action: ['sts:AssumeRole', 'sts:TagSession'],
      Condition: { StringEquals: { 'aws:RequestTag/kubernetes-service-account': 'bridge' } },
    });
  });
});

describe("the papers of the bridge's role", () => {
  const known = { side, values, cluster: production };

  it('are its policy and its trusts; that of IRSA only where the issuer is told', () => {
    const bridge = { namespace: 'fb', serviceAccount: 'bridge' };
    expect(bridgePapers(known, { bridge, oidcProvider: 'https://oidc.example.com/id/ABC' })).toEqual({
      policy: bridgePolicy(side, values),
      irsaTrust: irsaTrust(production, 'oidc.example.com/id/ABC', bridge),
      podIdentityTrust: podIdentityTrust(bridge),
    });
    expect(Object.keys(bridgePapers(known, { bridge }))).toEqual(['policy', 'podIdentityTrust']);
  });

  it.each([
    ['of nothing', undefined, { namespace: 'finalizer-bridge', serviceAccount: 'finalizer-bridge' }],
    ['of the namespace only', { namespace: 'fb' }, { namespace: 'fb', serviceAccount: 'finalizer-bridge' }],
  ])("trust the chart's own ServiceAccount where it is told %s", (_, bridge, account) => {
    expect(bridgePapers(known, { bridge }).podIdentityTrust).toEqual(podIdentityTrust(account));
  });
});

describe('the command line about the stack', () => {
  it.each([
    ['by its name', 'production', PRODUCTION],
    ['by its uid', STAGING, STAGING],
  ])('finds a cluster %s', (_, wanted, uid) => {
    expect(clusterOf(values, wanted).uid).toBe(uid);
  });

  it('asks which cluster when there are two, or none of that name', () => {
    expect(() => clusterOf(values, undefined)).toThrow(`there are production, ${STAGING}`);
    expect(() => clusterOf(values, 'other')).toThrow('name one with --cluster');
  });

  it('takes the values of a stage from the file of that name, and holds them against it', () => {
    const exists = () => true;
    const { deployed } = stackOptions(['--stage', 'prod'], { exists });
    expect(deployed).toEqual({ values: 'functions.values.prod.yml', stage: 'prod' });
    expect(stackOptions(['--stage', 'prod', '--values', 'x.yml']).deployed).toEqual({ values: 'x.yml', stage: 'prod' });
    expect(stackOptions([]).deployed).toEqual({ values: undefined, stage: undefined });
    const odd = { ...place, deployed: { ...place.deployed, stage: 'dev' } };
    expect(() => valuesOf(odd)).toThrow(
      'stage: is prod, and --stage says dev; name another file by --param values=<file> (for npm run: --values FILE)',
    );
  });

  it('takes the values of a stage from functions.values.yml where it has no file, and names both where there is none', () => {
    const only = stackOptions(['--stage', 'dev'], { exists: (file) => file === 'functions.values.yml' });
    expect(only.deployed).toEqual({ values: 'functions.values.yml', stage: 'dev' });
    expect(() => stackOptions(['--stage', 'dev'], { exists: () => false })).toThrow(
      'there is neither functions.values.dev.yml nor functions.values.yml',
    );
  });

  it('deploys nothing for the cluster of the example', () => {
    expect(() => valuesOf(place, { deploys: true })).toThrow('is that of the example');
  });

  it('never works with the values of the example', () => {
    expect(() => valuesOf({ deployed: {}, serviceDir: folder })).toThrow('the file does not exist');
  });

  it('says how to give AWS credentials where none are found', async () => {
    const credentials = async () => {
      throw new Error('Could not load credentials from any providers');
    };
    const none = new SQSClient({ region: 'eu-west-1', credentials });
    await expect(requireCredentials(none)).rejects.toThrow(/none were found \(Could not load .*\); set AWS_PROFILE/);
    const some = new SQSClient({ region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    await expect(requireCredentials(some)).resolves.toBeUndefined();
  });

  it('knows its options and no others', () => {
    const { deployed, has, text } = stackOptions(['--stage', 'prod', '--irsa', '--out', 'x'], {
      flags: ['irsa'],
      texts: ['out'],
      exists: () => true,
    });
    expect([deployed.stage, has('irsa'), text('out')]).toEqual(['prod', true, 'x']);
    expect(() => stackOptions(['--discard'])).toThrow(/--discard/);
  });
});
