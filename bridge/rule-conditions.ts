/*
 * The conditions of a judgement: Accepted, Permitted, Watching, and Ready, which sums them up. Called by rule-status.ts.
 * Reasons are stable words that programs may wait for; messages are for people.
 */
import type { OwnershipBinding } from './rule.ts';
import type { ACCEPTANCES } from './rule-facts.ts';
import { type Judgement, VERBS } from './rule-judge.ts';
import type { Condition } from './teardown-rules.ts';

/** How surely an accepted rule's proof belongs to the object, as reason and message. */
const BINDINGS: Readonly<Record<OwnershipBinding, readonly [reason: keyof typeof ACCEPTANCES, message: string]>> = {
  uid: ['Accepted', 'the rule is in force'],
  name: [
    'OwnershipWeak',
    'the rule is in force; its ownership proof could also be carried by the resource of another object of the same name',
  ],
  none: [
    'OwnershipNone',
    'the rule is in force and asks for no ownership proof: whatever a target names is taken down, if the function allows it',
  ],
};

/** The conditions of a judgement. */
export function conditionsOf(judgement: Judgement, isWatching: boolean): readonly Condition[] {
  const watching: Condition = isWatching
    ? { type: 'Watching', status: 'True', reason: 'Watching', message: 'the kind is being watched' }
    : { type: 'Watching', status: 'False', reason: 'NotWatching', message: blindness(judgement) };
  const basis = [accepted(judgement), permitted(judgement), watching];
  const lacksOne = basis.find(({ status }) => status !== 'True');
  const ready: Condition =
    lacksOne === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'objects are held and taken down' }
      : { type: 'Ready', status: 'False', reason: lacksOne.reason, message: lacksOne.message };
  return [...basis, ready];
}

function blindness({ rule }: Judgement): string {
  return rule?.matchesNamespace === undefined
    ? 'the kind is not being watched'
    : 'the kind, or the labels of namespaces, are not being watched';
}

function accepted({ rule, fault, notes }: Judgement): Condition {
  if (fault !== undefined) return { type: 'Accepted', status: 'False', ...fault };
  const [reason, message] = BINDINGS[rule?.binding ?? 'uid'];
  return { type: 'Accepted', status: 'True', reason, message: [message, ...notes].join('; ') };
}

function permitted({ rule, lacking }: Judgement): Condition {
  if (lacking.length > 0) {
    return { type: 'Permitted', status: 'False', reason: 'MissingVerbs', message: `may not ${lacking.join('; ')}` };
  }
  return rule === undefined
    ? { type: 'Permitted', status: 'Unknown', reason: 'NotAccepted', message: 'not asked before it is accepted' }
    : { type: 'Permitted', status: 'True', reason: 'Permitted', message: `may ${VERBS.join(', ')}` };
}
