/*
 * The inputs that the golden samples in test/golden were made from, and the samples as they are on disk.
 * Samples of a released version are never changed: a version that reads or writes other bytes needs a new type.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  encodeRequest,
  encodeResult,
  makeRequest,
  makeResult,
  type ObjectRef,
  type Outcome,
  type Request,
  type RequestInput,
} from '../../bridge/contract.ts';

const folder = join(import.meta.dirname, '../golden/v1');

/** A sample: its file, and how its bytes are made today. */
export interface Sample {
  readonly file: string;
  readonly make: () => string;
}

/** The bytes of a sample as they were released. */
export function goldenBytes(file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}

const bucket: ObjectRef = {
  apiVersion: 'storage.example.com/v1',
  kind: 'Bucket',
  resource: 'buckets',
  namespace: 'team-a',
  name: 'logs',
  uid: '5f0c8c2e-0d3c-4a53-9d5e-2b7f4f3f8a11',
  creationTimestamp: '2026-03-01T08:00:00Z',
  deletionTimestamp: '2026-03-02T09:30:00Z',
};

/** A plain request: strings as target, one ownership tag, first attempt. */
export const plainInput: RequestInput = {
  cluster: { uid: '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01', name: 'production-eu' },
  rule: { name: 'team-buckets', uid: 'e1a7f4a0-5b1c-4c8a-9a9f-6a1f4c2d7b90' },
  handler: 's3-bucket',
  path: '/apis/storage.example.com/v1/namespaces/team-a/buckets/logs',
  object: bucket,
  gracePeriodSeconds: 0,
  target: { account: '111122223333', bucket: 'team-a-logs', region: 'eu-central-1' },
  options: {},
  ownership: { tags: { 'finalizer-bridge.dev/owner-uid': bucket.uid } },
  attempt: 0,
  term: 3_600_000,
};

const requests: Readonly<Record<string, RequestInput>> = {
  'request-plain.json': plainInput,
  'request-later-attempt.json': { ...plainInput, attempt: 23, term: 1_800_000 },
  'request-retry.json': { ...plainInput, attempt: 2, retry: 3 },
  'request-ownership-none.json': { ...plainInput, ownership: { none: true }, options: { empty: 'keep-bucket' } },
  'request-target-types.json': {
    ...plainInput,
    handler: 'ec2-instance',
    target: {
      account: '111122223333',
      region: 'us-east-1',
      instances: ['i-0a1b2c3d4e5f60718', 'i-0a1b2c3d4e5f60719'],
      volumes: [],
      force: false,
      generation: 9_007_199_254_740_991,
      offset: -1,
    },
    options: { nested: { list: [1, 2.5, -0.000001, 1e21, null, true], zulu: 'z', Alpha: 'A' }, spot: true },
  },
  'request-unicode.json': {
    ...plainInput,
    cluster: { uid: plainInput.cluster.uid, name: 'Prüfstand Zürich 🏔' },
    options: {
      schlüssel: 'größe',
      '😀': 'emoji',
      ﬀ: 'ligature',
      '€': 'euro',
      '\u0080': 'control',
      '"\\': '\b\n\u001f/',
    },
    ownership: { tags: { 'besitzer/ö': bucket.uid, 'finalizer-bridge.dev/owner-uid': bucket.uid } },
    target: { account: '111122223333', bucket: 'bücher-日本-🪣', region: 'eu-central-1' },
  },
  'request-cluster-scoped.json': {
    ...plainInput,
    cluster: { uid: plainInput.cluster.uid },
    path: '/apis/compute.example.com/v1alpha2/machines/runner-7',
    object: {
      apiVersion: 'compute.example.com/v1alpha2',
      kind: 'Machine',
      resource: 'machines',
      name: 'runner-7',
      uid: '8f14e45f-ceea-467f-a8d2-7f3f6c1b9b22',
      creationTimestamp: '2026-03-01T08:00:00Z',
      deletionTimestamp: '2026-03-02T09:30:00Z',
    },
  },
  'request-grace-period.json': { ...plainInput, gracePeriodSeconds: 300, attempt: 1 },
};

const requestOf = (file: string): Request => makeRequest(requests[file] ?? plainInput);

function resultOf(file: string, outcome: Outcome): string {
  const request = requestOf(file);
  return encodeResult(
    makeResult({
      request,
      outcome,
      handler: { name: request.data.handler, version: '1.0.0' },
      nonce: '01JNG7Z9W8',
      now: Date.parse('2026-03-02T09:30:04.250Z'),
      durationMs: 812.5,
    }),
  );
}

const results: Readonly<Record<string, () => string>> = {
  'result-gone-deleted.json': () =>
    resultOf('request-plain.json', { outcome: 'gone', evidence: 'deleted', message: '4,106 versions deleted' }),
  'result-gone-absent.json': () => resultOf('request-cluster-scoped.json', { outcome: 'gone', evidence: 'absent' }),
  'result-pending.json': () =>
    resultOf('request-retry.json', {
      outcome: 'pending',
      reason: 'Emptying',
      message: 'more than one run needs',
      progress: '120,000 of about 600,000 versions deleted',
      retryAt: '2026-03-02T09:31:00.000Z',
    }),
  'result-refused.json': () =>
    resultOf('request-unicode.json', {
      outcome: 'refused',
      reason: 'NotOwned',
      message: 'the bucket carries no tag “besitzer/ö”',
      retryAt: '2026-03-03T09:30:00.000Z',
    }),
};

export const requestSamples: readonly Sample[] = Object.keys(requests).map((file) => ({
  file,
  make: () => encodeRequest(requestOf(file)),
}));

export const resultSamples: readonly Sample[] = Object.entries(results).map(([file, make]) => ({ file, make }));
