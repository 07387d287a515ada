/*
 * What the API server says, decoded: lines of a watch, pages of a list, objects; and paths. Junk throws here, so that a
 * call fails and is made again; it is never half understood.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  apiPath,
  decodeList,
  decodeMeta,
  decodeObject,
  isOlder,
  kindPath,
  trimmed,
  watchLine,
} from '../../bridge/wire.ts';
import { BUCKETS, deletingMeta } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';

const meta = deletingMeta({ labels: { app: 'logs' }, annotations: { 'team.example.com/a': 'b' } });
const line = (type: string, object: unknown) => JSON.stringify({ type, object });

describe('a line of a watch', () => {
  const carried = JSON.parse(JSON.stringify(meta));
  const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:metadata': {} } }];
  it.each([
    ['ADDED', { type: 'present', isAdded: true, meta: { ...carried, managedFields } }],
    ['MODIFIED', { type: 'present', isAdded: false, meta: carried }],
    ['DELETED', { type: 'deleted', meta: carried }],
  ])('%s has the metadata that we read; who wrote what only when the object is new (P8)', (type, expected) => {
    const object = { kind: 'PartialObjectMetadata', metadata: { ...meta, managedFields, generation: 3 } };
    expect(watchLine(line(type, object))).toEqual(expected);
  });

  it('may be a bookmark; the one that ends the initial list says so', () => {
    const bookmark = (annotations?: object) => line('BOOKMARK', { metadata: { resourceVersion: '42', annotations } });
    expect(watchLine(bookmark())).toEqual({ type: 'bookmark', resourceVersion: '42', synced: false });
    expect(watchLine(bookmark({ 'k8s.io/initial-events-end': 'true' }))).toMatchObject({ synced: true });
    expect(watchLine(bookmark({ 'k8s.io/initial-events-end': 'false' }))).toMatchObject({ synced: false });
  });

  it('may be an error, with what to wait in ms', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    expect(watchLine(line('ERROR', status))).toEqual({
      ...{ type: 'error', code: 410, message: 'too old resource version', retryAfter: undefined },
    });
    const busy = { code: 429, message: 'busy', details: { retryAfterSeconds: 7 } };
    expect(watchLine(line('ERROR', busy))).toMatchObject({ code: 429, retryAfter: 7_000 });
    expect(watchLine(line('ERROR', {}))).toMatchObject({ code: 500, message: 'ERROR' });
    expect(watchLine(line('SURPRISE', {}))).toMatchObject({ type: 'error', code: 500, message: 'SURPRISE' });
  });

  it.each([
    ['half a line', '{"type":"ADDED","object":{"meta'],
    ['nothing', ''],
    ['no object', '{"type":"ADDED"}'],
    ['an object without metadata', line('ADDED', { kind: 'Status' })],
    ['an object without a uid', line('MODIFIED', { metadata: { ...meta, uid: undefined } })],
    ['finalizers that are no list', line('DELETED', { metadata: { ...meta, finalizers: 'a/b' } })],
    ['a bookmark without a version', line('BOOKMARK', { metadata: {} })],
  ])('that is %s is refused', (_what, text) => {
    expect(() => watchLine(text)).toThrow();
  });

  it('is understood or refused, never taken for something with holes in it', () => {
    holds(
      fc.property(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), fc.jsonValue(), (type, object) => {
        expect(() => watchLine(line(type, object))).toThrow();
      }),
    );
  });
});

describe('a page of a list', () => {
  it('gives the metadata, the version and where to go on', () => {
    const page = { metadata: { resourceVersion: '42', continue: 'token' }, items: [{ metadata: meta, spec: {} }] };
    expect(decodeList(page)).toEqual({ items: [meta], resourceVersion: '42', next: 'token' });
  });

  it.each([[{ items: [] }], [{ items: null }], [{}]])('may be the last and empty: %j', (items) => {
    expect(decodeList({ metadata: { resourceVersion: '42', continue: '' }, ...items })).toEqual({
      ...{ items: [], resourceVersion: '42' },
    });
  });

  it.each([[null], [[]], [{ items: [] }], [{ metadata: {}, items: [{}] }]])('that is %j is refused', (page) => {
    expect(() => decodeList(page)).toThrow();
  });
});

describe('an object', () => {
  it('keeps every field, for expressions to read', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...meta, generation: 2 }, data: { a: 'b' } };
    expect(decodeObject(object)).toEqual(object);
    expect(decodeMeta(object)).toEqual(meta);
  });

  it('without a kind or metadata is refused', () => {
    for (const half of [{ apiVersion: 'v1' }, { kind: 'ConfigMap' }])
      expect(() => decodeObject({ ...half, metadata: meta })).toThrow('does not say what kind it is');
    expect(() => decodeObject({ apiVersion: 'v1', kind: 'ConfigMap' })).toThrow('it has no metadata');
    expect(() => decodeMeta({ kind: 'Status', status: 'Failure' })).toThrow('it has no metadata');
    for (const none of [[], null, 'text', [meta]]) expect(() => decodeMeta({ metadata: none })).toThrow(TypeError);
  });

  it.each(
    Object.entries({
      ...{ name: 1, namespace: null, uid: undefined, resourceVersion: 42, creationTimestamp: null },
      ...{ deletionTimestamp: 0, deletionGracePeriodSeconds: '30', labels: { app: 1 }, annotations: ['a'] },
      finalizers: ['a/b', 3],
    }),
  )('whose %s is %j is refused by the name of the field', (field, value) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...meta, [field]: value } };
    for (const decode of [decodeMeta, decodeObject]) expect(() => decode(object)).toThrow(`${field} is no`);
  });

  it('needs no more metadata than every object has', () => {
    const { name, uid, resourceVersion, creationTimestamp } = meta;
    const least = { name, uid, resourceVersion, creationTimestamp };
    expect(decodeMeta({ metadata: least })).toEqual(least);
  });

  it('is kept in memory without labels and with our own annotations only (P8)', () => {
    const ours = { 'status.finalizer-bridge.dev/a': '1', 'release.finalizer-bridge.dev/a': '2' };
    const others = { 'finalizer-bridge.dev.example.com/a': '3', 'kubectl.kubernetes.io/last-applied': 'long' };
    const kept = trimmed({ ...meta, annotations: { ...ours, ...others } });
    expect(kept.annotations).toEqual(ours);
    expect(kept.labels).toBeUndefined();
    expect({ ...kept, labels: meta.labels, annotations: meta.annotations }).toEqual(meta);
  });

  it('is remembered as having annotations when all are others', () => {
    expect(trimmed(meta).annotations).toEqual({});
    expect(trimmed({ ...meta, annotations: undefined }).annotations).toBeUndefined();
  });
});

describe('paths', () => {
  it.each([
    [{ ...BUCKETS, namespace: 'team-a', name: 'logs' }, '/apis/storage.example.com/v1/namespaces/team-a/buckets/logs'],
    [{ ...BUCKETS, name: 'logs' }, '/apis/storage.example.com/v1/buckets/logs'],
    [{ group: '', version: 'v1', resource: 'pods', namespace: 'a', name: 'b' }, '/api/v1/namespaces/a/pods/b'],
    [
      { ...BUCKETS, namespace: 'a', name: 'system:x/y' },
      '/apis/storage.example.com/v1/namespaces/a/buckets/system%3Ax%2Fy',
    ],
  ])('of %j are the API server’s', (path, expected) => {
    expect(apiPath(path)).toBe(expected);
  });

  it('of a kind reach across namespaces', () => {
    expect(kindPath(BUCKETS)).toBe('/apis/storage.example.com/v1/buckets');
  });
});

describe('the age of a version', () => {
  it('is compared as a number of any length', () => {
    holds(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.bigInt({ min: 0n, max: 2n ** 70n }), (left, right) => {
        expect(isOlder(String(left), String(right))).toBe(left < right);
      }),
    );
  });

  it('is not known of versions that are no numbers', () => {
    expect(isOlder('', '7')).toBe(false);
    expect(isOlder('a', 'b')).toBe(false);
  });
});
