/*
 * What the admission policy says in CEL: whether a rule (`params`) selects an object, and how its entry gets on the list.
 * Used by manifests.ts. The same for every kind and rule; it has to select what the bridge's own selectors select
 * (bridge/label-selector.ts), which test/e2e/admission-selectors.test.ts compares on a real API server.
 */
import { ENTRY_PREFIX } from '../../bridge/rule-facts.ts';
import { ANYWHERE } from '../../bridge/rule-namespaces.ts';

/** An expression with a name, as policies list them. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

/** Longest rule name: a longer entry is an invalid finalizer, and an invalid object is refused, ignored failures or not. */
const NAME_MAX = 63;
const ENTRY = `'${ENTRY_PREFIX}' + params.metadata.name`;

/** A label selector (optional) over labels (a map or optional), in CEL. An operator that is not known selects nothing. */
function selects(selector: string, labels: string): readonly string[] {
  const isOneOf = `${labels}[?e.key].optMap(v, v in e.?values.orValue([])).orValue(false)`;
  const isSet = `${labels}[?e.key].hasValue()`;
  return [
    `${selector}.?matchLabels.orValue({}).all(k, ${labels}[?k] == ${selector}.matchLabels[?k])`,
    [
      `${selector}.?matchExpressions.orValue([]).all(e,`,
      `  e.operator == 'In' ? ${isOneOf} :`,
      `  e.operator == 'NotIn' ? !${isOneOf} :`,
      `  e.operator == 'Exists' ? ${isSet} :`,
      `  e.operator == 'DoesNotExist' ? !${isSet} : false)`,
    ].join('\n'),
  ];
}

const all = (terms: readonly string[]) => terms.join(' &&\n');

/**
 * Where the bridge serves some namespaces only, the rule's status says in which the entry may be (rule-namespaces.ts). A binding for
 * one more comes with the upgrade, before the bridge that serves it; were that taken back, nobody would know of objects born there.
 */
const isServed = [
  'params.?status.?namespaces',
  `.optMap(n, request.?namespace.orValue('') in n || '${ANYWHERE}' in n).orValue(true)`,
].join('');

/** The cheap tests, the most selective first; one chain, as the API server evaluates each condition even after a false one. */
export const matchConditions: readonly NamedExpression[] = [
  {
    name: 'rule-selects-object',
    expression: all([
      'params.spec.match.group == request.resource.group',
      'params.spec.match.resource == request.resource.resource',
      '!has(params.metadata.deletionTimestamp)',
      isServed,
      `size(params.metadata.name) <= ${NAME_MAX}`,
      `!(${ENTRY} in object.metadata.?finalizers.orValue([]))`,
      ...selects('params.spec.match.?labelSelector', 'object.metadata.?labels'),
    ]),
  },
];

/**
 * The test of the namespace. Not a match condition: `namespaceObject` fails there, silently where failures are ignored.
 * As for webhooks, a Namespace counts as being in itself, and other objects without a namespace are always selected.
 */
export const variables: readonly NamedExpression[] = [
  { name: 'isNamespace', expression: `request.resource.group == '' && request.resource.resource == 'namespaces'` },
  {
    name: 'namespaceLabels',
    expression: [
      // A map: what is optional does not stay so in a variable.
      'variables.isNamespace ? object.metadata.?labels.orValue({}) :',
      'namespaceObject == null ? {} : namespaceObject.metadata.?labels.orValue({})',
    ].join('\n'),
  },
  {
    name: 'namespaceSelected',
    expression: [
      '(!variables.isNamespace && namespaceObject == null) ||',
      all(selects('params.spec.match.?namespaceSelector', 'variables.namespaceLabels')),
    ].join('\n'),
  },
];

/** Adds the entry to an absent list or to the end of one. No operation at all for an object of another namespace. */
export const patchExpression = [
  '!variables.namespaceSelected ? [] :',
  `has(object.metadata.finalizers) ? [JSONPatch{op: 'add', path: '/metadata/finalizers/-', value: ${ENTRY}}] :`,
  `[JSONPatch{op: 'add', path: '/metadata/finalizers', value: [${ENTRY}]}]`,
].join('\n');
