/*
 * JSON Schemas of kinds, made from what the API server itself publishes (/openapi/v3), closed: a field that it does not know
 * is a fault. For kubeconform, which has no other source of schemas here. Used by the end-to-end tests of the chart.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/mini';
import type { KubeClient } from '../../infra/local/kube-client.ts';

const PREFIX = '#/components/schemas/';
const named = z.looseObject({
  'x-kubernetes-group-version-kind': z.optional(
    z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() })),
  ),
});
const openApi = z.object({ components: z.object({ schemas: z.record(z.string(), named) }) });
const mapping = z.record(z.string(), z.unknown());

/** A kind as its manifests name it. */
export interface NamedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Writes the schemas of these kinds into a folder; returns kubeconform's `-schema-location`. */
export async function writeSchemas(kube: KubeClient, kinds: readonly NamedKind[], folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const byVersion = Map.groupBy(kinds, ({ apiVersion }) => apiVersion);
  for (const [apiVersion, members] of byVersion) {
    const [group, version = group] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${apiVersion}`;
    const { schemas } = z.parse(openApi, (await kube.request('GET', path)).body).components;
    for (const kind of new Set(members.map((member) => member.kind))) {
      const isIt = ([, schema]: [string, z.output<typeof named>]) =>
        schema['x-kubernetes-group-version-kind']?.some(
          (one) => one.group === group && one.version === version && one.kind === kind,
        );
      const [name] = Object.entries(schemas).find(isIt) ?? [];
      if (name === undefined) throw new Error(`looking for the schema of ${apiVersion} ${kind}: ${path} has none`);
      // What kubeconform calls the group of a core kind is its version.
      const file = `${kind}-${group === '' ? version : group}-${version}.json`.toLowerCase();
      await writeFile(join(folder, file), JSON.stringify(schemaOf(name, schemas)));
    }
  }
  return join(folder, '{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json');
}

/** One schema with all that it refers to. */
function schemaOf(name: string, schemas: Readonly<Record<string, unknown>>): object {
  const definitions: Record<string, unknown> = {};
  const add = (wanted: string): string => {
    if (!Object.hasOwn(definitions, wanted)) {
      definitions[wanted] = {};
      definitions[wanted] = closed(schemas[wanted], add);
    }
    return `#/definitions/${wanted}`;
  };
  return { $schema: 'http://json-schema.org/draft-07/schema#', $ref: add(name), definitions };
}

/** A node with its references followed, and with no other fields than it names. */
function closed(node: unknown, add: (name: string) => string): unknown {
  if (Array.isArray(node)) return node.map((one) => closed(one, add));
  const { success, data } = mapping.safeParse(node);
  if (!success) return node;
  if (typeof data.$ref === 'string') return { $ref: add(data.$ref.replace(PREFIX, '')) };
  // Formats are Kubernetes' own: int-or-string, byte, int64.
  const entries = Object.entries(data).filter(([key, value]) => !(key === 'format' && typeof value === 'string'));
  const inner = Object.fromEntries(entries.map(([key, value]) => [key, closed(value, add)]));
  if (data['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const isOpen = data['x-kubernetes-preserve-unknown-fields'] === true || Object.hasOwn(data, 'additionalProperties');
  return Object.hasOwn(data, 'properties') && data.type === 'object' && !isOpen
    ? { ...inner, additionalProperties: false }
    : inner;
}
