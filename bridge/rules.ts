/*
 * Rules from a file: collects every fault with its place, and makes what was written ready for use.
 * Called by config.ts at start, before anything is watched. A file with one fault gives no rule at all. Next: watch.ts.
 */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { type Prepared, prepare } from './cel/object.ts';
import { canonicalJson, optionsSchema, sha256Hex } from './contract.ts';
import { entryOf, rulesHolding } from './finalizer.ts';
import { selectorPredicate } from './label-selector.ts';
import type { Evaluation, Invalid, ObjectLike, Rule } from './rule.ts';
import { type Waiter, waitsAmong } from './rule-circles.ts';
import {
  NOT_BOUND_PARAMS,
  type RuleDocument,
  ruleDocument,
  ruleMetadata,
  type TeardownRuleSpec,
  teardownRuleSpec,
} from './rule-schema.ts';
import { type Fault, readRulesFile } from './rules-file.ts';
import { bindingOf, evaluateOwnership, evaluatePolicy, evaluateTarget, type OwnershipRule } from './target.ts';

/** All rules of a file, or all its faults. */
export type ParsedRules =
  | { readonly ok: true; readonly rules: readonly Rule[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** What file and API rules have alike. */
type Spec = Omit<RuleDocument['spec'], 'match' | 'budget'> & {
  readonly match: Omit<RuleDocument['spec']['match'], 'namespaceSelector'>;
};

const { localeError } = en();

/**
 * Parses the text of a rules file (YAML or JSON): one rule or a list of rules per document, or `rules:` with a list.
 * `file` is only used in faults.
 */
export function parseRules(text: string, file: string): ParsedRules {
  const written = readRulesFile(text, file);
  const faults: Fault[] = [...written.faults];
  const rules: Rule[] = [];
  const taken = new Map<string, string>();
  for (const { place, value } of written.rules) {
    faults.push(...faultsOfNames(value, taken, place));
    const parsed = ruleDocument.safeParse(value, { error: localeError });
    if (parsed.success)
      rules.push(ruleOf({ ...parsed.data.metadata, uid: uidOf(parsed.data.metadata) }, parsed.data.spec));
    else for (const issue of parsed.error.issues) faults.push(...faultsOfIssue(issue, place));
  }
  const all = faults.length === 0 ? faultsOfCircles(rules, file) : faults;
  return all.length === 0 ? { ok: true, rules } : { ok: false, faults: all };
}

/** A TeardownRule as the API server has it; `faults` name the fields of its spec. */
export function ruleFromObject(object: RuleObject): ParsedRule {
  const { metadata, spec } = object;
  const parsed = teardownRuleSpec.safeParse(spec, { error: localeError });
  if (!parsed.success) {
    const faults = parsed.error.issues.flatMap((issue) => faultsOfIssue(issue, ''));
    return { ok: false, faults: faults.map((fault) => ({ ...fault, path: `spec.${fault.path}` })) };
  }
  const { namespaceSelector } = parsed.data.match;
  return {
    ok: true,
    spec: parsed.data,
    rule: {
      ...ruleOf(metadata, parsed.data),
      ...(namespaceSelector === undefined ? {} : { matchesNamespace: selectorPredicate(namespaceSelector) }),
      ...(parsed.data.budget === undefined ? {} : { budget: parsed.data.budget }),
      generation: typeof metadata.generation === 'number' ? metadata.generation : undefined,
      // The term is immutable in the API, so it has been in force since the rule was created.
      termHeldSince: Date.parse(metadata.creationTimestamp),
    },
  };
}

/** What of a TeardownRule is read. */
interface RuleObject extends ObjectLike {
  readonly metadata: ObjectLike['metadata'] & { readonly creationTimestamp: string; readonly generation?: unknown };
}

/** One rule with its spec as it was read, or its faults. */
export type ParsedRule =
  | { readonly ok: true; readonly rule: Rule; readonly spec: TeardownRuleSpec }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** What a schema objects to, each thing with its path below `place`. */
export function faultsOfIssue(issue: z.core.$ZodIssue, place: string): readonly Fault[] {
  const at = (path: readonly PropertyKey[]) => [place, path.map(String).join('.')].filter(Boolean).join(': ');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: at([...issue.path, key]), message: 'unknown field' }));
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path: at(issue.path), message: `not a key: ${message}` }));
    default: {
      const isUnbound = issue.code === 'custom' && issue.params === NOT_BOUND_PARAMS;
      return [{ path: at(issue.path), message: issue.message, ...(isUnbound ? NOT_BOUND_PARAMS : {}) }];
    }
  }
}

