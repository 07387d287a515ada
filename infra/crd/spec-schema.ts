/*
 * The schema of `spec`, field by field the counterpart of bridge/rule-schema.ts over the same facts.
 * Used by definition.ts. Whether an expression compiles, and whether the ownership proof is bound to the object, only the
 * bridge can tell: it says so in the condition `Accepted`.
 */
import { EXPRESSION_MAX } from '../../bridge/cel.ts';
import { handlerName, tagKey, targetKey } from '../../bridge/contract.ts';
import {
  BUDGET_LIMIT,
  CHOICES,
  DEFAULT_POLICY,
  DEFAULT_TAGS,
  DURATIONS,
  ENTRY_PREFIX,
  FAULTS,
  OPTIONS_MAX_BYTES,
  TAGS_MAX,
  TARGET_KEYS_MAX,
  TEXTS,
  WAIT_FOR_MAX,
} from '../../bridge/rule-facts.ts';
import { matchSchema } from './match-schema.ts';
import { check, choiceSchema, durationSchema, factsOf, matches, type Schema, textSchema } from './schema.ts';

const handlerFacts = factsOf(handlerName);
const tagFacts = factsOf(tagKey);

function expressionSchema(description: string): Schema {
  return { type: 'string', description, minLength: 1, maxLength: EXPRESSION_MAX };
}

const handler: Schema = {
  type: 'string',
  description: 'Name of the handler that takes the target down: it decides which queue and which function.',
  maxLength: handlerFacts.longest,
  'x-kubernetes-validations': [
    check(
      matches(handlerFacts.shape),
      'not a handler: lower case letters, digits and dashes, beginning with a letter and not ending with a dash',
    ),
  ],
};

const target: Schema = {
  type: 'object',
  description:
    'What to take down: each value is a CEL expression over `object`, with a string, bool, int or list of strings as ' +
    'its result. A key that the object lacks makes the target missing (see `whenTargetMissing`); any other fault holds ' +
    'that object. AWS handlers need region and account.',
  minProperties: 1,
  maxProperties: TARGET_KEYS_MAX,
  additionalProperties: expressionSchema('A CEL expression; a literal is written in quotes, as in "\'eu-central-1\'".'),
  'x-kubernetes-validations': [
    check(
      `self.all(key, ${matches(factsOf(targetKey).shape, 'key')})`,
      'a key of the target is a letter followed by letters and digits, 63 at most',
    ),
  ],
};

const tags: Schema = {
  type: 'object',
  description: 'Tags that the outside resource must carry: each value is a CEL expression over `object`.',
  minProperties: 1,
  maxProperties: TAGS_MAX,
  additionalProperties: expressionSchema('A CEL expression with a string as its result.'),
  'x-kubernetes-validations': [
    check(
      `self.all(key, key.size() >= ${tagFacts.shortest} && key.size() <= ${tagFacts.longest} && !key.matches(r'[\\x{FFFE}\\x{FFFF}]'))`,
      `${FAULTS.tag}: from ${tagFacts.shortest} to ${tagFacts.longest} characters are allowed`,
    ),
  ],
};

const ownership: Schema = {
  type: 'object',
  description:
    'How the outside resource proves that it belongs to the object: nothing without the proof is taken down. The tags ' +
    'must be bound to the object, by `object.metadata.uid` (strong) or by its namespace and name (weak).',
  default: { tags: DEFAULT_TAGS },
  properties: {
    tags,
    none: {
      type: 'boolean',
      description: "`true`: no proof is needed. The function's own configuration must allow it as well.",
      'x-kubernetes-validations': [check('self', FAULTS.none)],
    },
  },
  'x-kubernetes-validations': [check('has(self.tags) != has(self.none)', FAULTS.ownership)],
};

const waitFor: Schema = {
  type: 'object',
  description:
    'Waits for finalizers of others to be gone before the teardown begins: of other controllers, or of other rules ' +
    `(\`${ENTRY_PREFIX}<name>\`). Of rules for one kind that wait in a circle the youngest is not accepted.`,
  required: ['finalizers', 'atMost'],
  properties: {
    finalizers: {
      type: 'array',
      description: 'The finalizers to wait for.',
      minItems: 1,
      maxItems: WAIT_FOR_MAX,
      items: textSchema(
        TEXTS.finalizer,
        'A finalizer, as it stands in `metadata.finalizers`; also the entry of another rule.',
      ),
      'x-kubernetes-list-type': 'atomic',
    },
    atMost: durationSchema(DURATIONS.atMost, 'How long to wait; then the object is held until they are gone.'),
  },
};

const budget: Schema = {
  type: 'object',
  description: 'A brake: more deletions than this are held until the window moves on or a person approves.',
  required: ['limit', 'window'],
  properties: {
    limit: {
      type: 'integer',
      format: 'int64',
      description: 'Most deletions in any window.',
      minimum: BUDGET_LIMIT.least,
      maximum: BUDGET_LIMIT.most,
    },
    window: durationSchema(DURATIONS.window, 'Length of the window.'),
  },
};

const termIsFixed = check(
  'duration(self) == duration(oldSelf)',
  'term cannot be changed: requests that were sent count by it; make another rule',
);

export const specSchema: Schema = {
  type: 'object',
  description: 'What is held, and what is taken down before it goes.',
  required: ['match', 'handler', 'target'],
  properties: {
    match: matchSchema,
    handler,
    target,
    options: {
      type: 'object',
      description: `Literal options for the handler, which checks them; ${OPTIONS_MAX_BYTES} bytes at most.`,
      default: {},
      'x-kubernetes-preserve-unknown-fields': true,
    },
    ownership,
    policy: {
      ...expressionSchema(
        'A CEL expression over `object` that says `Delete` (take the target down) or `Retain` (keep it and let the ' +
          'object go). Anything else holds the object.',
      ),
      default: DEFAULT_POLICY,
    },
    whenTargetMissing: choiceSchema(
      CHOICES.whenTargetMissing,
      'What happens to an object without a target: `Hold` it, or `Release` it if it surely never had one.',
    ),
    whenAbsent: choiceSchema(
      CHOICES.whenAbsent,
      'What happens when the first look found nothing to take down: `Release` the object, or `Hold` it.',
    ),
    waitFor,
    deadline: durationSchema(
      DURATIONS.deadline,
      'From the first request. An object that is still there then is shown as held; trying goes on.',
    ),
    term: durationSchema(
      DURATIONS.term,
      'How long one request counts before the next one is sent. Cannot be changed.',
      [termIsFixed],
    ),
    paused: {
      type: 'boolean',
      description: 'Sends nothing new: what runs finishes, what is pending waits.',
      default: false,
    },
    unmatched: choiceSchema(
      CHOICES.unmatched,
      "What happens to a live object's entry when the object stops matching: `Keep` it, or `Release` it.",
    ),
    budget,
  },
};
