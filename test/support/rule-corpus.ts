/*
 * Rules that are right and rules that are wrong, each with one thing that makes it so. Held against the schema of the
 * bridge and against the API server, which must agree on every one (test/e2e/crd-agreement.test.ts).
 */
import { REFUSED_KINDS } from '../../bridge/rule-facts.ts';

/** The spec of a rule as somebody wrote it. */
export type Spec = Readonly<Record<string, unknown>>;

/** The shortest rule. */
export const leastSpec = {
  match: { group: 'storage.example.com', version: 'v1', resource: 'buckets' },
  handler: 's3-bucket',
  target: { bucket: 'object.status.bucketName' },
} as const;

/** A rule with every field, none of them at its default. */
export const fullestSpec = {
  match: {
    ...leastSpec.match,
    namespaceSelector: { matchLabels: { team: 'a' } },
    labelSelector: {
      matchLabels: { 'example.com/tier': 'prod', empty: '' },
      matchExpressions: [
        { key: 'stage', operator: 'In', values: ['live', 'test'] },
        { key: 'skip', operator: 'DoesNotExist' },
      ],
    },
  },
  handler: 's3-bucket',
  target: { bucket: 'object.status.bucketName', region: "'eu-central-1'", account: "'111122223333'" },
  options: { partitions: 4, deep: { list: [1, 2.5, null, true, 'a'], none: null } },
  ownership: { tags: { owner: "object.metadata.namespace + '/' + object.metadata.name" } },
  policy: "object.metadata.annotations[?'keep'].orValue('Delete')",
  whenTargetMissing: 'Release',
  whenAbsent: 'Hold',
  waitFor: { finalizers: ['kubernetes.io/pvc-protection', 'foregroundDeletion'], atMost: '1m30s' },
  deadline: '36h',
  term: '2h30m',
  paused: true,
  unmatched: 'Release',
  budget: { limit: 50, window: '1h' },
} as const;

/** What the shortest rule is once every default stands in it. */
export const defaultedSpec = {
  ...leastSpec,
  options: {},
  ownership: { tags: { 'finalizer-bridge.dev/owner-uid': 'object.metadata.uid' } },
  policy: "'Delete'",
  whenTargetMissing: 'Hold',
  whenAbsent: 'Release',
  deadline: '24h',
  term: '1h',
  paused: false,
  unmatched: 'Keep',
} as const;

const { match } = leastSpec;
const uid = { uid: 'object.metadata.uid' };
const long = (length: number) => 'a'.repeat(length);
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const keys = (count: number, value: string) => Object.fromEntries(many(count, (index) => [`k${index}`, value]));
const selecting = (labelSelector: unknown) => ({ match: { ...match, labelSelector } });
const inNamespaces = (namespaceSelector: unknown) => ({ match: { ...match, namespaceSelector } });
const requiring = (requirement: unknown) => selecting({ matchExpressions: [requirement] });
const waiting = (...finalizers: unknown[]) => ({ waitFor: { finalizers, atMost: '10m' } });
const domain = (length: number) => `${`${long(60)}.`.repeat(5).slice(0, length - 1)}a`;

