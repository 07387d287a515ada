/*
 * The guarding policies of a test on the run's API server, over kinds of its own and some built-in ones, with users who
 * have exactly the rights that the test gives them. No bridge runs: what is shown is what the API server lets pass.
 * Everything is removed by `stop`, the policies first, since other tests write on the built-in kinds, too.
 */
import * as z from 'zod/mini';
import { type GuardOptions, guardManifests, userOf } from '../../infra/admission/guards.ts';
import { ruleDefinition } from '../../infra/crd/definition.ts';
import type { Manifest } from '../../infra/local/kube-apply.ts';
import type { KubeClient, KubeRequestOptions } from '../../infra/local/kube-client.ts';
import { claims, collectionOf, configMaps, type TestKind } from './admission-kinds.ts';
import { eventually } from './eventually.ts';
import { inForce } from './rights-in-force.ts';

const RBAC = 'rbac.authorization.k8s.io';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const RULES = { apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'] };
const SUBRESOURCES = ['status', 'scale', 'binding'];
const PATCHES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const answered = z.looseObject({ message: z.optional(z.string()) });
const objectSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    creationTimestamp: z.string(),
    labels: z.optional(z.record(z.string(), z.string())),
    annotations: z.optional(z.record(z.string(), z.string())),
    finalizers: z.optional(z.array(z.string())),
    deletionTimestamp: z.optional(z.string()),
  }),
});

/** An object as the API server has it. */
export type Stored = z.output<typeof objectSchema>;

/** An object in the hands of a test. */
export interface Held {
  readonly path: string;
  readonly name: string;
  readonly uid: string;
  readonly kind: TestKind;
}

/** The answer to a write; `said` is what the API server says to a refusal. */
export interface Tried {
  readonly status: number;
  readonly said: string;
}

/** A caller: one request, as this user. */
export interface User {
  readonly name: string;
  send(method: string, path: string, body?: unknown, options?: KubeRequestOptions): Promise<Tried>;
  merge(thing: Pick<Held, 'path'>, metadata: object, query?: string): Promise<Tried>;
  json(thing: Pick<Held, 'path'>, operations: readonly object[]): Promise<Tried>;
  /** Takes the place of the object as it was read just now, changed. */
  put(thing: Held, change: (object: Stored) => object, subresource?: string): Promise<Tried>;
  apply(thing: Held, metadata: object): Promise<Tried>;
}

/** Verbs on rules, by name where some are named, beside all verbs on the scene's kinds. */
export interface RightsOnRules {
  readonly verbs: readonly string[];
  readonly names?: readonly string[];
}

export interface GuardScene {
  readonly kube: KubeClient;
  readonly site: string;
  readonly widgets: TestKind;
  readonly admin: User;
  /** A user who may write all kinds of the scene, and on rules what is told; `here`: in the scene's namespace only. */
  user(name: string, onRules?: RightsOnRules, where?: 'everywhere' | 'here'): Promise<User>;
  made(kind: TestKind, metadata: object, rest?: object): Promise<Held>;
  read(thing: Pick<Held, 'path'>): Promise<Stored>;
  stop(): Promise<void>;
}

/** A kind with a status and a scale of its own, in two versions. */
function definitionOf(group: string): Manifest {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const version = (name: string, storage: boolean) => ({
    ...{ name, served: true, storage, subresources: { status: {}, scale } },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open, data: open } } },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', versions: [version('v1', true), version('v2', false)] },
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    },
  };
}

export const pods: TestKind = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
  rest: { spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'none' }] } },
};

