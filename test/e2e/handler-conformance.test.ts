/*
 * The conformance suite for every registered handler, against the cloud emulator; for webhook against a keeper of tenants.
 * A handler without scenes here fails the first test.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { clientInput } from '../../functions/client-input.ts';
import { SETTLE_MS } from '../../functions/handlers/ebs-volume/snapshot.ts';
import type { Clock } from '../../functions/ports.ts';
import { registry } from '../../functions/registry.ts';
import { type ConformanceHarness, conformance, type Scene } from '../../functions/testing.ts';
import { OWNER_TAG, UID } from '../functions/fixtures.ts';
import { OWNED, realClock, useNoCredentials } from '../functions/runs.ts';
import { hasBucket, instanceState, makeBucket, makeInstance } from '../support/cloud-targets.ts';
import { makeTopic } from '../support/cloud-topics.ts';
import { hasVolume, makeVolume } from '../support/cloud-volumes.ts';
import { sharedCloud } from '../support/e2e.ts';
import { HOOKS_SECRET, keeperOf, startWebhookEndpoint, type Tenants } from '../support/webhook-endpoint.ts';

useNoCredentials();
const cloud = sharedCloud();
const place = { account: cloud.accountId, region: cloud.region };
const PATIENCE = { connectionTimeout: 20_000, requestTimeout: 20_000 };
const KEPT = { ...OWNED, 'finalizer-bridge.dev/keep': 'true' };
type Scenes = Pick<ConformanceHarness, 'absent' | 'owned' | 'foreign' | 'kept' | 'settings'>;
type Tags = Readonly<Record<string, string>>;

const bucketName = () => `conformance-${randomUUID()}`;
async function bucket(tags: Tags): Promise<Scene> {
  const name = bucketName();
  const content = { keys: ['a', 'b c', 'odd\u0001'], versionsPerKey: 2, deleteMarkers: true, uploads: 2 };
  await makeBucket(cloud, name, { ...content, tags });
  return { target: { ...place, bucket: name }, exists: () => hasBucket(cloud, name) };
}

async function instance(tags: Tags): Promise<Scene> {
  const instanceId = await makeInstance(cloud, tags);
  const exists = async () => !['shutting-down', 'terminated'].includes((await instanceState(cloud, instanceId)) ?? '');
  return { target: { ...place, instanceId }, exists };
}

async function volume(tags: Readonly<Record<string, string>>): Promise<Scene> {
  const volumeId = await makeVolume(cloud, tags);
  return { target: { ...place, volumeId }, options: { snapshot: true }, exists: () => hasVolume(cloud, volumeId) };
}

/** What is there to be taken down is that nobody was told yet. */
async function topic(tags: Tags): Promise<Scene> {
  const { topicArn, heard } = await makeTopic(cloud, `conformance-${randomUUID()}`, tags);
  let wasHeard = false;
  const exists = async () => {
    wasHeard ||= (await heard()).length > 0;
    return !wasHeard;
  };
  return { target: { topicArn }, exists };
}
const noTopic = `arn:aws:sns:${cloud.region}:${cloud.accountId}:conformance-none`;

const tenants: Tenants = new Map();
const endpoint = await startWebhookEndpoint('http');
endpoint.answer(keeperOf(tenants));
afterAll(() => endpoint.close());

async function tenant(tags?: Tags): Promise<Scene> {
  const id = randomUUID();
  if (tags !== undefined) tenants.set(id, tags);
  return { target: { webhook: 'crm', id }, exists: async () => tenants.has(id) };
}

const scenes: Readonly<Record<string, Scenes>> = {
  's3-bucket': {
    absent: async () => ({ target: { ...place, bucket: bucketName() }, exists: async () => false }),
    owned: () => bucket(OWNED),
    foreign: () => bucket({ [OWNER_TAG]: 'somebody-else' }),
    kept: () => bucket(KEPT),
  },
  'ebs-volume': {
    absent: async () => ({ target: { ...place, volumeId: 'vol-0123456789abcdef0' }, exists: async () => false }),
    owned: () => volume(OWNED),
    foreign: () => volume({}),
    kept: () => volume(KEPT),
  },
  'ec2-instance': {
    absent: async () => ({ target: { ...place, instanceId: 'i-0123456789abcdef0' }, exists: async () => false }),
    owned: () => instance(OWNED),
    foreign: () => instance({}),
    kept: () => instance(KEPT),
  },
  'sns-notify': {
    absent: async () => ({ target: { topicArn: noTopic }, exists: async () => false }),
    owned: () => topic(OWNED),
    foreign: () => topic({}),
    kept: () => topic(KEPT),
  },
  webhook: {
    absent: () => tenant(),
    owned: () => tenant(OWNED),
    foreign: () => tenant({ [OWNER_TAG]: 'somebody-else' }),
    kept: () => tenant(KEPT),
    settings: { webhooks: { crm: { url: 'https://crm.example.com/tenants', secret: HOOKS_SECRET } } },
  },
};

it('has scenes for every registered handler', () => {
  expect(Object.keys(scenes).sort()).toEqual(registry.map(({ name }) => name).sort());
});

/** Waiting for other runs that make a snapshot takes no time here. */
const clock: Clock = {
  ...realClock,
  after: (delay, callback) => realClock.after(delay === SETTLE_MS ? 20 : delay, callback),
};

describe.each(registry)('$name', (handler) => {
  const parts = scenes[handler.name];
  if (parts === undefined) return;
  const harness: ConformanceHarness = {
    ...place,
    ...parts,
    uid: UID,
    ownership: { tags: OWNED },
    clock,
    random: Math.random,
    aws: (service, region) =>
      clientInput(region, service === 'webhook' ? `http://127.0.0.1:${endpoint.port}` : cloud.endpoint, PATIENCE),
  };
  it.each(conformance(handler, harness))('$title', ({ run }) => run());
});
