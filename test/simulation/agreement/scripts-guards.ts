/*
 * Behaviours of the API server where somebody's validating admission policies refuse writes, as scripts. Run against the model and a
 * real one by test/e2e/agreement-api.test.ts. Each takes the policies away again.
 */
import type { ApiScript } from './api-script.ts';
import { GUARDED } from './guard-policy.ts';

const [OURS, FOREIGN] = ['finalizer-bridge.dev/one', 'example.com/other'];
const labels = (reason: string) => ({ [GUARDED.update]: reason });
const entryOff = [
  { op: 'test', path: '/metadata/finalizers/0', value: OURS },
  { op: 'remove', path: '/metadata/finalizers/0' },
] as const;
const annotated = [{ op: 'add', path: '/metadata/annotations', value: { noted: 'yes' } }] as const;
const another = [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/third' }] as const;
const status = [{ op: 'add', path: '/status', value: { pending: 1 } }] as const;

/** All of them. */
export const guardScripts: readonly ApiScript[] = [
  {
    title:
      'a write that a policy refuses changes nothing, has the status of its reason, and is taken once the policy is gone',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS, FOREIGN], labels: labels('Invalid') },
      { do: 'create', name: 'b', finalizers: [OURS], labels: labels('Forbidden') },
      { do: 'create', name: 'c', finalizers: [OURS], labels: labels('nothing') },
      { do: 'guard' },
      { do: 'patch', name: 'a', operations: annotated },
      { do: 'patch', name: 'b', operations: annotated },
      { do: 'patch', name: 'c', operations: annotated },
      { do: 'get', name: 'a' },
      { do: 'get', name: 'b' },
      { do: 'delete', name: 'a' },
      { do: 'delete', name: 'b' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'patch', name: 'b', operations: entryOff },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/uid', value: 'another' }, ...entryOff] },
      { do: 'get', name: 'a' },
      { do: 'get', name: 'b' },
      { do: 'unguard' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'patch', name: 'b', operations: entryOff },
      { do: 'get', name: 'a' },
      { do: 'get', name: 'b' },
    ],
  },
  {
    title: 'a policy may refuse as if a call were too large, and does when it fails; a warning refuses nothing',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], labels: labels('RequestEntityTooLarge') },
      { do: 'create', name: 'b', finalizers: [OURS], labels: labels('Broken') },
      { do: 'create', name: 'c', finalizers: [OURS], labels: labels('Warned') },
      { do: 'guard' },
      { do: 'delete', name: 'a' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'b', operations: annotated },
      { do: 'patch', name: 'c', operations: annotated },
      { do: 'unguard' },
      { do: 'patch', name: 'a', operations: entryOff },
    ],
  },
  {
    title: 'a policy is asked after a test of the patch and what the server never takes, also of what changes nothing',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], labels: labels('Forbidden') },
      { do: 'guard' },
      { do: 'delete', name: 'a' },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/uid', value: 'another' }] },
      { do: 'patch', name: 'a', operations: another },
      { do: 'patch', name: 'a', operations: [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }] },
      { do: 'patch', name: 'a', operations: [{ op: 'test', path: '/metadata/uid', value: '{uid of a}' }] },
      { do: 'replace', name: 'a', labels: labels('Forbidden') },
      { do: 'get', name: 'a' },
      { do: 'replace', name: 'a', labels: {} },
      { do: 'unguard' },
      { do: 'replace', name: 'a', labels: {} },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'a policy about deletions marks nothing, and has no say when the last finalizer of what is marked comes off',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS], labels: { [GUARDED.deletion]: 'Forbidden' } },
      { do: 'create', name: 'b', finalizers: [OURS], labels: { [GUARDED.deletion]: 'Forbidden' } },
      { do: 'delete', name: 'b' },
      { do: 'watch', as: 'w', from: { versionOf: 'b' } },
      { do: 'guard' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: annotated },
      { do: 'patch', name: 'b', operations: entryOff },
      { do: 'get', name: 'b' },
      { do: 'see', watch: 'w' },
      { do: 'unguard' },
      { do: 'delete', name: 'a' },
      { do: 'get', name: 'a' },
    ],
  },
  {
    title: 'a policy about rules has no say about their status, nor one about their status about them',
    steps: [
      { do: 'create', kind: 'rules', name: 'r', finalizers: [FOREIGN], labels: { [GUARDED.update]: 'Invalid' } },
      { do: 'create', kind: 'rules', name: 's', labels: { [GUARDED.status]: 'Forbidden' } },
      { do: 'guard' },
      { do: 'patch', kind: 'rules', name: 'r', operations: annotated },
      { do: 'patch', kind: 'rules', name: 'r', how: 'status', operations: status },
      { do: 'patch', kind: 'rules', name: 's', operations: annotated },
      { do: 'patch', kind: 'rules', name: 's', how: 'status', operations: status },
      { do: 'get', kind: 'rules', name: 'r' },
      { do: 'get', kind: 'rules', name: 's' },
      { do: 'delete', kind: 'rules', name: 'r' },
      { do: 'unguard' },
      { do: 'replace', kind: 'rules', name: 'r', finalizers: [] },
      { do: 'delete', kind: 'rules', name: 's' },
    ],
  },
];
