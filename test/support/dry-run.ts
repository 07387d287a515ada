/*
 * Manifests as the API server would take them: a dry run of each creation that refuses fields it does not know. The Pods of a
 * Deployment and of a Job, which no controller makes here, are tried as well, so that Pod security standards apply to them.
 * Used by the end-to-end tests of the chart.
 */
import { z } from 'zod/mini';
import type { KubeClient } from '../../infra/local/kube-client.ts';

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.optional(z.string()) }),
});
type Manifest = z.output<typeof manifestSchema>;
const resources = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});
const podOwner = z.object({
  spec: z.object({ template: z.object({ metadata: z.looseObject({}), spec: z.looseObject({}) }) }),
});

/** What the API server said to one; 201 is yes, 409 is that it is there already. */
export interface Tried {
  readonly what: string;
  readonly status: number;
  readonly message: string;
}

/** Tries each, and the Pods that each would make. */
export async function dryRuns(kube: KubeClient, manifests: readonly Manifest[]): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const manifest of manifests) {
    tried.push(await dryRun(kube, manifest));
    for (const pod of podsOf(manifest)) tried.push(await dryRun(kube, pod));
  }
  return tried;
}

function podsOf(manifest: Manifest): readonly Manifest[] {
  const { success, data } = podOwner.safeParse(manifest);
  if (!success) return [];
  const { metadata, spec } = data.spec.template;
  const { name, namespace } = manifest.metadata;
  // A ServiceAccount that is not there yet, or a class of priority, would be told before anything else.
  const { serviceAccountName: _, priorityClassName: __, ...pod } = spec;
  return [{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace }, spec: pod }];
}

async function dryRun(kube: KubeClient, manifest: Manifest): Promise<Tried> {
  const { apiVersion, kind, metadata } = manifest;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const listed = resources.safeParse((await kube.request('GET', root)).body);
  const resource = listed.data?.resources.find((one) => one.kind === kind && !one.name.includes('/'));
  const what = `${kind} ${metadata.name}`;
  if (resource === undefined) return { what, status: 404, message: `${root} does not serve it` };
  const place = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  const path = `${root}${place}/${resource.name}?dryRun=All&fieldValidation=Strict`;
  const { status, body } = await kube.request('POST', path, manifest);
  return { what, status, message: status === 201 ? '' : JSON.stringify(body) };
}
