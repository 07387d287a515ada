/*
 * Rights of a site's bridge that come and go: verbs on one kind, of the site's group unless told otherwise, as an administrator gives and takes
 * them, beside those that the bridge was started with. Used by end-to-end tests over a site.
 */
import type { TestSite } from './site.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** The verbs of an administrator. */
export type Rights = ReturnType<typeof rightsOf>;

/** The verbs, bound to a site. */
export function rightsOf({ admin, name: account, group }: Pick<TestSite, 'admin' | 'name' | 'group'>) {
  const nameOf = (resource: string) => `${account}-${resource}`;
  return {
    /** Gives exactly these verbs on a kind, whatever was given before. */
    grant: async (resource: string, verbs: readonly string[] = ['get', 'list', 'watch', 'patch'], of = group) => {
      const metadata = { name: nameOf(resource) };
      const rules = [{ apiGroups: [of], resources: [resource], verbs }];
      const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: nameOf(resource) };
      const subjects = [{ kind: 'ServiceAccount', namespace: 'finalizer-bridge', name: account }];
      await admin.apply([
        { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules },
        { apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
      ]);
    },
    /** Takes them all. */
    revoke: async (resource: string) => {
      const { status } = await admin.request('DELETE', `/apis/${RBAC}/v1/clusterrolebindings/${nameOf(resource)}`);
      if (status !== 200) throw new Error(`revoking the rights on ${resource}: status ${status}`);
    },
  };
}