/** Names and uids are one rule's only; said also of rules that have other faults. */
function faultsOfNames(written: unknown, taken: Map<string, string>, place: string): readonly Fault[] {
  const named = z.looseObject({ metadata: z.looseObject(ruleMetadata.shape) }).safeParse(written);
  if (!named.success) return [];
  const { metadata } = named.data;
  const faults: Fault[] = [];
  for (const [field, value] of Object.entries({ name: metadata.name, uid: uidOf(metadata) })) {
    const other = taken.get(`${field} ${value}`);
    if (other === undefined) taken.set(`${field} ${value}`, metadata.name);
    // Of two rules with one name it is enough to say so once.
    else if (field === 'name' || other !== metadata.name) {
      faults.push({ path: `${place}: metadata.${field}`, message: `taken by another rule, ${other}` });
    }
  }
  return faults;
}

/** A file has no ages: of every circle one rule is told, always the same. */
function faultsOfCircles(rules: readonly Rule[], file: string): readonly Fault[] {
  const waiters = rules.map(
    ({ name, uid, match, waitFor }): Waiter => ({
      ...{ name, uid, kind: match, createdAt: 0 },
      waitsFor: rulesHolding({ finalizers: waitFor?.finalizers }),
    }),
  );
  return waiters.flatMap((waiter) => {
    const { circle } = waitsAmong(waiters, waiter);
    const message = `WaitsInCircle: no deletion would ever begin: ${circle?.join(' -> ')}`;
    return circle === undefined ? [] : [{ path: `${file}: ${waiter.name}: spec.waitFor.finalizers`, message }];
  });
}

function ruleOf({ name, uid }: Pick<Rule, 'name' | 'uid'>, spec: Spec): Rule {
  const { match, handler, options, term, deadline, waitFor, whenTargetMissing, whenAbsent, unmatched, paused } = spec;
  const { group, version, resource, labelSelector } = match;
  return {
    name,
    uid,
    entry: entryOf(name),
    match: { group, version, resource },
    matches: labelSelector === undefined ? () => true : selectorPredicate(labelSelector),
    handler,
    // In order once, so that no request has to be sorted (canonicalJson).
    options: optionsSchema.parse(JSON.parse(canonicalJson(options))),
    // The schema refuses tags that are bound to nothing.
    binding: bindingOf(ownershipOf(spec)) ?? 'name',
    evaluate: (object) => evaluated(spec, object),
    term,
    deadline,
    ...(waitFor === undefined ? {} : { waitFor }),
    whenTargetMissing,
    whenAbsent,
    unmatched,
    paused,
  };
}

function evaluated(spec: Spec, object: ObjectLike): Evaluation {
  let prepared: Prepared;
  try {
    prepared = prepare(object);
  } catch (error) {
    // Nesting deeper than the stack is the one thing that can go wrong here; it must hold this object only.
    const failed: Invalid = { kind: 'invalid', key: 'object', detail: `reading the object: ${String(error)}` };
    return { target: failed, ownership: failed, policy: failed };
  }
  return {
    target: evaluateTarget(spec.target, prepared),
    ownership: evaluateOwnership(ownershipOf(spec), prepared, object.metadata.namespace !== undefined),
    policy: evaluatePolicy(spec.policy, prepared),
  };
}

/** What a spec demands of the outside resource. */
export function ownershipOf({ ownership }: Pick<Spec, 'ownership'>): OwnershipRule {
  return ownership.tags === undefined ? { none: true } : { tags: ownership.tags };
}

/** A rule of a file has no uid of its own unless it says one: derived from its name, so that it outlives restarts. */
function uidOf({ name, uid }: RuleDocument['metadata']): string {
  if (uid !== undefined) return uid;
  const hex = sha256Hex(`file-rule/${name}`);
  // Version 8 and the standard variant (RFC 9562), for whoever checks.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
