/*
 * What a kubelet and the Job controller would do with the chart's Pods, where there is neither: the container that a Deployment
 * or a Job describes runs as a process, with its own arguments and environment, its configuration from the ConfigMap that it
 * mounts, and a token of the very ServiceAccount that it names; a Job then gets the status that its end gives it.
 * Only the image's paths are put where the bundles are. Used by the end-to-end tests of the chart.
 */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/mini';
import type { Kube } from '../../infra/local/kube.ts';
import { type Supervised, startSupervised } from '../../infra/local/supervised.ts';
import { eventually } from './eventually.ts';

const container = z.object({
  name: z.string(),
  command: z._default(z.array(z.string()), ['/nodejs/bin/node', '/app/main.mjs']),
  args: z._default(z.array(z.string()), []),
  env: z._default(z.array(z.object({ name: z.string(), value: z.string() })), []),
  volumeMounts: z._default(z.array(z.object({ name: z.string(), mountPath: z.string() })), []),
});
const podSchema = z.object({
  serviceAccountName: z.string(),
  containers: z.tuple([container]),
  volumes: z._default(z.array(z.object({ name: z.string(), configMap: z.object({ name: z.string() }) })), []),
});
const owner = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), uid: z.string() }),
  spec: z.object({ template: z.object({ spec: podSchema }) }),
});
const jobs = z.object({
  items: z.array(
    z.looseObject({
      ...owner.shape,
      status: z._default(z.object({ conditions: z._default(z.array(z.unknown()), []) }), { conditions: [] }),
    }),
  ),
});
const tokenRequest = z.object({ status: z.object({ token: z.string() }) });
const configMap = z.object({ data: z.record(z.string(), z.string()) });

type Owner = z.output<typeof owner>;

/** What a node has. */
export interface Node {
  readonly kube: Kube;
  /** Where its files are made. */
  readonly folder: string;
  /** The bundles in place of those of the image. */
  readonly image: { readonly bridge: string; readonly cli: string };
  /** What gives a bridge its AWS credentials. */
  readonly accessKeyId: string;
}

/** A container that runs. */
export interface Container extends Supervised {
  readonly token: string;
  /** All that it has said. */
  readonly logFile: string;
}

async function read<S extends z.ZodMiniType>(kube: Kube, path: string, schema: S): Promise<z.output<S>> {
  const { status, body } = await kube.request('GET', path);
  if (status !== 200) throw new Error(`reading ${path}: ${status} ${JSON.stringify(body)}`);
  return z.parse(schema, body);
}

/** Runs a Pod of a Deployment. */
export async function runDeployment(node: Node, namespace: string, name: string): Promise<Container> {
  return await runPod(node, await read(node.kube, `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, owner));
}

async function runPod({ kube, folder, image, accessKeyId }: Node, { metadata, spec }: Owner): Promise<Container> {
  const pod = spec.template.spec;
  const { namespace } = metadata;
  const [{ name, command, args, env, volumeMounts }] = pod.containers;
  const place = await mkdtemp(join(folder, `${metadata.name}-`));
  const paths = new Map([
    ['/nodejs/bin/node', process.execPath],
    ['node', process.execPath],
    ['/app/main.mjs', image.bridge],
    ['/app/cli/main.mjs', image.cli],
  ]);
  for (const mount of volumeMounts) {
    const from = pod.volumes.find((volume) => volume.name === mount.name)?.configMap.name;
    const { data } = await read(kube, `/api/v1/namespaces/${namespace}/configmaps/${from}`, configMap);
    await mkdir(join(place, mount.name));
    for (const [file, text] of Object.entries(data)) {
      await writeFile(join(place, mount.name, file), text);
      paths.set(`${mount.mountPath}/${file}`, join(place, mount.name, file));
    }
  }
  const token = await tokenOf(kube, namespace, pod.serviceAccountName);
  const kubeconfig = await kube.kubeconfigFor({ token, name: `${metadata.name}-${metadata.uid}`, namespace });
  const [executable = '', ...words] = [...command, ...args].map((word) => paths.get(word) ?? word);
  const logFile = join(place, 'log');
  const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: 'local' };
  const process_ = await startSupervised({
    ...{ name, command: executable, args: words, logFile },
    env: {
      HOME: place,
      KUBECONFIG: kubeconfig,
      ...keys,
      ...Object.fromEntries(env.map((one) => [one.name, one.value])),
    },
  });
  return { ...process_, token, logFile };
}

/** As the kubelet asks for one; throws when the ServiceAccount is not there. */
async function tokenOf(kube: Kube, namespace: string, account: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const answer = await kube.request('POST', path, body);
  if (answer.status !== 201) throw new Error(`requesting ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return z.parse(tokenRequest, answer.body).status.token;
}

/** Waits for a Job that has no end yet, runs it, and writes its end. Resolves with the exit code and what it said. */
export async function runNextJob(
  node: Node,
  namespace: string,
): Promise<{ readonly code: number; readonly said: string }> {
  const { kube } = node;
  const list = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const job = await eventually('there is a Job to run', async () =>
    (await read(kube, list, jobs)).items.find(({ status }) => status.conditions.length === 0),
  );
  const startTime = new Date().toISOString();
  const started = await runPod(node, job);
  const code = await started.exited;
  const now = new Date().toISOString();
  const condition = (type: string, reason: string) => ({
    ...{ type, status: 'True', reason, message: `container drain ended with exit code ${code}` },
    ...{ lastProbeTime: now, lastTransitionTime: now },
  });
  const status =
    code === 0
      ? {
          ...{ startTime, completionTime: now, succeeded: 1 },
          conditions: [
            condition('SuccessCriteriaMet', 'CompletionsReached'),
            condition('Complete', 'CompletionsReached'),
          ],
        }
      : {
          ...{ startTime, failed: 1 },
          conditions: [condition('FailureTarget', 'PodFailurePolicy'), condition('Failed', 'PodFailurePolicy')],
        };
  const path = `${list}/${job.metadata.name}/status`;
  const contentType = 'application/merge-patch+json';
  const answer = await kube.request('PATCH', path, { status }, { contentType });
  if (answer.status !== 200) throw new Error(`writing ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return { code, said: await readFile(started.logFile, 'utf8') };
}
