/*
 * What is fixed about rules, said once: names, bounds, choices, defaults and the words for what is wrong.
 * rule-schema.ts checks rules by it in the bridge, infra/crd builds the TeardownRule definition of the API server from it.
 * Nothing but facts: the two stay alike because neither has any of its own.
 */
import { TERM_DEFAULT_MS, TERM_MAX_MS, TERM_MIN_MS } from './contract.ts';

export const RULE_GROUP = 'finalizer-bridge.dev';
export const RULE_VERSION = 'v1alpha1';
export const RULE_API_VERSION = `${RULE_GROUP}/${RULE_VERSION}`;
export const RULE_KIND = 'TeardownRule';
/** The resource's plural, cluster-scoped. */
export const RULE_RESOURCE = 'teardownrules';
/** Our finalizers' prefix; the rest of an entry is the rule's name. */
export const ENTRY_PREFIX = `${RULE_GROUP}/`;

/** Most keys of a target. */
export const TARGET_KEYS_MAX = 32;
/** Most ownership tags, and largest options in UTF-8 bytes, so that every request fits into a message. */
export const TAGS_MAX = 10;
export const OPTIONS_MAX_BYTES = 8192;
/** Most finalizers to wait for. */
export const WAIT_FOR_MAX = 20;
/** Most labels, expressions, and values of an expression, of a selector. */
export const SELECTOR_MAX = { labels: 32, expressions: 32, values: 64 } as const;
/** Bounds of a budget's limit, in deletions. */
export const BUDGET_LIMIT = { least: 1, most: 1_000_000 } as const;
/** Blocks of a budget that the status can hold, and objects that it lists as held. */
export const BUDGET_RESERVATIONS_MAX = 64;
export const HELD_OBJECTS_MAX = 20;
/** Longest text that the status has of what failed for one of them, in UTF-8 bytes. */
export const HELD_MESSAGE_MAX_BYTES = 512;
/** Most namespaces that a bridge serves or leaves, where it serves some only, and that the status of a rule keeps. */
export const NAMESPACES_MAX = { served: 256, kept: 4_096 } as const;
/** Largest spec that the status keeps of the last accepted generation, in UTF-8 bytes of its JSON. */
export const LAST_ACCEPTED_MAX_BYTES = 65_536;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Bounds of a duration, in ms, and what it is when left out. */
export interface DurationFact {
  readonly least: number;
  readonly most: number;
  readonly default?: number;
}

export const DURATIONS = {
  atMost: { least: SECOND, most: 365 * DAY },
  deadline: { least: MINUTE, most: 365 * DAY, default: DAY },
  term: { least: TERM_MIN_MS, most: TERM_MAX_MS, default: TERM_DEFAULT_MS },
  window: { least: MINUTE, most: 7 * DAY },
} as const satisfies Record<string, DurationFact>;

/** Longest text of a duration, and its shape: Go's notation, without a sign. */
export const DURATION_TEXT_MAX = 64;
export const DURATION_SHAPE = /^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$/;

/** Fields that are one of a few words, the first of which is the default. */
export const CHOICES = {
  whenTargetMissing: ['Hold', 'Release'],
  whenAbsent: ['Release', 'Hold'],
  unmatched: ['Keep', 'Release'],
} as const;

export const DEFAULT_POLICY = "'Delete'";
/** The proof that is demanded when a rule says nothing about ownership. */
export const DEFAULT_TAGS = { [`${RULE_GROUP}/owner-uid`]: 'object.metadata.uid' } as const;

/** Kinds that no rule may hold: they carry secrets, belong to the control plane, or are ours (`*` is every resource). */
export const REFUSED_KINDS = [
  ...['/secrets', '/events', 'events.k8s.io/events', 'coordination.k8s.io/leases'],
  ...['certificates.k8s.io/certificatesigningrequests', `${RULE_GROUP}/*`, 'admissionregistration.k8s.io/*'],
  ...['apiextensions.k8s.io/*', 'authentication.k8s.io/*', 'authorization.k8s.io/*'],
] as const;
const REFUSED: ReadonlySet<string> = new Set(REFUSED_KINDS);

/** Whether no rule may hold a kind. */
export function isRefusedKind({ group, resource }: { readonly group: string; readonly resource: string }): boolean {
  return REFUSED.has(`${group}/${resource}`) || REFUSED.has(`${group}/*`);
}

/** A text with a shape, and what is said of one that has another. Shapes mean the same in JavaScript and in RE2. */
export interface TextFact {
  readonly shape: RegExp;
  /** Characters, all of them ASCII. */
  readonly longest: number;
  readonly fault: string;
}

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
const name = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const NAME_MAX = 63;

/** Longest domain, also before the slash of a finalizer or of a label's key. */
export const DOMAIN_MAX = 253;

