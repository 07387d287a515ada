/*
 * The kind that end-to-end tests delete objects of, and rules for it. Used by site.ts; each site has the kind in an API
 * group of its own. Its status is no subresource, so that a test can write all of an object at once.
 */
import type { Manifest } from '../../infra/local/kube-apply.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import type { Spec } from './rule-corpus.ts';

/** Per rule its name and what its spec has beside or instead of the usual. */
export type Rules = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Where a site's objects live, and the manifests that make that place. */
export interface BucketKind {
  readonly namespace: string;
  readonly group: string;
  readonly manifests: readonly Manifest[];
}

/** The kind of a site. */
export function bucketKind(site: string): BucketKind {
  const group = `${site}.e2e.example.com`;
  const definition = definitionOf(group, { plural: 'buckets', kind: 'Bucket' });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: site } };
  return { namespace: site, group, manifests: [namespace, definition] };
}

/** What a kind is called, and whether its objects have a namespace; they have one unless told. */
export interface KindNames {
  readonly plural: string;
  readonly kind: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  /** `v1` unless told. */
  readonly version?: string;
}

/** The definition of a kind with an open spec and status. */
export function definitionOf(
  group: string,
  { plural, kind, scope = 'Namespaced', version = 'v1' }: KindNames,
): Manifest {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

/** A rule for the objects whose label `rule` has its name. */
export function ruleFor(group: string, name: string, spec: Spec): { readonly metadata: object; readonly spec: Spec } {
  return {
    metadata: { name },
    spec: {
      match: { group, version: 'v1', resource: 'buckets', labelSelector: { matchLabels: { rule: name } } },
      handler: 's3-bucket',
      target: { bucket: 'object.status.bucketName', region: `'${LOCAL_REGION}'`, account: `'${LOCAL_ACCOUNT_ID}'` },
      ...spec,
    },
  };
}
