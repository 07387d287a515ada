/*
 * From nothing to a stack and away again, by the real framework against an emulated cloud: deploy, what the bridge is then
 * told, a queue that is not empty, remove. What an emulator cannot show stands in docs/deploy.md.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../infra/build.ts';
import { deployFunctions } from '../../infra/deploy.ts';
import { bridgeSide, clusterOf } from '../../infra/functions/stack-outputs.ts';
import { type Cloud, startCloud } from '../../infra/local/cloud.ts';
import { removeFunctions } from '../../infra/remove.ts';
import { fetchOutputs, valuesOf } from '../../infra/stack.ts';
import { deployDirectly } from '../support/checkout.ts';
import { type CloudFront, startCloudFront } from '../support/cloud-front.ts';
import { root } from '../support/tracked-files.ts';

/** A deployment uploads, creates and describes; the emulator takes its time for each. */
const MINUTES_MS = 600_000;
const serviceDir = mkdtempSync(join(tmpdir(), 'finalizer-bridge-deploy-'));
const bundles = join(serviceDir, 'bundles');
const deployed = { stage: 'test' };
let cloud: Cloud;
let front: CloudFront;
let env: NodeJS.ProcessEnv;
let sqs: SQSClient;
const said: string[] = [];
const say = (text: string) => void said.push(text);

beforeAll(async () => {
  deployDirectly(serviceDir);
  // The example is refused for a deployment: its stage and its cluster are nobody's.
  const example = readFileSync(join(root, 'functions.values.example.yml'), 'utf8');
  const own = example.replace('stage: dev', 'stage: test').replaceAll('AROAEXAMPLE', 'AROA0123456789AB');
  writeFileSync(join(serviceDir, 'functions.values.yml'), own);
  symlinkSync(join(root, 'infra'), join(serviceDir, 'infra'));
  for (const name of FUNCTION_NAMES) {
    mkdirSync(join(bundles, name), { recursive: true });
    writeFileSync(join(bundles, name, 'index.mjs'), 'export const handler = () => {};\n');
  }
  cloud = await startCloud({ say: console.error, folder: serviceDir });
  front = await startCloudFront(cloud.endpoint);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const keys = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey };
  const { NODE_COMPILE_CACHE } = process.env;
  env = { PATH: '', HOME: serviceDir, ...front.env, NODE_COMPILE_CACHE, ...keys };
  sqs = new SQSClient({ region: 'eu-west-1', endpoint: cloud.endpoint, credentials });
}, MINUTES_MS);
afterAll(async () => {
  sqs?.destroy();
  await front?.stop();
  await cloud?.stop();
  rmSync(serviceDir, { recursive: true, force: true });
});

describe('the stack of the functions', () => {
  const place = () => ({ deployed, serviceDir, env });
  const remove = (discardMessages: boolean) => removeFunctions({ ...place(), sqs, discardMessages, say });
  const requestsOf = async () => {
    const values = valuesOf(place());
    const side = bridgeSide(await fetchOutputs(place()), values, clusterOf(values, 'production'));
    return side.handlers['s3-bucket']?.url ?? 'none';
  };

  it(
    'is not asked for without AWS credentials, and the reason is said',
    async () => {
      const none = { PATH: '', HOME: serviceDir, AWS_ENDPOINT_URL: front.endpoint, AWS_EC2_METADATA_DISABLED: 'true' };
      const asked = fetchOutputs({ ...place(), env: none });
      await expect(asked).rejects.toThrow(/asking for the outputs of the stack:[\s\S]*credentials/i);
    },
    MINUTES_MS,
  );

  it(
    'is deployed, and tells what the bridge has to know',
    async () => {
      expect([await deployFunctions({ ...place(), bundles, say }), said.join('')]).toEqual([
        0,
        expect.stringContaining('Next: npm run bridge-values'),
      ]);
      const values = valuesOf(place());
      const side = bridgeSide(await fetchOutputs(place()), values, clusterOf(values, undefined));
      expect(side.results).toEqual({
        url: expect.stringMatching(/finalizer-bridge-test-results-6f3c7c52/),
        arn: expect.stringMatching(/^arn:aws:sqs:eu-west-1:\d{12}:finalizer-bridge-test-results-6f3c7c52/),
      });
      expect(Object.keys(side.handlers).sort()).toEqual(Object.keys(values.handlers).sort());
      const ids = [side.deadLetterRoleId, ...Object.values(side.handlers).map(({ roleId }) => roleId)];
      expect(ids.filter((id) => !/^AROA[A-Z0-9]{12,}$/.test(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
    },
    MINUTES_MS,
  );

  it(
    'stays while a request lies in a queue, of a handler that the values name no more as well, and goes on a person’s word',
    async () => {
      const QueueUrl = await requestsOf();
      const file = join(serviceDir, 'functions.values.yml');
      const named = readFileSync(file, 'utf8');
      writeFileSync(file, named.replace(/^ {2}s3-bucket:\n(?: {4}.*\n| *\n)+/m, ''));
      expect(Object.keys(valuesOf(place()).handlers)).not.toContain('s3-bucket');
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
      // Taken and not yet deleted is not gone.
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 600 }));
      said.length = 0;
      expect(await remove(false)).toBe(1);
      expect(said.join('')).toMatch(
        /finalizer-bridge-test-s3-bucket-requests: about 1 messages; objects .* wait for them\n/,
      );
      expect(said.join('')).toContain('finalizer-bridge-test stays.');
      expect(Object.values(await fetchOutputs(place()))).toContain(QueueUrl);
      said.length = 0;
      expect(await remove(true)).toBe(0);
      expect(said.join('')).toContain('Removing finalizer-bridge-test from eu-west-1');
      await expect(fetchOutputs(place())).rejects.toThrow(/finalizer-bridge-test/);
    },
    MINUTES_MS,
  );
});