export const TEXTS = {
  group: {
    shape: new RegExp(`^(${subdomain})?$`),
    longest: DOMAIN_MAX,
    fault: 'not an API group ("" is the core group)',
  },
  version: { shape: new RegExp(`^${label}$`), longest: NAME_MAX, fault: 'not an API version' },
  resource: { shape: new RegExp(`^${label}$`), longest: NAME_MAX, fault: 'not a resource: the plural, in lower case' },
  namespace: { shape: new RegExp(`^${label}$`), longest: NAME_MAX, fault: 'not the name of a namespace' },
  /** What Kubernetes takes for a finalizer: many controllers' have a dot, and no slash. */
  finalizer: {
    shape: new RegExp(`^(${subdomain}/)?${name}$`),
    longest: DOMAIN_MAX + 1 + NAME_MAX,
    fault: 'not a finalizer: a name, or a domain, a slash and a name',
  },
  labelKey: {
    shape: new RegExp(`^(${subdomain}/)?${name}$`),
    longest: DOMAIN_MAX + 1 + NAME_MAX,
    fault: 'not a label key',
  },
  labelValue: { shape: new RegExp(`^(${name})?$`), longest: NAME_MAX, fault: 'not a label value' },
} as const satisfies Record<string, TextFact>;

/** Whether a text is of a shape, no part of it too long. */
export function isText({ shape, longest }: TextFact, text: string): boolean {
  return text.length <= longest && text.indexOf('/') <= DOMAIN_MAX && shape.test(text);
}

/** Why a rule is not accepted: the reasons of `Accepted=False`, stable, and what each means. */
export const REFUSALS = {
  Invalid:
    'a field is wrong, or an expression does not compile or cannot give what is needed; the message names the field, and of what is no CEL also the place',
  NoQueue: 'no queue is configured for the handler',
  UnknownResource: 'the API server does not serve the kind in this version',
  UnknownField:
    "an expression reads what the kind's schema does not have; the message names the expression, the path and the fields near it",
  OwnershipNotBound:
    'the tags could be carried by what belongs to another object: they must read `object.metadata.uid`, or the name, and for a kind in namespaces `object.metadata.namespace` as well',
  WaitsInCircle: 'rules for this kind wait for each other, and this is the youngest of them; or it waits for itself',
} as const;
export type Refusal = keyof typeof REFUSALS;

/** How surely the proof of an accepted rule belongs to the object: the reasons of `Accepted=True`, and what each means. */
export const ACCEPTANCES = {
  Accepted: 'in force; the ownership proof holds the uid of the object',
  OwnershipWeak:
    'in force; another object of the same name would have the same proof, so entries stay until no request can still run',
  OwnershipNone:
    "in force without a proof, as `ownership.none` says: it takes down whatever a target names, where the function's own configuration allows that; entries stay until no request can still run",
} as const;

/** The reasons of `Permitted`: its status, and what each means. */
export const PERMISSIONS = {
  Permitted: { status: 'True', meaning: 'the bridge may do all that it has to' },
  MissingVerbs: {
    status: 'False',
    meaning:
      'the message names the verbs that are missing, on which kind, and in which namespaces; the chart gives the rights on what its value `kinds` lists. What may be done is done. Where all may be done in no namespace, no new object gets the entry at birth; where it may in some, all do, and those in the others are held until the rights are given',
  },
  ClusterScoped: {
    status: 'False',
    meaning:
      'the kind is in no namespace, and the bridge serves some namespaces only, so it sees no object of it: no entry is put on, and none that is there comes off',
  },
  NamespaceTerminating: {
    status: 'False',
    meaning:
      'a namespace that the bridge serves is being deleted, and the rights in it are gone already ([operations](operations.md#a-served-namespace-is-deleted)); the rule is in force in the others',
  },
  NamespaceMissing: {
    status: 'False',
    meaning:
      'a namespace that the bridge serves is not there, and the rights in it went with it; the rule is in force in the others',
  },
  NotAccepted: { status: 'Unknown', meaning: 'not asked before the rule is accepted' },
} as const;

/** The reasons of `Watching`: its status, and what each means. */
export const WATCHINGS = {
  Watching: {
    status: 'True',
    meaning: 'objects of the kind are seen as they change, in the namespaces that the message names',
  },
  NotWatching: { status: 'False', meaning: 'the watch is not open; the message says of what' },
  NamespacesLeft: {
    status: 'False',
    meaning:
      'objects in a namespace that the bridge served before, and serves no more, may still carry the entry, and nobody would finish their deletion ([operations](operations.md#some-namespaces-only)); in those that are served the rule works',
  },
} as const;

/** The reason of `Accepted=Unknown`. */
export const NOT_JUDGED =
  'the API server could not be asked about the kind; it is tried again, and what was in force stays so';

/** What is said of a rule that is wrong in more than the shape of one text, by the bridge and by the API server alike. */
export const FAULTS = {
  duration: 'not a duration such as 10m or 1h30m',
  targetEmpty: 'a target needs at least one key',
  targetFull: `a target has at most ${TARGET_KEYS_MAX} keys`,
  tagCount: `from 1 to ${TAGS_MAX} tags are needed`,
  tag: 'not a tag',
  ownership: 'either tags or none: true is needed',
  none: 'only true can be said; leave it out otherwise',
  selectorSize: `a selector has at most ${SELECTOR_MAX.labels} labels and ${SELECTOR_MAX.expressions} expressions of ${SELECTOR_MAX.values} values`,
  selectorValues: 'In and NotIn need values, Exists and DoesNotExist take none',
} as const;
