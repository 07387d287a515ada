/*
 * The bridge's rights in a cluster: a ClusterRole made from the kinds that its rules select, a Role for the lease of its
 * leader, and nothing beyond.
 * Used by the local system, so that demo and tests run under the very rights that the docs promise.
 */
import { LEASE_PLACE } from '../../bridge/leader-state.ts';
import type { Manifest } from './kube-apply.ts';

/** A kind by API group and resource; the group of core is "". */
export interface Kind {
  readonly group: string;
  readonly resource: string;
}

/** Who gets the rights. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** What the bridge does beside holding the kinds. */
export interface Extent {
  /** Rules are TeardownRules in the API, not a file. */
  readonly rulesFromApi?: boolean;
  /** Rules may select namespaces by their labels. */
  readonly namespaceSelectors?: boolean;
}

const RULES_FROM_API = [
  { apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules/status'], verbs: ['patch'] },
];
const NAMESPACE_LABELS = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }];

const LEASES = { apiGroups: [LEASE_PLACE.group], resources: [LEASE_PLACE.resource] };
const LEASE = [
  { ...LEASES, resourceNames: [LEASE_PLACE.name], verbs: ['get', 'update'] },
  // A name cannot be asked for here: what is created has none yet when the right to do so is looked at.
  { ...LEASES, verbs: ['create'] },
];

/** ClusterRole, Role and bindings of one bridge. */
export function bridgeRights(
  kinds: readonly Kind[],
  account: Account,
  { rulesFromApi = false, namespaceSelectors = false }: Extent = {},
): readonly Manifest[] {
  const name = `finalizer-bridge-${account.namespace}-${account.name}`;
  const groups = Map.groupBy(kinds, ({ group }) => group);
  const rules = [...groups].map(([group, members]) => ({
    apiGroups: [group],
    resources: [...new Set(members.map(({ resource }) => resource))],
    verbs: ['get', 'list', 'watch', 'patch'],
  }));
  const fixed = [
    ...(rulesFromApi ? RULES_FROM_API : []),
    ...(namespaceSelectors ? NAMESPACE_LABELS : []),
    // The cluster's identity is the uid of this namespace.
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
  ];
  return [
    ...given('ClusterRole', { name }, { account, rules: [...rules, ...fixed] }),
    ...given('Role', { name, namespace: LEASE_PLACE.namespace }, { account, rules: LEASE }),
  ];
}

/** Rules and who has them. */
export interface Given {
  readonly account: Account;
  readonly rules: readonly object[];
}

/** A role and its binding to an account. */
export function given(
  kind: 'ClusterRole' | 'Role',
  metadata: { readonly name: string; readonly namespace?: string },
  { account, rules }: Given,
): readonly Manifest[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const roleRef = { apiGroup, kind, name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects },
  ];
}
