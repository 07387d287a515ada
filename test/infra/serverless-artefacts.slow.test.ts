/*
 * The zips that are deployed, as Lambda would meet them: unzipped into an empty folder, imported and called by plain
 * Node with nothing else in reach. The template that goes with them is tested in serverless-template.slow.test.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import yauzl from 'yauzl';
import * as z from 'zod/mini';
import { encodeRequest, makeRequest, type Target } from '../../bridge/contract.ts';
import { writeArchive } from '../../infra/archive.ts';
import { BUNDLE_MAX_BYTES } from '../../infra/function-budgets.ts';
import { handlers, type PackagedService, PRODUCTION, packageService, SECRET } from '../support/packaged-service.ts';
import { instances, json, startScriptedAws, xml } from '../support/scripted-aws.ts';
import { sentResults, takesAll } from '../support/scripted-queue.ts';
import { keeperOf, startWebhookEndpoint } from '../support/webhook-endpoint.ts';

/**
 * By the services that handlers speak to: text that only the client of this one contains, of the SDK or our own.
 * Several handlers may speak to one service.
 */
const CLIENT_MARKS: Readonly<Record<string, string>> = {
  s3: 'http://s3.amazonaws.com/doc/2006-03-01',
  ec2: 'http://ec2.amazonaws.com/doc',
  sns: 'http://sns.amazonaws.com/doc',
  webhook: 'webhook-signature',
};
const responseSchema = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

const folder = mkdtempSync(join(tmpdir(), 'finalizer-bridge-artefacts-'));
const bundles = new Map<string, string>();
let service: PackagedService;

