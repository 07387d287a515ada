/*
 * Rights and admission policies as Helm renders them, held against the code that the documents and the other tests are made
 * of: the same to the letter, for every set of kinds and values. That they work is shown by test/e2e/guard-*.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { guardManifests } from '../../infra/admission/guards.ts';
import { admissionManifests } from '../../infra/admission/manifests.ts';
import { valueAt } from '../../infra/chart-words.ts';
import { bridgeNeeds, drainNeeds, PEOPLE, policyRule, type Right } from '../../infra/rights/rights.ts';
import { MINIMAL, POLICIES_SERVED, type Rendered, startHelm, type Values } from '../support/chart.ts';

const BUCKETS = { group: 'storage.example.com', resource: 'buckets' };
const KINDS = [
  BUCKETS,
  { ...BUCKETS, version: 'v2' },
  { group: '', resource: 'persistentvolumeclaims', version: 'v1' },
];
const ACCOUNTS = {
  bridge: { namespace: 'fb-system', name: 'fb-finalizer-bridge' },
  drain: { namespace: 'fb-system', name: 'fb-finalizer-bridge-drain' },
};

type Manifests = Extract<Rendered, { ok: true }>['manifests'];
let render: (values: Values, flags?: readonly string[]) => Promise<Manifests>;

beforeAll(async () => {
  const helm = await startHelm();
  render = async (values, flags = POLICIES_SERVED) => {
    const rendered = await helm.render({ ...MINIMAL, kinds: KINDS, ...values }, ...flags);
    if (!rendered.ok) throw new Error(`rendering the chart: ${rendered.message}`);
    return rendered.manifests;
  };
  return helm.stop;
}, 600_000);

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: unknown };
}

/** Without what Helm puts on everything. */
const bare = ({ metadata: { labels, ...metadata }, ...rest }: Manifest) => ({ ...rest, metadata });
const byName = (manifests: readonly Manifest[]) =>
  manifests.map(bare).toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;
const policies = (manifests: Manifests) =>
  manifests.filter(({ apiVersion }) => apiVersion.startsWith('admissionregistration'));

describe('the policies of the chart', () => {
  const born = admissionManifests(KINDS);

  it.each([
    ['as they are unless told', {}, [...born, ...guardManifests(KINDS, ACCOUNTS)]],
    [
      'with entries guarded while deleting',
      { guardEntries: 'Deleting' },
      [...born, ...guardManifests(KINDS, { ...ACCOUNTS, entries: 'Deleting' })],
    ],
    [
      'with entries guarded always',
      { guardEntries: 'Always' },
      [...born, ...guardManifests(KINDS, { ...ACCOUNTS, entries: 'Always' })],
    ],
    ['without entries at birth', { entryAtBirth: false }, guardManifests(KINDS, ACCOUNTS)],
    ['without words', { guardWords: false }, [...born, ...guardManifests(KINDS, { ...ACCOUNTS, words: false })]],
    ['without limits', { limitBridge: false }, [...born, ...guardManifests(KINDS, { ...ACCOUNTS, limits: false })]],
  ] as const)('are those of the code, %s', async (_, admission, expected) => {
    const rendered = policies(await render({ admission }));
    expect(byName(rendered)).toEqual(byName(expected));
  });

  it('give entries at birth in the namespaces that are served, and guard everywhere', async () => {
    const namespaces = ['team-a', 'team-b'];
    const rendered = policies(await render({ namespaces, leavingNamespaces: ['team-c'] }));
    expect(byName(rendered)).toEqual(
      byName([...admissionManifests(KINDS, { namespaces }), ...guardManifests(KINDS, ACCOUNTS)]),
    );
  });

  it('name the accounts that the chart was given', async () => {
    const serviceAccount = { create: false, name: 'mine' };
    const expected = guardManifests(KINDS, { ...ACCOUNTS, bridge: { namespace: 'fb-system', name: 'mine' } });
    const rendered = policies(await render({ serviceAccount, admission: { entryAtBirth: false } }));
    expect(byName(rendered)).toEqual(byName(expected));
  });

  it('are left out where the API server does not serve them, and where there are no kinds', async () => {
    const of = (manifests: Manifests) => new Set(policies(manifests).map(({ kind }) => kind));
    const [mutating = '', validating = ''] = POLICIES_SERVED;
    expect(policies(await render({ kinds: [] }))).toEqual([]);
    expect(of(await render({}, [validating]))).toContain('ValidatingAdmissionPolicy');
    expect(of(await render({ admission: { guardWords: false, limitBridge: false } }, [mutating]))).toEqual(
      new Set(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']),
    );
  });
});

const reachSchema = z.object({ rules: z.array(z.object({ apiGroups: z.array(z.string()) })) });
const binding = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.optional(z.string()) }),
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(z.unknown()),
});
const roleSchema = z.object({ rules: z.array(z.looseObject({ verbs: z.array(z.string()) })) });

