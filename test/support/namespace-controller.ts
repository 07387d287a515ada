/*
 * What the namespace controller of Kubernetes does to a namespace that is being deleted, where there is none: it deletes all that
 * is in it, rights first in these tests, and lets the namespace go when nothing is left. Used by end-to-end tests on API servers
 * without controllers.
 */
import { z } from 'zod/mini';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { eventually } from './eventually.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const list = z.object({ items: z.array(z.unknown()) });

/** A namespace that is being deleted. */
export interface EndingNamespace {
  /** The kinds of which something is left, as paths. */
  left(): Promise<readonly string[]>;
  /** Goes on until nothing is left, and lets it go. */
  over(timeout: number): Promise<void>;
}

/** Deletes a namespace, and in it rights and then objects of these kinds, `storage.example.com/v1/buckets`. */
export async function endNamespace(kube: KubeClient, name: string, kinds: readonly string[]): Promise<EndingNamespace> {
  const namespace = `/api/v1/namespaces/${name}`;
  const collections = [
    ...['rolebindings', 'roles'].map((kind) => `${RBAC}/namespaces/${name}/${kind}`),
    ...kinds.map(
      (kind) => `/apis/${kind.slice(0, kind.lastIndexOf('/'))}/namespaces/${name}${kind.slice(kind.lastIndexOf('/'))}`,
    ),
  ];
  await answered(kube, 'DELETE', namespace);
  const round = async () => {
    for (const path of collections) await answered(kube, 'DELETE', path);
  };
  const left = async () => {
    const found: string[] = [];
    for (const path of collections) {
      const { items } = z.parse(list, await answered(kube, 'GET', path));
      if (items.length > 0) found.push(path);
    }
    return found;
  };
  await round();
  return {
    left,
    over: async (timeout) => {
      await eventually(
        `namespace ${name} is empty`,
        async () => {
          await round();
          return (await left()).length === 0;
        },
        timeout,
      );
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } };
      await answered(kube, 'PUT', `${namespace}/finalize`, body);
    },
  };
}

async function answered(kube: KubeClient, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await kube.request(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
