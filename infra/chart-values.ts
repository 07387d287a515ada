/*
 * What the chart's values may be: a closed schema, out of the same facts as the bridge's own configuration. Written to
 * infra/chart/values.schema.json by chart-files.ts, which Helm holds every installation against before it renders anything.
 */
import * as z from 'zod/mini';
import { handlerName } from '../bridge/contract.ts';
import { LOG_LEVELS } from '../bridge/log.ts';
import { NAMESPACES_MAX, TEXTS, type TextFact } from '../bridge/rule-facts.ts';

const text = z.string();
const texts = z.record(text, text);
const matching = (shape: RegExp) => text.check(z.regex(shape));
const fact = ({ shape, longest }: TextFact) => matching(shape).check(z.maxLength(longest));
/** Filled in by whoever installs: empty in the defaults, and refused by the templates where it is needed. */
const urlOrEmpty = matching(/^$|^https?:\/\/\S+$/);
const filled = text.check(z.minLength(1));
const port = z.int().check(z.gte(1), z.lte(65_535));
const count = z.int().check(z.gte(1));
/** Kubernetes' own, which the API server checks. */
const theirs = z.record(text, z.unknown());
const listOfTheirs = z.array(theirs);
/** A role id, or a whole SenderId. */
const sender = matching(/^\S+$/);

const kind = z.strictObject({
  group: fact(TEXTS.group),
  version: z.optional(fact(TEXTS.version)),
  resource: fact(TEXTS.resource),
});

const namespaces = z.array(fact(TEXTS.namespace)).check(z.maxLength(NAMESPACES_MAX.served));

const monitoring = {
  serviceMonitor: z.strictObject({ enabled: z.boolean(), interval: matching(/^\d+(ms|s|m|h)$/), labels: texts }),
  prometheusRule: z.strictObject({
    enabled: z.boolean(),
    labels: texts,
    alertLabels: texts,
    runbookUrl: text,
    disabled: z.array(matching(/^FinalizerBridge\w+$/)),
  }),
  dashboard: z.strictObject({ enabled: z.boolean(), labels: texts, annotations: texts }),
};

const pod = {
  image: z.strictObject({
    repository: filled,
    tag: text,
    digest: matching(/^$|^sha256:[0-9a-f]{64}$/),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  }),
  imagePullSecrets: z.array(z.strictObject({ name: filled })),
  resources: theirs,
  terminationGracePeriodSeconds: z.int().check(z.gte(10)),
  priorityClassName: text,
  topologySpreadConstraints: listOfTheirs,
  nodeSelector: texts,
  tolerations: listOfTheirs,
  affinity: theirs,
  podAnnotations: texts,
  podLabels: texts,
  extraEnv: listOfTheirs,
  extraVolumes: listOfTheirs,
  extraVolumeMounts: listOfTheirs,
};

const networkPolicy = z.strictObject({
  enabled: z.boolean(),
  apiServerPorts: z.array(port),
  apiServerCidrs: z.array(filled),
  queuePorts: z.array(port),
  queueCidrs: z.array(filled),
  metricsFrom: listOfTheirs,
  extraEgress: listOfTheirs,
});

const builtInRoles = z.array(z.enum(['view', 'edit', 'admin']));
const rights = {
  rbac: z.strictObject({
    create: z.boolean(),
    namespaceLabels: z.boolean(),
    people: z.boolean(),
    aggregate: z.strictObject({
      viewer: builtInRoles,
      operator: builtInRoles,
      releaser: builtInRoles,
      ruleAuthor: builtInRoles,
    }),
  }),
  admission: z.strictObject({
    entryAtBirth: z.boolean(),
    guardWords: z.boolean(),
    limitBridge: z.boolean(),
    // Without its quotes `Off` is false to YAML 1.1, which Helm reads values by.
    guardEntries: z.union([z.enum(['Off', 'Deleting', 'Always']), z.literal(false)]),
  }),
};

/** The values with their defaults filled in, as templates see them. */
export const chartValues = z.strictObject({
  kinds: z.array(kind),
  namespaces,
  leavingNamespaces: namespaces,
  cluster: z.strictObject({ name: text.check(z.maxLength(128)) }),
  queues: z.strictObject({ region: matching(/^[-a-z0-9]*$/), endpoint: urlOrEmpty, results: urlOrEmpty }),
  handlers: z.record(handlerName, z.strictObject({ queue: matching(/^https?:\/\/\S+$/), sender })),
  deadLetters: z.strictObject({ sender: matching(/^\S*$/) }),
  ...pod,
  serviceAccount: z.strictObject({
    create: z.boolean(),
    name: text,
    roleArn: matching(/^$|^arn:aws[-a-z]*:iam::\d{12}:role\/[\w+=,.@/-]+$/),
    annotations: texts,
  }),
  ...rights,
  nameOverride: text,
  fullnameOverride: text,
  commonLabels: texts,
  replicas: z.int().check(z.gte(0)),
  log: z.strictObject({ level: z.enum(LOG_LEVELS) }),
  server: z.strictObject({ host: filled, port }),
  podDisruptionBudget: z.strictObject({
    enabled: z.boolean(),
    maxUnavailable: z.union([count, matching(/^\d+%$/)]),
  }),
  service: z.strictObject({ annotations: texts }),
  crds: z.strictObject({ enabled: z.boolean(), keep: z.boolean() }),
  drain: z.strictObject({
    enabled: z.boolean(),
    timeout: matching(/^(\d+(h|m|s))+$/),
    releaseHeld: z.enum(['', 'wait', 'now']),
    resources: theirs,
  }),
  networkPolicy,
  ...monitoring,
  /** Helm hands it to every chart that is a part of another one. */
  global: z.optional(theirs),
});
