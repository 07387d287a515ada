/*
 * kube-apiserver and etcd built from their Go modules at the versions in the committed go.mod and go.sum, whose checksums
 * Go verifies. Used by binaries when there is neither a cached copy nor an archive; takes four minutes the first time on two cores.
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { type Say, withHeartbeat } from './progress.ts';
import { run } from './run.ts';

interface Program {
  readonly name: 'kube-apiserver' | 'etcd';
  readonly package: string;
  readonly ldflags: string;
}

function programs(kubernetesVersion: string): readonly Program[] {
  const [major, minor] = kubernetesVersion.split('.');
  const stamp = 'k8s.io/component-base/version.git';
  // Without the stamp the server calls itself v0.0.0, which clients take for too old.
  const version = `-X ${stamp}Version=v${kubernetesVersion} -X ${stamp}Major=${major} -X ${stamp}Minor=${minor}`;
  return [
    { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' },
    { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', ldflags: `-s -w ${version}` },
  ];
}

/** What decides the result beside the module files; part of the cache key. */
export function buildFlags(kubernetesVersion: string): readonly string[] {
  return programs(kubernetesVersion).map(({ package: path, ldflags }) => `${path} -trimpath ${ldflags} CGO_ENABLED=0`);
}

export interface BuildWithGo {
  readonly folder: string;
  readonly say: Say;
  readonly env: Environment;
  /** The Kubernetes version stamped into the server. */
  readonly version: string;
  readonly go?: string;
  /** Both unless told. */
  readonly only?: readonly Program['name'][];
}

/** Builds into `folder`. Throws with Go's last words when Go is missing or the build fails. */
export async function buildWithGo({ folder, say, env, version, go = 'go', only }: BuildWithGo): Promise<void> {
  const found = await run(go, ['version'], { env });
  say(`building with ${found.trim()}`);
  for (const { name, package: path, ldflags } of programs(version)) {
    if (only && !only.includes(name)) continue;
    await withHeartbeat({ say, what: `building ${name} from its Go module` }, () =>
      run(go, ['build', '-trimpath', `-ldflags=${ldflags}`, '-o', join(folder, name), path], {
        cwd: join(import.meta.dirname, name),
        env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' },
      }),
    );
  }
}