/** Right: what is special, and what is changed in the shortest rule. */
export const rightRules: readonly (readonly [what: string, change: Spec])[] = [
  ['the shortest', {}],
  ['the fullest', fullestSpec],
  ['the core group', { match: { group: '', version: 'v1', resource: 'configmaps' } }],
  ['a group of one label', { match: { group: 'apps', version: 'v1beta1', resource: 'deployments' } }],
  ['the longest group', { match: { ...match, group: domain(253) } }],
  ['a resource that shares its name with a refused kind', { match: { ...match, resource: 'secrets' } }],
  ['the longest resource and version', { match: { ...match, resource: long(63), version: long(63) } }],
  ['selectors that select all', { match: { ...match, labelSelector: {}, namespaceSelector: {} } }],
  ['every operator', selecting(fullestSpec.match.labelSelector)],
  ['an operator with an empty list of values', requiring({ key: 'a', operator: 'Exists', values: [] })],
  ['the longest label', selecting({ matchLabels: { [`${domain(253)}/${long(63)}`]: long(63) } })],
  ['the most labels', inNamespaces({ matchLabels: keys(32, 'x') })],
  ['the most expressions', selecting({ matchExpressions: many(32, () => ({ key: 'a', operator: 'Exists' })) })],
  ['the most values', requiring({ key: 'a', operator: 'NotIn', values: many(64, (index) => `v${index}`) })],
  ['the shortest handler', { handler: 'a' }],
  ['the longest handler', { handler: long(40) }],
  ['the longest key of a target', { target: { [`B${long(62)}`]: 'object.a' } }],
  ['the most keys of a target', { target: keys(32, 'object.a') }],
  ['the longest expression', { target: { a: 'object.a'.padEnd(4096) } }],
  ['the longest expression, in characters', { target: { a: "'😀' + object.a".padEnd(4097) } }],
  ['an expression over several lines', { target: { a: 'object.a\n  + "\\u00e4"\n' } }],
  ['no options', { options: {} }],
  ['no proof of ownership', { ownership: { none: true } }],
  ['the most tags', { ownership: { tags: { ...keys(9, "'x'"), ...uid } } }],
  ['the longest key of a tag', { ownership: { tags: { [long(128)]: 'object.metadata.uid' } } }],
  ['the longest key of a tag, in characters', { ownership: { tags: { ['😀'.repeat(128)]: 'object.metadata.uid' } } }],
  ['a tag of any script', { ownership: { tags: { 'Bücher: 日本 / +-=._@': 'object.metadata.uid' } } }],
  ['the garbage collector', waiting('orphan', 'foregroundDeletion')],
  ['the longest finalizer', waiting(`${domain(253)}/${long(63)}`)],
  ['finalizers without a slash', waiting('awsmachine.infrastructure.cluster.x-k8s.io', 'nodomain', long(63))],
  ['waiting for another rule', waiting('a.b/c', 'finalizer-bridge.dev/other')],
  ['the most finalizers, also twice the same', waiting(...many(20, (index) => `example.com/f${index % 19}`))],
  ['a finalizer that only begins like ours', waiting('finalizer-bridge.dev.example.com/x')],
  ['the shortest wait', { waitFor: { finalizers: ['a.b/c'], atMost: '1s' } }],
  ['the longest wait', { waitFor: { finalizers: ['a.b/c'], atMost: '8760h' } }],
  ...['1m', '8760h', '1.5h', '.5h', '1.h', '90s', '1h0m0.5s', '060m', '86400000ms', '60000000000ns'].map(
    (deadline) => [`a deadline of ${deadline}`, { deadline }] as const,
  ),
  ...['60000000us', '60000000µs', '60000000μs', '1h1h'].map(
    (deadline) => [`a deadline of ${deadline}`, { deadline }] as const,
  ),
  ...['30m', '6h', '1800s', '0h30m'].map((term) => [`a term of ${term}`, { term }] as const),
  ['the smallest budget', { budget: { limit: 1, window: '1m' } }],
  ['the largest budget', { budget: { limit: 1_000_000, window: '168h' } }],
];

const without = (field: keyof typeof leastSpec) => ({ [field]: undefined });

