/*
 * Behaviours of the API server where something is too large or too much, as scripts. Run against the model and a real one by
 * test/e2e/agreement-api.test.ts; what is about sizes also against the fake of the unit tests.
 */
import type { PatchOperation } from '../../../bridge/ports.ts';
import type { ApiScript } from './api-script.ts';

const OURS = 'finalizer-bridge.dev/one';
const entryOff = [
  { op: 'test', path: '/metadata/uid', value: '{uid of a}' },
  { op: 'test', path: '/metadata/finalizers/0', value: OURS },
  { op: 'remove', path: '/metadata/finalizers/0' },
] as const;
const added = (path: string, value: unknown) => [{ op: 'add', path, value }] as const;
const tests = (count: number): readonly PatchOperation[] =>
  Array.from({ length: count }, () => ({ op: 'test', path: '/spec/size', value: 1 }) as const);
const ofLength = (length: number) => 'x'.repeat(length);

/** Of objects and calls. */
export const sizeScripts: readonly ApiScript[] = [
  {
    title: 'an object has a size beyond which every write of it fails, and its entry comes off all the same',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], spec: { big: ofLength(1_400_000) } },
      { do: 'patch', name: 'a', operations: added('/spec/more', ofLength(100_000)) },
      { do: 'watch', as: 'w', from: { versionOf: 'a' } },
      { do: 'patch', name: 'a', operations: added('/spec/third', ofLength(100_000)) },
      { do: 'patch', name: 'a', operations: added('/metadata/annotations', { note: ofLength(200_000) }) },
      { do: 'patch', name: 'a', operations: added('/metadata/labels', { team: 'a' }) },
      { do: 'delete', name: 'a' },
      { do: 'patch', name: 'a', operations: added('/metadata/annotations', { note: ofLength(200_000) }) },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'get', name: 'a' },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title: 'an object that is too large is not created, whoever finds it so',
    steps: [
      { do: 'create', name: 'a', spec: { big: ofLength(1_700_000) } },
      { do: 'create', name: 'a', spec: { big: ofLength(2_500_000) } },
      { do: 'create', name: 'a', spec: { big: ofLength(3_150_000) } },
      { do: 'create', name: 'a', annotations: { note: ofLength(300_000) }, spec: { big: ofLength(1_700_000) } },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'a patch has a size, and a number of operations, beyond which it is not looked at',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], spec: { size: 1 } },
      { do: 'patch', name: 'a', operations: tests(10_000) },
      { do: 'patch', name: 'a', operations: [...entryOff, ...tests(9_998)] },
      { do: 'patch', name: 'a', operations: [...entryOff, ...added('/spec/big', ofLength(3_150_000))] },
      { do: 'patch', name: 'none', operations: added('/spec/big', ofLength(3_150_000)) },
      { do: 'patch', name: 'none', operations: tests(10_001) },
      { do: 'get', name: 'a' },
    ],
  },
];

/** Of how much is asked. Takes the bridge's calls away for as long as it runs. */
export const excessScripts: readonly ApiScript[] = [
  {
    title:
      'a call that is one too many is not done, and told when to come back; watches that are open go on, and others work',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'watch', as: 'open' },
      { do: 'see', watch: 'open' },
      { do: 'limit' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'list', limit: 10 },
      { do: 'watch', as: 'refused' },
      { do: 'see', watch: 'refused' },
      { do: 'event', name: 'a' },
      { do: 'review' },
      { do: 'replace', name: 'a', labels: { seen: 'yes' } },
      { do: 'delete', name: 'a' },
      { do: 'see', watch: 'open' },
      { do: 'unlimit' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'see', watch: 'open' },
    ],
  },
];
