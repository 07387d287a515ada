/*
 * The command lines of etcd and kube-apiserver. Used by kube.
 * Everything listens on 127.0.0.1; what is not named here has the server's own default.
 */
import { join } from 'node:path';
import type { KubeFiles } from './kube-files.ts';

export interface KubePorts {
  /** Of kube-apiserver, TLS. */
  readonly secure: number;
  /** Of etcd, for kube-apiserver. */
  readonly client: number;
  /** Of etcd, for other members, of which there are none. */
  readonly peer: number;
}

export function etcdArguments(files: KubeFiles, ports: KubePorts): readonly string[] {
  const client = `http://127.0.0.1:${ports.client}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    `--data-dir=${join(files.folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // A machine that loses power takes the whole local system with it; what a killed process wrote is kept.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiServerArguments(files: KubeFiles, ports: KubePorts): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.client}`,
    `--cert-dir=${files.folder}`,
    `--secure-port=${ports.secure}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // There is nothing behind the `kubernetes` Service, and a loopback address is refused in its endpoints.
    '--endpoint-reconciler-type=none',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--token-auth-file=${files.tokens}`,
    '--authorization-mode=RBAC',
    '--profiling=false',
  ];
}
