/*
 * The shape of a rule as it is written: closed, so that a misspelt field is a fault and never a silent default.
 * Used by rules.ts. Parsing compiles the expressions and turns durations into ms, so what comes out is ready for use.
 */
import * as z from 'zod/mini';
import { prepare } from './cel/object.ts';
import { type Compiled, compile } from './cel.ts';
import { canonicalJson, handlerName, identifier, ruleName, tagKey, targetKey, utf8Bytes } from './contract.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { labelSelector } from './label-selector.ts';
import {
  BUDGET_LIMIT,
  CHOICES,
  DEFAULT_POLICY,
  DEFAULT_TAGS,
  DURATIONS,
  type DurationFact,
  FAULTS,
  isRefusedKind,
  isText,
  OPTIONS_MAX_BYTES,
  RULE_API_VERSION,
  RULE_KIND,
  SELECTOR_MAX,
  TAGS_MAX,
  TARGET_KEYS_MAX,
  TEXTS,
  type TextFact,
  WAIT_FOR_MAX,
} from './rule-facts.ts';
import { bindingOf, canTravel, evaluatePolicy, evaluateTags, evaluateTarget, NOT_BOUND } from './target.ts';

export { ENTRY_PREFIX, OPTIONS_MAX_BYTES, RULE_API_VERSION, TAGS_MAX } from './rule-facts.ts';

/** A text of a known shape. */
function text(fact: TextFact) {
  return z.string().check(z.refine((value) => isText(fact, value), { error: fact.fault }));
}

function duration({ least, most }: DurationFact) {
  return z.pipe(
    z.string({ error: 'expected a duration such as 10m or 1h30m' }),
    z.transform((text, context): number => {
      const ms = parseDuration(text);
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      const bounds = `from ${formatDuration(least)} to ${formatDuration(most)}`;
      const message = ms === undefined ? FAULTS.duration : `must be ${bounds}`;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    }),
  );
}

/**
 * An expression. One that depends on no object is tried at once: what is wrong with it is wrong for every object.
 * `strings` refuses those whose result is known to be something else.
 */
function expression(kind: 'strings' | 'any', trial: (expression: Compiled) => { kind: string; detail?: string }) {
  return z.pipe(
    z.string({ error: `expected a CEL expression; a literal is written in quotes, as in "'eu-central-1'"` }),
    z.transform((text, context): Compiled => {
      const compilation = compile(text);
      const message = compilation.ok ? faultOf(compilation.expression) : compilation.message;
      if (message !== undefined) context.issues.push({ code: 'custom', message, input: text });
      return compilation.ok ? compilation.expression : z.NEVER;
    }),
  );

  function faultOf(compiled: Compiled): string | undefined {
    const { type, constant } = compiled;
    if (kind === 'strings' && type !== 'string' && type !== 'dyn') return `the result is of type ${type}, not string`;
    const outcome = constant ? trial(compiled) : undefined;
    return outcome === undefined || outcome.kind === 'found' ? undefined : outcome.detail;
  }
}

const NO_OBJECT = prepare({});
const targetExpression = expression('any', (value) => evaluateTarget({ value }, NO_OBJECT));
const tagExpression = expression('strings', (value) => evaluateTags({ value }, NO_OBJECT));
const policyExpression = expression('strings', (value) => evaluatePolicy(value, NO_OBJECT));

/** A field of rules from the API that a file cannot have (yet). */
const notInFiles = z.optional(z.never({ error: 'not supported for rules from a file' }));

const selector = labelSelector.check(
  z.refine(
    ({ matchLabels, matchExpressions }) =>
      Object.keys(matchLabels).length <= SELECTOR_MAX.labels &&
      matchExpressions.length <= SELECTOR_MAX.expressions &&
      matchExpressions.every(({ values = [] }) => values.length <= SELECTOR_MAX.values),
    { error: FAULTS.selectorSize },
  ),
);

const kind = z.looseObject({ group: z.string(), resource: z.string() });

function matchWith<Selector extends z.ZodMiniType>(namespaceSelector: Selector) {
  return z
    .strictObject({
      group: text(TEXTS.group),
      version: text(TEXTS.version),
      resource: text(TEXTS.resource),
      labelSelector: z.optional(selector),
      namespaceSelector,
    })
    .check(
      z.refine((match) => !isRefused(match), {
        error: ({ input }) => `rules for ${nameOfKind(input)} are refused`,
        // Also said of a match that has other faults.
        when: ({ value }) => kind.safeParse(value).success,
      }),
    );
}

