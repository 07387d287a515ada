/*
 * What the bridge asks an API server about kinds and rights, and what it makes of the answers (K19). Answers by hand, in
 * the shapes that an API server gives.
 */
import { describe, expect, it } from 'vitest';
import type { Answer, Call, Http } from '../../bridge/cluster-http.ts';
import { createKinds } from '../../bridge/cluster-kinds.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { CONFIG_MAPS } from '../support/fake-kinds.ts';

/** Http over answers by hand; calls are noted. */
function http(answer: (call: Call) => { readonly status: number; readonly body?: unknown }) {
  const calls: Call[] = [];
  const ask = async (call: Call): Promise<Answer> => {
    calls.push(call);
    const { status, body = {} } = answer(call);
    return { status, headers: {}, text: JSON.stringify(body) };
  };
  const port: Http = {
    ask,
    open: async () => {
      throw new Error('nothing is streamed here');
    },
  };
  return { calls, kinds: createKinds(port) };
}

const list = (...names: readonly string[]) => ({
  kind: 'APIResourceList',
  resources: names.map((name) => ({ name, singularName: '', namespaced: name !== 'volumes', kind: 'X', verbs: [] })),
});

describe('a kind of no particular version', () => {
  const { group, resource } = BUCKETS;
  const served = ['v1alpha1', 'v1', 'v2'].map((version) => ({ groupVersion: `${group}/${version}`, version }));
  const byPath = (serving: Readonly<Record<string, readonly string[]>>, preferred = 'v1') =>
    http(({ path }) => {
      if (path === `/apis/${group}`)
        return { status: 200, body: { versions: served, preferredVersion: { version: preferred } } };
      const resources = serving[path];
      return resources === undefined ? { status: 404 } : { status: 200, body: list(...resources) };
    }).kinds;
  const at = (version: string) => `/apis/${group}/${version}`;

  it('is found in the version that its group prefers', async () => {
    const kinds = byPath({ [at('v1alpha1')]: [resource], [at('v1')]: [resource], [at('v2')]: [resource] }, 'v2');
    expect(await kinds.find({ group, resource })).toEqual({ group, resource, version: 'v2' });
  });

  it('is found in another one where the preferred one has other resources', async () => {
    const kinds = byPath({ [at('v1alpha1')]: [resource], [at('v1')]: ['volumes'] });
    expect(await kinds.find({ group, resource })).toEqual({ group, resource, version: 'v1alpha1' });
  });

  it('is not found where no version has it, nor where the group is not served', async () => {
    expect(await byPath({ [at('v1')]: ['volumes'] }).find({ group, resource })).toBeUndefined();
    expect(await http(() => ({ status: 404 })).kinds.find({ group, resource })).toBeUndefined();
  });

  it('of core is that of v1', async () => {
    const { kinds, calls } = http(() => ({ status: 200, body: list('configmaps') }));
    expect(await kinds.find({ group: '', resource: 'configmaps' })).toEqual(CONFIG_MAPS);
    expect(calls.map(({ path }) => path)).toEqual(['/api/v1']);
  });

  it('is looked for in no other version where one is named', async () => {
    const kinds = byPath({ [at('v1')]: [resource] });
    expect(await kinds.find(BUCKETS)).toEqual(BUCKETS);
    expect(await kinds.find({ ...BUCKETS, version: 'v2' })).toBeUndefined();
  });

  it('says nothing where the API server cannot be asked', async () => {
    await expect(http(() => ({ status: 503 })).kinds.find({ group, resource })).rejects.toThrow(
      `discovering ${group}: HTTP 503`,
    );
  });
});

describe('discovery', () => {
  it('knows a kind of a group by its version, and one of core', async () => {
    const { calls, kinds } = http(() => ({
      status: 200,
      body: list('buckets/status', 'buckets', 'volumes', 'configmaps'),
    }));
    expect(await kinds.describe(BUCKETS)).toMatchObject({ kind: 'X', namespaced: true });
    expect(await kinds.describe({ ...BUCKETS, resource: 'volumes' })).toMatchObject({ namespaced: false });
    expect(await kinds.describe(CONFIG_MAPS)).toBeDefined();
    expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /apis/storage.example.com/v1',
      'GET /apis/storage.example.com/v1',
      'GET /api/v1',
    ]);
  });

  it('says that a kind is not served where the group is not, and where the resource is not', async () => {
    expect(await http(() => ({ status: 404 })).kinds.describe(BUCKETS)).toBeUndefined();
    const onlyStatus = http(() => ({ status: 200, body: list('buckets/status', 'pails') }));
    expect(await onlyStatus.kinds.describe(BUCKETS)).toBeUndefined();
  });

  it.each([401, 403, 429, 500, 503])('that answers %d says nothing about the kind: it throws', async (status) => {
    await expect(http(() => ({ status })).kinds.describe(BUCKETS)).rejects.toThrow(`HTTP ${status}`);
  });

  it('that answers in another shape throws', async () => {
    await expect(http(() => ({ status: 200, body: { resources: 'many' } })).kinds.describe(BUCKETS)).rejects.toThrow();
  });
});

describe('rights', () => {
  const askedOf = ({ body = '' }: Call): unknown => JSON.parse(body);

  it('are asked for verb by verb, and the lacking ones named in order', async () => {
    const { calls, kinds } = http(({ body = '' }) => ({
      status: 201,
      body: { status: { allowed: body.includes('"get"') } },
    }));
    expect(await kinds.lacking(BUCKETS, ['get', 'list', 'watch', 'patch'])).toEqual(['list', 'watch', 'patch']);
    expect(calls.map(askedOf)).toMatchObject(
      ['get', 'list', 'watch', 'patch'].map((verb) => ({
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { group: BUCKETS.group, resource: 'buckets', verb } },
      })),
    );
    expect(new Set(calls.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set(['POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
    );
  });

  it('are asked for in one namespace, or on one name, where only these are needed', async () => {
    const { calls, kinds } = http(() => ({ status: 201, body: { status: { allowed: false } } }));
    expect(await kinds.lacking({ ...BUCKETS, namespace: 'team-a' }, ['list'])).toEqual(['list']);
    expect(await kinds.lacking({ ...BUCKETS, name: 'logs' }, ['watch'])).toEqual(['watch']);
    expect(calls.map(askedOf)).toMatchObject([
      { spec: { resourceAttributes: { namespace: 'team-a', verb: 'list' } } },
      { spec: { resourceAttributes: { name: 'logs', verb: 'watch' } } },
    ]);
  });

  it('that are all there lack nothing', async () => {
    const { kinds } = http(() => ({ status: 201, body: { status: { allowed: true, reason: 'RBAC' } } }));
    expect(await kinds.lacking(BUCKETS, ['get', 'list'])).toEqual([]);
  });

  it.each([403, 500, 503])(
    'that could not be asked for (%d) throw: they are neither there nor lacking',
    async (status) => {
      await expect(http(() => ({ status })).kinds.lacking(BUCKETS, ['get'])).rejects.toThrow(
        'asking whether get on buckets',
      );
    },
  );
});

describe('whether a kind is served in any version', () => {
  it('is asked of core as well: a rule for a mistyped kind of it can be withdrawn (P9)', async () => {
    const { kinds } = http(() => ({ status: 200, body: list('configmaps') }));
    expect(await kinds.isServed({ group: '', resource: 'configmaps' })).toBe(true);
    expect(await kinds.isServed({ group: '', resource: 'configmap' })).toBe(false);
  });
});
