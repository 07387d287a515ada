/*
 * Where kube-apiserver and etcd come from: KUBEBUILDER_ASSETS, our cache, the official envtest archive, a Go build of the
 * committed module files; in this order, and the first that works is taken. Used by kube.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../explain.ts';
import { type ArchiveSource, archivePins, unpackArchive } from './binaries-archive.ts';
import { buildFlags, buildWithGo } from './binaries-build.ts';
import { cached, cacheRoot, type Environment } from './cache.ts';
import type { Say } from './progress.ts';

export interface KubeBinaries {
  /** Absolute paths of executables. */
  readonly apiServer: string;
  readonly etcd: string;
}

export interface FindBinaries {
  readonly say: Say;
  readonly env: Environment;
  /** Node's names ("linux", "x64"); those of this machine unless told. */
  readonly platform?: string;
  readonly arch?: string;
  /** Where archives come from; the official release unless told. */
  readonly archive?: ArchiveSource;
  /** The Go command; `go` from PATH unless told. */
  readonly go?: string;
}

/** The version that is built; the archive carries the newest patch release that upstream has packed. */
const KUBERNETES_VERSION = '1.36.4';

/** Finds both binaries, getting them if need be (up to five minutes). Throws one line that says what to install. */
export async function findKubeBinaries(options: FindBinaries): Promise<KubeBinaries> {
  const { say, env, platform = process.platform, arch = process.arch } = options;
  if (env.KUBEBUILDER_ASSETS) return await inFolder(env.KUBEBUILDER_ASSETS, 'KUBEBUILDER_ASSETS');
  const folder = await cached({
    root: cacheRoot(env),
    key: `kube-${KUBERNETES_VERSION}-${await contentHash()}-${platform}-${arch}`,
    say,
    fill: (temporary) => fill(temporary, options),
  });
  return await inFolder(folder, 'the cache');
}

/** First the archive, then the build; both reasons are in the error when neither works. */
async function fill(folder: string, options: FindBinaries): Promise<void> {
  const { say, env, platform = process.platform, arch = process.arch, archive, go } = options;
  const reasons: string[] = [];
  try {
    return await unpackArchive({ folder, say, platform, arch, ...(archive ? { source: archive } : {}) });
  } catch (error) {
    reasons.push(explain(error));
    say(`envtest archive not used: ${explain(error)}`);
  }
  try {
    return await buildWithGo({ folder, say, env, version: KUBERNETES_VERSION, ...(go === undefined ? {} : { go }) });
  } catch (error) {
    reasons.push(explain(error));
  }
  throw new Error(
    `finding kube-apiserver and etcd: install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder that has both (${reasons.join('; ')})`,
  );
}

async function inFolder(folder: string, origin: string): Promise<KubeBinaries> {
  const found = { apiServer: join(folder, 'kube-apiserver'), etcd: join(folder, 'etcd') };
  for (const path of [found.apiServer, found.etcd]) {
    await access(path, constants.X_OK).catch((cause: unknown) => {
      throw new Error(`finding kube-apiserver and etcd: ${origin} has no executable ${path}`, { cause });
    });
  }
  return found;
}

/** Over everything that decides what the binaries are. */
async function contentHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const module of ['kube-apiserver', 'etcd']) {
    for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(import.meta.dirname, module, file)));
  }
  hash.update(JSON.stringify([buildFlags(KUBERNETES_VERSION), archivePins]));
  return hash.digest('hex').slice(0, 16);
}
