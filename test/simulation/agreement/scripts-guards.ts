/*
 * Behaviours of the API server where somebody's validating admission policy refuses writes, as scripts. Run against the model and a
 * real one by test/e2e/agreement-api.test.ts. Each takes the policy away again.
 */
import type { ApiScript } from './api-script.ts';
import { GUARDED } from './guard-policy.ts';

const [OURS, FOREIGN] = ['finalizer-bridge.dev/one', 'example.com/other'];
const labels = (reason: string) => ({ [GUARDED]: reason });
const entryOff = [
  { op: 'test', path: '/metadata/finalizers/0', value: OURS },
  { op: 'remove', path: '/metadata/finalizers/0' },
] as const;
const annotated = [{ op: 'add', path: '/metadata/annotations', value: { noted: 'yes' } }] as const;

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
];
