/*
 * The RoleBinding that gives the bridge its rights in a namespace, where it serves some only, and the finalizer that keeps
 * these rights while they are needed. Nothing but names. Put on and taken off by kept-rights.ts, taken off by a drain; the
 * chart gives the rights by these names (infra/rights).
 */
import type { ObjectPath } from './ports.ts';

/** The same name in each namespace: there is one installation per cluster. */
export const RIGHTS_BINDING = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' },
  name: 'finalizer-bridge',
} as const;

/** Not an entry: those begin with the domain itself. RBAC honours a binding that is being deleted until its last finalizer is off. */
export const RIGHTS_FINALIZER = 'rights.finalizer-bridge.dev/kept';

/** The path of the binding in a namespace. */
export function bindingIn(namespace: string): ObjectPath {
  return { ...RIGHTS_BINDING, namespace };
}
