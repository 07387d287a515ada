/*
 * Kinds that the tests of entries at birth create objects of: built-in ones, and custom ones in a group of the test's own.
 * Used by admission-scene.ts and by the tests themselves.
 */
import type { Manifest } from '../../infra/local/kube-apply.ts';

/** A kind and the least that an object of it needs. */
export interface TestKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly rest?: Readonly<Record<string, unknown>>;
}

const core = { group: '', version: 'v1' } as const;
const capacity = { storage: '1Gi' };
const accessModes = ['ReadWriteOnce'];

export const configMaps: TestKind = { ...core, resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
export const namespaces: TestKind = { ...core, resource: 'namespaces', kind: 'Namespace', namespaced: false };
export const claims: TestKind = {
  ...{ ...core, resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
  rest: { spec: { accessModes, resources: { requests: capacity } } },
};
export const volumes: TestKind = {
  ...{ ...core, resource: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false },
  rest: { spec: { accessModes, capacity, hostPath: { path: '/tmp/none' } } },
};

/** The custom kinds of a test: `widgets` live in namespaces, `depots` do not. */
export function customKinds(site: string) {
  const group = `${site}.example.com`;
  const widgets: TestKind = { group, version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };
  const depots: TestKind = { group, version: 'v1', resource: 'depots', kind: 'Depot', namespaced: false };
  return { widgets, depots };
}

/** The definition of a custom kind. */
export function definitionOf({ group, resource, kind, namespaced }: TestKind, versions = ['v1']): Manifest {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural: resource, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, schema })),
    },
  };
}

/** Path of a kind's objects. */
export function collectionOf({ group, version, resource, namespaced }: TestKind, namespace: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`;
}
