/*
 * What the policy `limits` says in CEL: the accounts of the bridge and of its drain change nothing of an object but our
 * entries and our annotations, of a TeardownRule also our label, and of a RoleBinding only our finalizer. Used by guards.ts.
 * It compares the object with the one before, both without what is ours and without what the API server itself writes with
 * every change.
 */
import { INJECTS_LABEL } from '../../bridge/injects.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { RULE_GROUP } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';
import { areFew, ENTRIES_MAX, othersIn, piecesOf } from './pieces.ts';
import { ANNOTATIONS_MAX, DOMAINS_OF, listOf, type Validation } from './words.ts';

/**
 * Members of metadata that nobody but the API server writes, or that it lets nobody change, are left out. The others are
 * named one by one: going through all of them costs it several times as much, with every write of the bridge.
 */
const STEADY = ['ownerReferences', 'generateName', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

/** Whether two maps are the same but for some keys; `k` is the key. */
function isSame(before: string, after: string, isApart: string): string {
  return [
    `${after}.all(k, ${isApart} || ${before}[?k] == ${after}[?k]) &&`,
    `${before}.all(k, k in ${after} || ${isApart})`,
  ].join('\n');
}

const isUpdate = "request.operation == 'UPDATE'";
const member = (name: string) => [`oldObject.metadata.?${name}`, `object.metadata.?${name}`] as const;

/** The same after a cheap look: on most writes of the bridge only one of these moves. What is very large is not gone through. */
function memberIsSame(name: string, isApart: string): string {
  const [before, after] = member(name).map((one) => `${one}.orValue({})`);
  return [
    `${before} == ${after} ||`,
    `(size(${before}) <= ${ANNOTATIONS_MAX} && size(${after}) <= ${ANNOTATIONS_MAX} &&`,
    `${isSame(`${before}`, `${after}`, isApart)})`,
  ].join('\n');
}

const [finalizersBefore, finalizersAfter] = member('finalizers');

/** Looked at only where finalizers differ. */
export const variables: readonly NamedExpression[] = [
  ...piecesOf(finalizersBefore, finalizersAfter),
  { name: 'othersBefore', expression: othersIn('variables.piecesBefore') },
  { name: 'othersAfter', expression: othersIn('variables.piecesAfter') },
];

const isBinding = `request.resource.group == '${RIGHTS_BINDING.group}'`;
const withoutRights = (list: string) =>
  `([''] + ${list}.orValue([]) + ['']).join('\\n').replace('\\n${RIGHTS_FINALIZER}\\n', '\\n')`;
const bindingKeepsOthers = [
  `(${isBinding} &&`,
  `${withoutRights(finalizersBefore)} ==`,
  `${withoutRights(finalizersAfter)})`,
].join('\n');

const othersAreSame = [
  `${finalizersBefore} == ${finalizersAfter} ||`,
  `${bindingKeepsOthers} ||`,
  `(${areFew} &&`,
  'variables.othersBefore == variables.othersAfter)',
].join('\n');

/** Only for these accounts; everybody else's write costs one comparison. */
export function matchConditions(accounts: readonly string[]): readonly NamedExpression[] {
  return [{ name: 'by-the-bridge', expression: `request.userInfo.username in ${listOf(accounts)}` }];
}

/** The validations. `drain` is the user name of the drain, which deletes rules and says words where it may. */
export function validations(bridge: string, drain: string | undefined): readonly Validation[] {
  const isRule = `request.resource.group == '${RULE_GROUP}'`;
  const isDrain = `request.userInfo.username == '${drain}'`;
  const drainsRule = drain === undefined ? '' : ` ||\n(request.operation == 'DELETE' && ${isRule} && ${isDrain})`;
  const update = (expression: string) => `!(${isUpdate}) || (\n${expression})`;
  const steady = STEADY.map((name) => member(name).join(' == '));
  const own = `(request.userInfo.username == '${bridge}' ? ${listOf(DOMAINS_OF.bridge)} : ${listOf(DOMAINS_OF.drain)})`;
  return [
    {
      expression: `${isUpdate}${drainsRule}`,
      because: `'the bridge updates objects, and does no ' + request.operation`,
    },
    {
      expression: update(
        "size(object) == size(oldObject) &&\nobject.all(k, k == 'metadata' || object[?k] == oldObject[?k])",
      ),
      because: `'the bridge changes nothing outside of metadata'`,
    },
    {
      expression: update(steady.join(' &&\n')),
      because: `'the bridge changes nothing of metadata but its entries and annotations'`,
    },
    {
      expression: update(memberIsSame('labels', `(${isRule} && k == '${INJECTS_LABEL}')`)),
      because: `'the bridge changes no labels of objects'`,
    },
    {
      expression: update(memberIsSame('annotations', `k.split('/')[0] in ${own}`)),
      because: `'the bridge changes no annotations but its records, the drain none but its releases'`,
    },
    {
      expression: update(othersAreSame),
      because: `'the bridge changes no finalizers of others, and none of an object with more than ${ENTRIES_MAX} entries of ours'`,
    },
  ];
}
