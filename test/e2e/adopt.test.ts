/*
 * The scripts that `adopt` prints, run by a shell with the AWS command line itself against the cloud of the run: what it makes of
 * the look at the tags no script of its place can show. What they say is tested in bridge/cli/adopt.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeTagsCommand } from '@aws-sdk/client-ec2';
import { CreateBucketCommand, GetBucketTaggingCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { findAwsCli } from '../../infra/local/aws-cli.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { ENTRY, RULE } from '../support/bridge-builders.ts';
import { makeVolume } from '../support/cloud-volumes.ts';
import { CommandLine } from '../support/command-line.ts';
import { sharedCloud } from '../support/e2e.ts';
import { ruleSpec } from '../support/rule-objects.ts';

const OWNER = 'finalizer-bridge.dev/owner-uid';
const BUCKET = 'adopt-logs';
const folder = mkdtempSync(join(tmpdir(), 'adopt-'));
const cloud = sharedCloud();
const [s3, ec2] = [cloud.s3(), cloud.ec2()];

beforeAll(async () => {
  const words = (await findAwsCli(() => undefined)).map((word) => `'${word}'`);
  writeFileSync(join(folder, 'aws'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
});
afterAll(() => {
  for (const client of [s3, ec2]) client.destroy();
  rmSync(folder, { recursive: true, force: true });
});

async function makeBucket(): Promise<string> {
  const CreateBucketConfiguration = { LocationConstraint: LOCAL_REGION } as const;
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration }));
  return BUCKET;
}

const handlers = [
  {
    ...{ handler: 's3-bucket', key: 'bucket', make: makeBucket },
    tagsOf: async (id: string) => (await s3.send(new GetBucketTaggingCommand({ Bucket: id }))).TagSet,
  },
  {
    ...{ handler: 'ebs-volume', key: 'volumeId', make: () => makeVolume(cloud) },
    tagsOf: async (id: string) => {
      const Filters = [{ Name: 'resource-id', Values: [id] }];
      return (await ec2.send(new DescribeTagsCommand({ Filters }))).Tags;
    },
  },
];

describe('adopt, with the AWS command line,', () => {
  it.each(handlers)('P2 gives what $handler takes down its proof, and another only with --anew', async (one) => {
    const id = await one.make();
    const line = new CommandLine();
    const target = { [one.key]: 'object.spec.id', region: `'${LOCAL_REGION}'`, account: `'${LOCAL_ACCOUNT_ID}'` };
    line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec({ handler: one.handler, target }) });
    for (const name of ['first', 'other']) line.cluster.create({ name, finalizers: [ENTRY], spec: { id } });
    const ownerAfter = async (words: string) => {
      const { out } = await line.run(`adopt bucket/${words}`);
      const env = {
        ...{ PATH: `${folder}:/usr/bin:/bin`, HOME: folder, AWS_ENDPOINT_URL: inject('local').cloudEndpoint },
        ...{ AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_DEFAULT_REGION: LOCAL_REGION },
      };
      execFileSync('/bin/sh', ['-c', out], { env, stdio: 'ignore' });
      return (await one.tagsOf(id))?.filter(({ Key }) => Key === OWNER).map(({ Value }) => Value);
    };

    expect(await ownerAfter('first')).toEqual(['uid-first']);
    expect(await ownerAfter('other')).toEqual(['uid-first']);
    expect(await ownerAfter('other --anew')).toEqual(['uid-other']);
  });
});
