/*
 * The command that a person needs next for a held object, as text to be pasted. Pure; called by standing.ts and
 * failing.ts for Events. Names are quoted: some kinds take any (a Role may be called `a; b`), and an entry's rule is whatever
 * its author wrote.
 */
import { kindName } from './kind-key.ts';
import type { Pending } from './pending.ts';
import type { ObjectMeta } from './ports.ts';
import { commandOf } from './shell-words.ts';

const COMMAND = ['kubectl', 'finalizer-bridge'];

/** What of a pending deletion is named. */
export type Named = Pick<Pending, 'rule' | 'kind'> & { readonly meta: Pick<ObjectMeta, 'name' | 'namespace'> };

/** Reasons that a word alone does not end, or only after a look; everything else is a refusal: mend it, then retry. */
const LOOK_FIRST = new Set([
  // Tried again, it is refused again: `explain` says how to adopt what has no proof.
  'NotOwned',
  ...['TargetChanged', 'FoundNothing', 'TargetMissing', 'TargetInvalid', 'OwnershipInvalid', 'PolicyInvalid'],
  ...['WaitForTimedOut', 'DeadlineExceeded', 'QueueTooSlow', 'Failing', 'RequestTooLarge'],
]);

/** Reasons that the rule's own conditions explain. */
const OF_THE_RULE = new Set(['RuleNotAccepted', 'BudgetNotKept']);

/** The command for a reason of holding. */
export function nextCommand(reason: string, named: Named): string {
  const { rule } = named;
  if (OF_THE_RULE.has(reason)) return commandOf('kubectl', 'describe', 'teardownrules.finalizer-bridge.dev', rule);
  if (reason === 'NoRule') return wordCommand('release', named);
  if (reason === 'BudgetExceeded') return wordCommand('approve', named);
  return wordCommand(LOOK_FIRST.has(reason) ? 'explain' : 'retry', named);
}

/** The command that says a word about an object, or explains it. */
export function wordCommand(word: 'explain' | 'retry' | 'release' | 'approve', { rule, kind, meta }: Named): string {
  const object = `${kindName(kind)}/${meta.name}`;
  const place = meta.namespace === undefined ? [] : ['-n', meta.namespace];
  const which = word === 'explain' ? [] : ['--rule', rule];
  return commandOf(...COMMAND, word, object, ...place, ...which);
}
