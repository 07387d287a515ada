/*
 * The bridge's rights in a cluster: a ClusterRole made from the kinds that its rules select, and nothing beyond.
 * Used by the local system, so that demo and tests run under the very rights that the docs promise.
 */
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

/** ClusterRole and binding of one bridge. */
export function bridgeRights(kinds: readonly Kind[], account: Account): readonly Manifest[] {
  const name = `finalizer-bridge-${account.namespace}-${account.name}`;
  const groups = Map.groupBy(kinds, ({ group }) => group);
  const rules = [...groups].map(([group, members]) => ({
    apiGroups: [group],
    resources: [...new Set(members.map(({ resource }) => resource))],
    verbs: ['get', 'list', 'watch', 'patch'],
  }));
  const fixed = [
    // The cluster's identity is the uid of this namespace.
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
  ];
  const api = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: `${api}/v1`, kind: 'ClusterRole', metadata: { name }, rules: [...rules, ...fixed] },
    {
      apiVersion: `${api}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: api, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
}
