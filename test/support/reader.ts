/*
 * A reader of the documents who does what they say: a checkout, and a shell with kubectl, helm, npm, the AWS command line and
 * whatever the commands themselves install. Used by the tests that follow the documents over a chart installation.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { findAwsCli } from '../../infra/local/aws-cli.ts';
import { findHelm } from '../../infra/local/helm.ts';
import { findKubectl } from '../../infra/local/kubectl.ts';
import type { ChartInstallation } from './chart-installation.ts';
import { copyCheckout, deployDirectly, writeNpm } from './checkout.ts';
import { type Shell, shellIn } from './document-shell.ts';

/** A reader at work. */
export interface Reader {
  /** In the checkout, as administrator of the cluster. */
  readonly shell: Shell;
  /** Says of a Deployment what its controller says when its Pods are ready. */
  rolledOut(namespace: string, name: string): Promise<void>;
  stop(): Promise<void>;
}

const deployment = z.object({
  metadata: z.object({ generation: z.int() }),
  spec: z.object({ replicas: z.int() }),
});

/** A reader at an installation; `env` is set in the shell. */
export async function readerOf({ kube }: ChartInstallation, env: Readonly<Record<string, string>>): Promise<Reader> {
  const home = await mkdtemp(join(tmpdir(), 'finalizer-bridge-reader-'));
  const folder = join(home, 'checkout');
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_DEFAULT_REGION: 'eu-west-1' };
  const shell = shellIn(folder, { KUBECONFIG: kube.kubeconfig, ...keys, ...env });
  copyCheckout(folder);
  deployDirectly(folder);
  writeNpm(shell.bin);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  shell.install('kubectl', [await findKubectl(say)]);
  shell.install('helm', [await findHelm({ say })]);
  shell.install('aws', await findAwsCli(say));
  return {
    shell,
    rolledOut: async (namespace, name) => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
      const { metadata, spec } = z.parse(deployment, (await kube.request('GET', path)).body);
      const { replicas } = spec;
      const all = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      const status = { observedGeneration: metadata.generation, ...all };
      const contentType = 'application/merge-patch+json';
      const answer = await kube.request('PATCH', `${path}/status`, { status }, { contentType });
      if (answer.status !== 200) throw new Error(`writing ${path}: ${answer.status}`);
    },
    stop: () => rm(home, { recursive: true, force: true }),
  };
}
