/*
 * What the tests of the bridge are made of: metadata, rules, results, a log and a look at counters.
 * Rules are parsed by the bridge's own parser; everything else is plain data with defaults a test overrides.
 */
import { encodeResult, makeResult, type Outcome, type Request } from '../../bridge/contract.ts';
import type { Log } from '../../bridge/log.ts';
import { newPending, type Pending } from '../../bridge/pending.ts';
import type { KindRef, ObjectMeta } from '../../bridge/ports.ts';
import type { Rule } from '../../bridge/rule.ts';
import { parseRules } from '../../bridge/rules.ts';
import { START, stamp } from './manual-clock.ts';

/** The kind that every test is about. */
export const BUCKETS: KindRef = { group: 'storage.example.com', version: 'v1', resource: 'buckets' };
/** The rule's name and its entry. */
export const RULE = 'team-buckets';
export const ENTRY = `finalizer-bridge.dev/${RULE}`;
export const CLUSTER_UID = '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01';
export const HANDLER = 's3-bucket';
/** Who says that a request is a dead letter. */
export const DEAD_LETTER_SENDER = 'AROADEADLETTERS';
export const SENDER = 'AROAS3BUCKET';

/** Metadata of a live object with our entry. */
export function metaOf(meta: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name: 'logs',
    namespace: 'team-a',
    uid: 'uid-logs',
    resourceVersion: '7',
    creationTimestamp: stamp(START - 86_400_000),
    finalizers: [ENTRY],
    ...meta,
  };
}

/** Metadata of an object that is being deleted since now. */
export function deletingMeta(meta: Partial<ObjectMeta> = {}): ObjectMeta {
  return metaOf({ deletionTimestamp: stamp(START), ...meta });
}

/** The memory of a deletion just seen. */
export function pendingOf(changes: Partial<Pending> = {}): Pending {
  const meta = changes.meta ?? deletingMeta();
  const fresh = newPending({ rule: RULE, kind: BUCKETS, meta, knowsAllSent: true, firstLooked: START });
  return { ...fresh, ...changes };
}

/** Parts of a rule's spec that replace the defaults. */
export type SpecChanges = Readonly<Record<string, unknown>>;

/** A rule as a file would have it. */
export function ruleText(changes: SpecChanges = {}, name = RULE): string {
  return JSON.stringify({
    metadata: { name, uid: `uid-of-${name}` },
    spec: {
      match: { ...BUCKETS },
      handler: HANDLER,
      target: { bucket: 'object.spec.bucket', region: "'eu-central-1'", account: "'111122223333'" },
      policy: "object.metadata.annotations[?'on-delete'].orValue('Delete')",
      ...changes,
    },
  });
}

/** The rule, parsed by the bridge's own parser. */
export function ruleOf(changes: SpecChanges = {}, name = RULE): Rule {
  const parsed = parseRules(ruleText(changes, name), 'rules.yaml');
  const [rule] = parsed.ok ? parsed.rules : [];
  if (rule === undefined) throw new Error(`parsing the test's rule: ${JSON.stringify(parsed)}`);
  return rule;
}

/** The body of a handler's result for a request. */
export function resultBody(
  request: Request,
  outcome: Outcome,
  changes: { now?: number; handler?: string } = {},
): string {
  const { now = START, handler = HANDLER } = changes;
  return encodeResult(
    makeResult({ request, outcome, handler: { name: handler, version: '1' }, nonce: 'n1', now, durationMs: 1 }),
  );
}

/** A line of the log. */
export interface Line {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

/** A log that is kept. */
export function keptLog(): { readonly log: Log; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const at = (level: keyof Log) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}

interface Readable {
  get(): Promise<{ readonly values: readonly { readonly value: number; readonly labels: object }[] }>;
}

/** The values of a counter or gauge by their labels, as `label/label`. */
export async function counts(metric: Readable): Promise<Readonly<Record<string, number>>> {
  const { values } = await metric.get();
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join('/'), value]));
}
