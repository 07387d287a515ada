/*
 * The functions that expressions can call, each with an example, for the reference that people read. Used by reference.ts;
 * test/bridge/cel-corpus.test.ts evaluates every example, test/e2e/cel-corpus.test.ts on the API server as well.
 */

/** The object of all examples. */
export const exampleObject = {
  apiVersion: 'storage.example.com/v1',
  kind: 'Bucket',
  metadata: {
    name: 'logs',
    namespace: 'team-a',
    uid: '5f0c8c2e-0000-4000-8000-000000000000',
    labels: { tier: 'prod' },
    annotations: {},
    creationTimestamp: '2026-03-01T08:00:00Z',
  },
  spec: {
    region: 'eu-central-1',
    replicas: 2,
    zones: ['a', 'b'],
    disks: [
      { id: 'd-1', gib: 8 },
      { id: 'd-2', gib: 40 },
    ],
  },
  status: { arn: 'arn:aws:s3:::team-a-logs' },
} as const;

/** A function, or a group of them: what it is for, and examples with what they give. */
export interface FunctionFact {
  readonly names: readonly string[];
  readonly purpose: string;
  readonly examples: readonly (readonly [expression: string, gives: string | boolean | number | readonly string[]])[];
}

export const functionFacts: readonly FunctionFact[] = [
  {
    names: ['has'],
    purpose: 'whether a field is there',
    examples: [['has(object.status.arn)', true]],
  },
  {
    names: ['orValue', 'or', 'hasValue', 'value', 'of', 'none'],
    purpose: "optional values: `.?field` and `[?'key']` look for what may be absent",
    examples: [
      ["object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')", 'Delete'],
      ['object.?status.?bucketName.hasValue()', false],
      ['object.spec.?bucket.or(object.metadata.?name).value()', 'logs'],
      ["object.spec.?bucket.or(optional.of('none')).value()", 'none'],
      ['optional.none().hasValue()', false],
    ],
  },
  {
    names: ['size'],
    purpose: 'characters of a text, items of a list, keys of a map',
    examples: [
      ['size(object.metadata.name)', 4],
      ['object.spec.zones.size()', 2],
    ],
  },
  {
    names: ['startsWith', 'endsWith', 'contains'],
    purpose: 'parts of a text',
    examples: [
      ["object.spec.region.startsWith('eu-')", true],
      ["object.spec.region.endsWith('-1')", true],
      ["object.spec.region.contains('central')", true],
    ],
  },
  {
    names: ['matches'],
    purpose: 'a regular expression (RE2), found anywhere unless anchored',
    examples: [["object.spec.region.matches('^[a-z]{2}-[a-z]+-[0-9]$')", true]],
  },
  {
    names: ['indexOf', 'lastIndexOf'],
    purpose: 'where a text has another, or a list an item; -1 when nowhere',
    examples: [
      ["object.spec.region.indexOf('-')", 2],
      ["object.status.arn.lastIndexOf(':')", 12],
      ["object.spec.zones.indexOf('b')", 1],
    ],
  },
  {
    names: ['substring', 'charAt'],
    purpose: 'a part of a text, from the first up to before the second position',
    examples: [
      ['object.spec.region.substring(3)', 'central-1'],
      ['object.spec.region.substring(0, 2)', 'eu'],
      ['object.spec.region.charAt(0)', 'e'],
    ],
  },
  {
    names: ['split', 'join'],
    purpose: 'a text to a list and back; a number bounds the parts',
    examples: [
      ["object.status.arn.split(':')[5]", 'team-a-logs'],
      ["object.spec.region.split('-', 2)", ['eu', 'central-1']],
      ["object.spec.zones.join('/')", 'a/b'],
    ],
  },
  {
    names: ['replace'],
    purpose: 'all occurrences, or the first so many',
    examples: [
      ["object.spec.region.replace('-', '_')", 'eu_central_1'],
      ["object.spec.region.replace('-', '', 1)", 'eucentral-1'],
    ],
  },
  {
    names: ['lowerAscii', 'upperAscii', 'trim'],
    purpose: 'letters A to Z only; blanks at both ends',
    examples: [
      ["'Logs'.lowerAscii()", 'logs'],
      ['object.metadata.name.upperAscii()', 'LOGS'],
      ["' a '.trim()", 'a'],
    ],
  },
  {
    names: ['all', 'exists', 'exists_one'],
    purpose: 'whether all, any or exactly one of the items (of a map: the keys) hold',
    examples: [
      ['object.spec.disks.all(d, d.gib > 4)', true],
      ['object.spec.disks.exists(d, d.gib > 100)', false],
      ["object.metadata.labels.exists_one(l, l == 'tier')", true],
    ],
  },
  {
    names: ['map', 'filter'],
    purpose: 'a list of what is made of each item, or of those that hold',
    examples: [
      ['object.spec.disks.map(d, d.id)', ['d-1', 'd-2']],
      ['object.spec.disks.map(d, d.gib > 10, d.id)', ['d-2']],
      ["object.spec.zones.filter(z, z != 'a')", ['b']],
    ],
  },
  {
    names: ['string', 'int', 'double', 'bool'],
    purpose: 'conversions; a text must be a decimal number, or true or false',
    examples: [
      ["'r-' + string(object.spec.replicas)", 'r-2'],
      ["int('42') + object.spec.replicas", 44],
      ["double('1.5') < 2.0", true],
      ["bool('true')", true],
    ],
  },
  {
    names: ['timestamp'],
    purpose: 'a time in RFC 3339, to the millisecond; times can be compared, and differences of times',
    examples: [["timestamp(object.metadata.creationTimestamp) < timestamp('2027-01-01T00:00:00Z')", true]],
  },
  {
    names: ['type', 'dyn'],
    purpose: 'the type of a value; a value whose type is left open until it is evaluated',
    examples: [
      ['type(object.spec.replicas) == int', true],
      ['[object.spec.region, dyn("x")]', ['eu-central-1', 'x']],
    ],
  },
];

