/*
 * Behaviours of lists and watches on the API server, and of kinds, rights and namespaces that go, as scripts. Run by the tests of
 * agreement.
 */
import type { ApiScript } from './api-script.ts';

const [OURS, FOREIGN] = ['finalizer-bridge.dev/one', 'example.com/other'];
const take = (index: number) => [{ op: 'remove', path: `/metadata/finalizers/${index}` }] as const;

/** What lists and watches show. */
export const watchScripts: readonly ApiScript[] = [
  {
    title: 'a watch from the start shows what there is, says when that was all, and then what happens, in order',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], labels: { team: 'a' } },
      { do: 'create', name: 'b' },
      { do: 'watch', as: 'w' },
      { do: 'see', watch: 'w' },
      { do: 'create', name: 'c', annotations: { note: 'one' }, spec: { size: 1 } },
      { do: 'replace', name: 'c', spec: { size: 2 } },
      { do: 'delete', name: 'a' },
      { do: 'delete', name: 'b' },
      { do: 'see', watch: 'w' },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'the word that an object is gone carries its last version, and what it carried before that',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN] },
      { do: 'create', name: 'b', finalizers: [OURS] },
      { do: 'watch', as: 'w' },
      { do: 'delete', name: 'a' },
      { do: 'delete', name: 'b' },
      { do: 'patch', name: 'a', operations: take(1) },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'replace', name: 'b', finalizers: [], labels: { stripped: 'yes' } },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'a watch from a version goes on behind it, and misses nothing',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'replace', name: 'a', labels: { step: 'two' } },
      { do: 'create', name: 'b' },
      { do: 'delete', name: 'b' },
      { do: 'create', name: 'b' },
      { do: 'delete', name: 'a' },
      { do: 'watch', as: 'w', from: { firstVersionOf: 'a' } },
      { do: 'see', watch: 'w' },
      { do: 'list', limit: 10 },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'watch', as: 'w', from: 'list' },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'a write that changes nothing, or that is refused, is no event',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], labels: { team: 'a' } },
      { do: 'watch', as: 'w', from: { versionOf: 'a' } },
      { do: 'replace', name: 'a', labels: { team: 'a' } },
      { do: 'patch', name: 'a', operations: take(5) },
      { do: 'delete', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'all pages of a list show the moment of the first',
    steps: [
      ...['a', 'b', 'c', 'd', 'e'].map((name) => ({ do: 'create', name, finalizers: [OURS] }) as const),
      { do: 'list', limit: 2 },
      { do: 'delete', name: 'c' },
      { do: 'create', name: 'bb' },
      { do: 'patch', name: 'c', operations: take(0) },
      { do: 'page', limit: 2 },
      { do: 'page', limit: 2 },
      { do: 'watch', as: 'w', from: 'list' },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'a watch of one namespace shows what is in it, and a list of one name that one',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'create', name: 'b' },
      { do: 'list', limit: 10, named: 'b' },
      { do: 'list', limit: 10, named: 'none' },
      { do: 'watch', as: 'w', isWithin: true },
      { do: 'see', watch: 'w' },
      { do: 'delete', name: 'a' },
      { do: 'watch', as: 'resumed', isWithin: true, from: 'list' },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'see', watch: 'w' },
      { do: 'see', watch: 'resumed' },
    ],
  },
  {
    title: 'objects come in lists by their names',
    steps: [
      ...['c', 'a', 'b-1', 'b'].map((name) => ({ do: 'create', name }) as const),
      { do: 'list', limit: 3 },
      { do: 'page', limit: 3 },
      { do: 'list', limit: 4 },
    ],
  },
];

/** What happens when something is taken away. Each takes its time on a real server. */
export const losingScripts: readonly ApiScript[] = [
  {
    title: 'a history that is forgotten cannot be followed from, nor a list gone on with',
    steps: [
      ...['a', 'b', 'c'].map((name) => ({ do: 'create', name, finalizers: [OURS] }) as const),
      { do: 'list', limit: 2 },
      { do: 'delete', name: 'a' },
      { do: 'forget' },
      { do: 'page', limit: 2 },
      { do: 'watch', as: 'w', from: { firstVersionOf: 'a' } },
      { do: 'see', watch: 'w' },
      { do: 'watch', as: 'w' },
      { do: 'see', watch: 'w' },
      { do: 'list', limit: 10 },
      { do: 'watch', as: 'w', from: 'list' },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'rights that are taken away end every call, and no watch that is open',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'watch', as: 'open' },
      { do: 'forbid', kind: 'machines' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'list', limit: 10 },
      { do: 'watch', as: 'refused' },
      { do: 'see', watch: 'refused' },
      { do: 'delete', name: 'a' },
      { do: 'see', watch: 'open' },
      { do: 'permit', kind: 'machines' },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'see', watch: 'open' },
    ],
  },
  {
    title: 'a kind is served until its last object is gone, then not, and may come back empty',
    steps: [
      { do: 'create', kind: 'volumes', name: 'a', finalizers: [OURS] },
      { do: 'watch', as: 'w', kind: 'volumes' },
      { do: 'see', watch: 'w' },
      { do: 'endKind', kind: 'volumes' },
      { do: 'get', kind: 'volumes', name: 'a' },
      { do: 'create', kind: 'volumes', name: 'c' },
      { do: 'patch', kind: 'volumes', name: 'a', operations: take(0) },
      { do: 'see', watch: 'w' },
      { do: 'get', kind: 'volumes', name: 'a' },
      { do: 'patch', kind: 'volumes', name: 'a', operations: take(0) },
      { do: 'list', kind: 'volumes', limit: 10 },
      { do: 'watch', as: 'none', kind: 'volumes' },
      { do: 'see', watch: 'none' },
      { do: 'restoreKind', kind: 'volumes' },
      { do: 'get', kind: 'volumes', name: 'a' },
      { do: 'create', kind: 'volumes', name: 'a' },
      { do: 'watch', as: 'again', kind: 'volumes' },
      { do: 'see', watch: 'again' },
    ],
  },
  {
    title: 'in a namespace that ends nothing is created, not even an Event, and finalizers still come off',
    unit: 'team-a',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'create', name: 'b' },
      { do: 'event', name: 'a' },
      { do: 'endNamespace' },
      { do: 'get', name: 'a' },
      { do: 'get', name: 'b' },
      { do: 'create', name: 'c' },
      { do: 'event', name: 'a' },
      { do: 'patch', name: 'a', operations: [{ op: 'add', path: '/metadata/annotations', value: { note: 'x' } }] },
      { do: 'patch', name: 'a', operations: take(0) },
      { do: 'get', name: 'a' },
    ],
  },
];
