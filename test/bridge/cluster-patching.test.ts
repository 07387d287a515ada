/*
 * How an object is patched over HTTP, and how much of it is answered: its metadata, the whole of it, or its status. The real
 * adapter against a server of this machine that notes what it is asked.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realClock } from '../../bridge/clock.ts';
import { createCluster } from '../../bridge/cluster.ts';
import { createCredentials } from '../../bridge/cluster-credentials.ts';
import { createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Cluster } from '../../bridge/ports.ts';
import { BUCKETS, deletingMeta } from '../support/bridge-builders.ts';
import { type LocalApi, startLocalApi } from '../support/local-api.ts';

const LOGS = { ...BUCKETS, namespace: 'team-a', name: 'logs' };
const OBJECT = {
  ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata: deletingMeta({ resourceVersion: '8' }) },
  ...{ spec: { region: 'eu-central-1' }, status: { bucket: 'team-a-logs' } },
};

let api: LocalApi;
let asked: { readonly path: string; readonly accept: string | undefined }[];
let cluster: Cluster;

beforeEach(async () => {
  asked = [];
  api = await startLocalApi((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://api');
    asked.push({ path: pathname, accept: request.headers.accept });
    response.writeHead(200).end(JSON.stringify(OBJECT));
  });
  const credentials = createCredentials(() => api.config(), realClock);
  const http = createHttp({ credentials, metrics: createMetrics(), clock: realClock });
  cluster = createCluster({ http, clock: realClock, identity: 'test' });
});
afterEach(() => api.stop());

const PATH = '/apis/storage.example.com/v1/namespaces/team-a/buckets/logs';

it('of a patch the metadata is answered, which is little', async () => {
  const outcome = await cluster.patch(LOGS, []);
  expect(asked).toEqual([{ path: PATH, accept: expect.stringContaining('as=PartialObjectMetadata;') }]);
  expect(outcome).toMatchObject({ kind: 'patched', meta: { name: 'logs', resourceVersion: '8' } });
  expect(outcome).not.toHaveProperty('object');
});

it('where the whole is asked for, it is what a GET would show', async () => {
  const outcome = await cluster.patch(LOGS, [], 'whole');
  expect(asked).toEqual([{ path: PATH, accept: 'application/json' }]);
  expect(outcome).toMatchObject({ kind: 'patched', meta: { resourceVersion: '8' }, object: await cluster.get(LOGS) });
});

it('a status is written to its own subresource, and is answered as it is stored', async () => {
  const outcome = await cluster.patch(LOGS, [], 'status');
  expect(asked).toEqual([{ path: `${PATH}/status`, accept: 'application/json' }]);
  expect(outcome).toMatchObject({ kind: 'patched', status: { bucket: 'team-a-logs' } });
  expect(outcome).not.toHaveProperty('object');
});
