/*
 * The admission policy that puts entries on objects as they are created: one policy, whose params are the rules themselves,
 * and one binding per kind, which hands it the accepted rules of that kind only, so that other kinds' rules cost a create
 * nothing. Needs MutatingAdmissionPolicy v1 (Kubernetes 1.36). Used by print.ts and by whatever installs the bridge.
 */
import { INJECTS_LABEL, type InjectedKind, injectsLabel } from '../../bridge/injects.ts';
import { kindName } from '../../bridge/kind-key.ts';
import { RULE_API_VERSION, RULE_KIND } from '../../bridge/rule-facts.ts';
import { matchConditions, patchExpression, variables } from './expressions.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';
const DEFAULT_PREFIX = 'finalizer-bridge';
/** The label with its own name that the API server puts on every namespace, and keeps there. */
const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Longest name of an object of these kinds. */
const NAME_MAX = 253;

/** A policy or a binding of one of these kinds, as it is applied. */
export type PolicyManifest<Kind extends string> = {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: Kind;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
};

/** The policy that gives entries at birth, or a binding of it. */
export type AdmissionManifest = PolicyManifest<'MutatingAdmissionPolicy' | 'MutatingAdmissionPolicyBinding'>;

export interface AdmissionOptions {
  /**
   * Name of the policy, and what the names of its bindings begin with; a DNS name. Both are cluster-scoped, as rules are:
   * there is one installation per cluster.
   */
  readonly prefix?: string;
  /** The namespaces in which objects get their entries; all of them unless told. What is in no namespace gets none then. */
  readonly namespaces?: readonly string[];
}

/**
 * The manifests for some kinds, the policy first. A kind's version does not matter: entries are put on in whichever
 * version an object is created, so that it is never converted on the way. No kinds give no manifests.
 */
export function admissionManifests(
  kinds: readonly InjectedKind[],
  { prefix = DEFAULT_PREFIX, namespaces }: AdmissionOptions = {},
): readonly AdmissionManifest[] {
  const distinct = [...new Map(kinds.map((kind) => [kindName(kind), kind])).values()];
  if (distinct.length === 0) return [];
  return [policy(distinct, prefix), ...distinct.map((kind) => binding(kind, prefix, namespaces))];
}

function policy(kinds: readonly InjectedKind[], prefix: string): AdmissionManifest {
  const description =
    'Puts the entry of each TeardownRule that selects an object on its finalizers, at creation. Depends on no rule: ' +
    'without rules it does nothing. Failures are ignored: the bridge then adds the entry to the live object.';
  return {
    apiVersion: API_VERSION,
    kind: 'MutatingAdmissionPolicy',
    metadata: metadata(prefix, description),
    spec: {
      paramKind: { apiVersion: RULE_API_VERSION, kind: RULE_KIND },
      matchConstraints: { matchPolicy: 'Exact', resourceRules: kinds.map(creation) },
      matchConditions,
      variables,
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patchExpression } }],
      failurePolicy: 'Ignore',
      // Whoever changes the object later and drops the entry by that does not have the last word.
      reinvocationPolicy: 'IfNeeded',
    },
  };
}

function binding(kind: InjectedKind, prefix: string, namespaces: readonly string[] | undefined): AdmissionManifest {
  const description = `Hands the policy the accepted TeardownRules for ${kindName(kind)}.`;
  return {
    apiVersion: API_VERSION,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: metadata(bindingName(kind, prefix), description),
    spec: {
      policyName: prefix,
      paramRef: {
        selector: { matchLabels: { [INJECTS_LABEL]: injectsLabel(kind) } },
        parameterNotFoundAction: 'Allow',
      },
      matchResources: { matchPolicy: 'Exact', ...within(kind, namespaces) },
    },
  };
}

/** A namespace selector lets through what is in no namespace, so that is left out by its scope. */
function within(kind: InjectedKind, namespaces: readonly string[] | undefined) {
  if (namespaces === undefined) return { resourceRules: [creation(kind)] };
  const isServed = { key: NAME_LABEL, operator: 'In', values: namespaces };
  return {
    namespaceSelector: { matchExpressions: [isServed] },
    resourceRules: [{ ...creation(kind), scope: 'Namespaced' }],
  };
}

function bindingName(kind: InjectedKind, prefix: string): string {
  const readable = `${prefix}-${kindName(kind)}`;
  return readable.length <= NAME_MAX ? readable : `${prefix}-${injectsLabel(kind)}`;
}

function creation({ group, resource }: InjectedKind) {
  return { apiGroups: [group], apiVersions: ['*'], resources: [resource], operations: ['CREATE'] };
}

function metadata(name: string, description: string): AdmissionManifest['metadata'] {
  return {
    name,
    labels: { 'app.kubernetes.io/name': DEFAULT_PREFIX },
    annotations: { 'kubernetes.io/description': description },
  };
}
