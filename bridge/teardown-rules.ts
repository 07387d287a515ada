/*
 * TeardownRules as the API server has them: where they stand, what we write on them. Pure.
 * Used by rule-keeper.ts, rule-status.ts and withdrawal.ts.
 */
import * as z from 'zod/mini';
import { utf8Bytes } from './contract.ts';
import { guards } from './finalizer.ts';
import { INJECTS_LABEL } from './injects.ts';
import type { KindRef, KubeObject, ObjectMeta, ObjectPath, PatchOperation } from './ports.ts';
import { LAST_ACCEPTED_MAX_BYTES, RULE_GROUP, RULE_RESOURCE, RULE_VERSION } from './rule-facts.ts';

/** The kind of the rules themselves. */
export const TEARDOWN_RULES: KindRef = {
  group: RULE_GROUP,
  version: RULE_VERSION,
  resource: RULE_RESOURCE,
};
/** The finalizer that keeps a rule until it is withdrawn cleanly. */
export const WITHDRAWAL_FINALIZER = 'finalizer-bridge.dev/withdrawal';

/** A condition as Kubernetes knows them. */
export interface Condition {
  readonly type: 'Accepted' | 'Permitted' | 'Watching' | 'FinalizerAtAdmission' | 'Ready' | 'WithdrawalBlocked';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.optional(z.number()),
});
const statusSchema = z.looseObject({
  conditions: z.optional(z.array(conditionSchema)),
  observedGeneration: z.optional(z.number()),
  namespaces: z.optional(z.array(z.string())),
});
const generation = z.number();

const matchOnly = z.looseObject({
  spec: z.looseObject({ match: z.object({ group: z.string(), version: z.string(), resource: z.string() }) }),
});

/** A condition as it was written, with the time of its last transition. */
export type WrittenCondition = Readonly<z.output<typeof conditionSchema>>;

/** The path of a rule. */
export function rulePath(name: string): ObjectPath {
  return { ...TEARDOWN_RULES, name };
}

/** The generation of a rule's spec. */
export function generationOf(object: KubeObject): number {
  const written: unknown = Reflect.get(object.metadata, 'generation');
  return written === undefined ? 0 : generation.parse(written);
}

/** One generation of one very rule, and its spec: a cluster that was restored from a backup may give the number to another. */
export function versionOf(object: KubeObject): string {
  return `${object.metadata.uid}/${generationOf(object)} ${JSON.stringify(object.spec)}`;
}

/** Whether the status can keep a rule's spec beside itself. */
export function isRememberable({ spec }: KubeObject): boolean {
  return utf8Bytes(JSON.stringify(spec) ?? '') <= LAST_ACCEPTED_MAX_BYTES;
}

/** What kind a rule selects; readable also where the rest of the spec is not. Throws ZodError where it is not. */
export function matchOf(object: KubeObject): KindRef {
  return matchOnly.parse(object).spec.match;
}

type Status = Readonly<z.output<typeof statusSchema>>;

/** Each status that was read, as long as somebody has it: one look at a rule asks for it several times. */
const read = new WeakMap<object, Status>();

/** The status of a rule as it was written; empty when there is none yet. */
export function statusOf({ status }: KubeObject): Status {
  if (status === undefined) return {};
  if (typeof status !== 'object' || status === null) return statusSchema.parse(status);
  const known = read.get(status) ?? statusSchema.parse(status);
  read.set(status, known);
  return known;
}

/** Writes a whole status over a rule as it was read. */
export function overStatus(meta: ObjectMeta, status: object): readonly PatchOperation[] {
  return [...guards(meta), { op: 'add', path: '/status', value: status }];
}

/** Sets the label of a rule or takes it off; undefined when it is as wanted. */
export function labelRule(
  { labels, ...meta }: ObjectMeta,
  injects: string | undefined,
): readonly PatchOperation[] | undefined {
  if (injects === labels?.[INJECTS_LABEL]) return undefined;
  const path = `/metadata/labels/${INJECTS_LABEL.replace('/', '~1')}`;
  if (injects === undefined) return [...guards(meta), { op: 'remove', path }];
  return [
    ...guards(meta),
    labels === undefined
      ? { op: 'add', path: '/metadata/labels', value: { [INJECTS_LABEL]: injects } }
      : { op: 'add', path, value: injects },
  ];
}
