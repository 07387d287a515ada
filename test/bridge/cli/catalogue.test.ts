/*
 * Kinds by the words that people use for them, and how they are learnt from an API server: in one call where it has its
 * discovery aggregated, group by group where it has not. Answers by hand, in the shapes that API servers give.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalogue, discover, kindNamed, type ServedKind } from '../../../bridge/cli/catalogue.ts';
import type { Call, Http } from '../../../bridge/cluster-http.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { SERVED } from '../../support/command-line.ts';
import { spoilt } from '../../support/spoilt.ts';

function httpOver(answers: Readonly<Record<string, unknown>>) {
  const calls: Call[] = [];
  const http: Http = {
    ask: async (call) => {
      calls.push(call);
      const body = answers[call.path];
      const status = typeof body === 'number' ? body : body === undefined ? 404 : 200;
      return { status, headers: {}, text: JSON.stringify(body ?? {}) };
    },
    open: async () => {
      throw new Error('nothing is streamed here');
    },
  };
  return { calls, http, catalogue: createCatalogue(http) };
}

const entry = (resource: string, kind: string, scope = 'Namespaced') => ({
  ...{ resource, scope, responseKind: { group: '', version: '', kind }, verbs: ['get', 'list', 'patch'] },
  ...{ singularResource: kind.toLowerCase(), shortNames: [resource.slice(0, 2)] },
});
const aggregated = (items: readonly unknown[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items,
});

describe('a word for a kind', () => {
  const pods: ServedKind = {
    ...{ group: 'metrics.k8s.io', version: 'v1beta1', resource: 'configmaps', kind: 'MetricMap' },
    ...{ singular: '', shortNames: [], namespaced: true, holdable: true },
  };
  const kinds = [...SERVED, pods];

  it.each([
    ['buckets', 'buckets.storage.example.com'],
    ['bucket', 'buckets.storage.example.com'],
    ['bkt', 'buckets.storage.example.com'],
    ['Bucket', 'buckets.storage.example.com'],
    ['buckets.storage.example.com', 'buckets.storage.example.com'],
    ['bucket.storage', 'buckets.storage.example.com'],
    ['Buckets.v1.storage.example.com', 'buckets.storage.example.com'],
    ['bkt.v1', 'buckets.storage.example.com'],
    ['configmaps', 'configmaps.'],
    ['cm', 'configmaps.'],
    ['configmaps.metrics.k8s.io', 'configmaps.metrics.k8s.io'],
    ['metricmap', 'configmaps.metrics.k8s.io'],
  ])('%s means %s', (word, name) => {
    const found = kindNamed(kinds, word);
    expect(`${found?.resource}.${found?.group}`).toBe(name);
  });

  it.each(['pails', 'buckets.other.example.com', 'buckets.stor', 'buckets.v2.storage.example.com', '', '.'])(
    '%j means nothing that is served',
    (word) => {
      expect(kindNamed(kinds, word)).toBeUndefined();
    },
  );
});

describe('discovery', () => {
  it('takes two calls where it is aggregated, and each kind in the first version that has it', async () => {
    const { calls, http, catalogue } = httpOver({
      '/api': aggregated([
        { metadata: { creationTimestamp: null }, versions: [{ version: 'v1', resources: [entry('pods', 'Pod')] }] },
      ]),
      '/apis': aggregated([
        {
          metadata: { name: 'apps' },
          versions: [
            { version: 'v2', resources: [entry('things', 'Thing', 'Cluster')] },
            { version: 'v1', resources: [entry('things', 'Thing', 'Cluster'), entry('olds', 'Old')] },
            { version: 'v0', freshness: 'Stale' },
          ],
        },
      ]),
    });
    expect(await catalogue.kinds()).toEqual([
      {
        group: '',
        version: 'v1',
        resource: 'pods',
        kind: 'Pod',
        singular: 'pod',
        shortNames: ['po'],
        ...{ namespaced: true, holdable: true },
      },
      expect.objectContaining({ group: 'apps', version: 'v2', resource: 'things', namespaced: false }),
      expect.objectContaining({ group: 'apps', version: 'v1', resource: 'olds' }),
    ]);
    await catalogue.kinds();
    expect(calls.map(({ path }) => path)).toEqual(['/api', '/apis']);
    // What the version that is away has besides, nobody can tell.
    expect((await discover(http)).unreachable).toEqual(['apps']);
  });

  it('tells kinds whose objects may carry an entry from those that are only listed, as component statuses are', async () => {
    const statuses = { resource: 'componentstatuses', scope: 'Cluster', verbs: ['get', 'list'] };
    const versions = [{ version: 'v1', resources: [statuses, entry('pods', 'Pod')] }];
    const { http } = httpOver({ '/api': aggregated([{ metadata: {}, versions }]), '/apis': aggregated([]) });
    const { kinds } = await discover(http);
    expect(kinds.map(({ resource, holdable }) => [resource, holdable])).toEqual([
      ['componentstatuses', false],
      ['pods', true],
    ]);
  });

  it('asks group by group where it is not, and names a group whose server is away', async () => {
    const resource = (name: string) => ({ name, kind: 'X', namespaced: true, singularName: 'x', shortNames: ['y'] });
    const group = (name: string, ...versions: string[]) => ({
      ...{ name, versions: versions.map((version) => ({ version })) },
      preferredVersion: { groupVersion: `${name}/v1`, version: 'v1' },
    });
    const { http } = httpOver({
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/api/v1': { kind: 'APIResourceList', resources: [resource('pods'), resource('pods/log')] },
      '/apis': { kind: 'APIGroupList', groups: [group('apps', 'v2', 'v1'), group('away', 'v1')] },
      '/apis/apps/v1': { kind: 'APIResourceList', resources: [resource('things')] },
      '/apis/apps/v2': { kind: 'APIResourceList', resources: [resource('things'), resource('news')] },
      '/apis/away/v1': 503,
    });
    const { kinds, unreachable } = await discover(http);
    const names = kinds.map(({ resource: plural, group: of, version }) => `${plural}.${version}.${of}`);
    expect(names).toEqual(['pods.v1.', 'things.v1.apps', 'news.v2.apps']);
    expect(unreachable).toEqual(['away']);
  });

  it('that may not be asked for throws, and says what was asked', async () => {
    await expect(httpOver({ '/api': 403, '/apis': 403 }).catalogue.kinds()).rejects.toThrow(
      'discovering /api: HTTP 403',
    );
  });
  it('of whatever is answered gives kinds that are whole, or says that it is no answer', async () => {
    const one = (name: string) => ({
      metadata: { name },
      versions: [{ version: 'v1', resources: [entry('pods', 'Pod')] }],
    });
    const legacy = { groups: [{ name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } }] };
    const resources = { resources: [{ name: 'things', kind: 'Thing', namespaced: true, verbs: ['list', 'patch'] }] };
    const groups = fc.constantFrom<unknown>(aggregated([one('apps'), one('batch')]), legacy).chain(spoilt);
    const property = fc.asyncProperty(
      groups,
      spoilt(aggregated([one('')])),
      spoilt(resources),
      async (all, core, listed) => {
        const { http } = httpOver({ '/api': core, '/apis': all, '/api/v1': listed, '/apis/apps/v1': listed });
        const found = await discover(http).catch((error: unknown) => {
          expect(error).toBeInstanceOf(ApiError);
          return { kinds: [], unreachable: [] };
        });
        for (const { group, version, resource, kind, singular, shortNames, namespaced, holdable } of found.kinds) {
          const texts = [group, version, resource, kind, singular, ...shortNames];
          expect([...texts.map((text) => typeof text), typeof namespaced, typeof holdable]).toEqual([
            ...[...texts.map(() => 'string'), 'boolean', 'boolean'],
          ]);
        }
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});
