/*
 * Judges one generation of a TeardownRule: does it read, is its handler known, does the kind exist, may we do what it
 * needs. Called by rule-keeper.ts; says what is wrong in words for the rule's conditions.
 */
import type { Kinds, KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import { ruleFromObject } from './rules.ts';
import type { Condition } from './teardown-rules.ts';

/** The verbs that the bridge needs on a kind. */
export const VERBS = ['get', 'list', 'watch', 'patch'] as const;

/** Why a rule is not accepted; the reason is the condition's. */
export interface RuleFault {
  readonly reason: 'Invalid' | 'OwnershipNotBound' | 'NoQueue' | 'UnknownResource';
  readonly message: string;
}

/** What was found. */
export interface Judgement {
  /** The rule of this generation, if it is accepted. */
  readonly rule: Rule | undefined;
  readonly fault: RuleFault | undefined;
  /** Verbs that are missing; empty when all are there, or when nobody could ask. */
  readonly lacking: readonly string[];
  /** Weak ownership is said, not refused. */
  readonly isWeak: boolean;
}

/** What judging needs. */
export interface JudgeOptions {
  readonly kinds: Kinds;
  hasHandler(name: string): boolean;
}

/** Judges a rule. Throws ApiError when the API server could not be asked. */
export async function judgeRule({ kinds, hasHandler }: JudgeOptions, object: KubeObject): Promise<Judgement> {
  const parsed = ruleFromObject(object);
  if (!parsed.ok) {
    const message = parsed.faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ');
    const reason = message.includes('OwnershipNotBound') ? 'OwnershipNotBound' : 'Invalid';
    return refused({ reason, message });
  }
  const { rule } = parsed;
  if (!hasHandler(rule.handler)) {
    return refused({ reason: 'NoQueue', message: `no queue is configured for handler ${rule.handler}` });
  }
  const facts = await kinds.describe(rule.match);
  if (facts === undefined) {
    const { group, version, resource } = rule.match;
    const name = `${resource}.${version}${group === '' ? '' : `.${group}`}`;
    return refused({ reason: 'UnknownResource', message: `the API server does not serve ${name}` });
  }
  const lacking = await kinds.lacking(rule.match, VERBS);
  return { rule, fault: undefined, lacking, isWeak: rule.binding !== 'uid' };
}

/** Why a rule is not accepted, for what waits for it. */
export function whyRefused({ fault }: Judgement): string {
  return fault?.message ?? 'not accepted';
}

function refused(fault: RuleFault): Judgement {
  return { rule: undefined, fault, lacking: [], isWeak: false };
}

/** The conditions of a judgement. */
export function conditionsOf({ rule, fault, lacking, isWeak }: Judgement, isWatching: boolean): readonly Condition[] {
  const accepted: Condition =
    fault === undefined
      ? {
          ...{ type: 'Accepted', status: 'True' },
          reason: isWeak ? 'OwnershipWeak' : 'Accepted',
          message: isWeak
            ? 'the ownership proof could also be carried by the resource of another object of the same name'
            : 'the rule is in force',
        }
      : { type: 'Accepted', status: 'False', ...fault };
  const permitted: Condition =
    lacking.length === 0
      ? rule === undefined
        ? { type: 'Permitted', status: 'Unknown', reason: 'NotAccepted', message: 'not asked before it is accepted' }
        : { type: 'Permitted', status: 'True', reason: 'Permitted', message: `may ${VERBS.join(', ')}` }
      : { type: 'Permitted', status: 'False', reason: 'MissingVerbs', message: `may not ${lacking.join(', ')}` };
  const watching: Condition = isWatching
    ? { type: 'Watching', status: 'True', reason: 'Watching', message: 'the kind is being watched' }
    : { type: 'Watching', status: 'False', reason: 'NotWatching', message: 'the kind is not being watched' };
  const basis = [accepted, permitted, watching];
  const lacksOne = basis.find(({ status }) => status !== 'True');
  const ready: Condition =
    lacksOne === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'objects are held and taken down' }
      : { type: 'Ready', status: 'False', reason: lacksOne.reason, message: lacksOne.message };
  return [...basis, ready];
}
