/*
 * Whatever stands in a lease, in the status of a rule, or in what an API server says of its kinds: it is understood or refused as the
 * port's callers expect, and what cannot be read never gives a right, a token or a lease. Objects: answers-fuzz.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readBlocks } from '../../bridge/budget-blocks.ts';
import { countedStatus } from '../../bridge/cli/rule-counts.ts';
import type { Http } from '../../bridge/cluster-http.ts';
import { createKinds } from '../../bridge/cluster-kinds.ts';
import { createLeases } from '../../bridge/cluster-lease.ts';
import { type Place, type Shape, schemaOfKind } from '../../bridge/kind-schema.ts';
import { ApiError } from '../../bridge/ports.ts';
import { waiterOf } from '../../bridge/rule-circles.ts';
import { lastAcceptedOf } from '../../bridge/rule-force.ts';
import { statusOf } from '../../bridge/teardown-rules.ts';
import { holds } from '../support/property.ts';
import { fullestSpec } from '../support/rule-corpus.ts';
import { anyJson, spoilt } from '../support/spoilt.ts';

const RUNS = { numRuns: 500 };

/** An API server that answers each path, and any other with the last. */
const answering = (bodies: Readonly<Record<string, unknown>>, status = 200): Http => ({
  ask: async ({ path }) => {
    const body = Object.hasOwn(bodies, path) ? bodies[path] : bodies['*'];
    return { status, headers: {}, text: JSON.stringify(body) ?? '' };
  },
  open: () => Promise.reject(new Error('nobody watches here')),
});

/** What a call of a port brings; undefined where it rejects as ports do. */
async function told<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    return undefined;
  }
}

