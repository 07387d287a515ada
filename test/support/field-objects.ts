/*
 * Objects of kinds whose schemas differ in every way that matters to paths, as JSON for an API server, and the kind of
 * our own among them. Used by the end-to-end test of unknown fields, which also asks what each place of them may hold.
 */
import type { KindRef } from '../../bridge/ports.ts';
import type { Manifest } from '../../infra/local/kube-apply.ts';

/** An object and where it goes. */
export interface FieldObject {
  readonly ref: KindRef;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

const meta = {
  labels: { app: 'fields' },
  annotations: { 'example.com/on-delete': 'Delete' },
  finalizers: ['example.com/a', 'orphan'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u-1', controller: true }],
};
const core = (resource: string, kind: string, namespaced: boolean, body: object): FieldObject => ({
  ref: { group: '', version: 'v1', resource },
  ...{ kind, namespaced },
  object: { apiVersion: 'v1', kind, metadata: { name: `fields-${resource}`, ...meta }, ...body },
});

const container = {
  name: 'main',
  image: 'example.com/none',
  command: ['run'],
  env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'b', optional: true } } }],
  ports: [{ containerPort: 80, protocol: 'TCP' }],
  resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
  livenessProbe: { httpGet: { path: '/', port: 'http', httpHeaders: [{ name: 'a', value: 'b' }] } },
  securityContext: { capabilities: { drop: ['ALL'] } },
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
};
const pod = {
  spec: {
    containers: [container],
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Gi' } }],
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } },
        ],
      },
    },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
  },
};
const claim = {
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    selector: { matchLabels: { a: 'b' } },
    dataSource: { apiGroup: 'snapshot.example.com', kind: 'Snapshot', name: 's' },
  },
};
const volume = {
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    claimRef: { namespace: 'a', name: 'b', uid: 'c' },
    csi: { driver: 'ebs.csi.example.com', volumeHandle: 'vol-1', volumeAttributes: { type: 'gp3' } },
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'z', operator: 'In', values: ['a'] }] }] },
    },
  },
};

/** Objects of core kinds. */
export const coreObjects: readonly FieldObject[] = [
  core('configmaps', 'ConfigMap', true, { data: { bucket: 'logs' }, binaryData: { a: 'YQ==' }, immutable: false }),
  core('pods', 'Pod', true, pod),
  core('persistentvolumeclaims', 'PersistentVolumeClaim', true, claim),
  core('persistentvolumes', 'PersistentVolume', false, volume),
  core('namespaces', 'Namespace', false, { spec: { finalizers: ['kubernetes'] } }),
];

const text = { type: 'string' };
const open = { 'x-kubernetes-preserve-unknown-fields': true };

/** Every way in which a structural schema says what may be in a place. */
export const manyWaysSchema = {
  type: 'object',
  properties: {
    region: text,
    replicas: { type: 'integer', nullable: true },
    disks: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: text, parts: { type: 'array', items: { type: 'object', properties: { name: text } } } },
      },
    },
    tags: { type: 'object', additionalProperties: text },
    mounts: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { path: text, raw: { type: 'object', ...open } } },
    },
    port: { 'x-kubernetes-int-or-string': true },
    raw: { type: 'object', ...open, properties: { known: text, closed: { type: 'object', properties: { a: text } } } },
    untyped: open,
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { image: text } } },
    },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...open },
    either: {
      type: 'object',
      properties: { left: text, right: text },
      oneOf: [{ required: ['left'] }, { required: ['right'] }],
      'x-kubernetes-validations': [{ rule: 'size(self.left) > 0' }],
    },
    namespace: { type: 'object', properties: { in: text, 'odd-key': text } },
  },
};

/** A kind of our own with that schema, in a group. */
export function fieldsDefinition(group: string, spec: object = manyWaysSchema): Manifest {
  const status = {
    type: 'object',
    properties: { arn: text, conditions: { type: 'array', items: { type: 'object', properties: { type: text } } } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `manyways.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'manyways', singular: 'manyway', kind: 'ManyWay', listKind: 'ManyWayList' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        },
      ],
    },
  };
}

/** An object of it. */
export function fieldsObject(group: string): FieldObject {
  const spec = {
    ...{ region: 'eu', replicas: 2, port: 'http', untyped: { a: [{ b: 1 }] } },
    disks: [{ id: 'd-1', parts: [{ name: 'p-1' }] }],
    tags: { any: 'thing' },
    mounts: { data: { path: '/data', raw: { x: { y: 1 } } } },
    raw: { known: 'a', unknown: { deep: [1] }, closed: { a: 'b' } },
    template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { b: 'c' } }, spec: { image: 'i' } },
    embedded: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, what: { ever: true } },
    either: { left: 'l' },
    namespace: { in: 'a', 'odd-key': 'b' },
  };
  return {
    ref: { group, version: 'v1', resource: 'manyways' },
    ...{ kind: 'ManyWay', namespaced: true },
    object: { apiVersion: `${group}/v1`, kind: 'ManyWay', metadata: { name: 'fields-manyways', ...meta }, spec },
  };
}
