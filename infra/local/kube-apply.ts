/*
 * Server-side apply of manifests to the local API server: resource names come from discovery, CustomResourceDefinitions are
 * waited for. Used by kube-client.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod/mini';

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.optional(z.string()) }),
});

/** Any Kubernetes object that can be applied. */
export type Manifest = z.infer<typeof manifest>;

type Send = (
  method: string,
  path: string,
  body?: unknown,
  options?: { readonly contentType?: string },
) => Promise<{ readonly status: number; readonly body: unknown }>;

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

const SERVED_WITHIN = 120_000;

/** Applies in order, with force, as field manager `local`. Throws at the first refusal, with the server's answer. */
export async function applyManifests(send: Send, manifests: readonly Manifest[]): Promise<readonly Manifest[]> {
  const applied: Manifest[] = [];
  for (const one of manifests) applied.push(await applyOne(send, one));
  return applied;
}

async function applyOne(send: Send, object: Manifest): Promise<Manifest> {
  const { name, namespace } = object.metadata;
  const what = `applying ${object.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const path = `${await collectionPath(send, object)}/${name}?fieldManager=local&force=true`;
  const answer = await send('PATCH', path, object, { contentType: 'application/apply-patch+yaml' });
  if (answer.status !== 200 && answer.status !== 201) throw new Error(`${what}: ${JSON.stringify(answer)}`);
  if (object.kind === 'CustomResourceDefinition') await waitUntilServed(send, object);
  return z.parse(manifest, answer.body);
}

async function collectionPath(send: Send, object: Manifest): Promise<string> {
  const group = object.apiVersion.includes('/') ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
  const found = z.safeParse(resourceList, (await send('GET', group)).body);
  const kinds = found.success ? found.data.resources : [];
  const resource = kinds.find((one) => one.kind === object.kind && !one.name.includes('/'));
  if (!resource) throw new Error(`applying ${object.kind} ${object.metadata.name}: ${group} does not serve that kind`);
  const { namespace = 'default' } = object.metadata;
  return resource.namespaced ? `${group}/namespaces/${namespace}/${resource.name}` : `${group}/${resource.name}`;
}

const definition = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ plural: z.string(), kind: z.string() }),
    versions: z.array(z.object({ name: z.string(), served: z.boolean() })),
  }),
});

/** Discovery lists the kind a little after the definition says Established, and lists answer a little after that. */
async function waitUntilServed(send: Send, object: Manifest): Promise<void> {
  const { group, names, versions } = z.parse(definition, object).spec;
  const deadline = performance.now() + SERVED_WITHIN;
  for (const { name } of versions.filter((version) => version.served)) {
    const root = `/apis/${group}/${name}`;
    for (;;) {
      const listed = z.safeParse(resourceList, (await send('GET', root)).body);
      const known = listed.success && listed.data.resources.some((one) => one.kind === names.kind);
      if (known && (await send('GET', `${root}/${names.plural}?limit=1`)).status === 200) break;
      if (performance.now() > deadline)
        throw new Error(`applying ${names.plural}.${group}: not served within ${SERVED_WITHIN / 1000} s`);
      await wait(20);
    }
  }
}
