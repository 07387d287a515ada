/*
 * The vocabulary that the schema of TeardownRule is written in: structural OpenAPI v3 with CEL validations.
 * Used by the files beside it; what is here turns a fact of bridge/rule-facts.ts into the schema that enforces it.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import * as z from 'zod/mini';
import { formatDuration } from '../../bridge/duration.ts';
import {
  DOMAIN_MAX,
  DURATION_SHAPE,
  DURATION_TEXT_MAX,
  type DurationFact,
  FAULTS,
  type TextFact,
} from '../../bridge/rule-facts.ts';

/** One rule in CEL over `self`; both messages are for people, the expression wins where it can be evaluated. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression?: string;
}

/** A node of a structural schema. Every node but `metadata` says what it is for. */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly format?: 'date-time' | 'int32' | 'int64';
  readonly default?: unknown;
  readonly enum?: readonly (string | boolean)[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly 'x-kubernetes-validations'?: readonly Validation[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'map' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

/** A validation with a fixed message. */
export function check(rule: string, message: string): Validation {
  return { rule, message };
}

/** `self`, or another text in scope, has a shape. Shapes go into raw strings: none of them has a quote. */
export function matches(shape: RegExp, self = 'self'): string {
  return `${self}.matches(r'${shape.source.replaceAll('\\/', '/')}')`;
}

/** A text in single quotes, as CEL reads it. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** CEL that holds when `self` is a text of that kind; its length is bounded by the schema, its domain here. */
export function isTextRule(fact: TextFact, self = 'self'): string {
  const shaped = matches(fact.shape, self);
  return fact.shape.source.includes('/') ? `${self}.indexOf('/') <= ${DOMAIN_MAX} && ${shaped}` : shaped;
}

/** A text of a known shape. */
export function textSchema(fact: TextFact, description: string, further: readonly Validation[] = []): Schema {
  const validations = [check(isTextRule(fact), fact.fault), ...further];
  return { type: 'string', description, maxLength: fact.longest, 'x-kubernetes-validations': validations };
}

/** A duration between bounds. */
export function durationSchema(fact: DurationFact, description: string, further: readonly Validation[] = []): Schema {
  const [least, most] = [formatDuration(fact.least), formatDuration(fact.most)];
  const shaped = matches(DURATION_SHAPE);
  return {
    type: 'string',
    description,
    maxLength: DURATION_TEXT_MAX,
    ...(fact.default === undefined ? {} : { default: formatDuration(fact.default) }),
    'x-kubernetes-validations': [
      check(shaped, FAULTS.duration),
      // What is no duration is said above, and only there.
      check(
        `!${shaped} || (duration(self) >= duration('${least}') && duration(self) <= duration('${most}'))`,
        `must be from ${least} to ${most}`,
      ),
      ...further,
    ],
  };
}

/** One of a few words, the first of which is the default. */
export function choiceSchema(words: readonly [string, ...string[]], description: string): Schema {
  return { type: 'string', description, enum: words, default: words[0] };
}

const textSchemaOf = z.object({
  pattern: z.optional(z.string()),
  maxLength: z.optional(z.int()),
  minLength: z.optional(z.int()),
});

/** What the contract's schema of a text asks for, so that nothing of it is said a second time here. */
export function factsOf(schema: z.ZodMiniType<string>): {
  readonly shape: RegExp;
  readonly shortest: number;
  readonly longest: number;
} {
  const { pattern = '', maxLength, minLength = 0 } = z.parse(textSchemaOf, z.toJSONSchema(schema, { io: 'input' }));
  if (maxLength === undefined && pattern === '') throw new Error('reading a text schema: it has no bounds');
  return { shape: new RegExp(pattern), shortest: minLength, longest: maxLength ?? Number.POSITIVE_INFINITY };
}
