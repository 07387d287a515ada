/*
 * Empties one bucket and ends: with the handler s3-bucket in one run, as its function would, or with the loop that one writes
 * first. Bundled by bucket-contenders.ts, as functions are, and started by it; the server is told in the environment.
 * Arguments: `handler` or `loop`, the bucket, and whether it has versions.
 */
import assert from 'node:assert/strict';
import {
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { ACCOUNT, REGION } from '../functions/fixtures.ts';
import { runOnce } from '../functions/runs.ts';

const RUN_MS = 3_600_000;

const [how, bucket = '', hasVersions] = process.argv.slice(2);
const endpoint = process.env.AWS_ENDPOINT_URL;

/** A page listed, a page deleted. */
async function loop(Bucket: string): Promise<void> {
  const s3 = new S3Client({ region: REGION, forcePathStyle: true });
  const list = async () => {
    if (hasVersions !== 'versions') return (await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? [];
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    return [...Versions, ...DeleteMarkers];
  };
  for (let page = await list(); page.length > 0; page = await list()) {
    const Objects = page.map((one) => ({ Key: one.Key, ...('VersionId' in one ? { VersionId: one.VersionId } : {}) }));
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  }
  await s3.send(new DeleteBucketCommand({ Bucket }));
}

async function handler(name: string): Promise<void> {
  const target = { bucket: name, account: ACCOUNT, region: REGION };
  const outcome = await runOnce(s3Bucket, target, endpoint, { time: RUN_MS });
  assert.deepEqual(outcome, { outcome: 'gone', evidence: 'deleted' });
}

await (how === 'handler' ? handler(bucket) : loop(bucket));
