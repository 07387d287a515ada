/*
 * Measures how the handler s3-bucket empties a large, versioned bucket on versitygw, beside a plain loop that lists a page,
 * deletes it, and so on, on the same server: npm run bench:bucket [-- versions]. Fails if it is not 1.2 times as fast, or if
 * its memory grows with the bucket. Each is measured on buckets of its own, in turn, so that a slow minute hits both.
 */
import assert from 'node:assert/strict';
import { DeleteBucketCommand, DeleteObjectsCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { startVersitygw } from '../../infra/local/versitygw.ts';
import { ACCOUNT, REGION } from '../functions/fixtures.ts';
import { OWNED, runOnce } from '../functions/runs.ts';
import { clientOf, makeLargeBucket } from '../support/large-bucket.ts';

const RATIO_MIN = 1.2;
const MEMORY_GROWTH_MAX = 80_000_000;
const RUN_MS = 600_000;

const total = Number(process.argv[2] ?? 50_000);
const say = (text: string) => process.stdout.write(`${text}\n`);
const server = await startVersitygw({ say, region: REGION, account: ACCOUNT });
const { endpoint, credentials } = server;
const s3 = clientOf(server, REGION);
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
});

/** What one writes first: a page listed, a page deleted. */
async function plainLoop(Bucket: string): Promise<void> {
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (Objects.length === 0) break;
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  }
  await s3.send(new DeleteBucketCommand({ Bucket }));
}

async function handler(bucket: string): Promise<void> {
  const target = { bucket, account: ACCOUNT, region: REGION };
  const outcome = await runOnce(s3Bucket, target, endpoint, { time: RUN_MS });
  assert.deepEqual(outcome, { outcome: 'gone', evidence: 'deleted' });
}

/** Seconds, and by how much the resident memory grew at most, in bytes. */
async function measure(work: () => Promise<void>): Promise<{ readonly seconds: number; readonly growth: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  const began = performance.now();
  await work().finally(() => clearInterval(timer));
  return { seconds: (performance.now() - began) / 1000, growth: most - before };
}

try {
  for (const name of ['plain-loop', 's3-bucket']) {
    say(`writing ${total.toLocaleString('en-US')} versions into ${name}`);
    await makeLargeBucket(s3, name, { versions: total, tags: OWNED, markers: false });
  }
  const plain = await measure(() => plainLoop('plain-loop'));
  const own = await measure(() => handler('s3-bucket'));
  const rate = ({ seconds }: { seconds: number }) =>
    `${Math.round(total / seconds).toLocaleString('en-US')} versions/s`;
  const ratio = plain.seconds / own.seconds;
  say(`plain loop: ${rate(plain)}; s3-bucket: ${rate(own)}; ratio ${ratio.toFixed(2)}`);
  say(`memory grew by at most ${Math.round(own.growth / 1e6)} MB (plain loop: ${Math.round(plain.growth / 1e6)} MB)`);
  assert.ok(ratio > RATIO_MIN, `s3-bucket is only ${ratio.toFixed(2)} times as fast as a plain loop`);
  assert.ok(own.growth < MEMORY_GROWTH_MAX, `its memory grew by ${own.growth} bytes`);
} finally {
  s3.destroy();
  await server.stop();
}
