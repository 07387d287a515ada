/*
 * The bridge's rights in a cluster as manifests: a ClusterRole made from the kinds that its rules select, a Role for the lease
 * of its leader, and nothing beyond (infra/rights). Used by the local system, so that demo and tests run under the very
 * rights that the docs promise.
 */
import { LEASE_PLACE } from '../../bridge/leader-state.ts';
import { bridgeNeeds, type Extent, type Kind, policyRule, type Right } from '../rights/rights.ts';
import type { Manifest } from './kube-apply.ts';

export type { Kind } from '../rights/rights.ts';

/** Who gets the rights. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** ClusterRole, Role and bindings of one bridge. */
export function bridgeRights(
  kinds: readonly Kind[],
  account: Account,
  { rulesFromApi = false, namespaceSelectors = false }: Extent = {},
): readonly Manifest[] {
  const name = `finalizer-bridge-${account.namespace}-${account.name}`;
  return given(name, account, bridgeNeeds(kinds, { rulesFromApi, namespaceSelectors }));
}

/** Rights of an account: a ClusterRole, a Role in the lease's namespace, and their bindings. */
export function given(name: string, account: Account, rights: readonly Right[]): readonly Manifest[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  const roles = [
    { kind: 'ClusterRole', where: 'cluster', metadata: { name } },
    { kind: 'Role', where: LEASE_PLACE.namespace, metadata: { name, namespace: LEASE_PLACE.namespace } },
  ];
  return roles.flatMap(({ kind, where, metadata }) => [
    { apiVersion, kind, metadata, rules: rights.filter((right) => right.where === where).map(policyRule) },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup, kind, name }, subjects },
  ]);
}