/** Wrong: what, the change, and what the API server says of it among other things. */
export const wrongRules: readonly (readonly [what: string, change: Spec, says: string])[] = [
  ['no match', without('match'), 'spec.match: Required value'],
  ['no handler', without('handler'), 'spec.handler: Required value'],
  ['no target', without('target'), 'spec.target: Required value'],
  ['no group', { match: { version: 'v1', resource: 'buckets' } }, 'spec.match.group: Required value'],
  ['an unknown field', { finalizer: 'x' }, 'unknown field "spec.finalizer"'],
  ['an unknown field deep inside', waitingWith({ or: 'x' }), 'unknown field "spec.waitFor.or"'],
  ['a misspelt selector', selecting({ matchlabels: {} }), 'unknown field'],
  ['a group in upper case', { match: { ...match, group: 'Example.com' } }, 'not an API group'],
  ['a group that ends in a dot', { match: { ...match, group: 'example.com.' } }, 'not an API group'],
  ['a group of two lines', { match: { ...match, group: 'example.com\n' } }, 'not an API group'],
  ['too long a group', { match: { ...match, group: domain(254) } }, 'may not be more than 253'],
  ['a version with a dot', { match: { ...match, version: 'v1.2' } }, 'not an API version'],
  ['a subresource', { match: { ...match, resource: 'buckets/status' } }, 'not a resource: the plural, in lower case'],
  ['every resource', { match: { ...match, resource: '*' } }, 'not a resource'],
  ['a kind for a resource', { match: { ...match, resource: 'Bucket' } }, 'not a resource'],
  ['no resource', { match: { ...match, resource: '' } }, 'not a resource'],
  ...REFUSED_KINDS.map((kind): readonly [string, Spec, string] => {
    const [group = '', name = ''] = kind.split('/');
    const resource = name === '*' ? 'things' : name;
    const said = [resource, group].filter(Boolean).join('.');
    return [`the kind ${kind}`, { match: { group, version: 'v1', resource } }, `rules for ${said} are refused`];
  }),
  ['a label key with two slashes', selecting({ matchLabels: { 'a/b/c': 'x' } }), 'not a label key'],
  ['a label key without a name', selecting({ matchLabels: { 'a.b/': 'x' } }), 'not a label key'],
  ['an empty label key', selecting({ matchLabels: { '': 'x' } }), 'not a label key'],
  ['too long a domain of a label', selecting({ matchLabels: { [`${domain(254)}/a`]: 'x' } }), 'not a label key'],
  ['too long a name of a label', selecting({ matchLabels: { [long(64)]: 'x' } }), 'not a label key'],
  ['a label value with a space', inNamespaces({ matchLabels: { a: 'x y' } }), 'not a label value'],
  ['a number for a label value', selecting({ matchLabels: { a: 1 } }), 'must be of type string'],
  ['too many labels', selecting({ matchLabels: keys(33, 'x') }), 'must have at most 32 items'],
  ['too many expressions', selecting({ matchExpressions: many(33, () => ({ key: 'a', operator: 'Exists' })) }), '32'],
  ['too many values', requiring({ key: 'a', operator: 'In', values: many(65, String) }), 'at most 64 items'],
  ['In without values', requiring({ key: 'a', operator: 'In' }), 'In and NotIn need values'],
  ['NotIn with no values', requiring({ key: 'a', operator: 'NotIn', values: [] }), 'In and NotIn need values'],
  [
    'Exists with values',
    requiring({ key: 'a', operator: 'Exists', values: ['x'] }),
    'Exists and DoesNotExist take none',
  ],
  ['an unknown operator', requiring({ key: 'a', operator: 'Gt', values: ['1'] }), 'Unsupported value: "Gt"'],
  ['a requirement without a key', requiring({ operator: 'Exists' }), 'key: Required value'],
  ['a handler in upper case', { handler: 'S3' }, 'not a handler'],
  ['a handler that begins with a digit', { handler: '3s' }, 'not a handler'],
  ['a handler that ends with a dash', { handler: 's3-' }, 'not a handler'],
  ['an empty handler', { handler: '' }, 'not a handler'],
  ['too long a handler', { handler: long(41) }, 'may not be more than 40'],
  ['an empty target', { target: {} }, 'should have at least 1 properties'],
  ['too many keys of a target', { target: keys(33, 'object.a') }, 'must have at most 32 items'],
  ['a key that begins with a digit', { target: { '1a': 'object.a' } }, 'a key of the target is a letter followed by'],
  ['a key with a dash', { target: { 'a-b': 'object.a' } }, 'a key of the target'],
  ['too long a key', { target: { [long(64)]: 'object.a' } }, 'a key of the target'],
  ['a number for an expression', { target: { account: 111122223333 } }, 'must be of type string'],
  ['an empty expression', { target: { a: '' } }, 'should be at least 1 chars long'],
  ['too long an expression', { target: { a: 'object.a'.padEnd(4097) } }, 'may not be more than 4096'],
  ['a list of options', { options: [] }, 'must be of type object'],
  ['neither tags nor none', { ownership: {} }, 'either tags or none: true is needed'],
  ['both tags and none', { ownership: { none: true, tags: uid } }, 'either tags or none: true is needed'],
  ['none: false', { ownership: { none: false } }, 'only true can be said'],
  ['no tags', { ownership: { tags: {} } }, 'should have at least 1 properties'],
  ['too many tags', { ownership: { tags: { ...keys(10, "'x'"), ...uid } } }, 'must have at most 10 items'],
  ['an empty key of a tag', { ownership: { tags: { '': 'object.metadata.uid' } } }, 'not a tag'],
  ['one emoji too many', { ownership: { tags: { ['😀'.repeat(129)]: 'object.metadata.uid' } } }, 'not a tag'],
  ['too long a key of a tag', { ownership: { tags: { [long(129)]: 'object.metadata.uid' } } }, 'not a tag'],
  ['a tag that no queue carries', { ownership: { tags: { 'a\uffff': 'object.metadata.uid' } } }, 'not a tag'],
  ['an empty policy', { policy: '' }, 'should be at least 1 chars long'],
  ['an unknown choice', { whenAbsent: 'Maybe' }, 'Unsupported value: "Maybe": supported values: "Release", "Hold"'],
  ['a choice in lower case', { unmatched: 'keep' }, 'supported values: "Keep", "Release"'],
  ['an empty choice', { whenTargetMissing: '' }, 'supported values: "Hold", "Release"'],
  ['a wait without finalizers', waiting(), 'should have at least 1 items'],
  ['a wait without an end', { waitFor: { finalizers: ['a.b/c'] } }, 'spec.waitFor.atMost: Required value'],
  ['an empty finalizer', waiting(''), 'not a finalizer: a name, or a domain, a slash and a name'],
  ['a finalizer that ends in a dot', waiting('example.com.'), 'not a finalizer'],
  ['a finalizer with two slashes', waiting('a.b/c/d'), 'not a finalizer'],
  ['too long a finalizer without a domain', waiting(long(64)), 'not a finalizer'],
  ['a finalizer without a name', waiting('example.com/'), 'not a finalizer'],
  ['too long a domain of a finalizer', waiting(`${domain(254)}/a`), 'not a finalizer'],
  ['too long a name of a finalizer', waiting(`a.b/${long(64)}`), 'not a finalizer'],
  ['too many finalizers', waiting(...many(21, (index) => `a.b/f${index}`)), 'must have at most 20 items'],
  ['too short a wait', { waitFor: { finalizers: ['a.b/c'], atMost: '999ms' } }, 'must be from 1s to 8760h'],
  ...['', '24', '0', 'soon', '-1h', '+1h', '1 h', '1d', '1H', '.h', '1h.', '1e3s', `${'0'.repeat(63)}1h`].map(
    (deadline): readonly [string, Spec, string] => [
      `a deadline of "${deadline}"`,
      { deadline },
      deadline.length > 64 ? 'may not be more than 64' : 'not a duration such as 10m or 1h30m',
    ],
  ),
  ['a number for a duration', { deadline: 3600 }, 'must be of type string'],
  ['too short a deadline', { deadline: '59.9s' }, 'must be from 1m to 8760h'],
  ['too long a deadline', { deadline: '8760h1s' }, 'must be from 1m to 8760h'],
  ['a deadline beyond counting', { deadline: '999999999999999999h' }, 'spec.deadline'],
  ['too short a term', { term: '29m59s' }, 'must be from 30m to 6h'],
  ['too long a term', { term: '6h0.001s' }, 'must be from 30m to 6h'],
  ['a word for paused', { paused: 'yes' }, 'must be of type boolean'],
  ['a budget of nothing', { budget: { limit: 0, window: '1h' } }, 'should be greater than or equal to 1'],
  ['too large a budget', { budget: { limit: 1_000_001, window: '1h' } }, 'should be less than or equal to 1000000'],
  ['half a deletion', { budget: { limit: 1.5, window: '1h' } }, 'must be of type integer'],
  ['a budget without a window', { budget: { limit: 5 } }, 'spec.budget.window: Required value'],
  ['a budget without a limit', { budget: { window: '1h' } }, 'spec.budget.limit: Required value'],
  ['too short a window', { budget: { limit: 5, window: '59s' } }, 'must be from 1m to 168h'],
  ['too long a window', { budget: { limit: 5, window: '169h' } }, 'must be from 1m to 168h'],
];

