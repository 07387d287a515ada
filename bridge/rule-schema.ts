/*
 * The shape of a rule as it is written: closed, so that a misspelt field is a fault and never a silent default.
 * Used by rules.ts. Parsing compiles the expressions and turns durations into ms, so what comes out is ready for use.
 */
import * as z from 'zod/mini';
import { prepare } from './cel/object.ts';
import { type Compiled, compile } from './cel.ts';
import {
  canonicalJson,
  handlerName,
  identifier,
  optionsSchema,
  ruleName,
  TERM_DEFAULT_MS,
  TERM_MAX_MS,
  TERM_MIN_MS,
  tagKey,
  targetKey,
  utf8Bytes,
} from './contract.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { isQualifiedName, labelSelector } from './label-selector.ts';
import { bindingOf, canTravel, evaluatePolicy, evaluateTags, evaluateTarget } from './target.ts';

/** Our finalizers' prefix; the rest of an entry is the rule's name. */
export const ENTRY_PREFIX = 'finalizer-bridge.dev/';
export const RULE_API_VERSION = 'finalizer-bridge.dev/v1alpha1';
/** Most ownership tags, and largest options in UTF-8 bytes, so that every request fits into a message. */
export const TAGS_MAX = 10;
export const OPTIONS_MAX_BYTES = 8192;

const MINUTE = 60_000;
const DEADLINE_DEFAULT_MS = 24 * 60 * MINUTE;
const DEADLINE_MAX_MS = 365 * 24 * 60 * MINUTE;
const OWNER_UID = { 'finalizer-bridge.dev/owner-uid': 'object.metadata.uid' };

/** Kinds that no rule may hold: they carry secrets, belong to the control plane, or are ours (`*` is every resource). */
const REFUSED_KINDS: ReadonlySet<string> = new Set([
  ...['/secrets', '/events', 'events.k8s.io/events', 'coordination.k8s.io/leases'],
  ...['certificates.k8s.io/certificatesigningrequests', 'finalizer-bridge.dev/*', 'admissionregistration.k8s.io/*'],
  ...['apiextensions.k8s.io/*', 'authentication.k8s.io/*', 'authorization.k8s.io/*'],
]);

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Finalizers of the garbage collector, the only ones that need no domain. */
const GARBAGE_COLLECTION = new Set(['foregroundDeletion', 'orphan']);

function duration(least: number, most: number) {
  return z.pipe(
    z.string({ error: 'expected a duration such as 10m or 1h30m' }),
    z.transform((text, context): number => {
      const ms = parseDuration(text);
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      const bounds = `from ${formatDuration(least)} to ${formatDuration(most)}`;
      const message = ms === undefined ? 'not a duration such as 10m or 1h30m' : `must be ${bounds}`;
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

const later = z.optional(z.never({ error: 'not supported for rules from a file' }));

const kind = z.looseObject({ group: z.string(), resource: z.string() });

const match = z
  .strictObject({
    group: z.string().check(
      z.refine((text) => text === '' || (text.length <= 253 && subdomain.test(text)), {
        error: 'not an API group ("" is the core group)',
      }),
    ),
    version: z.string().check(z.regex(dnsLabel, { error: 'not an API version' })),
    resource: z.string().check(z.regex(dnsLabel, { error: 'not a resource: the plural, in lower case' })),
    labelSelector: z.optional(labelSelector),
    namespaceSelector: later,
  })
  .check(
    z.refine(({ group, resource }) => !REFUSED_KINDS.has(`${group}/${resource}`) && !REFUSED_KINDS.has(`${group}/*`), {
      error: ({ input }) => `rules for ${nameOfKind(input)} are refused`,
      // Also said of a match that has other faults.
      when: ({ value }) => kind.safeParse(value).success,
    }),
  );

function nameOfKind(input: unknown): string {
  const { data } = kind.safeParse(input);
  return [data?.resource, data?.group].filter(Boolean).join('.');
}

const ownership = z
  .strictObject({
    tags: z.optional(
      z.record(tagKey.check(z.refine(canTravel, { error: 'not a tag' })), tagExpression).check(
        z.refine((tags) => Object.keys(tags).length > 0 && Object.keys(tags).length <= TAGS_MAX, {
          error: `from 1 to ${TAGS_MAX} tags are needed`,
        }),
      ),
    ),
    none: z.optional(z.literal(true, { error: 'only true can be said; leave it out otherwise' })),
  })
  .check(
    z.refine(({ tags, none }) => (tags === undefined) !== (none === undefined), {
      error: 'either tags or none: true is needed',
    }),
    z.refine(({ tags }) => tags === undefined || bindingOf({ tags }) !== undefined, {
      error: 'OwnershipNotBound: no tag reads object.metadata.uid, nor namespace and name',
    }),
  );

const options = optionsSchema.check(
  z.refine((value) => utf8Bytes(canonicalJson(value)) <= OPTIONS_MAX_BYTES, {
    error: `larger than ${OPTIONS_MAX_BYTES} bytes`,
  }),
  z.refine((value) => canTravel(canonicalJson(value)), { error: 'has characters that a queue does not carry' }),
);

const foreignFinalizer = z.string().check(
  z.refine((text) => GARBAGE_COLLECTION.has(text) || (text.includes('/') && isQualifiedName(text)), {
    error: 'not a finalizer: a domain, a slash and a name',
  }),
  z.refine((text) => !text.startsWith(ENTRY_PREFIX), { error: 'a rule cannot wait for another rule' }),
);

const spec = z.strictObject({
  match,
  handler: handlerName,
  target: z
    .record(targetKey, targetExpression)
    .check(z.refine((target) => Object.keys(target).length > 0, { error: 'a target needs at least one key' })),
  options: z._default(options, {}),
  ownership: z.prefault(ownership, { tags: OWNER_UID }),
  policy: z.prefault(policyExpression, "'Delete'"),
  whenTargetMissing: z._default(z.enum(['Hold', 'Release']), 'Hold'),
  whenAbsent: z._default(z.enum(['Release', 'Hold']), 'Release'),
  waitFor: z.optional(
    z.strictObject({
      finalizers: z.array(foreignFinalizer).check(z.minLength(1), z.maxLength(20)),
      atMost: duration(1000, DEADLINE_MAX_MS),
    }),
  ),
  deadline: z._default(duration(MINUTE, DEADLINE_MAX_MS), DEADLINE_DEFAULT_MS),
  term: z._default(duration(TERM_MIN_MS, TERM_MAX_MS), TERM_DEFAULT_MS),
  paused: z._default(z.boolean(), false),
  unmatched: z._default(z.enum(['Keep', 'Release']), 'Keep'),
  budget: later,
});

export const ruleMetadata = z.strictObject({ name: ruleName, uid: z.optional(identifier) });

/** A rule as it is written in a file, or as the later custom resource. */
export const ruleDocument = z.strictObject({
  apiVersion: z.optional(z.literal(RULE_API_VERSION)),
  kind: z.optional(z.literal('TeardownRule')),
  metadata: ruleMetadata,
  spec,
});
export type RuleDocument = z.output<typeof ruleDocument>;
