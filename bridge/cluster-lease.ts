/*
 * The lease as an object of the API server: read, created, replaced. Plugged into leader.ts by main.ts.
 * Over the project's own calls: the library's typed API costs 390 KB of bundle and 7.6 MB of memory for these three.
 */
import * as z from 'zod/mini';
import { type Call, decoded, type Http, isObjectMissing, refusal } from './cluster-http.ts';
import { LEASE_PLACE, type LeaseRecord, type StoredLease } from './leader-state.ts';
import type { Leases } from './ports.ts';
import { apiPath, kindPath } from './wire.ts';

const leaseSchema = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string() }),
  // People and other tools can write any of it, or leave any out.
  spec: z._default(
    z.object({
      holderIdentity: z._default(z.string(), ''),
      leaseDurationSeconds: z._default(z.number(), 0),
      acquireTime: z._default(z.string(), ''),
      renewTime: z._default(z.string(), ''),
      leaseTransitions: z._default(z.number(), 0),
    }),
    { holderIdentity: '', leaseDurationSeconds: 0, acquireTime: '', renewTime: '', leaseTransitions: 0 },
  ),
});

/** Creates the port. */
export function createLeases(http: Http): Leases {
  return {
    async get(signal) {
      const call: Call = { method: 'GET', path: apiPath(LEASE_PLACE), doing: 'getting the lease' };
      const answer = await http.ask(call, signal);
      if (answer.status === 200) return decoded(call, answer, storedLease);
      if (isObjectMissing(answer, LEASE_PLACE.name)) return undefined;
      throw refusal(call, answer);
    },
    async create(record, signal) {
      const path = kindPath(LEASE_PLACE, LEASE_PLACE.namespace);
      return await write(http, { method: 'POST', path, ...bodyOf(record), doing: 'creating the lease' }, signal);
    },
    async replace({ uid, resourceVersion }, record, signal) {
      // Without the uid the API server would create a lease that was deleted meanwhile.
      const body = bodyOf(record, { uid, resourceVersion });
      return await write(
        http,
        { method: 'PUT', path: apiPath(LEASE_PLACE), ...body, doing: 'writing the lease' },
        signal,
      );
    },
  };
}

async function write(http: Http, call: Call, signal: AbortSignal): Promise<StoredLease | 'conflict'> {
  const answer = await http.ask(call, signal);
  if (answer.status === 200 || answer.status === 201) return decoded(call, answer, storedLease);
  if (answer.status === 409 || isObjectMissing(answer, LEASE_PLACE.name)) return 'conflict';
  throw refusal(call, answer);
}

function bodyOf(record: LeaseRecord, guard: object = {}): Pick<Call, 'body' | 'contentType'> {
  const { group, version, namespace, name } = LEASE_PLACE;
  const spec = {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: microTime(record.acquireTime),
    renewTime: microTime(record.renewTime),
    leaseTransitions: record.transitions,
  };
  const lease = { apiVersion: `${group}/${version}`, kind: 'Lease', metadata: { namespace, name, ...guard }, spec };
  return { contentType: 'application/json', body: JSON.stringify(lease) };
}

/** MicroTime has six digits after the point; what stood in the lease may be empty or already have them. */
function microTime(time: string): string | undefined {
  return time === '' ? undefined : time.replace(/(\.\d{3})Z$/, '$1000Z');
}

function storedLease(body: unknown): StoredLease {
  const { metadata, spec } = leaseSchema.parse(body);
  return {
    ...metadata,
    record: {
      holder: spec.holderIdentity,
      durationSeconds: spec.leaseDurationSeconds,
      acquireTime: spec.acquireTime,
      renewTime: spec.renewTime,
      transitions: spec.leaseTransitions,
    },
  };
}
