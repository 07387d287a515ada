/*
 * A test's own admission policy on the run's API server: bindings for its kinds, rules as params, objects that are born.
 * The policy and everything made through the scene is removed by `stop`: all of it would be seen by other tests' objects.
 */
import * as z from 'zod/mini';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { ENTRY_PREFIX, RULE_API_VERSION, RULE_KIND, RULE_RESOURCE } from '../../bridge/rule-facts.ts';
import { admissionManifests } from '../../infra/admission/manifests.ts';
import { ruleDefinition } from '../../infra/crd/definition.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { collectionOf, customKinds, definitionOf, type TestKind } from './admission-kinds.ts';
import { eventually } from './eventually.ts';

const RULES = `/apis/${RULE_API_VERSION}/${RULE_RESOURCE}`;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REGISTRATION = {
  MutatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
};
/** What the API server may take: it looks for new policies every second and for new kinds of params every half minute. */
const OBSERVED_WITHIN = 45_000;

const answered = z.looseObject({
  metadata: z.optional(
    z.looseObject({
      name: z.optional(z.string()),
      finalizers: z.optional(z.array(z.string())),
      labels: z.optional(z.record(z.string(), z.string())),
    }),
  ),
  message: z.optional(z.string()),
});

/** The answer to a create. */
export interface Birth {
  readonly status: number;
  /** Of the object that was, or would have been, created. */
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly name: string | undefined;
  /** What the API server said to a refusal. */
  readonly message: string | undefined;
}

export interface BirthOptions {
  readonly namespace?: string;
  /** Not stored. */
  readonly dryRun?: boolean;
}

export interface RuleOptions {
  /** Selectors, beside the kind. */
  readonly match?: Readonly<Record<string, unknown>>;
  /** The kind whose bindings find the rule; its own unless told, null for none. */
  readonly injects?: TestKind | null;
  readonly finalizers?: readonly string[];
}

export type Metadata = Readonly<Record<string, unknown>>;

/** Does something `count` times, a few at once. */
export async function repeat(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

export interface AdmissionScene {
  readonly kube: KubeClient;
  /** Name of the namespace, and what everything of the scene is called after. */
  readonly site: string;
  readonly widgets: TestKind;
  readonly depots: TestKind;
  /** The policy and its bindings, as applied. */
  readonly manifests: ReturnType<typeof admissionManifests>;
  /** Path of the rules. */
  readonly rulePath: string;
  /** Creates an object; a refusal is an answer too. */
  create(kind: TestKind, metadata: Metadata, options?: BirthOptions): Promise<Birth>;
  /** Creates a rule for a kind. @throws with the API server's words when it refuses the rule. */
  rule(name: string, kind: TestKind, options?: RuleOptions): Promise<void>;
  /** The entry of a rule. */
  entry(rule: string): string;
  /** Waits until the API server's policies know of every change of rules so far. */
  settled(): Promise<void>;
  /** Removes whatever was made. */
  stop(): Promise<void>;
}

/** Makes the rule kind, the test's kinds and the policy, and waits until the API server acts by them. */
export async function startAdmissionScene(
  kube: KubeClient,
  site: string,
  builtIn: readonly TestKind[] = [],
): Promise<AdmissionScene> {
  const { widgets, depots } = customKinds(site);
  const manifests = admissionManifests([widgets, depots, ...builtIn], { prefix: site });
  const made = new Set<string>();
  let sentinels = 0;
  const entry = (name: string) => `${ENTRY_PREFIX}${name}`;
  const create: AdmissionScene['create'] = async (kind, metadata, { namespace = site, dryRun = false } = {}) => {
    const path = collectionOf(kind, namespace);
    const birth = await post(kube, `${path}${dryRun ? '?dryRun=All' : ''}`, objectOf(kind, metadata));
    if (birth.status === 201 && !dryRun) made.add(`${path}/${birth.name}`);
    return birth;
  };
  const rule: AdmissionScene['rule'] = async (name, kind, options = {}) => {
    const { status, message } = await post(kube, RULES, ruleOf(name, kind, options));
    if (status !== 201) throw new Error(`creating rule ${name}: ${message}`);
    made.add(`${RULES}/${name}`);
  };
  // Rules come to the policies in order, so one that is made last and at work vouches for every change before it.
  const settled = async () => {
    const name = `${site}-sentinel-${sentinels++}`;
    const labels = { sentinel: name };
    await rule(name, widgets, { match: { labelSelector: { matchLabels: labels } } });
    const born = () => create(widgets, { name, labels }, { dryRun: true });
    const isAtWork = async () => (await born()).finalizers.includes(entry(name));
    await eventually(`rule ${name} is at work`, isAtWork, OBSERVED_WITHIN);
    await kube.request('DELETE', `${RULES}/${name}`);
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: site } };
  const definitions = [definitionOf(widgets, ['v1', 'v2']), definitionOf(depots)];
  const stop = async () => {
    // The policy first: while it is there, the last objects of a test would still get entries.
    for (const { kind, metadata } of manifests) await remove(kube, `${REGISTRATION[kind]}/${metadata.name}`);
    const paths = [...made];
    await repeat(paths.length, (index) => remove(kube, paths[index] ?? ''));
    await remove(kube, `/api/v1/namespaces/${site}`);
    for (const { metadata } of definitions) await remove(kube, `${DEFINITIONS}/${metadata.name}`);
  };
  await kube.apply([ruleDefinition, ...definitions, namespace, ...manifests]);
  await settled();
  return { kube, site, widgets, depots, manifests, rulePath: RULES, create, rule, entry, settled, stop };
}

function objectOf({ group, version, kind, rest }: TestKind, metadata: Metadata) {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata, ...rest };
}

function ruleOf(name: string, kind: TestKind, { match = {}, injects = kind, finalizers = [] }: RuleOptions) {
  const { group, version, resource } = kind;
  const labels = injects === null ? {} : { [INJECTS_LABEL]: injectsLabel(injects) };
  const work = { handler: 'sns-notify', target: { name: 'object.metadata.name' } };
  return {
    ...{ apiVersion: RULE_API_VERSION, kind: RULE_KIND, metadata: { name, labels, finalizers } },
    spec: { match: { group, version, resource, ...match }, ...work },
  };
}

async function post(kube: KubeClient, path: string, object: object): Promise<Birth> {
  const { status, body } = await kube.request('POST', path, object);
  const { metadata: { name, finalizers = [], labels = {} } = {}, message } = z.parse(answered, body);
  return { status, finalizers, labels, name, message };
}

async function remove(kube: KubeClient, path: string): Promise<void> {
  // The finalizer of a definition is the API server's own.
  if (!path.startsWith(DEFINITIONS)) {
    const none = { metadata: { finalizers: null } };
    await kube.request('PATCH', path, none, { contentType: 'application/merge-patch+json' });
  }
  const { status } = await kube.request('DELETE', path);
  if (status !== 404 && status >= 300) throw new Error(`removing ${path}: status ${status}`);
  const [, name] = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return;
  // There is no controller to finalize namespaces.
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } };
  await kube.request('PUT', `${path}/finalize`, namespace);
}
