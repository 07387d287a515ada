/*
 * The schema of `spec.match`: which objects a rule is for. What a rule is for cannot change under the objects that
 * already carry its entry, and some kinds are never held. Used by spec-schema.ts.
 */
import { FAULTS, REFUSED_KINDS, SELECTOR_MAX, TEXTS } from '../../bridge/rule-facts.ts';
import { check, isTextRule, quoted, type Schema, textSchema, type Validation } from './schema.ts';

const fixed = (field: string): Validation =>
  check('self == oldSelf', `${field} cannot be changed: objects already carry the rule's entry; make another rule`);

/** Holds for the kinds that a rule may be for. */
const refused = REFUSED_KINDS.map(quoted).join(', ');
const allowedKind: Validation = {
  rule: `[self.group + '/' + self.resource, self.group + '/*'].all(kind, !(kind in [${refused}]))`,
  message: 'rules for this kind are refused',
  messageExpression: `'rules for ' + self.resource + (self.group == '' ? '' : '.' + self.group) + ' are refused'`,
};

const labels: Schema = {
  type: 'object',
  description: 'Labels that must have exactly these values.',
  maxProperties: SELECTOR_MAX.labels,
  additionalProperties: textSchema(TEXTS.labelValue, 'The value.'),
  'x-kubernetes-validations': [
    check(
      `self.all(key, key.size() <= ${TEXTS.labelKey.longest} && ${isTextRule(TEXTS.labelKey, 'key')})`,
      TEXTS.labelKey.fault,
    ),
  ],
};

const expression: Schema = {
  type: 'object',
  description: 'One requirement.',
  required: ['key', 'operator'],
  properties: {
    key: textSchema(TEXTS.labelKey, "The label's key."),
    operator: {
      type: 'string',
      description: 'How the label relates to `values`.',
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    },
    values: {
      type: 'array',
      description: 'Values for `In` and `NotIn`; none for the others.',
      maxItems: SELECTOR_MAX.values,
      items: textSchema(TEXTS.labelValue, 'A value.'),
      'x-kubernetes-list-type': 'atomic',
    },
  },
  'x-kubernetes-validations': [
    check("(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)", FAULTS.selectorValues),
  ],
};

function selector(description: string): Schema {
  return {
    type: 'object',
    description,
    properties: {
      matchLabels: labels,
      matchExpressions: {
        type: 'array',
        description: 'Requirements that must hold as well.',
        maxItems: SELECTOR_MAX.expressions,
        items: expression,
        'x-kubernetes-list-type': 'atomic',
      },
    },
    'x-kubernetes-map-type': 'atomic',
  };
}

export const matchSchema: Schema = {
  type: 'object',
  description: 'Which objects the rule is for: one kind, and of that kind those that both selectors select.',
  required: ['group', 'version', 'resource'],
  properties: {
    group: textSchema(TEXTS.group, 'API group of the kind; "" is the core group. Cannot be changed.', [fixed('group')]),
    version: textSchema(TEXTS.version, 'API version that expressions see the objects in. Cannot be changed.', [
      fixed('version'),
    ]),
    resource: textSchema(TEXTS.resource, 'The plural, in lower case, such as `buckets`. Cannot be changed.', [
      fixed('resource'),
    ]),
    labelSelector: selector(
      'Selects objects by their labels. Left out or empty, it selects all. An object that stops matching keeps its ' +
        'entry unless `unmatched` says otherwise; once it is deleting, only its entry counts.',
    ),
    namespaceSelector: selector(
      'Selects objects by the labels of their namespace. Left out or empty, it selects all. Objects without a namespace are always selected; for Namespaces themselves their own labels count.',
    ),
  },
  'x-kubernetes-validations': [allowedKind],
};
