/*
 * A handler that is no part of this tree's registry and not in its language: Python, fed as Lambda feeds it, with the real
 * bridge, a real API server and real queues. What it takes down are folders.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEventSource } from '../../infra/local/event-source.ts';
import { callPython } from '../support/python-process.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Thing, type Things, thingsOf } from '../support/site-things.ts';

const HANDLER = 'shared-folder';
const OWNER = 'finalizer-bridge.dev/owner-uid';
const share = mkdtempSync(join(tmpdir(), 'python-handler-share-'));
const faults: unknown[] = [];
let site: TestSite;
let things: Things;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'python', handlers: [HANDLER] });
  things = thingsOf(site);
  const { requests, accessKeyId } = site.handler(HANDLER);
  const client = site.queueServer.plainClient(accessKeyId);
  const sender = site.bridge.senderId.split(':', 1)[0];
  const clusters = { [site.clusterUid]: { sender, resultQueueUrl: site.results.url } };
  const env = {
    CONFIG: JSON.stringify({ clusters, shares: { team: share }, prefix: 'team-a-' }),
    AWS_ENDPOINT_URL_SQS: site.queueServer.endpoint,
    ...{ AWS_REGION: site.queueServer.region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: 'local' },
  };
  const source = startEventSource({
    ...{ client, queueUrl: requests.url, queueArn: requests.arn, functionName: HANDLER },
    ...{ batchSize: 10, functionTimeoutMs: 60_000, concurrency: 1, onError: (error) => faults.push(error) },
    invoke: (event) => callPython(event, env),
    onInvocation: ({ outcome }) => {
      if (outcome.kind !== 'answered') faults.push(outcome);
    },
  });
  site.keep({
    stop: async () => void (await source.stop()),
  });
  await site.startBridge({ folders: { handler: HANDLER, target: { share: "'team'", folder: 'object.spec.folder' } } });
});
afterAll(async () => {
  await site?.stop();
  rmSync(share, { recursive: true, force: true });
});

/** An object and its folder, with an owner of which a test may think otherwise. */
async function made(name: string, owner?: string): Promise<Thing> {
  const { group, namespace } = site;
  const thing = await things.create(`/apis/${group}/v1/namespaces/${namespace}/buckets`, {
    apiVersion: `${group}/v1`,
    kind: 'Bucket',
    metadata: { name, labels: { rule: 'folders' } },
    spec: { folder: `team-a-${name}` },
  });
  mkdirSync(join(share, `team-a-${name}`, 'reports'), { recursive: true });
  writeFileSync(join(share, `team-a-${name}`, 'reports', 'q1.txt'), 'numbers');
  writeFileSync(join(share, `team-a-${name}`, '.owner.json'), JSON.stringify({ [OWNER]: owner ?? thing.uid }));
  await things.claimed(thing, 'folders');
  return thing;
}

it('takes the folder of a deleted object down, and the object goes', async () => {
  const thing = await made('logs');
  await things.delete(thing);
  await things.gone(thing);
  expect([readdirSync(share), faults]).toEqual([[], []]);
});

it('leaves a folder that belongs to another object, and the object says why it is held', async () => {
  const thing = await made('foreign', 'somebody-else');
  await things.delete(thing);
  // What holds it stands on the object after half a minute.
  const { message } = await things.says(thing, 'folders', 'NotOwned', 60_000);
  expect(message).toContain(OWNER);
  expect([readdirSync(share), faults]).toEqual([['team-a-foreign'], []]);
  writeFileSync(join(share, 'team-a-foreign', '.owner.json'), JSON.stringify({ [OWNER]: thing.uid }));
  await things.retry(thing, 'folders');
  await things.gone(thing);
  expect(readdirSync(share)).toEqual([]);
});
