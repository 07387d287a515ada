/*
 * `finalizer-bridge dev` against an emulator of AWS, from a repository of somebody else with the packed package: a shipped handler
 * and one like that of docs/write-a-handler.md, on real S3 and EC2 calls.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AllocateAddressCommand, CreateTagsCommand, DescribeAddressesCommand } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { init } from '../../infra/kit/init.ts';
import { hasBucket, makeBucket } from '../support/cloud-targets.ts';
import { sharedCloud } from '../support/e2e.ts';
import { type PackedKit, packKit } from '../support/kit-project.ts';
import { root } from '../support/tracked-files.ts';

const cloud = sharedCloud();
const OWNER = 'finalizer-bridge.dev/owner-uid';
const UID = '5f0c8c2e-0d3c-4a53-9d5e-2b7f4f3f8a99';
const REGISTRY = `import { defineRegistry } from 'finalizer-bridge/functions';
import { s3Bucket } from 'finalizer-bridge/handlers/s3-bucket';
import { elasticIp } from './handlers/elastic-ip.ts';
export const registry = defineRegistry([elasticIp, s3Bucket]);
`;
let kit: PackedKit;
let folder: string;

beforeAll(async () => {
  kit = await packKit();
  folder = await init({ folder: kit.folder('aws'), spec: kit.tarball });
  kit.install(folder);
  const page = readFileSync(join(root, 'docs/write-a-handler.md'), 'utf8');
  const [example = ''] = /(?<=^```ts\n)[\s\S]*?(?=^```$)/m.exec(page) ?? [];
  writeFileSync(join(folder, 'handlers/elastic-ip.ts'), example);
  writeFileSync(join(folder, 'registry.ts'), REGISTRY);
  const values = readFileSync(join(folder, 'functions.values.yml'), 'utf8').replace(/\nhandlers:[\s\S]*/, '');
  const allow = `accounts: ['${cloud.accountId}'], regions: [${cloud.region}]`;
  const handlers = `  s3-bucket: { allow: { ${allow}, names: [kit-dev-*] } }\n  elastic-ip: { allow: { ${allow}, names: [eipalloc-*] } }`;
  writeFileSync(join(folder, 'functions.values.yml'), `${values}\nhandlers:\n${handlers}\n`);
  writeFileSync(
    join(folder, 'dev.request.json'),
    JSON.stringify({ ownership: { tags: { [OWNER]: UID } }, object: { uid: UID } }),
  );
}, 600_000);
afterAll(() => kit?.remove());

function dev(handler: string, target: Readonly<Record<string, string>>) {
  const place = { ...target, region: cloud.region, account: cloud.accountId };
  const flags = Object.entries(place).map(([key, value]) => `--target=${key}=${value}`);
  return kit.run(folder, 'finalizer-bridge', ['dev', handler, ...flags, '--endpoint', cloud.endpoint]);
}

it('empties and deletes a bucket of the emulator by a shipped handler, one call after the other in sight', async () => {
  const name = 'kit-dev-owned';
  await makeBucket(cloud, name, { tags: { [OWNER]: UID }, keys: ['a', 'b'] });
  const { code, out, err } = dev('s3-bucket', { bucket: name });
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/call {6}s3:DeleteBucket \(destroy\): done in \d+ ms\n[\s\S]*gone {6}deleted/);
  expect(await hasBucket(cloud, name)).toBe(false);
});

it('leaves a bucket of somebody else, and says so with its exit code', async () => {
  const name = 'kit-dev-foreign';
  await makeBucket(cloud, name, { tags: { [OWNER]: 'somebody-else' } });
  const { code, out } = dev('s3-bucket', { bucket: name });
  expect([code, out]).toEqual([4, expect.stringMatching(/refused {3}NotOwned, /)]);
  expect(await hasBucket(cloud, name)).toBe(true);
});

it('releases an address by the handler that the page about handlers shows', async () => {
  const ec2 = cloud.ec2();
  const { AllocationId: id = '' } = await ec2.send(new AllocateAddressCommand({ Domain: 'vpc' }));
  await ec2.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: OWNER, Value: UID }] }));
  const { code, out } = dev('elastic-ip', { id });
  expect([code, out]).toEqual([0, expect.stringMatching(/ec2:ReleaseAddress \(destroy\): done[\s\S]*gone {6}deleted/)]);
  const { Addresses = [] } = await ec2.send(new DescribeAddressesCommand({}));
  expect(Addresses.map((one) => one.AllocationId)).not.toContain(id);
  expect(dev('elastic-ip', { id }).out).toMatch(/gone {6}absent/);
  ec2.destroy();
});
