/*
 * What a rule's expressions say about one object: its target, the ownership proof, the policy. Pure.
 * Called through Rule.evaluate (rules.ts) by reconcile, before decide. Only a missing key is `missing`; whatever else
 * cannot be acted on is `invalid`, for that object alone.
 */

import type { Prepared } from './cel/object.ts';
import type { CelValue, Compiled } from './cel.ts';
import {
  canonicalJson,
  TAG_VALUE_MAX,
  TARGET_LIST_MAX,
  TARGET_VALUE_MAX_BYTES,
  type Target,
  targetDigestOf,
  utf8Bytes,
} from './contract.ts';
import type { Invalid, Missing, OwnershipBinding, OwnershipOutcome, PolicyOutcome, TargetOutcome } from './rule.ts';

/** Largest target, in UTF-8 bytes of its canonical JSON, so that every request fits into a message. */
export const TARGET_MAX_BYTES = 24_576;
/** Said of a proof that any object could give; begins with the reason. */
export const NOT_BOUND = 'OwnershipNotBound: no tag reads object.metadata.uid, nor namespace and name';
/** JSON escapes make at most six bytes of one. */
const ESCAPED_MAX = 6;

/** Compiled expressions by target key or tag. */
export type Expressions = Readonly<Record<string, Compiled>>;

/** What a rule demands of the outside resource. */
export type OwnershipRule = { readonly tags: Expressions } | { readonly none: true };

/** Evaluates all target expressions; `invalid` of any key beats `missing` of another. */
export function evaluateTarget(expressions: Expressions, object: Prepared): TargetOutcome {
  const outcome = evaluateAll(expressions, object, faultOf);
  return outcome.kind === 'values' ? found(outcome.values) : outcome;
}

type Values = { readonly kind: 'values'; readonly values: Readonly<Record<string, CelValue>> };

/** Evaluates expressions by key; the first `invalid`, else the first `missing`, else all their values. */
function evaluateAll(
  expressions: Expressions,
  object: Prepared,
  faultIn: (value: CelValue) => string | undefined,
): Values | Missing | Invalid {
  const values: Record<string, CelValue> = {};
  let missing: Missing | undefined;
  for (const [key, expression] of Object.entries(expressions)) {
    const outcome = expression.evaluate(object);
    if (outcome.kind === 'invalid') return { kind: 'invalid', key, detail: outcome.detail };
    if (outcome.kind === 'missing') {
      missing ??= { kind: 'missing', key, detail: outcome.detail };
      continue;
    }
    const fault = faultIn(outcome.value);
    if (fault !== undefined) return { kind: 'invalid', key, detail: fault };
    values[key] = outcome.value;
  }
  return missing ?? { kind: 'values', values };
}

function found(target: Readonly<Record<string, CelValue>>): TargetOutcome {
  const bytes = utf8Bytes(JSON.stringify(target));
  if (bytes > TARGET_MAX_BYTES) {
    const key = Object.keys(target).reduce((left, right) =>
      weight(target[left]) >= weight(target[right]) ? left : right,
    );
    return { kind: 'invalid', key, detail: `the target has ${bytes} bytes, at most ${TARGET_MAX_BYTES} can be sent` };
  }
  const copied: Target = Object.fromEntries(
    Object.entries(target).map(([key, value]) => [key, isList(value) ? [...value] : value]),
  );
  return { kind: 'found', target: copied, digest: targetDigestOf(copied) };
}

function weight(value: CelValue | undefined): number {
  return value === undefined ? 0 : utf8Bytes(canonicalJson(value));
}

function isList(value: CelValue): value is readonly string[] {
  return Array.isArray(value);
}

