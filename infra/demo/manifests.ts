/*
 * Reads what the demo applies, from the YAML files in manifests/, which the documentation shows as they are.
 * Called by stage.ts and outside.ts. Each file is what `kubectl apply -f` takes, but for functions.yaml.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod/mini';
import type { Manifest } from '../local/kube-apply.ts';

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.optional(z.string()) }),
});
const definition = z.object({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string(), plural: z.string(), singular: z.string() }),
    versions: z.array(z.object({ name: z.string() })).check(z.minLength(1)),
  }),
});
const rule = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('TeardownRule'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ match: z.looseObject({ group: z.string(), resource: z.string() }), handler: z.string() }),
});

/** A rule as it is written, as far as the demo looks at it. */
export type RuleManifest = z.output<typeof rule>;

/** A kind of the demo and where the API server has it. */
export interface DemoKind {
  readonly kind: string;
  readonly group: string;
  /** The plural, as in paths. */
  readonly resource: string;
  /** As kubectl takes it. */
  readonly singular: string;
  /** API path of its objects in a namespace. */
  readonly path: string;
  readonly rule: RuleManifest;
}

/** Everything the demo applies or hands to bridge and functions. */
export interface DemoManifests {
  readonly definitions: readonly Manifest[];
  readonly namespace: Manifest;
  readonly objects: readonly Manifest[];
  readonly rules: readonly RuleManifest[];
  readonly kinds: readonly DemoKind[];
  /** Name patterns that a function may touch, by handler. */
  readonly allowed: Readonly<Record<string, readonly string[]>>;
}

/** Reads and checks the files. @throws with the path of what is wrong in them. */
export function readManifests(folder = join(import.meta.dirname, 'manifests')): DemoManifests {
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const documents = (name: string) => parseAllDocuments(text(name)).map((one) => z.parse(manifest, one.toJS()));
  const definitions = documents('kinds.yaml');
  const [namespace, ...objects] = documents('objects.yaml');
  if (namespace?.kind !== 'Namespace') throw new Error('reading objects.yaml: it does not begin with the Namespace');
  const rules = parseAllDocuments(text('rules.yaml')).map((one) => z.parse(rule, one.toJS()));
  const allowed = z.parse(z.record(z.string(), z.array(z.string())), parse(text('functions.yaml')));
  const kinds = definitions.map((one) => kindOf(one, { namespace: namespace.metadata.name, rules }));
  return { definitions, namespace, objects, rules, kinds, allowed };
}

interface Surroundings {
  readonly namespace: string;
  readonly rules: readonly RuleManifest[];
}

function kindOf(one: Manifest, { namespace, rules }: Surroundings): DemoKind {
  const { group, names, versions } = z.parse(definition, one).spec;
  const { kind, plural, singular } = names;
  const held = rules.find(({ spec }) => spec.match.group === group && spec.match.resource === plural);
  if (held === undefined) throw new Error(`reading rules.yaml: no rule holds ${plural}.${group}`);
  const path = `/apis/${group}/${versions[0]?.name}/namespaces/${namespace}/${plural}`;
  return { kind, group, resource: plural, singular, path, rule: held };
}
