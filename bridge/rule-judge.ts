/*
 * Judges one generation of a TeardownRule: does it read, is its handler known, does the kind exist and have what expressions
 * read, is the proof bound to its objects, does it wait in a circle, may we do what it needs. Called by rule-keeper.ts; what
 * is wrong is said in the rule's conditions by rule-conditions.ts.
 */
import type { Cluster, KindRef, Kinds, KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import { rulesReached, type Waits, waiterOf, waitsAmong } from './rule-circles.ts';
import type { Refusal } from './rule-facts.ts';
import { faultOfFields } from './rule-fields.ts';
import { rightsFor } from './rule-rights.ts';
import type { TeardownRuleSpec } from './rule-schema.ts';
import { ownershipOf, type ParsedRule, ruleFromObject } from './rules.ts';
import type { Served } from './served.ts';
import { bindingOf } from './target.ts';
import { isRememberable, rulePath, versionOf } from './teardown-rules.ts';

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
  /** What the bridge may not do: `list, patch buckets.example.com`, `list, watch namespaces`; empty when it may, or was not asked, as for a rule that is refused. */
  readonly lacking: readonly string[];
  /** There is no namespace, of those that are served and there, in which it may do all that it has to. */
  readonly mayNowhere: boolean;
  /** The kind is in no namespace, and the bridge serves some only: it sees no object of it. */
  readonly isBeyond: boolean;
  /** Namespaces that are served and not there. */
  readonly absent: readonly string[];
  /** Namespaces that are being deleted, and whose rights are gone already. */
  readonly ending: readonly string[];
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
  readonly served: Served;
  hasHandler(name: string): boolean;
  /** Reads rules, and may know one from before. */
  readonly reader?: { read(object: KubeObject): ParsedRule };
}

/** Judges a rule. Throws ApiError when the API server could not be asked. */
export async function judgeRule(options: JudgeOptions, object: KubeObject): Promise<Judgement> {
  const verdict = await verdictOn(options, object);
  const {
    rule,
    fault,
    lacking = [],
    mayNowhere = false,
    isBeyond = false,
    absent = [],
    ending = [],
    notes = [],
    others = [],
    isIncomplete = false,
  } = verdict;
  const where = { lacking, mayNowhere, isBeyond, absent, ending };
  return { version: versionOf(object), rule, fault, ...where, notes, others, isIncomplete };
}

/** Whether the bridge may do all that a rule needs, as it was judged last; one that was not judged yet is not held against it. */
export function isPermitted(judgement: Judgement | undefined): boolean {
  if (judgement === undefined) return true;
  const { isBeyond, lacking, absent, ending } = judgement;
  return !isBeyond && [lacking, absent, ending].every(({ length }) => length === 0);
}

/**
 * Whether new objects may get the rule's entry: the bridge can take it off again. One namespace in which it cannot is no reason
 * to leave the objects of all others unprotected: what is deleted there is held until the rights are given, and the rule says so.
 */
export function mayHold({ mayNowhere, isBeyond }: Judgement): boolean {
  return !mayNowhere && !isBeyond;
}

type Verdict = Partial<Omit<Judgement, 'version'>>;

async function verdictOn(options: JudgeOptions, object: KubeObject): Promise<Verdict> {
  const { kinds, hasHandler, reader } = options;
  const parsed = reader?.read(object) ?? ruleFromObject(object);
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
  const rights = await rightsFor(options, rule, facts.namespaced);
  const notes = [
    ...strangers.map((other) => `no rule for ${name} is called ${other}, so nothing is waited for in its place`),
    ...(fields.unchecked === undefined ? [] : [`whether its paths exist was not checked: ${fields.unchecked}`]),
    ...(isRememberable(object) ? [] : ['its spec is too large to be remembered over a restart']),
  ];
  return { rule, ...rights, notes, isIncomplete: strangers.length > 0 || fields.mayCome === true, others: younger };
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
