/*
 * What the policy `entries` says in CEL: an entry of ours is taken off by the bridge, its drain, or who may release under
 * that rule, and by nobody else, `kubectl replace` of an old manifest included (K27). Used by guards.ts, off unless asked
 * for. The garbage collector and the namespace controller take off their own finalizers only, so it never meets them.
 */
import { ENTRY_PREFIX } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';
import { lacking, listOf, mayOn, type Validation } from './words.ts';

/** `Deleting`: of objects that are being deleted, where a teardown would be lost. `Always`: of live ones as well. */
export type Guarded = 'Deleting' | 'Always';

const left = 'object.?metadata.?finalizers.orValue([])';
const gone = `oldObject.?metadata.?finalizers.orValue([]).filter(f, f.startsWith('${ENTRY_PREFIX}') && !(f in ${left}))`;

/** Only where an entry comes off, and by others than the accounts. */
export function matchConditions(guarded: Guarded, accounts: readonly string[]): readonly NamedExpression[] {
  const terms = [
    `!(request.userInfo.username in ${listOf(accounts)})`,
    ...(guarded === 'Deleting' ? ['has(oldObject.metadata.deletionTimestamp)'] : []),
    'oldObject.?metadata.?finalizers != object.?metadata.?finalizers',
    `size(${gone}) > 0`,
  ];
  return [{ name: 'entry-comes-off', expression: terms.join(' &&\n') }];
}

export const variables: readonly NamedExpression[] = [
  { name: 'rules', expression: `${gone}.map(f, f.substring(${ENTRY_PREFIX.length}))` },
];

export const validations: readonly Validation[] = [
  {
    expression: mayOn('variables.rules', 'release'),
    because: lacking('variables.rules', 'release', 'to take an entry off by hand'),
  },
];
