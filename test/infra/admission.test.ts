/*
 * The admission manifests as texts: names, selectors and scopes, and that nothing in the policy depends on a rule.
 * What they do is shown on a real API server by test/e2e/admission*.test.ts.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod/mini';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { kindName } from '../../bridge/kind-key.ts';
import { isText, TEXTS } from '../../bridge/rule-facts.ts';
import { guardManifests } from '../../infra/admission/guards.ts';
import { admissionManifests } from '../../infra/admission/manifests.ts';

const buckets = { group: 'storage.example.com', resource: 'buckets' };
const configMaps = { group: '', resource: 'configmaps' };
const creation = { apiVersions: ['*'], operations: ['CREATE'] };

const written = z.looseObject({ name: z.optional(z.string()), expression: z.string() });

/** All expressions of a policy, wherever they stand, with the names of those that have one. */
function expressionsIn(part: unknown): readonly { readonly name?: string | undefined; readonly expression: string }[] {
  if (typeof part !== 'object' || part === null) return [];
  const { data } = written.safeParse(part);
  return [...(data === undefined ? [] : [data]), ...Object.values(part).flatMap(expressionsIn)];
}

describe('the label by which a binding finds its rules', () => {
  it('is the hash of the name of the kind, as any shell or chart can make it', () => {
    const hashed = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
    expect(injectsLabel(buckets)).toBe(hashed('buckets.storage.example.com'));
    expect(injectsLabel(configMaps)).toBe(hashed('configmaps'));
    expect(injectsLabel(configMaps)).toBe('a03aa3a036dac1bdddc1a25377f5c817');
  });

  it('is a label even for the longest kind', () => {
    const longest = { group: `${'g.'.repeat(126)}g`, resource: 'r'.repeat(63) };
    expect(isText(TEXTS.labelValue, injectsLabel(longest))).toBe(true);
    expect(isText(TEXTS.labelKey, INJECTS_LABEL)).toBe(true);
  });

  it('tells kinds apart that share a resource or a group', () => {
    const kinds = [buckets, configMaps, { ...buckets, group: '' }, { ...buckets, resource: 'configmaps' }];
    expect(new Set(kinds.map(injectsLabel)).size).toBe(kinds.length);
  });
});

describe('admissionManifests', () => {
  it('makes one policy, whose params are the rules, and a binding for each kind', () => {
    expect(admissionManifests([buckets, configMaps]).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'MutatingAdmissionPolicy finalizer-bridge',
      'MutatingAdmissionPolicyBinding finalizer-bridge-buckets.storage.example.com',
      'MutatingAdmissionPolicyBinding finalizer-bridge-configmaps',
    ]);
  });

  it('lets the policy look at creates of the kinds only, and lets no failure of it refuse one', () => {
    expect(admissionManifests([buckets, configMaps])[0]?.spec).toMatchObject({
      paramKind: { apiVersion: 'finalizer-bridge.dev/v1alpha1', kind: 'TeardownRule' },
      matchConstraints: {
        matchPolicy: 'Exact',
        resourceRules: [
          { ...creation, apiGroups: ['storage.example.com'], resources: ['buckets'] },
          { ...creation, apiGroups: [''], resources: ['configmaps'] },
        ],
      },
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'IfNeeded',
    });
  });

  it('lets a binding find the labelled rules of its kind, and be content with none', () => {
    expect(admissionManifests([buckets], { prefix: 'held' })[1]).toMatchObject({
      metadata: { name: 'held-buckets.storage.example.com' },
      spec: {
        policyName: 'held',
        paramRef: {
          selector: { matchLabels: { [INJECTS_LABEL]: injectsLabel(buckets) } },
          parameterNotFoundAction: 'Allow',
        },
        matchResources: {
          matchPolicy: 'Exact',
          resourceRules: [{ ...creation, apiGroups: ['storage.example.com'], resources: ['buckets'] }],
        },
      },
    });
  });

  it('says the same of a rule whatever the kinds are', () => {
    const without = ({ spec: { matchConstraints, ...rest } }: { spec: Readonly<Record<string, unknown>> }) => rest;
    const [one, other] = [admissionManifests([buckets]), admissionManifests([configMaps, buckets])];
    expect(one.slice(0, 1).map(without)).toEqual(other.slice(0, 1).map(without));
  });

  it('counts a kind that is named twice, in two versions perhaps, once', () => {
    expect(admissionManifests([buckets, { ...buckets }])).toEqual(admissionManifests([buckets]));
  });

  it('makes nothing without kinds, since a policy has to match something', () => {
    expect(admissionManifests([])).toEqual([]);
  });

  it('keeps the name of a binding within what a name may be', () => {
    const long = { group: `${'g.'.repeat(100)}g`, resource: 'r'.repeat(50) };
    const names = admissionManifests([long, buckets]).map(({ metadata }) => metadata.name);
    expect(names[1]).toBe(`finalizer-bridge-${injectsLabel(long)}`);
    expect(names[2]).toBe(`finalizer-bridge-${kindName(buckets)}`);
  });
});

