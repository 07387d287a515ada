/*
 * Entry of `npm run bench:bucket`: how the handler s3-bucket empties large buckets, plain and versioned, beside the loop that one
 * writes first and, on wish, rclone and the AWS command line, all on one versitygw. They take turns in every round, on buckets
 * that are copies of one, so that a slow minute hits them all. Method and figures are in docs/benchmarks.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../../infra/command.ts';
import { startVersitygw, type Versitygw } from '../../infra/local/versitygw.ts';
import { ACCOUNT, REGION } from '../functions/fixtures.ts';
import { OWNED } from '../functions/runs.ts';
import { clientOf, makeLargeBucket } from '../support/large-bucket.ts';
import { BUCKET_KINDS, type BucketKind, CONTENDERS, type ContenderName, prepareEmptying } from './bucket-contenders.ts';
import { bucketReportOf, bucketTextOf, type Emptied } from './bucket-report.ts';
import { countOf } from './options.ts';

const USAGE = `usage: npm run bench:bucket -- [options]
  --versions N     how many versions, or objects, a bucket holds (50000)
  --rounds N       how often each empties one of each kind; medians are reported (3)
  --kinds LIST     of plain and versioned, with commas between (both)
  --peers          also rclone and the AWS command line; the first time they are built and installed, which needs Go and Python 3
  --json           one JSON document on standard output instead of a table
The buckets lie where temporary files do (TMPDIR).`;

/** By how much the buckets are smaller by which the handler's memory is judged. */
const SMALLER = 5;
const say = (text: string) => console.error(text);

interface BucketOptions {
  readonly versions: number;
  readonly rounds: number;
  readonly kinds: readonly BucketKind[];
  readonly contenders: readonly ContenderName[];
}

async function measure({ versions, rounds, kinds, contenders }: BucketOptions): Promise<readonly Emptied[]> {
  const server = await startVersitygw({ say, region: REGION, account: ACCOUNT });
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-bench-bucket-'));
  try {
    const emptying = await prepareEmptying({ say, server, folder, contenders });
    const sizes = [versions, Math.ceil(versions / SMALLER / 2) * 2];
    await makeModels(server, kinds, sizes);
    const emptied: Emptied[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of kinds) {
        // Whoever is first meets a server that has just rested: each is, in turn.
        const inTurn = contenders.map((_, at) => contenders[(at + round) % contenders.length] ?? 's3-bucket');
        const turns = [
          ...inTurn.map((name) => ({ name, size: versions })),
          { name: 's3-bucket' as const, size: sizes[1] ?? 0 },
        ];
        for (const { name, size } of turns) {
          const bucket = `${name}-${kind}-${size}-${round}`;
          await server.copyBucket(modelOf(kind, size), bucket);
          const figures = await emptying.empty(name, bucket, kind);
          emptied.push({ name, kind, versions: size, figures });
          say(`round ${round + 1} of ${rounds}, ${kind}, ${size}: ${name}: ${JSON.stringify(figures)}`);
        }
      }
    }
    return emptied;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const modelOf = (kind: BucketKind, size: number) => `model-${kind}-${size}`;

async function makeModels(server: Versitygw, kinds: readonly BucketKind[], sizes: readonly number[]): Promise<void> {
  const s3 = clientOf(server, REGION);
  for (const kind of kinds) {
    for (const size of sizes) {
      say(`writing ${size} versions into a ${kind} bucket`);
      const contents = { versions: size, tags: OWNED, markers: true, isPlain: kind === 'plain' };
      await makeLargeBucket(s3, modelOf(kind, size), contents);
    }
  }
  s3.destroy();
}

function read(args: readonly string[]): BucketOptions & { readonly json: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      versions: { type: 'string', default: '50000' },
      rounds: { type: 'string', default: '3' },
      kinds: { type: 'string', default: BUCKET_KINDS.join(',') },
      peers: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const kinds = BUCKET_KINDS.filter((kind) => values.kinds.split(',').includes(kind));
  const contenders = values.peers ? CONTENDERS : CONTENDERS.slice(0, 2);
  const versions = Math.ceil(countOf('versions', values.versions) / 2) * 2;
  return { versions, rounds: countOf('rounds', values.rounds), kinds, contenders, json: values.json };
}

async function main(options: ReturnType<typeof read>): Promise<number> {
  const report = bucketReportOf(await measure(options));
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : bucketTextOf(report));
  return 0;
}

await runCommand({ usage: USAGE, read, run: main });
