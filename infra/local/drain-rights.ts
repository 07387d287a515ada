/*
 * The rights that `drain` needs in a cluster, for an account that has no others: what the chart gives the hook that runs
 * before an uninstallation. Used by the local system, so that tests run under the very rights that docs/leaving.md promises.
 */
import { LEASE_PLACE } from '../../bridge/leader-state.ts';
import { type Account, given, type Kind } from './bridge-rights.ts';
import type { Manifest } from './kube-apply.ts';

const RULES = { apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'] };

/** ClusterRole and binding. `release`: it may also give held objects up. */
export function drainRights(
  kinds: readonly Kind[],
  account: Account,
  { release = false }: { readonly release?: boolean } = {},
): readonly Manifest[] {
  const name = `finalizer-bridge-drain-${account.namespace}-${account.name}`;
  const rules = [
    ...kinds.map(({ group, resource }) => ({
      ...{ apiGroups: [group], resources: [resource] },
      verbs: ['get', 'list', 'patch'],
    })),
    { ...RULES, verbs: ['get', 'list', 'patch', 'delete', ...(release ? ['release'] : [])] },
    {
      ...{ apiGroups: [LEASE_PLACE.group], resources: [LEASE_PLACE.resource] },
      ...{ resourceNames: [LEASE_PLACE.name], verbs: ['get'] },
    },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
  ];
  return given('ClusterRole', { name }, { account, rules });
}