describe('guardManifests', () => {
  const accounts = { bridge: { namespace: 'fb', name: 'bridge' }, drain: { namespace: 'fb', name: 'drain' } };
  const namesOf = (options: object) =>
    guardManifests([buckets, configMaps], { ...accounts, ...options }).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );

  it('makes words and limits unless told, each with its binding, and entries only where that is asked for', () => {
    const pair = (name: string) => [`ValidatingAdmissionPolicy ${name}`, `ValidatingAdmissionPolicyBinding ${name}`];
    expect(namesOf({})).toEqual([...pair('finalizer-bridge-words'), ...pair('finalizer-bridge-limits')]);
    expect(namesOf({ words: false, limits: false, entries: 'Deleting', prefix: 'held' })).toEqual(pair('held-entries'));
    expect(guardManifests([], accounts)).toEqual([]);
  });

  it('fails closed, denies, and answers 403: what fails would otherwise be a way around', () => {
    for (const { kind, spec } of guardManifests([buckets], { ...accounts, entries: 'Always' })) {
      expect(spec).toMatchObject(
        kind === 'ValidatingAdmissionPolicy' ? { failurePolicy: 'Fail' } : { validationActions: ['Deny'] },
      );
    }
    const validation = z.array(z.looseObject({ reason: z.literal('Forbidden'), messageExpression: z.string() }));
    const spec = z.object({ validations: validation });
    const policies = guardManifests([buckets], accounts).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(policies.map((policy) => spec.safeParse(policy.spec).success)).toEqual([true, true]);
  });

  it('looks at each kind with its subresources, and at rules and RoleBindings only for the accounts', () => {
    const rulesOf = (name: string) =>
      guardManifests([buckets, { ...buckets }], { ...accounts, entries: 'Always' }).find(
        ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.endsWith(name),
      )?.spec.matchConstraints;
    const rule = { apiGroups: ['storage.example.com'], apiVersions: ['*'], resources: ['buckets', 'buckets/*'] };
    const rules = { apiGroups: ['finalizer-bridge.dev'], apiVersions: ['*'], resources: ['teardownrules'] };
    const bindings = { apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['*'], resources: ['rolebindings'] };
    expect(rulesOf('words')).toEqual({ resourceRules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }] });
    expect(rulesOf('entries')).toEqual({ resourceRules: [{ ...rule, operations: ['UPDATE'] }] });
    expect(rulesOf('limits')).toEqual({
      resourceRules: [
        { ...rule, operations: ['*'] },
        { ...rules, operations: ['*'] },
        { ...bindings, operations: ['*'] },
      ],
    });
  });
});

