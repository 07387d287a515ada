/*
 * Those that empty buckets, each as a process of its own: the handler s3-bucket and the loop that one writes first, bundled as
 * functions are, and rclone and the AWS command line, built and installed on demand at the versions and checksums in peers/.
 * Made once by empty-bucket.ts, which lets them take turns.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { bundle } from '../../infra/bundle.ts';
import { goTool } from '../../infra/local/go-tool.ts';
import type { Say } from '../../infra/local/progress.ts';
import { pythonEnvironment } from '../../infra/local/python.ts';
import { run } from '../../infra/local/run.ts';
import type { Versitygw } from '../../infra/local/versitygw.ts';
import { REGION } from '../functions/fixtures.ts';
import type { Figures } from './scenes.ts';

const PEERS = join(import.meta.dirname, 'peers');
/** Python, for whoever measures; that of the AWS command line has it in any case. */
const PYTHON_LEAST = 10;
/**
 * rclone deletes versions of one key side by side, of which versitygw refuses one ("Invalid version"): rclone makes further
 * attempts for what is left, three unless told; ten were not always enough.
 */
const RCLONE_ATTEMPTS = '100';

/** What kind of bucket: versioning never on, or on. */
export const BUCKET_KINDS = ['plain', 'versioned'] as const;
export type BucketKind = (typeof BUCKET_KINDS)[number];

/** By name; the first one is the product. */
export const CONTENDERS = ['s3-bucket', 'loop', 'rclone', 'aws-cli'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** Empties buckets and tells what that took. */
export interface Emptying {
  /** Seconds, CPU seconds and peak memory in MB of the process and of what it started. @throws Error with its last words */
  empty(name: ContenderName, bucket: string, kind: BucketKind): Promise<Figures>;
}

/** Where to build, and the server. */
export interface EmptyingOptions {
  readonly say: Say;
  readonly server: Versitygw;
  /** Theirs alone, for bundles and pages. */
  readonly folder: string;
  readonly contenders: readonly ContenderName[];
}

const usage = z.object({ seconds: z.number(), cpuSeconds: z.number(), peakKib: z.number() });

/** Builds and installs what is wanted; the first time that takes minutes. */
export async function prepareEmptying({ say, server, folder, contenders }: EmptyingOptions): Promise<Emptying> {
  const environment = await pythonEnvironment({
    ...{ say, env: process.env, name: 'aws-cli', what: 'the AWS command line', least: PYTHON_LEAST },
    requirements: join(PEERS, 'aws-cli', 'requirements.txt'),
  });
  const python = join(environment, 'bin', 'python');
  const entry = { file: 'test/bench/bucket-runs.ts' };
  const own = await bundle({ name: 'bucket-runs', entry, outfile: join(folder, 'bundle', 'index.mjs') });
  const rclone = contenders.includes('rclone')
    ? await goTool({ name: 'rclone', package: '.', folder: join(PEERS, 'rclone'), say })
    : '';
  const commandOf = (name: ContenderName, bucket: string, kind: BucketKind): readonly string[] => {
    switch (name) {
      case 's3-bucket':
        return [process.execPath, own.file, 'handler', bucket];
      case 'loop':
        return [process.execPath, own.file, 'loop', bucket, ...(kind === 'versioned' ? ['versions'] : [])];
      case 'rclone':
        return [rclone, 'purge', '--retries', RCLONE_ATTEMPTS, `bench:${bucket}`];
      case 'aws-cli':
        return kind === 'plain'
          ? [python, '-m', 'awscli', 's3', 'rb', '--force', `s3://${bucket}`]
          : ['/bin/sh', join(PEERS, 'aws-cli', 'empty-versioned.sh'), python, bucket, folder];
      default:
        return name satisfies never;
    }
  };
  const env = { PATH: process.env.PATH, HOME: folder, PYTHONDONTWRITEBYTECODE: '1', ...accessTo(server) };
  return {
    async empty(name, bucket, kind) {
      const said = await run(python, [join(PEERS, 'measure.py'), ...commandOf(name, bucket, kind)], { env });
      const { seconds, cpuSeconds, peakKib } = usage.parse(JSON.parse(said));
      return { seconds, cpuSeconds, peakMb: (peakKib * 1024) / 1e6 };
    },
  };
}

/** The server, as each of them is told of it; rclone by a remote of its own, of the kind that knows nothing of the server. */
function accessTo({ endpoint, credentials }: Versitygw): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    RCLONE_CONFIG_BENCH_TYPE: 's3',
    RCLONE_CONFIG_BENCH_PROVIDER: 'Other',
    RCLONE_CONFIG_BENCH_ENV_AUTH: 'true',
    RCLONE_CONFIG_BENCH_ENDPOINT: endpoint,
    RCLONE_CONFIG_BENCH_REGION: REGION,
  };
}
