/*
 * What the policy `limits` says in CEL: the accounts of the bridge and of its drain change nothing of an object but our
 * entries and our annotations, and of a TeardownRule also our label. Used by guards.ts. It compares the object with the one
 * before, both without what is ours and without what the API server itself writes with every change.
 */
import { INJECTS_LABEL } from '../../bridge/injects.ts';
import { ENTRY_PREFIX, RULE_GROUP } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';
import { ANNOTATION_DOMAINS, ANNOTATIONS_MAX, listOf, type Validation } from './words.ts';

/** Members of metadata that the validations look at one by one, or that the API server writes with every change. */
const APART = ['annotations', 'finalizers', 'labels', 'managedFields', 'resourceVersion', 'generation'];

/** Whether two maps are the same but for some keys; `k` is the key. */
function isSame(before: string, after: string, isApart: string): string {
  return [
    `${after}.all(k, ${isApart} || ${before}[?k] == ${after}[?k]) &&`,
    `${before}.all(k, ${isApart} || k in ${after})`,
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

const others = (list: string) => `${list}.orValue([]).filter(f, !f.startsWith('${ENTRY_PREFIX}'))`;

/** Only for these accounts; everybody else's write costs one comparison. */
export function matchConditions(accounts: readonly string[]): readonly NamedExpression[] {
  return [{ name: 'by-the-bridge', expression: `request.userInfo.username in ${listOf(accounts)}` }];
}

/** The validations. `drain` is the user name of the drain, which deletes rules. */
export function validations(drain: string | undefined): readonly Validation[] {
  const isRule = `request.resource.group == '${RULE_GROUP}'`;
  const drainsRule =
    drain === undefined
      ? ''
      : ` ||\n(request.operation == 'DELETE' && ${isRule} && request.userInfo.username == '${drain}')`;
  const [finalizersBefore, finalizersAfter] = member('finalizers');
  const update = (expression: string) => `!(${isUpdate}) || (\n${expression})`;
  return [
    {
      expression: `${isUpdate}${drainsRule}`,
      because: `'the bridge updates objects, and does no ' + request.operation`,
    },
    {
      expression: update(isSame('oldObject', 'object', "k == 'metadata'")),
      because: `'the bridge changes nothing outside of metadata'`,
    },
    {
      expression: update(isSame('oldObject.metadata', 'object.metadata', `k in ${listOf(APART)}`)),
      because: `'the bridge changes nothing of metadata but its entries and annotations'`,
    },
    {
      expression: update(memberIsSame('labels', `(${isRule} && k == '${INJECTS_LABEL}')`)),
      because: `'the bridge changes no labels of objects'`,
    },
    {
      expression: update(memberIsSame('annotations', `k.split('/')[0] in ${listOf(ANNOTATION_DOMAINS)}`)),
      because: `'the bridge changes no annotations of others'`,
    },
    {
      expression: update(
        `${finalizersBefore} == ${finalizersAfter} ||\n${others(finalizersBefore)} == ${others(finalizersAfter)}`,
      ),
      because: `'the bridge changes no finalizers of others'`,
    },
  ];
}
