/*
 * The CustomResourceDefinition of TeardownRule: names, columns, and the schema from the files beside it.
 * Written to infra/manifests/teardownrules.yaml by generate.ts, which is what charts and clusters apply.
 */
import { stringify } from 'yaml';
import { ruleName } from '../../bridge/contract.ts';
import { RULE_GROUP, RULE_KIND, RULE_RESOURCE, RULE_VERSION } from '../../bridge/rule-facts.ts';
import { check, factsOf, type Schema } from './schema.ts';
import { specSchema } from './spec-schema.ts';
import { statusSchema } from './status-schema.ts';

/** Where the definition is kept, from the root of the project. */
export const DEFINITION_PATH = 'infra/manifests/teardownrules.yaml';

const { longest: NAME_MAX } = factsOf(ruleName);

/** A rule as the API server checks it. */
export const ruleSchema: Schema = {
  type: 'object',
  description:
    'A rule for deletions: the objects it selects are held by a finalizer until a handler has taken down what they ' +
    'stand for outside the cluster.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
    kind: { type: 'string', description: `Always ${RULE_KIND}.` },
    // The API server takes no description here.
    metadata: { type: 'object' },
    spec: specSchema,
    status: statusSchema,
  },
  'x-kubernetes-validations': [
    check(
      `self.metadata.name.size() <= ${NAME_MAX}`,
      `the name of a rule has at most ${NAME_MAX} characters, because it becomes the name of a finalizer: ${RULE_GROUP}/<name>`,
    ),
  ],
};

const columns = [
  { name: 'Resource', type: 'string', jsonPath: '.spec.match.resource', description: 'The kind of the objects.' },
  { name: 'Handler', type: 'string', jsonPath: '.spec.handler', description: 'What takes their targets down.' },
  { name: 'Pending', type: 'integer', jsonPath: '.status.pending', description: 'Objects being deleted.' },
  { name: 'Held', type: 'integer', jsonPath: '.status.held', description: 'Those that need a person or a change.' },
  { name: 'Oldest', type: 'date', jsonPath: '.status.oldestPendingTime', description: 'Age of the oldest deletion.' },
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether the rule is at work.',
  },
  {
    name: 'Reason',
    type: 'string',
    priority: 1,
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is, or is not.',
  },
  { name: 'Group', type: 'string', priority: 1, jsonPath: '.spec.match.group', description: 'API group of the kind.' },
  {
    name: 'Paused',
    type: 'boolean',
    priority: 1,
    jsonPath: '.spec.paused',
    description: 'Whether nothing new is sent.',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age of the rule.' },
] as const;

/** The manifest. */
export const ruleDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${RULE_RESOURCE}.${RULE_GROUP}` },
  spec: {
    group: RULE_GROUP,
    scope: 'Cluster',
    names: {
      plural: RULE_RESOURCE,
      singular: 'teardownrule',
      kind: RULE_KIND,
      listKind: `${RULE_KIND}List`,
      shortNames: ['tdr'],
      categories: ['finalizer-bridge'],
    },
    versions: [
      {
        name: RULE_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: columns,
        schema: { openAPIV3Schema: ruleSchema },
      },
    ],
  },
};

/** The text of the manifest's file. */
export function definitionYaml(): string {
  const head = '# Generated from infra/crd (npm run crd): edit there.\n';
  return head + stringify(ruleDefinition, { lineWidth: 120, aliasDuplicateObjects: false });
}
