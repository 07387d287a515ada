/*
 * Judges one generation of a TeardownRule: does it read, is its handler known, does the kind exist and have what expressions
 * read, is the proof bound to its objects, does it wait in a circle, may we do what it needs. Called by rule-keeper.ts; what is wrong is said
 * in the rule's conditions by rule-conditions.ts.
 */
import type { Cluster, KindRef, Kinds, KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import { rulesReached, type Waits, waiterOf, waitsAmong } from './rule-circles.ts';
import type { Refusal } from './rule-facts.ts';
import { faultOfFields } from './rule-fields.ts';
import { ownershipOf, ruleFromObject } from './rules.ts';
import { bindingOf } from './target.ts';
import { rulePath } from './teardown-rules.ts';

/** The verbs that the bridge needs on a kind. */
export const VERBS = ['get', 'list', 'watch', 'patch'] as const;

/** Why a rule is not accepted; the reason is the condition's. */
export interface RuleFault {
  readonly reason: Refusal;
  readonly message: string;
}

/** What was found. */
export interface Judgement {
  /** The rule of this generation, if it is accepted. */
  readonly rule: Rule | undefined;
  readonly fault: RuleFault | undefined;
  /** Verbs that are missing; empty when all are there, or when nobody could ask. */
  readonly lacking: readonly string[];
  /** What people should know of an accepted rule. */
  readonly notes: readonly string[];
  /** Whether it names a rule that may yet come. */
  readonly isIncomplete: boolean;
  /** Other rules that are to be judged again now that this one is as it is. */
  readonly others: readonly string[];
}

/** What judging needs. */
export interface JudgeOptions {
  readonly kinds: Kinds;
  readonly cluster: Pick<Cluster, 'get'>;
  hasHandler(name: string): boolean;
}

/** Judges a rule. Throws ApiError when the API server could not be asked. */
export async function judgeRule(options: JudgeOptions, object: KubeObject): Promise<Judgement> {
  const { kinds, hasHandler } = options;
  const parsed = ruleFromObject(object);
  if (!parsed.ok) {
    const message = parsed.faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ');
    const reason = message.includes('OwnershipNotBound') ? 'OwnershipNotBound' : 'Invalid';
    return refused({ reason, message });
  }
  const { rule, spec } = parsed;
  if (!hasHandler(rule.handler)) {
    return refused({ reason: 'NoQueue', message: `no queue is configured for handler ${rule.handler}` });
  }
  const facts = await kinds.describe(rule.match);
  if (facts === undefined) {
    return refused({ reason: 'UnknownResource', message: `the API server does not serve ${nameOf(rule.match)}` });
  }
  if (bindingOf(ownershipOf(spec), facts.namespaced) === undefined) {
    return refused({ reason: 'OwnershipNotBound', message: unboundIn(rule.match) });
  }
  const schema = await kinds.schemaOf(rule.match, facts.kind);
  const unknown = schema.known ? faultOfFields(spec, schema.schema, nameOf(rule.match)) : undefined;
  if (unknown !== undefined) return refused({ reason: 'UnknownField', message: unknown });
  const waits = await readWaits(options, object);
  if (waits?.circle !== undefined) return refused(inCircle(waits.circle), waits.younger);
  const lacking = await kinds.lacking(rule.match, VERBS);
  const { strangers = [], younger = [] } = waits ?? {};
  const notes = [
    ...strangers.map(
      (name) => `no rule for ${nameOf(rule.match)} is called ${name}, so nothing is waited for in its place`,
    ),
    ...(schema.known ? [] : [`whether its paths exist was not checked: ${schema.why}`]),
  ];
  return { rule, fault: undefined, lacking, notes, isIncomplete: strangers.length > 0, others: younger };
}

/** Why a rule is not accepted, for what waits for it. */
export function whyRefused({ fault }: Judgement): string {
  return fault?.message ?? 'not accepted';
}

function refused(fault: RuleFault, others: readonly string[] = []): Judgement {
  return { rule: undefined, fault, lacking: [], notes: [], isIncomplete: false, others };
}

function nameOf({ group, version, resource }: KindRef): string {
  return `${resource}.${version}${group === '' ? '' : `.${group}`}`;
}

function unboundIn(kind: KindRef): string {
  return (
    `spec.ownership: ${nameOf(kind)} are in namespaces, where another object may have the same name: ` +
    'let the tags read object.metadata.uid, or object.metadata.namespace as well as the name'
  );
}

async function readWaits({ cluster }: JudgeOptions, object: KubeObject): Promise<Waits | undefined> {
  const waiter = waiterOf(object);
  if (waiter === undefined) return undefined;
  const rules = await rulesReached(waiter, async (name) => {
    const other = await cluster.get(rulePath(name));
    return other === undefined ? undefined : waiterOf(other);
  });
  return waitsAmong(rules, waiter);
}

function inCircle(circle: readonly string[]): RuleFault {
  const [self, ...others] = circle;
  const message =
    others.length === 1
      ? `spec.waitFor: the rule waits for its own entry: ${circle.join(' -> ')}`
      : `spec.waitFor: the rules ${circle.join(' -> ')} wait for each other, and ${self} is the youngest of them`;
  return { reason: 'WaitsInCircle', message };
}
