/*
 * How schemas of kinds are read from an API server: by the index, each document once while it does not change, and never
 * as a reason to fail. Answers by hand, in the shapes that an API server gives.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer, Http } from '../../bridge/cluster-http.ts';
import { createKinds } from '../../bridge/cluster-kinds.ts';
import { documentOf, manyWays } from '../support/api-schemas.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { CONFIG_MAPS } from '../support/fake-kinds.ts';

const STORAGE = 'apis/storage.example.com/v1';
const at = (path: string) => `/openapi/v3/${path}`;
const address = (path: string, hash: string) => `${at(path)}?hash=${hash}`;

const ZONE = { type: 'object', properties: { zone: {} } };

/** What is served by path; an error or a bare status instead of a document. */
let served: Map<string, unknown>;
let asked: string[];
let kinds: ReturnType<typeof createKinds>;

beforeEach(() => {
  served = new Map<string, unknown>();
  asked = [];
  const http: Http = {
    ask: async ({ path }): Promise<Answer> => {
      asked.push(path);
      const body = served.get(path);
      if (body instanceof Error) throw body;
      const status = typeof body === 'number' ? body : body === undefined ? 404 : 200;
      return { status, headers: {}, text: JSON.stringify(body ?? {}) };
    },
    open: async () => {
      throw new Error('nothing is streamed here');
    },
  };
  kinds = createKinds(http);
  serve('one', manyWays);
});

/** Publishes a document under a hash of its own. */
function serve(hash: string, spec: object): void {
  served.set('/openapi/v3', { paths: { [STORAGE]: { serverRelativeURL: address(STORAGE, hash) } } });
  served.set(at(STORAGE), documentOf({ ...spec }));
}

const fieldsOf = async (isFresh = false) => {
  const outcome = await kinds.schemaOf(BUCKETS, 'Bucket', isFresh);
  if (!outcome.known) return outcome.why;
  const { root, place } = outcome.schema;
  const whole = place(root);
  const spec = whole.is === 'map' ? whole.fields.get('spec') : undefined;
  const within = spec && place(spec);
  return within?.is === 'map' ? [...within.fields.keys()] : within?.is;
};

describe('a schema', () => {
  it('is read by the address in the index, and once while that does not change', async () => {
    expect(await fieldsOf()).toEqual(Object.keys(manyWays.properties));
    expect(await fieldsOf()).toEqual(Object.keys(manyWays.properties));
    expect(asked).toEqual(['/openapi/v3', at(STORAGE), '/openapi/v3']);
    serve('two', ZONE);
    expect(await fieldsOf()).toEqual(['zone']);
    expect(asked.slice(3)).toEqual(['/openapi/v3', at(STORAGE)]);
  });

  it('that is to be fresh is read although the index, which may be behind, tells of no change', async () => {
    await fieldsOf();
    serve('one', ZONE);
    expect(await fieldsOf()).toEqual(Object.keys(manyWays.properties));
    expect(await fieldsOf(true)).toEqual(['zone']);
    expect(await fieldsOf()).toEqual(['zone']);
    served.set(at(STORAGE), 500);
    expect(await fieldsOf(true)).toEqual(['zone']);
  });

  it('of a core kind stands under api', async () => {
    served.set('/openapi/v3', { paths: { 'api/v1': { serverRelativeURL: address('api/v1', 'x') } } });
    await kinds.schemaOf(CONFIG_MAPS, 'ConfigMap');
    expect(asked).toEqual(['/openapi/v3', at('api/v1')]);
  });

  it('that many ask for at once needs one look at the index', async () => {
    await fieldsOf();
    asked.length = 0;
    await Promise.all([fieldsOf(), fieldsOf(), fieldsOf()]);
    expect(asked).toEqual(['/openapi/v3']);
    await fieldsOf();
    expect(asked).toHaveLength(2);
  });

  it.each<[string, number, boolean]>([
    ['forbidden', 403, false],
    ['not there', 404, false],
    ['out of order', 503, true],
  ])('may come soon, or not, if the index is %s', async (_what, status, mayCome) => {
    served.set('/openapi/v3', status);
    expect(await kinds.schemaOf(BUCKETS, 'Bucket')).toMatchObject({ known: false, mayCome });
  });

  it.each<[string, () => void, string]>([
    ['the index is forbidden', () => void served.set('/openapi/v3', 403), 'HTTP 403'],
    ['there is no index', () => void served.delete('/openapi/v3'), 'HTTP 404'],
    ['nobody answers', () => void served.set('/openapi/v3', new Error('connection refused')), 'connection refused'],
    ['the index is of another shape', () => void served.set('/openapi/v3', { paths: [] }), 'index of schemas'],
    ['the document cannot be read', () => void served.set(at(STORAGE), 500), 'schema of Bucket'],
    ['the document is none', () => void served.set(at(STORAGE), { components: 1 }), 'schema of Bucket'],
    ['the group is not published', () => void served.set('/openapi/v3', { paths: {} }), 'publishes no schema'],
    [
      'the address leads elsewhere',
      () => void served.set('/openapi/v3', { paths: { [STORAGE]: { serverRelativeURL: '/api/v1/secrets' } } }),
      'publishes no schema',
    ],
  ])('is not known, and that is said, when %s', async (_what, spoil, why) => {
    spoil();
    expect(await fieldsOf()).toContain(why);
    expect(asked).not.toContain('/api/v1/secrets');
  });

  it('that was read goes on counting while it cannot be read again, and is read when it can', async () => {
    await fieldsOf();
    served.set('/openapi/v3', 503);
    expect(await fieldsOf()).toEqual(Object.keys(manyWays.properties));
    serve('two', ZONE);
    served.set(at(STORAGE), 503);
    expect(await fieldsOf()).toEqual(Object.keys(manyWays.properties));
    serve('two', ZONE);
    expect(await fieldsOf()).toEqual(['zone']);
  });

  it('that is published no more is forgotten', async () => {
    await fieldsOf();
    served.set('/openapi/v3', { paths: {} });
    expect(await fieldsOf()).toContain('publishes no schema');
    served.set('/openapi/v3', 503);
    expect(await fieldsOf()).toContain('HTTP 503');
  });
});
