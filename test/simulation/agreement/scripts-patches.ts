/*
 * Behaviours of the API server about what a patch may and may not do, as scripts. Run against the model and a real one by
 * test/e2e/agreement-api.test.ts.
 */
import type { ApiScript } from './api-script.ts';

const [OURS, FOREIGN] = ['finalizer-bridge.dev/one', 'example.com/other'];
const uid = (value: string) => ({ op: 'test', path: '/metadata/uid', value }) as const;
const version = (value: string) => ({ op: 'test', path: '/metadata/resourceVersion', value }) as const;
const guards = (name: string) => [uid(`{uid of ${name}}`), version(`{version of ${name}}`)];
const entryAt = (index: number, value: string) =>
  [
    { op: 'test', path: `/metadata/finalizers/${index}`, value },
    { op: 'remove', path: `/metadata/finalizers/${index}` },
  ] as const;

/** What a patch may and may not do. */
export const patchScripts: readonly ApiScript[] = [
  {
    title: 'finalizers can be added to a live object, not to one that is being deleted',
    steps: [
      { do: 'create', name: 'a' },
      {
        do: 'patch',
        name: 'a',
        operations: [...guards('a'), { op: 'add', path: '/metadata/finalizers', value: [OURS] }],
      },
      {
        do: 'patch',
        name: 'a',
        operations: [...guards('a'), { op: 'add', path: '/metadata/finalizers/-', value: FOREIGN }],
      },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      {
        ...{ do: 'patch', name: 'a' },
        operations: [...guards('a'), { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/third' }],
      },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/finalizers/-', value: OURS }] },
      { do: 'replace', name: 'a', finalizers: [FOREIGN, OURS, 'example.com/third'] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'a test of uid, version or value that fails changes nothing, and is told from success alone',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN] },
      { do: 'replace', name: 'a', labels: { moved: 'once' } },
      { do: 'patch', name: 'a', operations: [version('{first version of a}'), ...entryAt(0, OURS)] },
      { do: 'patch', name: 'a', operations: [uid('another'), ...entryAt(0, OURS)] },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(0, FOREIGN)] },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(2, OURS)] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/finalizers/2' }] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'an index counts on the list as the operations before it have left it',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN, OURS] },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(2, OURS), ...entryAt(0, OURS)] },
      { do: 'replace', name: 'a', finalizers: [OURS, FOREIGN, OURS] },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(0, OURS), ...entryAt(2, OURS)] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'the whole object that a patch answers is what a GET shows then, while it lives, goes, and when it is gone',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN], labels: { team: 'a' } },
      {
        ...{ do: 'patch', name: 'a', how: 'whole' },
        operations: [...guards('a'), { op: 'add', path: '/metadata/annotations', value: { note: 'one' } }],
      },
      { do: 'get', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      {
        ...{ do: 'patch', name: 'a', how: 'whole' },
        operations: [...guards('a'), { op: 'replace', path: '/metadata/annotations/note', value: 'two' }],
      },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', how: 'whole', operations: guards('a') },
      {
        ...{ do: 'patch', name: 'a', how: 'whole' },
        operations: [...guards('a'), ...entryAt(1, FOREIGN), ...entryAt(0, OURS)],
      },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', how: 'whole', operations: [] },
    ],
  },
  {
    title: 'a patch that changes nothing raises no version',
    steps: [
      { do: 'create', name: 'a', labels: { team: 'a' }, annotations: { note: 'one' } },
      { do: 'patch', name: 'a', operations: guards('a') },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/annotations/note', value: 'one' }] },
      { do: 'replace', name: 'a', labels: { team: 'a' } },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/annotations/note', value: 'two' }] },
    ],
  },
  {
    title: 'annotations are added to none, put in the place of what was tested, and taken away',
    steps: [
      { do: 'create', name: 'a' },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/annotations/k~1e', value: 'x' }] },
      {
        do: 'patch',
        name: 'a',
        operations: [{ op: 'add', path: '/metadata/annotations', value: { 'k/e': 'a <b> & "c" \u2028' } }],
      },
      {
        ...{ do: 'patch', name: 'a' },
        operations: [
          { op: 'test', path: '/metadata/annotations/k~1e', value: 'a <b> & "c" \u2028' },
          { op: 'replace', path: '/metadata/annotations/k~1e', value: 'two' },
        ],
      },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/annotations/none', value: 'x' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/annotations/none' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/annotations/k~1e' }] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'a patch has corners that its standard has not',
    steps: [
      {
        do: 'create',
        name: 'a',
        finalizers: ['example.com/1', 'example.com/2', 'example.com/3'],
        labels: { team: 'a' },
      },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/labels/none', value: null }] },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/labels/none', value: 'x' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/labels/team', value: null }] },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/annotations/none', value: null }] },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/finalizers/7', value: null }] },
      ...['x', 'y'].map((value) => ({
        do: 'patch' as const,
        name: 'a',
        operations: [
          { op: 'test' as const, path: '/metadata/annotations', value: null },
          { op: 'add' as const, path: '/metadata/annotations', value: { key: value } },
        ],
      })),
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/finalizers/-1', value: 'example.com/3' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/finalizers/-1' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/finalizers/-1', value: 'example.com/4' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/finalizers/00' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/finalizers/-' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/finalizers/4', value: 'example.com/5' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/finalizers/0', value: 'example.com/6' }] },
      {
        do: 'patch',
        name: 'a',
        operations: [{ op: 'replace', path: '/metadata/finalizers/9', value: 'example.com/7' }],
      },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/labels/new', value: 'x' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/labels/none' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'remove', path: '/metadata/annotations/none' }] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'what a missing object is told',
    steps: [
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: [uid('any')] },
      { do: 'replace', name: 'a', labels: {} },
    ],
  },
  {
    title: 'annotations have a limit, and what is over it is refused whole',
    steps: [
      { do: 'create', name: 'a', annotations: { big: 'x'.repeat(262_000) }, finalizers: [OURS] },
      {
        do: 'patch',
        name: 'a',
        operations: [{ op: 'add', path: '/metadata/annotations/small', value: 'y'.repeat(200) }],
      },
      { do: 'delete', name: 'a' },
      {
        do: 'patch',
        name: 'a',
        operations: [{ op: 'add', path: '/metadata/annotations/small', value: 'y'.repeat(100) }],
      },
      {
        do: 'patch',
        name: 'a',
        operations: [{ op: 'add', path: '/metadata/annotations/small', value: 'y'.repeat(200) }],
      },
      { do: 'patch', name: 'a', operations: entryAt(0, OURS) },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'the status of a rule is written through its own resource only, and nothing else through that',
    steps: [
      { do: 'create', kind: 'rules', name: 'r', status: { pending: 1 } },
      { do: 'get', kind: 'rules', name: 'r' },
      { do: 'patch', kind: 'rules', name: 'r', operations: [{ op: 'add', path: '/status', value: { pending: 2 } }] },
      {
        ...{ do: 'patch', kind: 'rules', name: 'r', how: 'status' },
        operations: [...guards('r'), { op: 'add', path: '/status', value: { pending: 3 } }],
      },
      { do: 'get', kind: 'rules', name: 'r' },
      {
        ...{ do: 'patch', kind: 'rules', name: 'r', how: 'status' },
        operations: [
          { op: 'replace', path: '/spec/handler', value: 'other' },
          { op: 'add', path: '/metadata/labels', value: { team: 'a' } },
          { op: 'replace', path: '/status/pending', value: 4 },
        ],
      },
      { do: 'replace', kind: 'rules', name: 'r', status: { pending: 5 } },
      { do: 'get', kind: 'rules', name: 'r' },
    ],
  },
  {
    title: 'a kind whose status is no resource of its own has none to patch',
    steps: [
      { do: 'create', name: 'a', status: { machine: 'm-1' } },
      { do: 'patch', name: 'a', how: 'status', operations: [{ op: 'add', path: '/status', value: {} }] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'what no update may change',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/uid', value: 'another' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/name', value: 'b' }] },
      {
        ...{ do: 'patch', name: 'a' },
        operations: [{ op: 'add', path: '/metadata/deletionTimestamp', value: '2026-01-01T00:00:00Z' }],
      },
      { do: 'get', name: 'a' },
    ],
  },
];
