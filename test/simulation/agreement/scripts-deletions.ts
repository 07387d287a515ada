/*
 * Behaviours of the API server about how objects are born and go, as scripts. Run against the model and a real one by
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

/** How objects are born and go. */
export const deletionScripts: readonly ApiScript[] = [
  {
    title: 'an object without finalizers is gone with its deletion, and a second deletion finds none',
    steps: [
      { do: 'create', name: 'a', spec: { size: 1 } },
      { do: 'get', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      { do: 'delete', name: 'a' },
    ],
  },
  {
    title: 'an object with finalizers is marked, and a second deletion changes nothing',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN], spec: { size: 1 } },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'an empty list of finalizers is none',
    steps: [
      { do: 'create', name: 'a', finalizers: [], spec: {} },
      { do: 'get', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'the last finalizer that comes off takes the object along, whoever takes it',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN] },
      { do: 'create', name: 'b', finalizers: [OURS] },
      { do: 'delete', name: 'a' },
      { do: 'delete', name: 'b' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(0, OURS)] },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: [...guards('a'), ...entryAt(0, FOREIGN)] },
      { do: 'get', name: 'a' },
      { do: 'replace', name: 'b', finalizers: [] },
      { do: 'get', name: 'b' },
    ],
  },
  {
    title: 'an object of the same name is another one',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'create', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'create', name: 'a' },
      { do: 'patch', name: 'a', operations: [uid('{uid of a}'), ...entryAt(0, OURS)] },
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'an object without a namespace lives and goes as others do',
    steps: [
      { do: 'create', kind: 'volumes', name: 'a', finalizers: [OURS] },
      { do: 'delete', kind: 'volumes', name: 'a' },
      { do: 'get', kind: 'volumes', name: 'a' },
      { do: 'patch', kind: 'volumes', name: 'a', operations: [...guards('a'), ...entryAt(0, OURS)] },
      { do: 'get', kind: 'volumes', name: 'a' },
    ],
  },
  {
    title: 'a generation counts the changes of a spec, and its deletion',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], spec: { size: 1 } },
      { do: 'replace', name: 'a', spec: { size: 2 } },
      { do: 'replace', name: 'a', labels: { team: 'a' } },
      { do: 'replace', name: 'a', status: { machine: 'm-1' } },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      { do: 'replace', name: 'a', spec: { size: 3 } },
      { do: 'create', kind: 'rules', name: 'r', finalizers: [OURS] },
      { do: 'delete', kind: 'rules', name: 'r' },
      { do: 'get', kind: 'rules', name: 'r' },
    ],
  },
];
