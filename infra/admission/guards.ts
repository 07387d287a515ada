/*
 * The policies that guard words, records, entries and the bridge's own account: ValidatingAdmissionPolicy v1 (Kubernetes
 * 1.30), each with its binding. Used by print.ts and by tests; the chart's templates say the same, which a test compares.
 * They fail closed: they run inside the API server, and an expression that fails would otherwise be a way around them.
 */
import type { InjectedKind } from '../../bridge/injects.ts';
import { kindName } from '../../bridge/kind-key.ts';
import { RIGHTS_BINDING } from '../../bridge/rights-binding.ts';
import { RULE_GROUP, RULE_RESOURCE } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';
import * as limits from './limits.ts';
import type { PolicyManifest } from './manifests.ts';
import * as removals from './removals.ts';
import * as words from './words.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';
const DEFAULT_PREFIX = 'finalizer-bridge';

/** A ServiceAccount. */
export interface GuardedAccount {
  readonly namespace: string;
  readonly name: string;
}

/** What is guarded, and for whom. */
export interface GuardOptions {
  /** What the names of the policies begin with; a DNS name. */
  readonly prefix?: string;
  readonly bridge: GuardedAccount;
  /** Of the hook that drains before an uninstallation. */
  readonly drain?: GuardedAccount;
  /** Words and records; on unless told. */
  readonly words?: boolean;
  /** What the two accounts may change; on unless told. */
  readonly limits?: boolean;
  /** Entries that others take off; off unless told. */
  readonly entries?: 'Off' | removals.Guarded;
}

/** A guarding policy or its binding. */
export type GuardManifest = PolicyManifest<'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding'>;

interface Guard {
  readonly name: 'words' | 'limits' | 'entries';
  readonly description: string;
  readonly resourceRules: readonly object[];
  readonly matchConditions: readonly NamedExpression[];
  readonly variables: readonly NamedExpression[];
  readonly validations: readonly words.Validation[];
}

/** The user name of a ServiceAccount. */
export const userOf = ({ namespace, name }: GuardedAccount) => `system:serviceaccount:${namespace}:${name}`;

/** The manifests for some kinds, each policy before its binding. No kinds give none. */
export function guardManifests(kinds: readonly InjectedKind[], options: GuardOptions): readonly GuardManifest[] {
  const { prefix = DEFAULT_PREFIX, words: hasWords = true, limits: hasLimits = true, entries = 'Off' } = options;
  const distinct = [...new Map(kinds.map((kind) => [kindName(kind), kind])).values()];
  if (distinct.length === 0) return [];
  const guards = [
    ...(hasWords ? [wordsGuard(distinct, options)] : []),
    ...(hasLimits ? [limitsGuard(distinct, options)] : []),
    ...(entries === 'Off' ? [] : [entriesGuard(distinct, options, entries)]),
  ];
  return guards.flatMap((guard) => [policy(guard, prefix), binding(guard, prefix)]);
}

function wordsGuard(kinds: readonly InjectedKind[], { bridge }: GuardOptions): Guard {
  return {
    name: 'words',
    description:
      "Lets a person's words on an object (release, approve, retry, and the reason of a release) be written, changed and " +
      "removed by who has that verb on the TeardownRule, and the bridge's records by the bridge. What does not name the " +
      'uid of the object says nothing, and is let be.',
    resourceRules: kinds.map((kind) => written(kind, ['CREATE', 'UPDATE'])),
    matchConditions: words.matchConditions(userOf(bridge)),
    variables: words.variables,
    validations: words.validations,
  };
}

function limitsGuard(kinds: readonly InjectedKind[], options: GuardOptions): Guard {
  const { bridge, drain } = options;
  return {
    name: 'limits',
    description:
      'Lets the accounts of the bridge and its drain change nothing of an object but our entries and annotations, of a ' +
      'TeardownRule also our label, and of a RoleBinding the finalizer that keeps their rights.',
    resourceRules: [
      ...kinds.map((kind) => written(kind, ['*'])),
      // Its status is the bridge's to write.
      { apiGroups: [RULE_GROUP], apiVersions: ['*'], resources: [RULE_RESOURCE], operations: ['*'] },
      // Whoever may patch a binding could give the rights to somebody else, as long as it has them itself.
      {
        ...{ apiGroups: [RIGHTS_BINDING.group], apiVersions: ['*'] },
        ...{ resources: [RIGHTS_BINDING.resource], operations: ['*'] },
      },
    ],
    matchConditions: limits.matchConditions(accountsOf(options)),
    variables: limits.variables,
    validations: limits.validations(userOf(bridge), drain === undefined ? undefined : userOf(drain)),
  };
}

function entriesGuard(kinds: readonly InjectedKind[], options: GuardOptions, guarded: removals.Guarded): Guard {
  return {
    name: 'entries',
    description:
      'Lets an entry of ours be taken off by the bridge, its drain, and who has the verb release on the TeardownRule.',
    resourceRules: kinds.map((kind) => written(kind, ['UPDATE'])),
    matchConditions: removals.matchConditions(guarded, accountsOf(options)),
    variables: removals.variables,
    validations: removals.validations,
  };
}

/** A kind with its subresources, by several of which metadata can be written. */
function written({ group, resource }: InjectedKind, operations: readonly string[]) {
  return { apiGroups: [group], apiVersions: ['*'], resources: [resource, `${resource}/*`], operations };
}

const accountsOf = ({ bridge, drain }: GuardOptions) => [bridge, ...(drain === undefined ? [] : [drain])].map(userOf);

function policy(guard: Guard, prefix: string): GuardManifest {
  const { name, description, resourceRules, matchConditions, variables, validations } = guard;
  return {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: metadata(`${prefix}-${name}`, description),
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules },
      matchConditions,
      ...(variables.length === 0 ? {} : { variables }),
      validations: validations.map(({ expression, because }) => ({
        ...{ expression, messageExpression: because, reason: 'Forbidden' },
      })),
    },
  };
}

function binding({ name }: Guard, prefix: string): GuardManifest {
  return {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: metadata(`${prefix}-${name}`, `Puts the policy ${prefix}-${name} in force.`),
    spec: { policyName: `${prefix}-${name}`, validationActions: ['Deny'] },
  };
}

function metadata(name: string, description: string): GuardManifest['metadata'] {
  return {
    name,
    labels: { 'app.kubernetes.io/name': DEFAULT_PREFIX },
    annotations: { 'kubernetes.io/description': description },
  };
}
