/*
 * Whatever an API server sends as objects, watches and lists: it is understood as it stands there or refused, and never taken for
 * something with holes in it. Metadata is held against a schema, as it is read without one. What else it answers: facts-fuzz.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { managersOf, ownsAnnotation, ownsFinalizer } from '../../bridge/managed-fields.ts';
import { decodeList, decodeMeta, decodeObject, watchLine } from '../../bridge/wire.ts';
import { deletingMeta } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';
import { anyJson, spoilt } from '../support/spoilt.ts';

const RUNS = { numRuns: 500 };
const managedFields = [
  {
    ...{ manager: 'kubectl', operation: 'Update', time: '2026-03-01T08:00:00Z', subresource: 'status' },
    fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:note': {} }, 'f:finalizers': { 'v:"a/b"': {} } } },
  },
];
const object = JSON.parse(
  JSON.stringify({
    ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket', spec: { size: 1 } },
    metadata: { ...deletingMeta({ labels: { app: 'logs' }, annotations: { note: 'b' } }), managedFields },
  }),
);

const texts = z.record(z.string(), z.string());
const metaSchema = z.object({
  metadata: z.object({
    ...{ name: z.string(), namespace: z.optional(z.string()), uid: z.string(), resourceVersion: z.string() },
    ...{ creationTimestamp: z.string(), deletionTimestamp: z.optional(z.string()) },
    deletionGracePeriodSeconds: z.optional(z.number()),
    ...{ labels: z.optional(texts), annotations: z.optional(texts), finalizers: z.optional(z.array(z.string())) },
  }),
});
const wholeSchema = z.intersection(metaSchema, z.looseObject({ apiVersion: z.string(), kind: z.string() }));

/** What a reader makes of it, or that it refuses. */
function outcome<T>(read: () => T): { readonly ok: true; readonly value: T } | { readonly ok: false } {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return { ok: false };
  }
}

describe('an object, right or not,', () => {
  it('has the metadata that a schema finds in it, or is refused as by that', () => {
    const seen = new Set<boolean>();
    holds(
      fc.property(spoilt(object), (body) => {
        const read = outcome(() => decodeMeta(body));
        const expected = metaSchema.safeParse(body);
        expect(read.ok).toBe(expected.success);
        if (read.ok) expect(read.value).toEqual(expected.data?.metadata);
        expect(outcome(() => decodeObject(body)).ok).toBe(wholeSchema.safeParse(body).success);
        seen.add(read.ok);
      }),
      RUNS,
    );
    expect(seen.size).toBe(2);
  });

  it('comes over a watch or in a list as it comes alone', () => {
    holds(
      fc.property(spoilt(object), fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), (body, type) => {
        const alone = outcome(() => decodeMeta(body));
        const line = outcome(() => watchLine(JSON.stringify({ type, object: body })));
        const page = outcome(() => decodeList({ metadata: { resourceVersion: '1' }, items: [object, body] }));
        expect([line.ok, page.ok]).toEqual([alone.ok, alone.ok]);
        if (line.ok && alone.ok) expect(line.value).toMatchObject({ meta: alone.value });
      }),
      RUNS,
    );
  });

  it('names its managers, or has none that anybody can read', () => {
    holds(
      fc.property(fc.oneof(spoilt(managedFields), anyJson), fc.string(), (fields, key) => {
        for (const manager of managersOf(fields))
          expect([typeof ownsAnnotation(manager, key), typeof ownsFinalizer(manager, key)]).toEqual([
            'boolean',
            'boolean',
          ]);
      }),
      RUNS,
    );
  });
});

describe('a line of a watch and a page of a list, right or not,', () => {
  const status = { code: 429, message: 'busy', details: { retryAfterSeconds: 7 } };
  const bookmark = { metadata: { resourceVersion: '42', annotations: { 'k8s.io/initial-events-end': 'true' } } };
  const lines = fc.constantFrom(
    ...[
      { type: 'ERROR', object: status },
      { type: 'BOOKMARK', object: bookmark },
    ],
  );

  it('say what they are, with nothing left out, or are refused', () => {
    holds(
      fc.property(lines.chain(spoilt), (line) => {
        const read = outcome(() => watchLine(JSON.stringify(line)));
        if (!read.ok) return;
        const frame = read.value;
        if (frame.type === 'bookmark') expect(typeof frame.resourceVersion).toBe('string');
        else if (frame.type === 'error') {
          expect([Number.isInteger(frame.code), typeof frame.message]).toEqual([true, 'string']);
          expect(frame.retryAfter ?? 0).not.toBeNaN();
        } else expect(typeof frame.meta.uid).toBe('string');
      }),
      RUNS,
    );
  });

  it('end where they say so: a list goes on only where it is told after what', () => {
    holds(
      fc.property(spoilt({ metadata: { resourceVersion: '42', continue: 'next' }, items: [object] }), (page) => {
        const read = outcome(() => decodeList(page));
        if (!read.ok) return;
        const { next, items, resourceVersion } = read.value;
        expect([undefined, 'string']).toContain(next === undefined ? undefined : typeof next);
        expect(next).not.toBe('');
        expect([typeof resourceVersion, items.every(({ uid }) => typeof uid === 'string')]).toEqual(['string', true]);
      }),
      RUNS,
    );
  });
});