/** What a set of manifests gives to an account, by role. */
function rulesOf(manifests: Manifests, kind: 'ClusterRole' | 'Role', name: string): unknown {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  return found === undefined ? undefined : z.parse(roleSchema, found).rules;
}

const wanted = (rights: readonly Right[], where: Right['where']) =>
  rights.filter((right) => right.where === where).map(policyRule);

describe('the rights of the chart', () => {
  const NAME = 'fb-system-fb-finalizer-bridge';

  it.each([
    ['unless told', {}, { namespaceSelectors: true }],
    ['without labels of namespaces', { rbac: { namespaceLabels: false } }, { namespaceSelectors: false }],
  ])('are what the bridge needs and no more, %s', async (_, values, extent) => {
    const manifests = await render(values);
    const needs = bridgeNeeds(KINDS, extent);
    expect(rulesOf(manifests, 'ClusterRole', NAME)).toEqual(wanted(needs, 'cluster'));
    expect(rulesOf(manifests, 'Role', NAME)).toEqual(wanted(needs, 'kube-system'));
  });

  it.each([
    ['', false],
    ['wait', true],
    ['now', true],
  ])('are what the drain needs while it runs, with releaseHeld %j', async (releaseHeld, release) => {
    const manifests = await render({ drain: { releaseHeld } });
    const needs = drainNeeds(KINDS, { release });
    expect(rulesOf(manifests, 'ClusterRole', `${NAME}-drain`)).toEqual(wanted(needs, 'cluster'));
    expect(rulesOf(manifests, 'Role', `${NAME}-drain`)).toEqual(wanted(needs, 'kube-system'));
    const ofDrain = manifests.filter(({ metadata }) => metadata.name === `${NAME}-drain`);
    expect(ofDrain.map(({ metadata }) => metadata.annotations['helm.sh/hook'])).toEqual(Array(4).fill('pre-delete'));
  });

  it('are bound to the two accounts, and to nobody else', async () => {
    const manifests = await render({ rbac: { people: true } });
    const bound = manifests
      .filter(({ kind }) => kind.endsWith('RoleBinding'))
      .map((one) => z.pick(binding, { roleRef: true, subjects: true }).parse(one));
    const ofBridge = { subjects: [{ kind: 'ServiceAccount', ...ACCOUNTS.bridge }] };
    const ofDrain = { subjects: [{ kind: 'ServiceAccount', ...ACCOUNTS.drain }] };
    const roles = (name: string) => ['ClusterRole', 'Role'].map((kind) => ({ kind, name }));
    expect(new Set(bound)).toEqual(
      new Set([
        ...roles(NAME).map((roleRef) => ({ roleRef, ...ofBridge })),
        ...roles(`${NAME}-drain`).map((roleRef) => ({ roleRef, ...ofDrain })),
      ]),
    );
  });

  it('of people are in roles that nobody has by the chart', async () => {
    const manifests = await render({ rbac: { aggregate: { viewer: ['view'], operator: ['edit', 'admin'] } } });
    for (const { name, rights } of PEOPLE) {
      expect(rulesOf(manifests, 'ClusterRole', name)).toEqual(rights.map(policyRule));
    }
    const labelsOf = (name: string) => manifests.find(({ metadata }) => metadata.name === name)?.metadata.labels;
    expect(labelsOf('finalizer-bridge-operator')).toMatchObject({
      'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
      'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
    });
    expect(labelsOf('finalizer-bridge-viewer')).toHaveProperty(['rbac.authorization.k8s.io/aggregate-to-view']);
    expect(Object.keys(labelsOf('finalizer-bridge-releaser') ?? {}).join()).not.toContain('aggregate');
  });

  it.each([
    ['some namespaces', { namespaces: ['team-a', 'team-b'] }],
    ['some namespaces, and one that is being left', { namespaces: ['team-a'], leavingNamespaces: ['team-b'] }],
    ['the namespace of the lease, among others', { namespaces: ['kube-system', 'team-a'] }],
    [
      'namespaces with the names of numbers and the like',
      { namespaces: ['1234', 'true'], leavingNamespaces: ['null'] },
    ],
  ])('are confined to %s by RoleBindings, and reach no object in the whole cluster', async (_, values) => {
    const manifests = await render(values);
    const bridge = bridgeNeeds(KINDS, values);
    const drain = drainNeeds(KINDS, values);
    for (const [name, needs] of [[NAME, bridge] as const, [`${NAME}-drain`, drain] as const]) {
      expect(rulesOf(manifests, 'ClusterRole', name)).toEqual(wanted(needs, 'cluster'));
      expect(rulesOf(manifests, 'Role', name)).toEqual(wanted(needs, 'kube-system'));
    }
    const objects = `${NAME}-objects`;
    expect(rulesOf(manifests, 'ClusterRole', objects)).toEqual(wanted(bridge, 'served'));
    const given = new Map(wanted(bridge, 'served').map(({ verbs, ...on }) => [JSON.stringify(on), verbs]));
    for (const { verbs, ...on } of wanted(drain, 'served')) {
      expect(given.get(JSON.stringify(on))).toEqual(expect.arrayContaining([...verbs]));
    }
    const bindings = manifests.filter(({ kind }) => kind.endsWith('RoleBinding')).map((one) => z.parse(binding, one));
    const ofObjects = bindings.filter(({ roleRef }) => roleRef.name === objects);
    const subjects = [ACCOUNTS.bridge, ACCOUNTS.drain].map((account) => ({ kind: 'ServiceAccount', ...account }));
    expect(ofObjects).toEqual(
      ['namespaces', 'leavingNamespaces']
        .flatMap((key) => valueAt(values, [key]) ?? [])
        .map((namespace) => ({
          kind: 'RoleBinding',
          metadata: { name: 'finalizer-bridge', namespace },
          ...{ roleRef: { kind: 'ClusterRole', name: objects }, subjects },
        })),
    );
    const boundInAll = bindings.flatMap(({ kind, roleRef }) => (kind === 'ClusterRoleBinding' ? roleRef.name : []));
    const cluster = manifests.filter(
      ({ kind, metadata }) => kind === 'ClusterRole' && boundInAll.includes(metadata.name),
    );
    const reached = cluster.flatMap((role) => z.parse(reachSchema, role).rules.flatMap(({ apiGroups }) => apiGroups));
    expect(new Set(reached)).toEqual(new Set(['finalizer-bridge.dev', '']));
  });

  it('bind no account of a drain where there is none, and the drain is told the namespaces', async () => {
    const values = { namespaces: ['team-a'], leavingNamespaces: ['team-b'] };
    const without = await render({ ...values, drain: { enabled: false } });
    const ofObjects = without.filter(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === 'finalizer-bridge',
    );
    expect(ofObjects.map((one) => z.parse(binding, one).subjects)).toEqual(
      Array(2).fill([{ kind: 'ServiceAccount', ...ACCOUNTS.bridge }]),
    );
    const job = (await render(values)).find(({ kind }) => kind === 'Job');
    expect(JSON.stringify(job)).toContain('"--within=team-a","--within=team-b"');
  });

  it.each([
    [
      'a namespace that is served and left',
      { namespaces: ['team-a'], leavingNamespaces: ['team-a'] },
      'Namespace team-a is in namespaces and in leavingNamespaces',
    ],
    [
      'namespaces that are left where all are served',
      { leavingNamespaces: ['team-a'] },
      'leavingNamespaces without namespaces',
    ],
    ['what is no name of a namespace', { namespaces: ['Team A'] }, 'namespaces'],
  ])('are refused for %s', async (_, values, message) => {
    await expect(render(values)).rejects.toThrow(message);
  });

  it('are left to whoever installs, where that is said', async () => {
    const manifests = await render({ rbac: { create: false, people: false } });
    expect(manifests.filter(({ apiVersion }) => apiVersion.startsWith('rbac'))).toEqual([]);
  });
});