/** Why a value cannot be part of a target. */
function faultOf(value: CelValue): string | undefined {
  if (typeof value === 'string') return faultOfText(value, TARGET_VALUE_MAX_BYTES);
  if (!isList(value)) return undefined;
  if (value.length > TARGET_LIST_MAX) return `a list of ${value.length}, at most ${TARGET_LIST_MAX} are allowed`;
  for (const [index, text] of value.entries()) {
    const fault = faultOfText(text, TARGET_VALUE_MAX_BYTES);
    if (fault !== undefined) return `item ${index}: ${fault}`;
  }
  return undefined;
}

function faultOfText(text: string, most: number): string | undefined {
  if (text === '') return 'an empty string';
  const bytes = utf8Bytes(text);
  if (bytes > most) return `a string of ${bytes} bytes, at most ${most} are allowed`;
  return canTravel(text) ? undefined : 'a string with characters that a queue does not carry';
}

/** SQS refuses these two characters, and a lone surrogate is no text at all; control characters travel escaped. */
export function canTravel(text: string): boolean {
  return text.isWellFormed() && !/[\ufffe\uffff]/.test(text);
}

/**
 * How the proof is bound to the object, by what its expressions read; undefined when it is not. A name alone binds only
 * where names are unique in the whole cluster, so not for a kind that is `namespaced`.
 */
export function bindingOf(ownership: OwnershipRule, namespaced = false): OwnershipBinding | undefined {
  if ('none' in ownership) return 'none';
  if (reads(ownership.tags, 'object.metadata.uid')) return 'uid';
  const names = namespaced ? ['object.metadata.namespace', 'object.metadata.name'] : ['object.metadata.name'];
  return names.every((path) => reads(ownership.tags, path)) ? 'name' : undefined;
}

function reads(expressions: Expressions, path: string): boolean {
  return Object.values(expressions).some((expression) => expression.reads.includes(path));
}

/**
 * Evaluates the ownership proof. A proof by name alone is one only where names are unique in the whole cluster: for an
 * object in a namespace it is invalid.
 */
export function evaluateOwnership(ownership: OwnershipRule, object: Prepared, namespaced: boolean): OwnershipOutcome {
  if ('none' in ownership) return { kind: 'found', ownership: { none: true } };
  return unbound(ownership.tags, namespaced) ?? evaluateTags(ownership.tags, object);
}

/** Evaluates the values of ownership tags, bound to the object or not. */
export function evaluateTags(expressions: Expressions, object: Prepared): OwnershipOutcome {
  const outcome = evaluateAll(expressions, object, faultOfTag);
  if (outcome.kind !== 'values') return outcome;
  const tags = Object.entries(outcome.values).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value]] : [],
  );
  return { kind: 'found', ownership: { tags: Object.fromEntries(tags) } };
}

function faultOfTag(value: CelValue): string | undefined {
  if (typeof value !== 'string') return `a tag must be a string, not ${isList(value) ? 'a list' : `a ${typeof value}`}`;
  if (value.length > TAG_VALUE_MAX) return `a tag of ${value.length} characters, at most ${TAG_VALUE_MAX} are allowed`;
  return faultOfText(value, TAG_VALUE_MAX * ESCAPED_MAX);
}

function unbound(tags: Expressions, namespaced: boolean): Invalid | undefined {
  if (bindingOf({ tags }, namespaced) !== undefined) return undefined;
  return { kind: 'invalid', key: Object.keys(tags)[0] ?? 'ownership', detail: NOT_BOUND };
}

/** Evaluates the policy. Whatever does not say Delete or Retain says nothing, a missing key included. */
export function evaluatePolicy(expression: Compiled, object: Prepared): PolicyOutcome {
  const outcome = expression.evaluate(object);
  if (outcome.kind !== 'value') return { kind: 'invalid', key: 'policy', detail: outcome.detail };
  if (outcome.value === 'Delete' || outcome.value === 'Retain') return { kind: 'found', policy: outcome.value };
  const said = JSON.stringify(outcome.value).slice(0, 64);
  return { kind: 'invalid', key: 'policy', detail: `the policy is ${said}, neither "Delete" nor "Retain"` };
}