function isRefused(match: unknown): boolean {
  const { data } = kind.safeParse(match);
  return data !== undefined && isRefusedKind(data);
}

function nameOfKind(input: unknown): string {
  const { data } = kind.safeParse(input);
  return [data?.resource, data?.group].filter(Boolean).join('.');
}

/** Marks the fault that has a reason of its own. */
export const NOT_BOUND_PARAMS = { reason: 'OwnershipNotBound' } as const;

const ownership = z
  .strictObject({
    tags: z.optional(
      z.record(tagKey.check(z.refine(canTravel, { error: FAULTS.tag })), tagExpression).check(
        z.refine((tags) => Object.keys(tags).length > 0 && Object.keys(tags).length <= TAGS_MAX, {
          error: FAULTS.tagCount,
        }),
      ),
    ),
    none: z.optional(z.literal(true, { error: FAULTS.none })),
  })
  .check(
    z.refine(({ tags, none }) => (tags === undefined) !== (none === undefined), {
      error: FAULTS.ownership,
    }),
    z.refine(({ tags }) => tags === undefined || bindingOf({ tags }) !== undefined, {
      error: NOT_BOUND,
      params: NOT_BOUND_PARAMS,
    }),
  );

// A file may say what JSON cannot.
const options = z.record(z.string(), z.json()).check(
  z.refine((value) => utf8Bytes(canonicalJson(value)) <= OPTIONS_MAX_BYTES, {
    error: `larger than ${OPTIONS_MAX_BYTES} bytes`,
  }),
  z.refine((value) => canTravel(canonicalJson(value)), { error: 'has characters that a queue does not carry' }),
);

const target = z.record(targetKey, targetExpression).check(
  z.refine((value) => Object.keys(value).length > 0, { error: FAULTS.targetEmpty }),
  z.refine((value) => Object.keys(value).length <= TARGET_KEYS_MAX, { error: FAULTS.targetFull }),
);

const waitFor = z.strictObject({
  finalizers: z.array(text(TEXTS.finalizer)).check(z.minLength(1), z.maxLength(WAIT_FOR_MAX)),
  atMost: duration(DURATIONS.atMost),
});

const budget = z.strictObject({
  limit: z.int().check(z.gte(BUDGET_LIMIT.least), z.lte(BUDGET_LIMIT.most)),
  window: duration(DURATIONS.window),
});

function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z._default(z.enum(words), words[0]);
}

/** The spec, with or without what only rules from the API can have. */
function specWith<Selector extends z.ZodMiniType, Budget extends z.ZodMiniType>(
  namespaceSelector: Selector,
  budgeted: Budget,
) {
  return z.strictObject({
    match: matchWith(namespaceSelector),
    handler: handlerName,
    target,
    options: z._default(options, {}),
    ownership: z.prefault(ownership, { tags: DEFAULT_TAGS }),
    policy: z.prefault(policyExpression, DEFAULT_POLICY),
    whenTargetMissing: choice(CHOICES.whenTargetMissing),
    whenAbsent: choice(CHOICES.whenAbsent),
    waitFor: z.optional(waitFor),
    deadline: z._default(duration(DURATIONS.deadline), DURATIONS.deadline.default),
    term: z._default(duration(DURATIONS.term), DURATIONS.term.default),
    paused: z._default(z.boolean(), false),
    unmatched: choice(CHOICES.unmatched),
    budget: budgeted,
  });
}

/** The spec of a TeardownRule as the API server gives it; parsed, it is ready for use. */
export const teardownRuleSpec = specWith(z.optional(selector), z.optional(budget));
export type TeardownRuleSpec = z.output<typeof teardownRuleSpec>;
/** The spec as people write it. */
export type WrittenRuleSpec = z.input<typeof teardownRuleSpec>;

export const ruleMetadata = z.strictObject({ name: ruleName, uid: z.optional(identifier) });

/** A rule as it is written in a file: closed, and without what needs the API. */
export const ruleDocument = z.strictObject({
  apiVersion: z.optional(z.literal(RULE_API_VERSION)),
  kind: z.optional(z.literal(RULE_KIND)),
  metadata: ruleMetadata,
  spec: specWith(notInFiles, notInFiles),
});
export type RuleDocument = z.output<typeof ruleDocument>;