describe('every policy', () => {
  const accounts = { bridge: { namespace: 'fb', name: 'bridge' }, drain: { namespace: 'fb', name: 'drain' } };
  const [deleting, always] = (['Deleting', 'Always'] as const).map((entries) =>
    guardManifests([buckets], { ...accounts, entries, prefix: entries }),
  );
  const policies = [...admissionManifests([buckets]), ...(deleting ?? []), ...(always ?? [])]
    .filter(({ kind }) => kind.endsWith('Policy'))
    .map(({ metadata: { name }, spec }) => ({ name, expressions: expressionsIn(spec) }));
  const loop = /\.(all|exists|exists_one|existsOne|filter|map|transformList|transformMap)\(/;
  /** What loops over some list, straight or with its default. */
  const over = (list: string) => new RegExp(`${list}(\\.orValue\\(\\[\\]\\))?${loop.source}`);
  const few = 'size(variables.piecesBefore) <= 501 && size(variables.piecesAfter) <= 501';

  it.each(policies)(
    '$name loops over no finalizers, which takes an API server time by the square of their number',
    (policy) => {
      expect(policy.expressions.length).toBeGreaterThan(2);
      expect(policy.expressions.filter(({ expression }) => over('finalizers').test(expression))).toEqual([]);
    },
  );

  it.each(policies)('$name loops over our entries only where they are 500 at most', ({ name, expressions }) => {
    const loops = expressions.filter(({ expression }) => over('pieces(Before|After)').test(expression));
    expect(loops.length).toBe(name.endsWith('limits') || name.endsWith('entries') ? 2 : 0);
    const crowded = expressions.find((one) => one.name === 'crowded')?.expression;
    const users = expressions.filter(({ expression }) => /variables\.others(Before|After)/.test(expression));
    if (name.endsWith('limits')) {
      expect(users).toHaveLength(1);
      expect(users[0]?.expression).toContain(`(${few} &&\nvariables.othersBefore == variables.othersAfter)`);
    }
    if (name.endsWith('entries')) {
      expect(crowded).toBe(`!(${few})`);
      for (const { expression } of loops) expect(expression).toMatch(/^variables\.crowded \? \[\] :/);
    }
  });
});

describe('print.ts', () => {
  const print = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../../infra/admission/print.ts'), ...args], {
      encoding: 'utf8',
    });

  it('writes the manifests of the kinds that it is given', () => {
    const { status, stdout } = print('--prefix', 'held', 'buckets.storage.example.com', 'configmaps');
    expect(status).toBe(0);
    expect(parseAllDocuments(stdout).map((one) => one.toJS())).toEqual(
      admissionManifests([buckets, configMaps], { prefix: 'held' }),
    );
  });

  it('writes the guarding policies as well, where it is told who the bridge is', () => {
    const { stdout } = print('--bridge', 'fb-system/bridge', 'buckets.storage.example.com');
    const bridge = { namespace: 'fb-system', name: 'bridge' };
    expect(parseAllDocuments(stdout).map((one) => one.toJS())).toEqual([
      ...admissionManifests([buckets]),
      ...guardManifests([buckets], { bridge }),
    ]);
    expect(print('--bridge', 'bridge', 'configmaps')).toMatchObject({ status: 2, stdout: '' });
  });

  it('gives entries at birth in the namespaces that it is told, and to nothing that is in none', () => {
    const { stdout } = print('--namespace', 'team-a', '--namespace', 'team-b', 'configmaps');
    const namespaces = ['team-a', 'team-b'];
    const manifests = parseAllDocuments(stdout).map((one) => one.toJS());
    expect(manifests).toEqual(admissionManifests([configMaps], { namespaces }));
    expect(manifests[1]).toMatchObject({
      spec: {
        matchResources: {
          namespaceSelector: {
            matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }],
          },
          resourceRules: [{ scope: 'Namespaced' }],
        },
      },
    });
  });

  it('asks for kinds when there are none', () => {
    expect(print()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('usage') });
  });
});
