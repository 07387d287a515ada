/*
 * Rights as RBAC gives them in a scene over fakes: in each namespace the bridge may do what it has to while the RoleBinding is
 * there, also while that is being deleted, and without it nothing; and what the namespace controller does to a namespace.
 * Used by the tests of a namespace that is deleted.
 */
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { ApiError, type KubeObject, type Watched } from '../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING } from '../../bridge/rights-binding.ts';
import type { RuleScene } from './rule-scene.ts';
import type { Call } from './stored-object.ts';

const { name: BINDING } = RIGHTS_BINDING;

/**
 * Makes namespaces, each with the binding, and lets it decide what may be done there; to be called before the bridge starts.
 * What it returns gives the rights in the whole cluster.
 */
export function bindRights({ cluster, kinds }: RuleScene, ...namespaces: readonly string[]): () => void {
  for (const name of namespaces) {
    cluster.create({ name, kind: NAMESPACES, namespace: undefined, finalizers: ['kubernetes'] });
    cluster.create({ name: BINDING, namespace: name, uid: `binding-in-${name}`, kind: RIGHTS_BINDING });
  }
  const isBound = ({ namespace }: Watched) => namespace === undefined || boundIn({ cluster }, namespace) !== undefined;
  const { before } = cluster;
  cluster.before = (call: Call) => {
    before(call);
    if (call.kind !== undefined && !isBound(call.kind)) throw new ApiError(`${call.verb} ${call.name}`, 403);
  };
  const lacking = kinds.lacking.bind(kinds);
  kinds.lacking = async (watched, verbs) => (isBound(watched) ? await lacking(watched, verbs) : verbs);
  return () => {
    cluster.before = before;
    kinds.lacking = lacking;
  };
}

/** The binding in a namespace. */
export function boundIn({ cluster }: Pick<RuleScene, 'cluster'>, namespace: string): KubeObject | undefined {
  return cluster.peek(BINDING, bindingIn(namespace));
}

/** Somebody deletes the binding. */
export function unbind({ cluster }: RuleScene, namespace: string): void {
  cluster.delete(BINDING, {}, bindingIn(namespace));
}

/** `kubectl delete namespace`, and the first round of the namespace controller: the binding before all else. */
export async function endNamespace(scene: RuleScene, namespace: string, objects: readonly string[]): Promise<void> {
  scene.cluster.delete(namespace, {}, NAMESPACES);
  if (boundIn(scene, namespace) !== undefined) unbind(scene, namespace);
  // What was watched under a right goes on until the watch is opened anew.
  for (const name of objects) await scene.delete(name);
}

/** The namespace controller's last round. */
export function finishNamespace({ cluster }: RuleScene, namespace: string): void {
  cluster.change(
    namespace,
    ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }),
    NAMESPACES,
  );
}
