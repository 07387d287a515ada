/*
 * Behaviours of rights that are given in one namespace, as scripts. Run against the model's site and a real API server by
 * test/e2e/agreement-api.test.ts, after all others: each takes the rights in the whole cluster away for as long as it runs.
 */
import { RIGHTS_FINALIZER } from '../../../bridge/rights-binding.ts';
import type { ApiScript } from './api-script.ts';

const OURS = 'finalizer-bridge.dev/one';
const keep = [{ op: 'add', path: '/metadata/finalizers', value: [RIGHTS_FINALIZER] }] as const;
const free = [
  { op: 'test', path: '/metadata/finalizers/0', value: RIGHTS_FINALIZER },
  { op: 'remove', path: '/metadata/finalizers/0' },
] as const;
const annotated = [{ op: 'add', path: '/metadata/annotations', value: { noted: 'yes' } }] as const;
const entryOff = [{ op: 'remove', path: '/metadata/finalizers/0' }] as const;

/** All of them. */
export const rightsScripts: readonly ApiScript[] = [
  {
    title: 'a RoleBinding gives rights in its namespace alone, and until its last finalizer is off when it is deleted',
    unit: 'team-c',
    steps: [
      { do: 'create', name: 'a', finalizers: [OURS] },
      { do: 'narrow' },
      { do: 'review' },
      { do: 'list', limit: 10 },
      { do: 'patchBinding', operations: keep },
      { do: 'bind' },
      { do: 'rights', are: 'given' },
      { do: 'review' },
      { do: 'list', limit: 10 },
      { do: 'watch', as: 'within', isWithin: true },
      { do: 'see', watch: 'within' },
      { do: 'watch', as: 'whole' },
      { do: 'see', watch: 'whole' },
      { do: 'patchBinding', operations: keep },
      { do: 'unbind' },
      { do: 'bind' },
      { do: 'review' },
      { do: 'patch', name: 'a', operations: annotated },
      { do: 'patchBinding', operations: free },
      { do: 'rights', are: 'taken' },
      { do: 'review' },
      { do: 'get', name: 'a' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'list', limit: 10 },
      { do: 'patchBinding', operations: keep },
      { do: 'replace', name: 'a', labels: { seen: 'yes' } },
      { do: 'see', watch: 'within' },
      { do: 'bind' },
      { do: 'rights', are: 'given' },
      { do: 'patch', name: 'a', operations: entryOff },
      { do: 'unbind' },
      { do: 'rights', are: 'taken' },
      { do: 'widen' },
    ],
  },
  {
    title: 'within a namespace no kind is served that is in none',
    unit: 'team-c',
    steps: [
      { do: 'create', kind: 'volumes', name: 'a' },
      { do: 'list', kind: 'volumes', limit: 10, isWithin: true },
      { do: 'watch', as: 'w', kind: 'volumes', isWithin: true },
      { do: 'see', watch: 'w' },
    ],
  },
  {
    title:
      'in a namespace that ends the rights go with their binding, stay while that has a finalizer, and cannot be given again',
    unit: 'team-b',
    steps: [
      { do: 'create', name: 'held', finalizers: [OURS] },
      { do: 'narrow' },
      { do: 'bind' },
      { do: 'rights', are: 'given' },
      { do: 'patchBinding', operations: keep },
      { do: 'endNamespace' },
      { do: 'review' },
      { do: 'get', name: 'held' },
      { do: 'patchBinding', operations: free },
      { do: 'rights', are: 'taken' },
      { do: 'patch', name: 'held', operations: entryOff },
      { do: 'bind' },
      { do: 'widen' },
      { do: 'patch', name: 'held', operations: entryOff },
      { do: 'get', name: 'held' },
    ],
  },
];