beforeAll(async () => {
  // Without values, as in a fresh clone: the example stands in.
  service = await packageService({ bundled: true });
  for (const { name } of handlers) bundles.set(name, await unzip(name, service.archives[name] ?? ''));
}, 600_000);
afterAll(() => {
  service?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Unzips an artefact into a folder of its own and gives the path of its only file. */
async function unzip(name: string, archive: string): Promise<string> {
  const zip = await yauzl.fromBufferPromise(await readFile(archive));
  const entries: string[] = [];
  const target = join(folder, name, 'index.mjs');
  mkdirSync(join(folder, name));
  for await (const entry of zip.eachEntry()) {
    entries.push(entry.fileName);
    writeFileSync(target, await buffer(await zip.openReadStreamPromise(entry)));
  }
  expect(entries, name).toEqual(['index.mjs']);
  return target;
}

/** The environment with a queue service where nobody listens: no test speaks to AWS. */
function withoutQueue({ FINALIZER_BRIDGE_CONFIG: config, AWS_REGION }: ReturnType<PackagedService['environment']>) {
  const endpoints = { sqs: 'http://127.0.0.1:9' };
  return { FINALIZER_BRIDGE_CONFIG: JSON.stringify({ ...JSON.parse(config), endpoints }), AWS_REGION };
}

/** Has plain Node import a bundle and call its handler once per event, in one process, as a warm function would be. */
async function invoke(name: string, events: readonly unknown[], env = withoutQueue(service.environment(name))) {
  const program = `
    const { handler } = await import('./index.mjs');
    const context = { invokedFunctionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:${name}', awsRequestId: 'r', getRemainingTimeInMillis: () => 300000 };
    for (const event of ${JSON.stringify(events)}) console.error(JSON.stringify(await handler(event, context)));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: join(folder, name),
    env: {
      ...env,
      HOME: folder,
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [log, answers, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, answers: answers.trim().split('\n'), log };
}

const record = (messageId: string, body: string) => ({
  messageId,
  receiptHandle: `receipt-${messageId}`,
  body,
  attributes: { SenderId: 'AROAEXAMPLEBRIDGE0001:session', ApproximateReceiveCount: '1' },
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:requests',
});

const OWNER = { 'finalizer-bridge.dev/owner-uid': 'e7a4c1d2-0000-4000-8000-00000000aaaa' };
const INSTANCE = 'i-0123456789abcdef0';
const UID = OWNER['finalizer-bridge.dev/owner-uid'];

/** A request as the bridge makes it now. */
function requestNow(handler: string, target: Target): string {
  const now = Date.now();
  const request = makeRequest({
    cluster: { uid: PRODUCTION },
    rule: { name: 'team-machines', uid: 'r-1' },
    handler,
    path: '/apis/compute.example.com/v1/machines/builder',
    object: {
      ...{ apiVersion: 'compute.example.com/v1', kind: 'Machine', resource: 'machines', namespace: 'team-a' },
      ...{ name: 'builder', uid: UID, creationTimestamp: new Date(now - 86_400_000).toISOString() },
      deletionTimestamp: new Date(now).toISOString(),
    },
    gracePeriodSeconds: 0,
    target,
    options: {},
    ownership: { tags: OWNER },
    ...{ attempt: 0, term: 3_600_000 },
  });
  return encodeRequest(request);
}

describe('a packaged artefact', () => {
  it.each(handlers)('of $name starts and answers under plain Node with nothing beside it (F2)', async ({ name }) => {
    const unknown = JSON.stringify({ specversion: '1.0', id: '1', source: 'x', type: 'some.other.type' });
    const { code, answers, log } = await invoke(name, [
      { Records: [record('junk', 'not json'), record('unknown', unknown), { messageId: 'bare' }] },
      { Records: [] },
    ]);
    expect(answers.slice(1), log).toEqual(['{"batchItemFailures":[]}']);
    const { batchItemFailures } = responseSchema.parse(JSON.parse(answers[0] ?? ''));
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort()).toEqual(['bare', 'junk', 'unknown']);
    expect(code).toBe(0);
  });

  it('of ec2-instance takes an instance down for a real request, and answers (F2)', async () => {
    const aws = await startScriptedAws();
    const found = { instanceId: INSTANCE, owner: '111122223333', tags: OWNER };
    aws.on(
      'ec2:DescribeInstances',
      instances({ ...found, state: 'running' }),
      instances({ ...found, state: 'terminated' }),
    );
    aws.on('ec2:TerminateInstances', xml('<TerminateInstancesResponse><instancesSet/></TerminateInstancesResponse>'));
    aws.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
    aws.on('sqs:SendMessageBatch', takesAll);
    const { FINALIZER_BRIDGE_CONFIG: deployed, AWS_REGION } = service.environment('ec2-instance');
    const config = { ...JSON.parse(deployed), endpoints: { sqs: aws.endpoint, ec2: aws.endpoint } };
    const target = { instanceId: INSTANCE, region: config.allow.regions[0], account: '111122223333' };
    const { answers, log } = await invoke(
      'ec2-instance',
      [{ Records: [record('m', requestNow('ec2-instance', target))] }],
      { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config), AWS_REGION },
    );
    await aws.close();
    expect(answers, log).toEqual(['{"batchItemFailures":[]}']);
    expect(aws.operations().filter((operation) => operation.startsWith('ec2:'))).toEqual([
      'ec2:DescribeInstances',
      'ec2:TerminateInstances',
      'ec2:DescribeInstances',
    ]);
    expect(sentResults(aws)).toMatchObject([{ data: { result: { outcome: 'gone', evidence: 'deleted' } } }]);
  });

  it('of webhook asks the endpoint that is configured, signed with its secret, and answers (F2)', async () => {
    const aws = await startScriptedAws();
    const endpoint = await startWebhookEndpoint('http');
    endpoint.answer(keeperOf(new Map([['t-48213', OWNER]])));
    aws.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
    aws.on('sqs:SendMessageBatch', takesAll);
    const { FINALIZER_BRIDGE_CONFIG: deployed, AWS_REGION } = service.environment('webhook');
    const endpoints = { sqs: aws.endpoint, webhook: `http://127.0.0.1:${endpoint.port}` };
    const body = requestNow('webhook', { webhook: 'crm-tenants', id: 't-48213' });
    const { answers, log } = await invoke('webhook', [{ Records: [record('m', body)] }], {
      FINALIZER_BRIDGE_CONFIG: JSON.stringify({ ...JSON.parse(deployed), endpoints }),
      AWS_REGION,
    });
    await Promise.all([aws.close(), endpoint.close()]);
    expect(answers, log).toEqual(['{"batchItemFailures":[]}']);
    expect(endpoint.seen.map(({ path }) => path)).toEqual(['/hooks/finalizer-bridge']);
    expect(sentResults(aws)).toMatchObject([{ data: { result: { outcome: 'gone', evidence: 'deleted' } } }]);
    expect(log).not.toContain(SECRET);
  });

  it.each(handlers)('of $name does not start under a configuration that is not its own', async ({ name }) => {
    const other = handlers.find((handler) => handler.name !== name)?.name ?? '';
    const { FINALIZER_BRIDGE_CONFIG: config } = service.environment(other);
    const child = spawn(process.execPath, [join(folder, name, 'index.mjs')], {
      env: { FINALIZER_BRIDGE_CONFIG: config, AWS_REGION: 'eu-west-1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(code).not.toBe(0);
    expect(said).toContain(`this function is ${name}, the configuration is for ${other}`);
  });

  it.each(handlers)('of $name contains no client but that of $service', async ({ name, service: own }) => {
    const source = await readFile(bundles.get(name) ?? '', 'utf8');
    const found = Object.entries(CLIENT_MARKS).filter(([, mark]) => source.includes(mark));
    expect(found.map(([service]) => service)).toEqual([own]);
  });

  it.each(handlers)('of $name keeps within its budget of bytes', ({ name }) => {
    expect(statSync(bundles.get(name) ?? '').size).toBeLessThan(BUNDLE_MAX_BYTES[name] ?? 0);
  });

  it('has the same bytes whenever it is made of the same bundle', async () => {
    const bundle = join(folder, 'bundle.mjs');
    const made: Buffer[] = [];
    for (const [index, time] of [1_000_000_000, 1_700_000_000].entries()) {
      const archive = join(folder, `${index}.zip`);
      writeFileSync(bundle, 'export const handler = 1;', { mode: index === 0 ? 0o600 : 0o755 });
      utimesSync(bundle, time, time);
      await writeArchive({ bundle, entry: 'index.mjs', archive });
      made.push(await readFile(archive));
    }
    expect(made[0]?.equals(made[1] ?? Buffer.alloc(0))).toBe(true);
  });
});
