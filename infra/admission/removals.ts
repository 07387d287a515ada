/*
 * What the policy `entries` says in CEL: an entry of ours is taken off by the bridge, its drain, or who may release under
 * that rule, and by nobody else, `kubectl replace` of an old manifest included (K27). Used by guards.ts, off unless asked
 * for. The garbage collector and the namespace controller take off their own finalizers only, so it never meets them.
 */
import { ENTRY_PREFIX, RULE_GROUP, RULE_RESOURCE } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';
import { areFew, ENTRIES_MAX, piecesOf, rulesIn } from './pieces.ts';
import { lacking, listOf, mayOn, mayOnAll, type Validation } from './words.ts';

/** `Deleting`: of objects that are being deleted, where a teardown would be lost. `Always`: of live ones as well. */
export type Guarded = 'Deleting' | 'Always';

const [before, after] = ['oldObject.?metadata.?finalizers', 'object.?metadata.?finalizers'];
const hasOurs = `('\\n' + ${before}.orValue([]).join('\\n')).contains('\\n${ENTRY_PREFIX}')`;

/**
 * Only where finalizers change of what has an entry, and by others than the accounts. Which entries come off is left to the
 * variables: a match condition has none, and a loop in it would go over the finalizers of others as well.
 */
export function matchConditions(guarded: Guarded, accounts: readonly string[]): readonly NamedExpression[] {
  const terms = [
    `!(request.userInfo.username in ${listOf(accounts)})`,
    ...(guarded === 'Deleting' ? ['has(oldObject.metadata.deletionTimestamp)'] : []),
    `${before} != ${after}`,
    hasOurs,
  ];
  return [{ name: 'entry-may-come-off', expression: terms.join(' &&\n') }];
}

export const variables: readonly NamedExpression[] = [
  ...piecesOf(before, after),
  { name: 'crowded', expression: `!(${areFew})` },
  { name: 'rulesLeft', expression: `variables.crowded ? [] : ${rulesIn('variables.piecesAfter')}` },
  {
    name: 'rules',
    expression: [
      'variables.crowded ? [] :',
      `  ${rulesIn('variables.piecesBefore')}.filter(r, r != '' && !(r in variables.rulesLeft))`,
    ].join('\n'),
  },
];

const crowded =
  `'an object with more than ${ENTRIES_MAX} entries of ours is not looked through: to change its finalizers takes the verb ' +\n` +
  `'release on every one of ${RULE_RESOURCE}.${RULE_GROUP}'`;

export const validations: readonly Validation[] = [
  { expression: `!variables.crowded ||\n${mayOnAll('release')}`, because: crowded },
  {
    expression: mayOn('variables.rules', 'release'),
    because: lacking('variables.rules', 'release', 'to take an entry off by hand'),
  },
];