/** What else an author should know, each a sentence or two. */
export const expressionNotes: readonly string[] = [
  'The only variable is `object`, as the API server has it, whole. `object.metadata.labels` and `object.metadata.annotations` are always maps, empty ones when the object has none. (In an admission policy they would be missing keys.)',
  'A path that no object of the kind can have, by the schema that the API server publishes of it, is a fault of the rule (`UnknownField`), `has()` and `.?` included. Not checked is what cannot be followed: keys that are computed, fields that hold anything, results of `map()`, and `dyn(object).spec.x`, which says so on purpose.',
  'A result is a text, a bool, a whole number that JavaScript can hold exactly, or a list of texts. Nothing else can be a target, a tag or a policy.',
  'Whole numbers of the object are ints, others doubles: `object.spec.ratio * 2.0`, not `* 2`. A whole number beyond 2^53 cannot be read.',
  'A key that a map of the object lacks makes the outcome *missing*; everything else that goes wrong makes it *invalid* and holds that one object. Selecting from a text, a number or a list is never missing.',
  'Elements of a list literal, and values of a map literal, have one type. What is read from the object has none until it is evaluated: write `[string(object.spec.region), "x"]`. Keys of a map literal are texts in quotes.',
  "The order of a map's keys means nothing.",
  'A default has the type of the value that it stands in for: `object.spec.?replicas.orValue(0)`, not `orValue("0")`. The API server insists on that where it can tell, the bridge does not.',
  'An evaluation has a budget of 200,000 steps. An expression has 4,096 characters at most, a regular expression 1,024.',
];

/** Where the API server would take an expression that is refused or fails here; never the other way round for a value. */
export const stricterThanTheServer: readonly string[] = [
  'bytes, unsigned ints and durations, and calculating with times: nothing in an object is one, and no result can be',
  'comparing optional values, optional elements of lists and maps (`[?x]`, `{?k: x}`), `optMap`, `optFlatMap`, `optional.ofNonZeroValue`',
  'a literal such as `.5` (write `0.5`), hexadecimal texts and underscores in `double()`',
  'times more precise than a millisecond, and offsets of a day or of 60 minutes',
  'maps with keys that are no texts, or that are called `constructor`, `prototype` or `__proto__`, in a literal',
  'an iteration variable called `object`',
  'looking in a list for something of another type than its items (the API server says -1)',
  "all functions of Kubernetes' own libraries that are not in the table above",
];