/** Makes the kinds and the policies, and waits until the API server acts by them. */
export async function startGuardScene(
  kube: KubeClient,
  site: string,
  options: Omit<GuardOptions, 'prefix'>,
): Promise<GuardScene> {
  const group = `${site}.example.com`;
  const widgets: TestKind = { group, version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };
  const kinds = [widgets, configMaps, claims, pods];
  const definition = definitionOf(group);
  const policies = guardManifests(kinds, { ...options, prefix: site });
  const made: string[] = [];
  const admin = userWith(kube, 'admin', {});
  const read: GuardScene['read'] = async ({ path }) => z.parse(objectSchema, (await kube.request('GET', path)).body);
  const scene: Omit<GuardScene, 'stop'> = {
    ...{ kube, site, widgets, admin, read },
    user: (name, onRules, where = 'everywhere') => makeUser({ kube, site, kinds }, { name, onRules, where }),
    made: async (kind, metadata, rest = kind.rest ?? {}) => {
      const { group: of, version, kind: word } = kind;
      const apiVersion = of === '' ? version : `${of}/${version}`;
      const collection = collectionOf(kind, site);
      const { status, body } = await kube.request('POST', collection, { apiVersion, kind: word, metadata, ...rest });
      if (status !== 201) throw new Error(`creating a ${word}: ${JSON.stringify(body)}`);
      const { name, uid } = z.parse(objectSchema, body).metadata;
      made.push(`${collection}/${name}`);
      return { path: `${collection}/${name}`, name, uid, kind };
    },
  };
  const stop = async () => {
    for (const { kind, metadata } of policies) {
      const plural =
        kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
      await kube.request('DELETE', `${REGISTRATION}/${plural}/${metadata.name}`);
    }
    const free = { metadata: { finalizers: null } };
    for (const path of made) {
      await eventually(`${path} may be freed`, async () => {
        const { status } = await kube.request('PATCH', path, free, { contentType: PATCHES.merge });
        return status < 400 || status === 404;
      });
      await kube.request('DELETE', `${path}?gracePeriodSeconds=0`);
    }
    await kube.request('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`);
  };
  await kube.apply([
    ruleDefinition,
    definition,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: site } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: site } },
    ...policies,
  ]);
  return { ...scene, stop };
}

interface Ground {
  readonly kube: KubeClient;
  readonly site: string;
  readonly kinds: readonly TestKind[];
}

interface UserWanted {
  readonly name: string;
  readonly onRules?: RightsOnRules | undefined;
  readonly where: 'everywhere' | 'here';
}

async function makeUser({ kube, site, kinds }: Ground, { name, onRules, where }: UserWanted): Promise<User> {
  const { token } = await kube.serviceAccount(site, name);
  const subjects = [{ kind: 'ServiceAccount', namespace: site, name }];
  const bound = (kind: 'Role' | 'ClusterRole', called: string, rules: readonly object[]): Manifest[] => {
    const metadata = { name: called, ...(kind === 'Role' ? { namespace: site } : {}) };
    const roleRef = { apiGroup: RBAC, kind, name: called };
    return [
      { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
      { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects },
    ];
  };
  const all = kinds.map(({ group, resource }) => ({
    ...{ apiGroups: [group], resources: [resource, ...SUBRESOURCES.map((one) => `${resource}/${one}`)], verbs: ['*'] },
  }));
  const named = onRules?.names === undefined ? {} : { resourceNames: onRules.names };
  const words = onRules === undefined ? [] : [{ ...RULES, ...named, verbs: onRules.verbs }];
  await kube.apply(bound('ClusterRole', `${site}-${name}-kinds`, all));
  await kube.apply(bound(where === 'here' ? 'Role' : 'ClusterRole', `${site}-${name}-rules`, words));
  const ofRules = { group: 'finalizer-bridge.dev', resource: 'teardownrules', namespace: site };
  await inForce(kube, token, [
    ...kinds.map((kind) => ({ group: kind.group, resource: kind.resource, verb: 'patch', namespace: site })),
    ...(onRules?.verbs ?? []).flatMap((verb) =>
      (onRules?.names ?? ['any']).map((called) => ({ ...ofRules, verb, name: called })),
    ),
  ]);
  return userWith(kube, userOf({ namespace: site, name }), { token });
}

/** A user by a token, or as whom the admin acts. */
export function userWith(kube: KubeClient, name: string, by: KubeRequestOptions): User {
  const send: User['send'] = async (method, path, body, options = {}) => {
    const answer = await kube.request(method, path, body, { ...by, ...options });
    const { message = '' } =
      typeof answer.body === 'string' ? { message: answer.body } : z.parse(answered, answer.body);
    return { status: answer.status, said: answer.status < 300 ? '' : message };
  };
  return {
    ...{ name, send },
    merge: ({ path }, metadata, query = '') =>
      send('PATCH', `${path}${query}`, { metadata }, { contentType: PATCHES.merge }),
    json: ({ path }, operations) => send('PATCH', path, operations, { contentType: PATCHES.json }),
    put: async ({ path }, change, subresource = '') => {
      const object = z.parse(objectSchema, (await kube.request('GET', path)).body);
      return await send('PUT', `${path}${subresource}`, change(object));
    },
    apply: async ({ path, kind, name: called }, metadata) => {
      const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
      const manifest = { apiVersion, kind: kind.kind, metadata: { name: called, ...metadata } };
      return await send('PATCH', `${path}?fieldManager=them&force=true`, manifest, { contentType: PATCHES.apply });
    },
  };
}
