/*
 * Rules from a file: collects every fault with its place, and makes what was written ready for use.
 * Called by main at start, before anything is watched. A file with one fault gives no rule at all. Next: watch.ts.
 */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { type Prepared, prepare } from './cel/object.ts';
import { sha256Hex } from './contract.ts';
import { selectorPredicate } from './label-selector.ts';
import type { Evaluation, Invalid, ObjectLike, Rule } from './rule.ts';
import { ENTRY_PREFIX, type RuleDocument, ruleDocument, ruleMetadata } from './rule-schema.ts';
import { type Fault, readRulesFile } from './rules-file.ts';
import { bindingOf, evaluateOwnership, evaluatePolicy, evaluateTarget, type OwnershipRule } from './target.ts';

/** All rules of a file, or all its faults. */
export type ParsedRules =
  | { readonly ok: true; readonly rules: readonly Rule[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

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
    if (parsed.success) rules.push(ruleOf(parsed.data));
    else faults.push(...parsed.error.issues.flatMap((issue) => faultsOfIssue(issue, place)));
  }
  return faults.length === 0 ? { ok: true, rules } : { ok: false, faults };
}

/** What a schema objects to, each thing with its path below `place`. */
export function faultsOfIssue(issue: z.core.$ZodIssue, place: string): readonly Fault[] {
  const at = (path: readonly PropertyKey[]) => [place, path.map(String).join('.')].filter(Boolean).join(': ');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: at([...issue.path, key]), message: 'unknown field' }));
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path: at(issue.path), message: `not a key: ${message}` }));
    default:
      return [{ path: at(issue.path), message: issue.message }];
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

function ruleOf({ metadata, spec }: RuleDocument): Rule {
  const { match, handler, options, term, deadline, waitFor, whenTargetMissing, whenAbsent, unmatched, paused } = spec;
  const { group, version, resource, labelSelector } = match;
  return {
    name: metadata.name,
    uid: uidOf(metadata),
    entry: `${ENTRY_PREFIX}${metadata.name}`,
    match: { group, version, resource },
    matches: labelSelector === undefined ? () => true : selectorPredicate(labelSelector),
    handler,
    options,
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

function evaluated(spec: RuleDocument['spec'], object: ObjectLike): Evaluation {
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

function ownershipOf({ ownership }: RuleDocument['spec']): OwnershipRule {
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
