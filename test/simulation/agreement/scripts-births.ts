/*
 * Behaviours of the admission policy that puts entries on objects at their birth, as scripts. Run against the model's site and a
 * real API server with the real policy by test/e2e/agreement-api.test.ts. Each takes its rules away again: they are all objects'.
 */
import { INJECTS_LABEL, injectsLabel } from '../../../bridge/injects.ts';
import { defaultedSpec } from '../../support/rule-corpus.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';
import type { ApiScript, ApiStep } from './api-script.ts';

const FOREIGN = 'example.com/other';
const HELD = 'example.com/held';
const labels = { [INJECTS_LABEL]: injectsLabel(FLEET_KINDS.machines) };

function rule(name: string, match: object, parts: object = { labels }): ApiStep {
  return {
    do: 'create',
    kind: 'rules',
    name,
    spec: { ...defaultedSpec, match: { ...FLEET_KINDS.machines, ...match } },
    ...parts,
  };
}
const withdrawn = (name: string) => ({ do: 'delete', kind: 'rules', name }) as const;

/** All of them. */
export const birthScripts: readonly ApiScript[] = [
  {
    title: 'what a rule selects is born with its entry, at the end of the list, once',
    steps: [
      rule('mine', { labelSelector: { matchLabels: { team: 'a' } } }),
      { do: 'settle' },
      { do: 'create', name: 'a', labels: { team: 'a' } },
      { do: 'create', name: 'b', labels: { team: 'b' } },
      { do: 'create', name: 'c' },
      { do: 'create', name: 'd', labels: { team: 'a' }, finalizers: [FOREIGN] },
      { do: 'create', name: 'e', labels: { team: 'a' }, finalizers: [FOREIGN, FOREIGN] },
      { do: 'create', name: 'f', labels: { team: 'a' }, finalizers: ['finalizer-bridge.dev/{unit}-mine', FOREIGN] },
      { do: 'replace', name: 'c', labels: { team: 'a' } },
      { do: 'get', name: 'a' },
      withdrawn('mine'),
      { do: 'settle' },
      { do: 'create', name: 'g', labels: { team: 'a' } },
    ],
  },
  {
    title: 'a rule selects by the labels of namespaces, and nothing while it is not accepted or is being deleted',
    unit: 'team-b',
    steps: [
      rule('prod', { namespaceSelector: { matchLabels: { tier: 'prod' } } }, { labels, finalizers: [HELD] }),
      rule('test', { namespaceSelector: { matchLabels: { tier: 'test' } } }),
      rule('unmarked', {}, {}),
      rule('others', { ...FLEET_KINDS.volumes }, {}),
      { do: 'settle' },
      { do: 'create', name: 'a' },
      { do: 'create', kind: 'volumes', name: 'v' },
      withdrawn('prod'),
      { do: 'settle' },
      { do: 'create', name: 'b' },
      { do: 'replace', kind: 'rules', name: 'prod', finalizers: [] },
      withdrawn('test'),
      withdrawn('unmarked'),
      withdrawn('others'),
      { do: 'settle' },
      { do: 'create', name: 'c' },
    ],
  },
];