function waitingWith(more: Spec): Spec {
  return { waitFor: { finalizers: ['a.b/c'], atMost: '10m', ...more } };
}

/** What only the bridge can tell: the API server takes it, the bridge says why not (condition `Accepted`). */
export const onlyTheBridgeRefuses: readonly (readonly [what: string, change: Spec, says: string])[] = [
  ['an expression that does not compile', { target: { a: 'object.' } }, 'no CEL expression: it ends'],
  ['an expression of blanks', { policy: ' \n' }, 'empty'],
  ['a function that does not exist', { target: { a: 'now()' } }, 'no such function: now()'],
  ['a target that is a map', { target: { a: '{"a": object.b}' } }, 'the result is of type map'],
  ['a constant that cannot be a target', { target: { a: "''" } }, 'an empty string'],
  ['a policy that says neither', { policy: "'Keep'" }, 'neither "Delete" nor "Retain"'],
  ['a tag that is no string', { ownership: { tags: { ...uid, b: '1' } } }, 'type int, not string'],
  ['a proof that is not bound to the object', { ownership: { tags: { a: 'object.spec.owner' } } }, 'OwnershipNotBound'],
  ['options that fit into no message', { options: { text: long(9000) } }, 'larger than 8192 bytes'],
  ['options that no queue carries', { options: { text: '\uffff' } }, 'characters that a queue does not carry'],
];

/** The bridge counts whole milliseconds, the API server nanoseconds: only within half a millisecond of a bound. */
export const onlyTheServerRefuses: readonly (readonly [what: string, change: Spec, says: string])[] = [
  ['a term that is a hair too short', { term: '1799.9999s' }, 'must be from 30m to 6h'],
  ['a term that is a hair too long', { term: '6h0.0001s' }, 'must be from 30m to 6h'],
];
