/*
 * Where kube-apiserver and etcd are looked for, in order, and what is said when they are nowhere.
 * The archive comes from a server of the test and Go is a stand-in; the real build is what the end-to-end tests run on.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FindBinaries, findKubeBinaries } from '../../infra/local/binaries.ts';
import { type ArchiveSource, archivePins } from '../../infra/local/binaries-archive.ts';
import { freePorts } from '../../infra/local/free-port.ts';

let folder: string;
let archive: Buffer;
let server: Server;
let requests: (string | undefined)[];
let said: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
  archive = await makeArchive();
  requests = [];
  said = [];
  server = createServer((request, response) => {
    requests.push(request.url);
    response.end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

/** An archive with the layout of the official ones. */
async function makeArchive(): Promise<Buffer> {
  const inside = join(folder, 'controller-tools', 'envtest');
  await mkdir(inside, { recursive: true });
  for (const name of ['kube-apiserver', 'etcd', 'kubectl']) await writeFile(join(inside, name), `archived ${name}`);
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', folder, 'controller-tools']);
  return readFile(join(folder, 'a.tar.gz'));
}

function source(pin: string): ArchiveSource {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no address');
  return { base: `http://127.0.0.1:${address.port}`, pins: { 'linux-x64': pin } };
}

/** A stand-in for Go that writes what it was asked to build. */
async function fakeGo(): Promise<string> {
  const path = join(folder, 'go');
  await writeFile(
    path,
    `#!/bin/sh
[ "$1" = version ] && { echo go version go9.9; exit; }
while [ "$1" != -o ]; do flags="$flags $1"; shift; done
echo "$flags in $(basename "$PWD") cgo=$CGO_ENABLED $3" > "$2"
chmod +x "$2"
`,
  );
  await chmod(path, 0o755);
  return path;
}

function find(more: Partial<FindBinaries> = {}) {
  const env = { PATH: process.env.PATH, HOME: folder, ...more.env };
  return findKubeBinaries({ say: (line) => said.push(line), platform: 'linux', arch: 'x64', ...more, env });
}

const sha512 = (bytes: Buffer) => createHash('sha512').update(bytes).digest('hex');

describe('finding kube-apiserver and etcd', () => {
  it('takes those of KUBEBUILDER_ASSETS first, and refuses when one is missing there', async () => {
    await writeFile(join(folder, 'kube-apiserver'), '', { mode: 0o755 });
    const env = { KUBEBUILDER_ASSETS: folder };
    await expect(find({ env })).rejects.toThrow(`KUBEBUILDER_ASSETS has no executable ${join(folder, 'etcd')}`);
    await writeFile(join(folder, 'etcd'), '', { mode: 0o755 });
    expect(await find({ env })).toEqual({ apiServer: join(folder, 'kube-apiserver'), etcd: join(folder, 'etcd') });
    expect(requests).toEqual([]);
  });

  it('downloads the pinned archive once, and takes the cached copy after that', async () => {
    const first = await find({ archive: source(sha512(archive)) });
    const second = await find({ archive: source(sha512(archive)) });

    expect(await readFile(first.apiServer, 'utf8')).toBe('archived kube-apiserver');
    expect(await readFile(first.etcd, 'utf8')).toBe('archived etcd');
    expect(first.etcd.startsWith(join(folder, '.cache', 'finalizer-bridge'))).toBe(true);
    expect(second).toEqual(first);
    expect(requests).toEqual(['/envtest-v1.36.2/envtest-v1.36.2-linux-amd64.tar.gz']);
  });

  it('never uses an archive whose checksum is another, says so, and builds instead', async () => {
    const found = await find({ archive: source('0'.repeat(128)), go: await fakeGo() });

    expect(said.join('\n')).toContain(`its sha512 is ${sha512(archive)}, expected 000`);
    expect(await readFile(found.apiServer, 'utf8')).toBe(
      ' build -trimpath -ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1.36.4' +
        ' -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36' +
        ' in kube-apiserver cgo=0 k8s.io/kubernetes/cmd/kube-apiserver\n',
    );
    expect(await readFile(found.etcd, 'utf8')).toBe(
      ' build -trimpath -ldflags=-s -w in etcd cgo=0 go.etcd.io/etcd/server/v3\n',
    );
  });

  it('says in one line what to install when there is neither archive nor Go', async () => {
    const [closed] = await freePorts(1);
    const message = await find({
      archive: { base: `http://127.0.0.1:${closed}`, pins: archivePins },
      go: '/nowhere/go',
    }).then(
      () => 'found',
      (error: unknown) => String(error),
    );
    expect(message).toMatch(
      /^Error: finding kube-apiserver and etcd: install Go 1\.26 or newer, or set KUBEBUILDER_ASSETS .*ECONNREFUSED.*there is no such command\)$/,
    );
  });

  it('has no archive for a platform that upstream has none for', async () => {
    const attempt = find({ archive: source('x'), arch: 'mips', go: '/nowhere/go' });
    await expect(attempt).rejects.toThrow('there is none for linux-mips');
    expect(requests).toEqual([]);
  });
});
