/*
 * The conformance suite for every registered handler, against the cloud emulator.
 * A handler without scenes here fails the first test.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { registry } from '../../functions/registry.ts';
import { type ConformanceHarness, conformance, type Scene } from '../../functions/testing.ts';
import { OWNER_TAG, UID } from '../functions/fixtures.ts';
import { OWNED, realClock, useNoCredentials } from '../functions/runs.ts';
import { hasBucket, instanceState, makeBucket, makeInstance } from '../support/cloud-targets.ts';
import { hasVolume, makeVolume } from '../support/cloud-volumes.ts';
import { sharedCloud } from '../support/e2e.ts';

useNoCredentials();
const cloud = sharedCloud();
const place = { account: cloud.accountId, region: cloud.region };
const KEPT = { ...OWNED, 'finalizer-bridge.dev/keep': 'true' };
type Scenes = Pick<ConformanceHarness, 'absent' | 'owned' | 'foreign' | 'kept'>;

const bucketName = () => `conformance-${randomUUID()}`;
async function bucket(tags: Readonly<Record<string, string>>): Promise<Scene> {
  const name = bucketName();
  const content = { keys: ['a', 'b c', 'odd\u0001'], versionsPerKey: 2, deleteMarkers: true, uploads: 2 };
  await makeBucket(cloud, name, { ...content, tags });
  return { target: { ...place, bucket: name }, exists: () => hasBucket(cloud, name) };
}

async function instance(tags: Readonly<Record<string, string>>): Promise<Scene> {
  const instanceId = await makeInstance(cloud, tags);
  const exists = async () => !['shutting-down', 'terminated'].includes((await instanceState(cloud, instanceId)) ?? '');
  return { target: { ...place, instanceId }, exists };
}

async function volume(tags: Readonly<Record<string, string>>): Promise<Scene> {
  const volumeId = await makeVolume(cloud, tags);
  return { target: { ...place, volumeId }, options: { snapshot: true }, exists: () => hasVolume(cloud, volumeId) };
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
};

it('has scenes for every registered handler', () => {
  expect(Object.keys(scenes).sort()).toEqual(registry.map(({ name }) => name).sort());
});

describe.each(registry)('$name', (handler) => {
  const parts = scenes[handler.name];
  if (parts === undefined) return;
  const harness: ConformanceHarness = {
    ...place,
    ...parts,
    uid: UID,
    ownership: { tags: OWNED },
    clock: realClock,
    aws: (_service, region) => ({
      region,
      endpoint: cloud.endpoint,
      maxAttempts: 1,
      requestHandler: { connectionTimeout: 1000, requestTimeout: 20_000, throwOnRequestTimeout: true },
    }),
  };
  it.each(conformance(handler, harness))('$title', ({ run }) => run());
});
