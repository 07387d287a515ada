/*
 * Trap V10 on a real API server, with bridge, function and command line as they are shipped: a bridge is killed between its first
 * request and its first record, the queue is purged, and the object names no target when the next bridge looks. Nobody knows what
 * was asked for; so what the object names later is held, over another kill, until a person retries and releases.
 */
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { OPERATOR_KEY } from '../../infra/local/queues.ts';
import { recording } from '../support/bridge-calls.ts';
import { type CliProcesses, cliProcesses } from '../support/cli-process.ts';
import { queueCall } from '../support/cloud-calls.ts';
import { logFailures, startSite, type TestSite, type Wires } from '../support/site.ts';
import { type Buckets, bucketsOf, type MadeBucket } from '../support/site-buckets.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import type { Point } from '../support/tripwire.ts';

const RULE = 'lost-target';
const KEYS = 2;

let site: TestSite;
let rules: SiteRules;
let buckets: Buckets;
let cli: CliProcesses;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'losttarget', tripwires: true, bundled: true });
  [rules, buckets] = [siteRulesOf(site), bucketsOf(site)];
  cli = await cliProcesses(site);
  await rules.install();
  await startBridge();
  const target = {
    ...{ bucket: 'object.status.bucketName', region: `'${LOCAL_REGION}'`, account: `'${LOCAL_ACCOUNT_ID}'` },
  };
  await rules.apply(RULE, rules.spec(RULE, { handler: 's3-bucket', target }));
  await rules.ready(RULE);
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.stop();
});

async function startBridge(): Promise<void> {
  bridge = await site.startBridgeOverApi();
  await bridge.ready();
}

/** Resolves when the bridge is dead: at that point of a conversation, which ends there. */
async function killedAt(wire: keyof Wires, point: Point): Promise<void> {
  await site.wires()[wire].once(point, async () => {
    bridge.signal('SIGKILL');
    expect(await bridge.exited).toBe(137);
    // The lease of one that is dead for sure is not waited for.
    await site.freeLease();
    return 'cut';
  });
}

const requestsUrl = () => site.handler('s3-bucket').requests.url;
const waiting = async () => (await site.queueServer.inspect(requestsUrl())).ready.length;

/** As an operator purges a queue. */
async function purge(): Promise<void> {
  const client = site.queueServer.client(OPERATOR_KEY);
  await client.send(new PurgeQueueCommand({ QueueUrl: requestsUrl() }));
  client.destroy();
  expect(await waiting()).toBe(0);
}

/** The owner's edit. */
const clear = ({ name }: MadeBucket) => buckets.edit(name, [{ op: 'remove', path: '/status/bucketName' }]);
const pointAt = ({ name }: MadeBucket, bucket: string) =>
  buckets.edit(name, [{ op: 'add', path: '/status/bucketName', value: bucket }]);

it('P1 P5 V10 what was asked for by a bridge that was killed without a word is not forgotten: its successor is held', async () => {
  const made = await buckets.create('logs', { rule: RULE, versions: KEYS });
  const second = `${made.bucket}-second`;
  await buckets.createBucket(second, { owner: made.uid, versions: KEYS });
  const path = buckets.path(made.name);
  const onCall = await cli.person('on-call', {
    here: [{ apiGroups: [site.group], resources: ['buckets'], verbs: ['get', 'list', 'patch'] }],
    everywhere: [{ apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'], verbs: ['get', 'list'] }],
  });
  const explained = async () => {
    const { code, out } = await onCall('explain', `buckets.${site.group}/${made.name}`, '-o', 'json');
    expect(code).toBe(0);
    return JSON.parse(out).entries[0];
  };

  const first = killedAt('sqs', queueCall({ operation: 'SendMessageBatch', queueUrl: requestsUrl() }, 'answered'));
  await buckets.delete(made.name);
  await first;
  expect(await waiting()).toBe(1);
  expect(await buckets.record(made.name, RULE)).toBeUndefined();
  await purge();
  await clear(made);

  const next = killedAt('api', recording(path, 'answered'));
  bridge = await site.startBridgeOverApi();
  await next;
  const missing = await buckets.says(made.name, 'TargetMissing', { rule: RULE });
  expect(missing).toMatchObject({ phase: 'Held', targets: [], unknownTarget: true });
  expect(missing.message).toContain('another target may have been requested before this bridge looked');

  await startBridge();
  await pointAt(made, second);
  const changed = await buckets.says(made.name, 'TargetChanged', { rule: RULE });
  expect(changed.message).toContain('the present one is not asked for yet: retry takes it down');
  await site.startFunction();
  const { next: steps, ...said } = await explained();
  expect(said).toMatchObject({ state: 'Held', reason: 'TargetChanged', target: { target: { bucket: second } } });
  expect(steps.map(({ command = '' }) => command.split(' ')[1])).toEqual([undefined, 'retry', 'release']);
  expect(await waiting()).toBe(0);
  expect(await buckets.versions(second)).toBe(KEYS);

  expect(await onCall(...steps[1].command.split(' ').slice(1))).toMatchObject({ code: 0 });
  await expect.poll(() => buckets.versions(second)).toBeUndefined();
  await expect.poll(async () => (await buckets.record(made.name, RULE))?.message).toContain('the present one is gone');
  const after = await explained();
  expect(after).toMatchObject({ state: 'Held', reason: 'TargetChanged' });
  expect(after.next.map(({ command = '' }) => command.split(' ')[1])).toEqual([undefined, 'release']);
  expect(await buckets.finalizers(made.name)).toContain(buckets.entry(RULE));
  expect(await buckets.versions(made.bucket)).toBe(KEYS);

  expect(await onCall(...after.next[1].command.split(' ').slice(1), '--now', '--yes')).toMatchObject({ code: 0 });
  await buckets.gone(made.name);
  expect(await buckets.versions(made.bucket)).toBe(KEYS);
});
