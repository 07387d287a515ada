/*
 * How a part of a kind is asked for over HTTP: what is in one namespace, and the one object of a name, by list and by watch.
 * The real adapter against a server of this machine that notes what it is asked; whole kinds are in cluster-watching.test.ts.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realClock } from '../../bridge/clock.ts';
import { createCluster } from '../../bridge/cluster.ts';
import { createCredentials } from '../../bridge/cluster-credentials.ts';
import { createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import type { Cluster, Watched } from '../../bridge/ports.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { type LocalApi, startLocalApi } from '../support/local-api.ts';

let api: LocalApi;
let asked: URL[];
let cluster: Cluster;

beforeEach(async () => {
  asked = [];
  api = await startLocalApi((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://api'));
    response.writeHead(200).end('{"metadata":{"resourceVersion":"7"},"items":[]}\n');
  });
  const credentials = createCredentials(() => api.config(), realClock);
  const http = createHttp({ credentials, metrics: createMetrics(), clock: realClock });
  cluster = createCluster({ http, clock: realClock, identity: 'test' });
});
afterEach(() => api.stop());

async function watchOnce(watched: Watched): Promise<void> {
  for await (const { type } of cluster.watch(watched, '5', new AbortController().signal)) if (type === 'opened') break;
}

it.each([
  ['a whole kind', BUCKETS, '/apis/storage.example.com/v1/buckets', null],
  [
    'one namespace',
    { ...BUCKETS, namespace: 'team-a' },
    '/apis/storage.example.com/v1/namespaces/team-a/buckets',
    null,
  ],
  ['one name', { ...NAMESPACES, name: 'team-a' }, '/api/v1/namespaces', 'metadata.name=team-a'],
])('%s is listed and watched where it is, and nothing else is', async (_, watched, path, selector) => {
  await cluster.list(watched, { limit: 500 });
  await watchOnce(watched);
  expect(asked.map(({ pathname }) => pathname)).toEqual([path, path]);
  expect(asked.map(({ searchParams }) => searchParams.get('fieldSelector'))).toEqual([selector, selector]);
  expect(asked.map(({ searchParams }) => searchParams.get('watch'))).toEqual([null, '1']);
});
