/*
 * A target that stays, on a real API server: the schema that docs/rules.md shows lets a target be set, and refuses every edit that
 * changes or clears it, on an object that lives as on one that is being deleted.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastingTargetSchema } from '../../infra/crd/lasting-target.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { definitionOf } from '../support/site-kind.ts';

const GROUP = 'lasting.e2e.example.com';
const COLLECTION = `/apis/${GROUP}/v1/namespaces/default/buckets`;
const KEEPER = 'example.com/keeper';
const kube = sharedKube();

beforeAll(async () => {
  const { spec, ...definition } = definitionOf(GROUP, { plural: 'buckets', kind: 'Bucket' });
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
  const versions = [{ ...version, schema: { openAPIV3Schema: lastingTargetSchema } }];
  await kube.apply([{ ...definition, spec: { ...Object(spec), versions } }]);
  await eventually('the kind is served', async () => (await kube.request('GET', COLLECTION)).status === 200);
});
afterAll(() => kube.close());

const patch = async (path: string, body: object) =>
  (await kube.request('PATCH', path, body, { contentType: 'application/merge-patch+json' })).status;

describe.each(['live', 'deleting'])('an object that is %s', (state) => {
  it('gets its target, and keeps it', async () => {
    const object = { apiVersion: `${GROUP}/v1`, kind: 'Bucket', metadata: { name: state, finalizers: [KEEPER] } };
    expect((await kube.request('POST', COLLECTION, object)).status).toBe(201);
    const path = `${COLLECTION}/${state}`;
    const name = (bucketName: string | null) => patch(`${path}/status`, { status: { bucketName } });
    expect(await name('first')).toBe(200);
    if (state === 'deleting') expect((await kube.request('DELETE', path)).status).toBe(200);

    expect(await name('second')).toBe(422);
    expect(await name(null)).toBe(422);
    expect(await patch(`${path}/status`, { status: null })).toBe(422);
    expect(await name('first')).toBe(200);

    expect(await patch(path, { spec: { tier: 'prod' } })).toBe(200);
    expect(await patch(path, { metadata: { finalizers: null } })).toBe(200);
    if (state === 'live') expect((await kube.request('DELETE', path)).status).toBe(200);
    expect((await kube.request('GET', path)).status).toBe(404);
  });
});
