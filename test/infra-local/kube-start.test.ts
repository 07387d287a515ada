/*
 * A start that fails leaves nothing behind and says why; shown with stand-ins for the servers that fail on purpose.
 * That a start succeeds, and how a running system ends, is shown by test/e2e/local-stop.test.ts.
 */
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startKube } from '../../infra/local/kube.ts';
import { connectKube } from '../../infra/local/kube-client.ts';
import { startLocalSystem } from '../../infra/local/system.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** A script that goes on when the stand-in for etcd has written its process id: of two that start, either may be the first. */
const afterEtcd = (script: string) => `while [ ! -s ${folder}/etcd.pids ]; do sleep 0.05; done\n${script}`;

async function standIn(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\necho $$ >> ${folder}/${name}.pids\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

async function pids(name: string): Promise<readonly number[]> {
  return (await readFile(join(folder, `${name}.pids`), 'utf8')).trim().split('\n').map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const say = () => undefined;
const environment = () => ({ ...process.env, KUBEBUILDER_ASSETS: folder });

it('a certificate that the API server is still writing is read again by the next request', async () => {
  const caFile = join(folder, 'apiserver.crt');
  const nowhere = { url: 'https://127.0.0.1:9', adminToken: 'none', kubeconfigFolder: folder };
  const client = connectKube({ ...nowhere, caFile });
  for (const part of ['', '-----BEGIN CERTIFICATE-----\nMIID']) {
    await writeFile(caFile, part);
    await expect(client.request('GET', '/readyz')).rejects.toThrow('the certificate is not whole yet');
    expect(await client.isReady()).toBe(false);
  }
  await writeFile(caFile, '-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----\n');
  await expect(client.request('GET', '/readyz')).rejects.not.toThrow('not whole');
  await client.close();
});

describe('a local API server that does not start', () => {
  it('says why, and takes etcd with it', async () => {
    await standIn('etcd', 'exec sleep 600');
    await standIn('kube-apiserver', afterEtcd('echo "E1 unknown flag: --colour" >&2; exit 3'));
    const dataDir = join(folder, 'data');
    await expect(startKube({ say, env: environment(), dataDir })).rejects.toThrow(
      /starting kube-apiserver: it ended with code 3:\n.*unknown flag: --colour/s,
    );
    const [etcd = 0, ...more] = await pids('etcd');
    expect(isAlive(etcd)).toBe(false);
    expect(more).toEqual([]);
  });

  it('is tried on other ports when one was taken meanwhile, a few times', async () => {
    await standIn('etcd', 'exec sleep 600');
    await standIn(
      'kube-apiserver',
      afterEtcd(`echo "$@" | grep -o 'secure-port=[0-9]*' >> ${folder}/ports
      echo "listen tcp 127.0.0.1: bind: address already in use" >&2; exit 1`),
    );
    await expect(startKube({ say, env: environment(), dataDir: join(folder, 'data') })).rejects.toThrow('in use');
    const ports = (await readFile(join(folder, 'ports'), 'utf8')).trim().split('\n');
    expect(ports).toHaveLength(3);
    expect(new Set(ports).size).toBe(3);
    await vi.waitFor(async () => expect((await pids('etcd')).some(isAlive)).toBe(false), { timeout: 60_000 });
  });

  it('takes the rest of the local system down as well, and its folder', async () => {
    await standIn('etcd', 'exec sleep 600');
    await standIn('kube-apiserver', afterEtcd('exit 3'));
    const listeners = process.listenerCount('SIGINT');
    vi.stubEnv('TMPDIR', folder);
    await expect(
      startLocalSystem({ say, env: environment(), handlers: ['s3-bucket'], withoutCloud: true }),
    ).rejects.toThrow('starting kube-apiserver: it ended with code 3');
    expect((await readdir(folder)).filter((name) => name.startsWith('finalizer-bridge-'))).toEqual([]);
    expect((await pids('etcd')).some(isAlive)).toBe(false);
    expect(process.listenerCount('SIGINT')).toBe(listeners);
  });

  it('is given up when its start is aborted', async () => {
    await standIn('etcd', 'exec sleep 600');
    await standIn('kube-apiserver', afterEtcd(`echo >> ${folder}/begun; exec sleep 600`));
    vi.stubEnv('TMPDIR', folder);
    const abort = new AbortController();
    const starting = startLocalSystem({
      ...{ say, env: environment(), handlers: ['s3-bucket'], withoutCloud: true, signal: abort.signal },
    });
    const outcome = starting.then(
      () => 'started',
      (error: unknown) => error,
    );
    await vi.waitFor(async () => expect(await readdir(folder)).toContain('begun'), { timeout: 60_000 });
    abort.abort(new Error('not wanted any more'));

    expect(await outcome).toEqual(new Error('not wanted any more'));
    expect([...(await pids('etcd')), ...(await pids('kube-apiserver'))].some(isAlive)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.startsWith('finalizer-bridge-'))).toEqual([]);
  });
});
