/*
 * The sets of values that the chart is tried with: the least, everything, and the corners between. Used by the tests of what it
 * renders; every new value belongs into `everything`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import { CHART_FOLDER, MINIMAL, type Values } from './chart.ts';

const HANDLERS = {
  's3-bucket': {
    queue: 'https://sqs.eu-west-1.amazonaws.com/111122223333/finalizer-bridge-dev-s3-bucket-requests',
    sender: 'AROAEXAMPLEFUNCTION01',
  },
  webhook: {
    queue: 'https://sqs.eu-west-1.amazonaws.com/111122223333/finalizer-bridge-dev-webhook-requests',
    sender: 'AROAEXAMPLEFUNCTION02',
  },
};
const BUCKETS = { group: 'storage.example.com', resource: 'buckets' };

const usual: Values = { ...MINIMAL, kinds: [BUCKETS], handlers: HANDLERS };

const everything: Values = {
  kinds: [BUCKETS, { group: '', resource: 'persistentvolumeclaims', version: 'v1' }],
  namespaces: ['team-a', 'team-b'],
  leavingNamespaces: ['team-c'],
  cluster: { name: 'production "east": 1' },
  queues: { region: 'eu-west-1', endpoint: 'https://vpce.example.com', results: 'https://vpce.example.com/1/results' },
  handlers: HANDLERS,
  deadLetters: { sender: 'AROAEXAMPLELETTERS001' },
  image: { repository: 'registry.example.com/bridge', digest: `sha256:${'a'.repeat(64)}`, pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  serviceAccount: {
    roleArn: 'arn:aws:iam::111122223333:role/finalizer-bridge',
    annotations: { 'example.com/team': 'platform' },
  },
  rbac: {
    namespaceLabels: false,
    aggregate: { viewer: ['view'], operator: ['edit'], releaser: ['admin'], ruleAuthor: ['admin'] },
  },
  admission: { guardEntries: 'Always' },
  fullnameOverride: 'the-bridge',
  commonLabels: { 'example.com/cost': 'platform' },
  replicas: 3,
  log: { level: 'debug' },
  server: { host: '::', port: 9090 },
  priorityClassName: 'system-cluster-critical',
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { 'app.kubernetes.io/component': 'bridge' } },
    },
  ],
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  podAnnotations: { 'example.com/scrape': 'true' },
  podLabels: { 'example.com/team': 'platform' },
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.crt' }],
  extraVolumes: [{ name: 'certificates', configMap: { name: 'certificates' } }],
  extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
  podDisruptionBudget: { maxUnavailable: '50%' },
  service: { annotations: { 'example.com/team': 'platform' } },
  drain: { timeout: '1h', releaseHeld: 'wait' },
  networkPolicy: {
    enabled: true,
    apiServerCidrs: ['10.0.0.1/32'],
    queueCidrs: ['10.1.0.0/16', 'fd00::/8'],
    metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    extraEgress: [{ ports: [{ port: 8443, protocol: 'TCP' }] }],
  },
  serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  prometheusRule: {
    enabled: true,
    labels: { release: 'prometheus' },
    alertLabels: { team: 'platform' },
    disabled: ['FinalizerBridgeStrays'],
  },
  dashboard: {
    enabled: true,
    labels: { grafana_dashboard: '1' },
    annotations: { 'k8s-sidecar-target-directory': 'Bridges' },
  },
};

/** What the chart's README tells people to begin with. */
function ofReadme(): Values {
  const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(CHART_FOLDER, 'README.md'), 'utf8')) ?? [];
  return z.parse(z.record(z.string(), z.unknown()), parse(block));
}

/** By name. */
export const VALUE_SETS: Readonly<Record<string, Values>> = {
  'the least': MINIMAL,
  usual,
  'as its README says': ofReadme(),
  everything,
  'with bounds on the network and no addresses': { ...usual, networkPolicy: { enabled: true } },
  'without what can be left out': {
    ...usual,
    serviceAccount: { create: false, name: 'mine' },
    podDisruptionBudget: { enabled: false },
    crds: { enabled: false },
    drain: { enabled: false },
    rbac: { create: false, people: false },
    admission: { entryAtBirth: false, guardWords: false, limitBridge: false },
  },
  'for one namespace': { ...usual, namespaces: ['team-a'] },
  'with entries guarded while deleting': { ...usual, admission: { guardEntries: 'Deleting' } },
  'with a definition that goes with the release': { ...usual, crds: { keep: false } },
};
