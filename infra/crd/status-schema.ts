/*
 * The schema of `status`: what the bridge says about a rule, for people, for `kubectl get`, and for its own next start.
 * Used by definition.ts. Only the bridge writes it, through the status subresource.
 */
import { reason } from '../../bridge/contract.ts';
import {
  BUDGET_LIMIT,
  BUDGET_RESERVATIONS_MAX,
  HELD_MESSAGE_MAX_BYTES,
  HELD_OBJECTS_MAX,
  LAST_ACCEPTED_MAX_BYTES,
  NAMESPACES_MAX,
} from '../../bridge/rule-facts.ts';
import { factsOf, type Schema } from './schema.ts';

const text = (description: string, maxLength: number): Schema => ({ type: 'string', description, maxLength });
const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
const count = (description: string): Schema => ({ type: 'integer', format: 'int32', minimum: 0, description });
const generation = (description: string): Schema => ({ type: 'integer', format: 'int64', minimum: 0, description });

const NAME_MAX = 253;
const reasonSchema: Schema = {
  ...text('A stable word for the reason.', 64),
  minLength: 1,
  pattern: factsOf(reason).shape.source,
};

const condition: Schema = {
  type: 'object',
  description: 'One thing that is so, is not so, or is not known.',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: {
      ...text(
        '`Accepted`, `Permitted`, `Watching`, `FinalizerAtAdmission`, `Ready`, and others that appear when they apply.',
        316,
      ),
      minLength: 1,
    },
    status: { type: 'string', description: 'Whether it is so.', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: generation('The generation of the rule that it was said of.'),
    lastTransitionTime: time('When `status` last changed.'),
    reason: reasonSchema,
    message: text('The same for people.', 32_768),
  },
};

const reservation: Schema = {
  type: 'object',
  description: 'A block of deletions taken from the budget before the first of them was requested.',
  required: ['time', 'size'],
  properties: {
    time: time(
      'When it was taken. It counts until a window and 60 s later, for other processes at most two minutes longer; what was not used of it within 60 s has lapsed.',
    ),
    size: {
      type: 'integer',
      format: 'int64',
      minimum: 1,
      maximum: BUDGET_LIMIT.most,
      description: 'Deletions in it. What has lapsed is taken out by the process that took it, once it takes the next.',
    },
    holder: text('The process that took it, as long as that may give back what it does not use.', 64),
  },
};

const heldObject: Schema = {
  type: 'object',
  description: 'An object that needs a person or a change.',
  required: ['name', 'uid', 'reason', 'since'],
  properties: {
    namespace: text("The object's namespace, if it has one.", NAME_MAX),
    name: text("The object's name.", NAME_MAX),
    uid: text("The object's uid, which words of a person repeat.", 128),
    reason: reasonSchema,
    since: time('Since when it has been held.'),
    message: text(
      'What is said of it, where it is `Failing`, or says nothing itself, as one that nobody can write on.',
      HELD_MESSAGE_MAX_BYTES,
    ),
  },
};

const lastAccepted: Schema = {
  type: 'object',
  description: `The generation that was accepted last; not kept of a spec of more than ${LAST_ACCEPTED_MAX_BYTES} bytes.`,
  required: ['uid', 'generation', 'spec'],
  properties: {
    uid: text('The uid of the rule that it was: one of the same name is another rule.', 128),
    generation: generation('Its generation.'),
    spec: {
      type: 'object',
      description: 'Its spec.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
};

export const statusSchema: Schema = {
  type: 'object',
  description: 'How the rule fares, written by the bridge.',
  properties: {
    observedGeneration: generation('The generation of the rule that this status is about.'),
    conditions: {
      type: 'array',
      description: 'What is so about the rule as a whole.',
      maxItems: 32,
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    lastAccepted,
    namespaces: {
      type: 'array',
      description:
        'Where the bridge serves some namespaces only, or did and still keeps rights in them: those that the entry may be on objects in, served now or before; `*` is any.',
      maxItems: NAMESPACES_MAX.kept,
      items: text('A namespace, or `*`.', 63),
      'x-kubernetes-list-type': 'atomic',
    },
    pending: count('Objects that are deleting and still carry the entry, held ones included.'),
    held: count('Objects among them that need a person or a change.'),
    oldestPendingTime: time('When the deletion began that has been pending longest.'),
    budget: {
      type: 'object',
      description: 'What has been taken from the budget.',
      properties: {
        reservations: {
          type: 'array',
          description: 'Blocks that still count, oldest first.',
          maxItems: BUDGET_RESERVATIONS_MAX,
          items: reservation,
          'x-kubernetes-list-type': 'atomic',
        },
      },
    },
    heldObjects: {
      type: 'array',
      description: `The ${HELD_OBJECTS_MAX} objects that have been held longest.`,
      maxItems: HELD_OBJECTS_MAX,
      items: heldObject,
      'x-kubernetes-list-type': 'atomic',
    },
  },
};
