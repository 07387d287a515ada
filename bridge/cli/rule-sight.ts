/*
 * TeardownRules as a caller's own rights show them: one by name, or all. Read by status, explain, release and adopt; what
 * may not be read, or does not read, is a value, since most of what they say is known without it.
 */
import { kindName } from '../kind-key.ts';
import { listAll } from '../listing.ts';
import { ApiError, type KindRef, type KubeObject } from '../ports.ts';
import type { Rule } from '../rule.ts';
import { ruleFromObject } from '../rules.ts';
import { matchOf, rulePath, statusOf, TEARDOWN_RULES, type WrittenCondition } from '../teardown-rules.ts';
import { type Context, Failure } from './command.ts';
import { isForbidden, serverWords } from './failure-words.ts';

/** A rule that exists. `rule` is undefined when its spec does not read; `faults` say why. */
export interface RuleSeen {
  readonly kind: 'found';
  readonly object: KubeObject;
  readonly rule: Rule | undefined;
  readonly faults: readonly string[];
  readonly conditions: readonly WrittenCondition[];
  /** The condition of that name, if the bridge has written one. */
  readonly accepted: WrittenCondition | undefined;
}

/**
 * A rule, or why there is none to see. `elsewhere`: the one of that name is for another kind, which `selects` names, so the
 * entry has no rule all the same.
 */
export type RuleSight =
  | RuleSeen
  | { readonly kind: 'missing' }
  | { readonly kind: 'elsewhere'; readonly selects: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The rule of an entry, by its name and the kind of the object that carries it. */
export async function readRule(
  { cluster }: Context,
  name: string,
  kind: Pick<KindRef, 'group' | 'resource'>,
): Promise<RuleSight> {
  try {
    const object = await cluster.get(rulePath(name));
    if (object === undefined) return { kind: 'missing' };
    const rule = seen(object);
    const match = matchSeen(rule);
    return match === undefined || isFor(match, kind) ? rule : { kind: 'elsewhere', selects: kindName(match) };
  } catch (error) {
    if (isForbidden(error)) return { kind: 'unreadable', why: serverWords(error) };
    throw error;
  }
}

/** All rules, by name. Throws a Failure where there is no such kind, ApiError where they may not be listed. */
export async function readRules({ cluster }: Context): Promise<readonly RuleSeen[]> {
  const names: string[] = [];
  const listed = await listAll(cluster, TEARDOWN_RULES, ({ name }) => void names.push(name));
  if (listed === 'unserved')
    throw new Failure('the API server knows no TeardownRule: Finalizer Bridge is not installed');
  // What the server says of it is in the error of a call of our own.
  if (listed === 'forbidden') {
    await cluster.list(TEARDOWN_RULES, { limit: 1 });
    throw new ApiError('listing teardownrules', 403);
  }
  const objects = await Promise.all(names.map((name) => cluster.get(rulePath(name))));
  return objects.flatMap((object) => (object === undefined ? [] : [seen(object)]));
}

function seen(object: KubeObject): RuleSeen {
  const parsed = ruleFromObject(object);
  const { conditions = [] } = statusOf(object);
  return {
    kind: 'found',
    ...{ object, conditions, accepted: conditions.find(({ type }) => type === 'Accepted') },
    rule: parsed.ok ? parsed.rule : undefined,
    faults: parsed.ok ? [] : parsed.faults.map(({ path, message }) => `${path}: ${message}`),
  };
}

/** Whether a rule that selects this is one for a kind, in whatever version; one that does not even say what may be. */
export function isFor(match: KindRef | undefined, kind: Pick<KindRef, 'group' | 'resource'>): boolean {
  return match === undefined || kindName(match) === kindName(kind);
}

/** What a rule selects; undefined when not even that can be read. */
export function matchSeen({ rule, object }: RuleSeen): KindRef | undefined {
  if (rule !== undefined) return rule.match;
  try {
    return matchOf(object);
  } catch {
    return undefined;
  }
}
