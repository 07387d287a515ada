/*
 * kube-apiserver and etcd from the envtest archive that Kubernetes' controller-tools project releases, checked against
 * the sha512 that its envtest-releases.yaml lists. Used by binaries; where there is no network it fails within seconds.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { z } from 'zod/mini';
import { type Say, withHeartbeat } from './progress.ts';
import { run } from './run.ts';

const ARCHIVE_VERSION = '1.36.2';

/** sha512 of the archives, from envtest-releases.yaml of kubernetes-sigs/controller-tools at commit 2b2bbdfb5ed4d62cf0c665425c2a424223c46df8. */
export const archivePins: Readonly<Record<string, string>> = {
  'linux-x64':
    'ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08',
  'linux-arm64':
    '2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac',
  'darwin-x64':
    'b4fe9f973cd1992e3880f8b230ed32c0c243b83371591e3e3315f4404df2cdbef8ee94eeb9bb245b7e5feb987d5c4a76c43e0877654ab73f00d7bbc2b9984514',
  'darwin-arm64':
    '9278f9e5af556b2f1f2d139769c1f0d717c7b4426917fdebdba898bcb725a916e4910d6160886194ff9be9589ea7c5c32c2b8ae0754703874b7c8ba8ddfc41ce',
};

/** Where archives are and what they must be. */
export interface ArchiveSource {
  /** Folder of releases, without slash at the end. */
  readonly base: string;
  /** sha512 by `<platform>-<arch>` in Node's names. */
  readonly pins: Readonly<Record<string, string>>;
}

const officialArchive: ArchiveSource = {
  base: 'https://github.com/kubernetes-sigs/controller-tools/releases/download',
  pins: archivePins,
};

export interface UnpackArchive {
  readonly folder: string;
  readonly say: Say;
  readonly platform: string;
  readonly arch: string;
  readonly source?: ArchiveSource;
}

/** Puts both binaries into `folder`. Throws when there is no archive for the platform, no way to it, or it is not the pinned one. */
export async function unpackArchive({
  folder,
  say,
  platform,
  arch,
  source = officialArchive,
}: UnpackArchive): Promise<void> {
  const pin = source.pins[`${platform}-${arch}`];
  if (pin === undefined) throw new Error(`downloading the envtest archive: there is none for ${platform}-${arch}`);
  const name = `envtest-v${ARCHIVE_VERSION}`;
  const url = `${source.base}/${name}/${name}-${platform}-${arch === 'x64' ? 'amd64' : arch}.tar.gz`;
  const file = join(folder, 'archive.tar.gz');
  await download({ url, file, pin, say });
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  await run('tar', ['-xzf', file, '-C', unpacked]);
  for (const entry of await readdir(unpacked, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !['kube-apiserver', 'etcd'].includes(entry.name)) continue;
    await rename(join(entry.parentPath, entry.name), join(folder, entry.name));
    await chmod(join(folder, entry.name), 0o755);
  }
  await rm(unpacked, { recursive: true });
  await rm(file);
  const left = await readdir(folder);
  if (left.length !== 2) throw new Error(`unpacking ${url}: it holds ${left.join(', ') || 'neither binary'}`);
}

const failure = z.object({ cause: z.optional(z.unknown()) });

async function download({ url, file, pin, say }: { url: string; file: string; pin: string; say: Say }): Promise<void> {
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: 5_000 },
    headersTimeout: 15_000,
    bodyTimeout: 30_000,
  });
  try {
    const response = await fetch(url, { dispatcher }).catch((error: unknown) => {
      // undici wraps the telling error in "fetch failed".
      throw new Error(`downloading ${url}`, { cause: z.safeParse(failure, error).data?.cause ?? error });
    });
    if (!response.ok || response.body === null) throw new Error(`downloading ${url}: status ${response.status}`);
    const body = Readable.from(response.body);
    const sum = createHash('sha512');
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        sum.update(chunk);
        bytes += chunk.length;
        done(null, chunk);
      },
    });
    const detail = () => `${Math.round(bytes / 1_000_000)} MB`;
    await withHeartbeat({ say, what: `downloading ${url}`, detail }, () =>
      pipeline(body, counted, createWriteStream(file)),
    );
    const found = sum.digest('hex');
    if (found !== pin) throw new Error(`checking ${url}: its sha512 is ${found}, expected ${pin}`);
  } finally {
    await dispatcher.destroy();
  }
}
