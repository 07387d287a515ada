/*
 * versitygw, an S3 server with versions on a file system, for the measurement of emptying large buckets (npm run bench:bucket)
 * and the scale test of s3-bucket.
 * Built on demand from its Go module (go-tool.ts), which takes about a minute the first time on two cores. Nothing else needs it.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from './cache.ts';
import { freePorts } from './free-port.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';
import { run } from './run.ts';
import { startSupervised } from './supervised.ts';

const PACKAGE = 'github.com/versity/versitygw/cmd/versitygw';
const READY_WITHIN = 300_000;

/** What it is started with. */
export interface VersitygwOptions {
  readonly say: Say;
  /** The region that requests have to be signed for. */
  readonly region: string;
  /** Whom buckets belong to; also the access key, as this server has it. */
  readonly account: string;
  readonly env?: Environment;
}

/** A running server; whoever is told the keys may do anything. */
export interface Versitygw {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Makes a bucket that holds what another one holds, on the file system: seconds, where writing it takes minutes. */
  copyBucket(from: string, to: string): Promise<void>;
  stop(): Promise<void>;
}

/** Builds it if need be, starts it on an empty folder and waits until it answers. On failure nothing is left running. */
export async function startVersitygw({
  say,
  region,
  account,
  env = process.env,
}: VersitygwOptions): Promise<Versitygw> {
  const command = await findVersitygw({ say, env });
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-versitygw-'));
  const [data, versions] = [join(folder, 'data'), join(folder, 'versions')];
  for (const path of [data, versions]) await mkdir(path);
  const [port = 0] = await freePorts(1);
  const credentials = { accessKeyId: account, secretAccessKey: 'local-secret' };
  const server = await startSupervised({
    name: 'versitygw',
    command,
    args: ['--quiet', '--region', region, '--port', `127.0.0.1:${port}`, 'posix', '--versioning-dir', versions, data],
    env: { ...env, ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
    logFile: join(folder, 'versitygw.log'),
  });
  const stop = () => server.stop(2000).then(() => rm(folder, { recursive: true, force: true }));
  const endpoint = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + READY_WITHIN;
  while (!(await fetch(endpoint).catch(() => undefined))) {
    if (!server.hasExited() && performance.now() < deadline) await wait(50);
    else {
      const said = await server.logTail();
      await stop();
      throw new Error(`starting versitygw: no answer:\n${said}`);
    }
  }
  // Node.js leaves extended attributes behind, in which this server keeps tags, versions and more.
  const copyBucket = async (from: string, to: string) => {
    const parts = [data, versions].filter((path) => existsSync(join(path, from)));
    for (const path of parts) await run('cp', ['-a', join(path, from), join(path, to)]);
  };
  return { endpoint, credentials, copyBucket, stop };
}

/** Absolute path of the command, built if need be (a minute on two cores). */
export async function findVersitygw({ say, env = process.env }: { say: Say; env?: Environment }): Promise<string> {
  return await goTool({
    name: 'versitygw',
    package: PACKAGE,
    folder: join(import.meta.dirname, 'versitygw'),
    say,
    env,
  });
}