describe('a lease, whoever has written it,', () => {
  const lease = {
    metadata: { uid: 'lease-1', resourceVersion: '7' },
    spec: {
      ...{ holderIdentity: 'bridge-1', leaseDurationSeconds: 15, leaseTransitions: 3 },
      ...{ acquireTime: '2026-03-01T08:00:00.000000Z', renewTime: '2026-03-01T08:00:05.000000Z' },
    },
  };

  it('is read whole or not at all', async () => {
    const property = fc.asyncProperty(spoilt(lease), async (body) => {
      const stored = await told(createLeases(answering({ '*': body })).get(new AbortController().signal));
      if (stored === undefined) return;
      const { holder, durationSeconds, acquireTime, renewTime, transitions } = stored.record;
      const types = [stored.uid, stored.resourceVersion, holder, acquireTime, renewTime].map((text) => typeof text);
      expect([...types, typeof durationSeconds, typeof transitions]).toEqual([
        ...Array.from({ length: 5 }, () => 'string'),
        ...['number', 'number'],
      ]);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe('what is said of kinds and rights', () => {
  const ref = { group: 'storage.example.com', version: 'v1', resource: 'buckets' };
  const resources = { resources: [{ name: 'buckets', kind: 'Bucket', namespaced: true, verbs: ['get'] }] };
  const group = { versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } };
  const review = { status: { allowed: true } };

  it('is understood or not an answer; a right that is not granted in so many words is lacking (P7)', async () => {
    const property = fc.asyncProperty(spoilt(resources), spoilt(group), spoilt(review), async (...bodies) => {
      const [listed, versions, allowed] = bodies;
      const facts = await told(createKinds(answering({ '*': listed })).describe(ref));
      if (facts !== undefined) expect([typeof facts.kind, typeof facts.namespaced]).toEqual(['string', 'boolean']);
      const http = answering({ [`/apis/${ref.group}`]: versions, '*': listed });
      const found = await told(createKinds(http).find({ group: ref.group, resource: ref.resource }));
      if (found !== undefined) expect(typeof found.version).toBe('string');
      const lacking = await told(createKinds(answering({ '*': allowed }, 201)).lacking(ref, ['get', 'patch']));
      const isGranted = z.object({ status: z.object({ allowed: z.literal(true) }) }).safeParse(allowed).success;
      if (lacking !== undefined) expect(lacking).toEqual(isGranted ? [] : ['get', 'patch']);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  const kind = { group: ref.group, version: 'v1', kind: 'Bucket' };
  const schemas = {
    components: {
      schemas: {
        Bucket: {
          ...{ type: 'object', 'x-kubernetes-group-version-kind': [kind] },
          properties: {
            spec: { $ref: '#/components/schemas/Spec' },
            status: { allOf: [{ $ref: '#/components/schemas/Spec' }] },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
        Spec: { type: 'object', properties: { self: { $ref: '#/components/schemas/Spec' }, list: { type: 'array' } } },
      },
    },
  };
  const documentSchema = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });
  const reached = (place: (shape: Shape) => Place, shape: Shape, depth = 0): number => {
    if (depth > 8) return 1;
    const at = place(shape);
    if (at.is === 'list') return reached(place, at.items, depth + 1);
    if (at.is !== 'map') return 1;
    const inner = [...at.fields.values(), ...(at.others === undefined ? [] : [at.others])];
    return inner.reduce((sum, one) => sum + reached(place, one, depth + 1), 1);
  };

  it('as a schema can be followed to any place in it, or there is none', () => {
    holds(
      fc.property(spoilt(schemas), (document) => {
        if (!documentSchema.safeParse(document).success) {
          expect(() => schemaOfKind(document, kind)).toThrow();
          return;
        }
        const schema = schemaOfKind(document, kind);
        if (schema !== undefined) expect(reached(schema.place, schema.root)).toBeGreaterThan(0);
      }),
      RUNS,
    );
  });
});

describe('the blocks of a budget, whoever has written them,', () => {
  const budget = { reservations: [{ time: '2026-03-01T08:00:00Z', size: 5, holder: 'bridge-1' }] };

  it('are read or none', () => {
    holds(
      fc.property(fc.oneof(spoilt(budget), anyJson), (written) => {
        for (const { size, metAt } of readBlocks(written, new Map(), { now: 1, monotonic: 2 }))
          expect([Number.isInteger(size), metAt]).toEqual([true, 2]);
      }),
      RUNS,
    );
  });
});

describe('the status of a rule, whoever has written it,', () => {
  const uid = 'rule-1';
  const meta = { name: 'team-buckets', resourceVersion: '7', creationTimestamp: '2026-03-01T08:00:00Z', generation: 2 };
  const rule = { apiVersion: 'finalizer-bridge.dev/v1alpha1', kind: 'TeardownRule', metadata: { ...meta, uid } };
  const times = { lastTransitionTime: '2026-03-01T08:00:00Z', observedGeneration: 1 };
  const status = {
    conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: '', ...times }],
    ...{ observedGeneration: 2, namespaces: ['team-a'], pending: 1, held: 1 },
    oldestPendingTime: '2026-03-01T08:00:00Z',
    heldObjects: [
      { namespace: 'team-a', name: 'logs', uid: 'uid-1', reason: 'NotOwned', since: '2026-03-01T08:00:00Z' },
    ],
    lastAccepted: { uid, generation: 1, spec: fullestSpec },
  };

  it('brings back no rule but its own last one, of the kind that it is for, within what any rule may be (P1)', () => {
    const seen = new Set<boolean>();
    holds(
      fc.property(spoilt(status), (written) => {
        const last = lastAcceptedOf({ ...rule, spec: fullestSpec, status: written });
        seen.add(last === undefined);
        if (last === undefined) return;
        const { group, version, resource } = fullestSpec.match;
        expect([last.uid, last.name, last.match]).toEqual([uid, meta.name, { group, version, resource }]);
      }),
      RUNS,
    );
    expect(seen.size).toBe(2);
  });

  it('is read whole or not at all by the bridge, and as far as it goes by the command line', () => {
    holds(
      fc.property(fc.oneof(spoilt(status), anyJson), (written) => {
        const object = { ...rule, spec: fullestSpec, status: written };
        const { pending, held, heldObjects } = countedStatus(object, 'it is asked for');
        expect([pending ?? 0, held ?? 0].every(Number.isInteger)).toBe(true);
        expect(heldObjects.every(({ name, since }) => typeof name === 'string' && typeof since === 'string')).toBe(
          true,
        );
        try {
          for (const condition of statusOf(object).conditions ?? []) expect(typeof condition.reason).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(z.core.$ZodError);
        }
      }),
      RUNS,
    );
  });

  it('is no matter to whom the rule waits for, and a spec that cannot be read waits for nobody', () => {
    holds(
      fc.property(spoilt(fullestSpec), (spec) => {
        const waiter = waiterOf({ ...rule, spec });
        if (waiter !== undefined) expect(waiter.waitsFor.every((name) => typeof name === 'string')).toBe(true);
      }),
      RUNS,
    );
  });
});
