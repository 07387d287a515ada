/*
 * What docs/rights.md and docs/security.md say, held against what they speak of: values of the chart, names of policies and
 * roles, annotations. That the tables are what the chart gives is shown by chart-rights.slow.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { guardManifests } from '../../infra/admission/guards.ts';
import { ANNOTATION_DOMAINS, ANNOTATIONS_MAX } from '../../infra/admission/words.ts';
import { valueAt } from '../../infra/chart-words.ts';
import { bridgeNeeds, drainNeeds, PEOPLE } from '../../infra/rights/rights.ts';
import { root } from '../support/tracked-files.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const RBAC = 'rbac.authorization.k8s.io';
const pages = ['docs/rights.md', 'docs/security.md'] as const;
const rights = [
  ...bridgeNeeds([{ group: '', resource: 'configmaps' }]),
  ...drainNeeds([{ group: '', resource: 'configmaps' }], { release: true }),
  ...PEOPLE.flatMap((role) => role.rights),
];

describe('a right', () => {
  it('is given for a reason, and never by a wildcard', () => {
    for (const { why, apiGroups, resources, verbs } of rights) {
      expect(why).not.toBe('');
      expect([...apiGroups, ...resources, ...verbs].join(' ')).not.toContain('*');
    }
  });

  it('of the accounts reaches no Secret, no policy, no definition and no role', () => {
    const rights = [...bridgeNeeds([]), ...drainNeeds([])];
    const ofCluster = ['', 'finalizer-bridge.dev', 'events.k8s.io', 'coordination.k8s.io', RBAC];
    expect(new Set(rights.flatMap(({ apiGroups }) => apiGroups))).toEqual(new Set(ofCluster));
    const core = rights.filter(({ apiGroups }) => apiGroups.includes(''));
    expect(new Set(core.flatMap(({ resources }) => resources))).toEqual(new Set(['namespaces']));
  });

  it.each([
    ['some namespaces are', 'served', { namespaces: ['team-a'] }],
    ['the whole cluster is', 'cluster', {}],
  ] as const)(
    'where %s served reaches of roles and bindings the one that gives rights in a namespace, by its name',
    (_, where, extent) => {
      const rights = [...bridgeNeeds([], extent), ...drainNeeds([], extent)];
      const ofRoles = rights.filter(({ apiGroups }) => apiGroups.includes(RBAC));
      for (const { why: _why, ...right } of ofRoles) {
        expect(right).toEqual({
          ...{ where, apiGroups: [RBAC], resources: ['rolebindings'] },
          ...{ resourceNames: ['finalizer-bridge'], verbs: ['get', 'patch'] },
        });
      }
      expect(ofRoles.length).toBe(2);
    },
  );

  it('on a binding is not given for rules from a file, which name no namespace', () => {
    const groups = bridgeNeeds([], { rulesFromApi: false }).flatMap(({ apiGroups }) => apiGroups);
    expect(groups).not.toContain(RBAC);
  });
});

describe.each(pages)('%s', (page) => {
  const text = read(page);

  it('names values that the chart has', () => {
    const values: unknown = parse(read('infra/chart/values.yaml'));
    const named = [...text.matchAll(/`((?:admission|rbac(?!\.authorization\.k8s\.io)|drain)\.\w+)/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => valueAt(values, path.split('.')) === undefined)).toEqual([]);
  });

  it('names roles and policies that there are', () => {
    const accounts = { bridge: { namespace: 'a', name: 'b' }, entries: 'Always' } as const;
    const policies = guardManifests([{ group: '', resource: 'configmaps' }], accounts);
    const known = new Set([...PEOPLE.map(({ name }) => name), ...policies.map(({ metadata }) => metadata.name)]);
    const named = [...text.matchAll(/(?:^### |`)(finalizer-bridge-[a-z-]+)/gm)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

it('docs/security.md names every annotation that is guarded, and how many are looked through', () => {
  const text = read('docs/security.md');
  const words = ANNOTATION_DOMAINS.map((domain) => domain.split('.')[0] ?? '');
  expect(words.filter((word) => !text.includes(`\`${word}.`))).toEqual([]);
  expect(text).toContain(`more than ${ANNOTATIONS_MAX} annotations`);
});
