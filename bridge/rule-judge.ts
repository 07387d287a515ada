/*
 * Judges one generation of a TeardownRule: does it read, is its handler known, does the kind exist and have what expressions
 * read, is the proof bound to its objects, does it wait in a circle, may we do what it needs. Called by rule-keeper.ts; what is wrong is said
 * in the rule's conditions by rule-conditions.ts.
 */
import { NAMESPACES } from './namespaces.ts';
import type { Cluster, KindRef, Kinds, KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import { rulesReached, type Waits, waiterOf, waitsAmong } from './rule-circles.ts';
import type { Refusal } from './rule-facts.ts';
import { faultOfFields } from './rule-fields.ts';
import type { TeardownRuleSpec } from './rule-schema.ts';
import { ownershipOf, ruleFromObject } from './rules.ts';
import { bindingOf } from './target.ts';
import { isRememberable, rulePath, versionOf } from './teardown-rules.ts';

/** The verbs that the bridge needs on a kind. */
export const VERBS = ['get', 'list', 'watch', 'patch'] as const;

/** The verbs that it needs on namespaces, for a rule that selects by their labels. */
const LABEL_VERBS = ['list', 'watch'] as const;

/** Why a rule is not accepted; the reason is the condition's. */
export interface RuleFault {
  readonly reason: Refusal;
  readonly message: string;
}

/** What was found. */
export interface Judgement {
  /** What was judged, as `versionOf` says it. */
  readonly version: string;
  /** The rule of this generation, if it is accepted. */
  readonly rule: Rule | undefined;
  readonly fault: RuleFault | undefined;
  /** What the bridge may not do: `list, patch` on the kind, `list, watch namespaces`; empty when it may, or nobody could ask. */
  readonly lacking: readonly string[];
  /** What people should know of an accepted rule. */
  readonly notes: readonly string[];
  /** Whether something that it was to be judged by may come soon: a rule that it waits for, its kind's schema. */
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
  const verdict = await verdictOn(options, object);
  const { lacking = [], notes = [], others = [], isIncomplete = false } = verdict;
  return { version: versionOf(object), rule: verdict.rule, fault: verdict.fault, lacking, notes, others, isIncomplete };
}

type Verdict = Partial<Omit<Judgement, 'version'>>;

async function verdictOn(options: JudgeOptions, object: KubeObject): Promise<Verdict> {
  const { kinds, hasHandler } = options;
  const parsed = ruleFromObject(object);
  if (!parsed.ok) {
    const message = parsed.faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ');
    const named = parsed.faults.find(({ reason }) => reason !== undefined);
    return refused(named?.reason ?? 'Invalid', message);
  }
  const { rule, spec } = parsed;
  const name = nameOf(rule.match);
  if (!hasHandler(rule.handler)) return refused('NoQueue', `no queue is configured for handler ${rule.handler}`);
  const facts = await kinds.describe(rule.match);
  if (facts === undefined) return refused('UnknownResource', `the API server does not serve ${name}`);
  const isBound = bindingOf(ownershipOf(spec), facts.namespaced) !== undefined;
  if (!isBound) return refused('OwnershipNotBound', unboundIn(name));
  const fields = await checkFields(kinds, spec, facts.kind);
  if (fields.fault !== undefined) return refused('UnknownField', fields.fault);
  const { circle, younger = [], strangers = [] } = (await readWaits(options, object)) ?? {};
  if (circle !== undefined) return { ...refused('WaitsInCircle', inCircle(circle)), others: younger };
  const lacking = await lackingFor(kinds, rule);
  const notes = [
    ...strangers.map((other) => `no rule for ${name} is called ${other}, so nothing is waited for in its place`),
    ...(fields.unchecked === undefined ? [] : [`whether its paths exist was not checked: ${fields.unchecked}`]),
    ...(isRememberable(object) ? [] : ['its spec is too large to be remembered over a restart']),
  ];
  return { rule, lacking, notes, isIncomplete: strangers.length > 0 || fields.mayCome === true, others: younger };
}

/** Without the labels of namespaces, what a rule with a namespaceSelector wants of an object is never known (P7). */
async function lackingFor(kinds: Kinds, { match, matchesNamespace }: Rule): Promise<readonly string[]> {
  const onKind = await kinds.lacking(match, VERBS);
  const onNamespaces = matchesNamespace === undefined ? [] : await kinds.lacking(NAMESPACES, LABEL_VERBS);
  return [
    ...(onKind.length === 0 ? [] : [onKind.join(', ')]),
    ...(onNamespaces.length === 0 ? [] : [`${onNamespaces.join(', ')} namespaces`]),
  ];
}

/** Why a rule is not accepted, for what waits for it. */
export function whyRefused({ fault }: Judgement): string {
  return fault?.message ?? 'not accepted';
}

function refused(reason: Refusal, message: string): Verdict {
  return { fault: { reason, message } };
}

function nameOf({ group, version, resource }: KindRef): string {
  return `${resource}.${version}${group === '' ? '' : `.${group}`}`;
}

function unboundIn(kind: string): string {
  return (
    `spec.ownership: ${kind} are in namespaces, where another object may have the same name: ` +
    'let the tags read object.metadata.uid, or object.metadata.namespace as well as the name'
  );
}

/** Looks for paths that the kind does not have; before a rule is refused for one, its schema is read anew. */
async function checkFields(
  kinds: Kinds,
  spec: TeardownRuleSpec,
  kind: string,
): Promise<{ readonly fault?: string | undefined; readonly unchecked?: string; readonly mayCome?: boolean }> {
  for (const isFresh of [false, true]) {
    const outcome = await kinds.schemaOf(spec.match, kind, isFresh);
    if (!outcome.known) return { unchecked: outcome.why, mayCome: outcome.mayCome };
    const fault = faultOfFields(spec, outcome.schema, nameOf(spec.match));
    if (fault === undefined || isFresh) return { fault };
  }
  return {};
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

function inCircle(circle: readonly string[]): string {
  const [self, ...others] = circle;
  return others.length === 1
    ? `spec.waitFor: the rule waits for its own entry: ${circle.join(' -> ')}`
    : `spec.waitFor: the rules ${circle.join(' -> ')} wait for each other, and ${self} is the youngest of them`;
}
