/*
 * What one bridge knows of the lease that makes it the leader, and what to do next. Pure: leader.ts asks and writes.
 * The times of others are never compared with ours: a lease is free when its record has not changed for as long as it
 * lasts by our own monotonic clock, and it is ours for a shorter time, counted from before the write was sent.
 */
import { isOlder } from './wire.ts';

/** A lease that nobody renews may be taken after this long. */
export const LEASE_MS = 15_000;
/** The one place of all installations in a cluster: two of them contend for it. */
export const LEASE_PLACE = {
  ...{ group: 'coordination.k8s.io', version: 'v1', resource: 'leases' },
  ...{ namespace: 'kube-system', name: 'finalizer-bridge' },
} as const;
/** Who has not renewed for this long does not lead: the rest is the margin for clocks that run unlike ours. */
export const HOLD_MS = 10_000;

/** What stands in the lease. */
export interface LeaseRecord {
  /** "" when it was given back. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** RFC 3339, for people. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often it went to somebody else. */
  readonly transitions: number;
}

/** The lease as the API server has it; a write names `uid` and `resourceVersion` and fails when either has moved. */
export interface StoredLease {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly record: LeaseRecord;
}

/** What a bridge knows. Times are monotonic ms. */
export interface Candidacy {
  readonly identity: string;
  /** The record that was seen last, and when it was seen first. */
  readonly seen: { readonly record: LeaseRecord; readonly since: number } | undefined;
  /** The moment before the last write that the API server confirmed was sent; undefined: not the leader. */
  readonly wonAt: number | undefined;
  /** The newest resourceVersion of what it has written. */
  readonly version?: string | undefined;
}

/** What to do next. `lost`: somebody else has it, or it was not renewed in time; for good. */
export type LeaseStep =
  | { readonly act: 'wait'; readonly holder: string; readonly freeAt: number }
  | { readonly act: 'create' | 'replace'; readonly record: LeaseRecord }
  | { readonly act: 'lost'; readonly why: string };

/** Both clocks: monotonic ms, and ms since the epoch for what people read. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** Whether a candidacy leads at a moment (monotonic ms). */
export function isLeading({ wonAt }: Candidacy, monotonic: number): boolean {
  return wonAt !== undefined && monotonic < wonAt + HOLD_MS;
}

/** Why a bridge that led does so no more; undefined while it leads, or never did. */
export function whyOver(candidacy: Candidacy, monotonic: number): string | undefined {
  const { wonAt } = candidacy;
  if (wonAt === undefined || isLeading(candidacy, monotonic)) return undefined;
  return `not renewed for ${Math.round(monotonic - wonAt)} ms`;
}

/** Takes note of what an answer showed; `monotonic` is when it came. A lease that is missing leaves what was seen before. */
export function look(candidacy: Candidacy, stored: StoredLease | undefined, monotonic: number): Candidacy {
  const { seen } = candidacy;
  if (stored === undefined || (seen !== undefined && isSame(seen.record, stored.record))) return candidacy;
  return { ...candidacy, seen: { record: stored.record, since: monotonic } };
}

/** Takes note of a write of ours that the API server confirmed; `sentAt` is the moment before it was sent. */
export function won(candidacy: Candidacy, { record, resourceVersion }: StoredLease, sentAt: number): Candidacy {
  const version = isBehind(candidacy, resourceVersion) ? candidacy.version : resourceVersion;
  return { ...candidacy, seen: { record, since: sentAt }, wonAt: sentAt, version };
}

/** Whether a lease is of a time before what was written: the API server's storage was restored from a copy. */
function isBehind({ version }: Candidacy, resourceVersion: string): boolean {
  return version !== undefined && isOlder(resourceVersion, version);
}

const RESTORED = 'it is older than what this bridge wrote: the storage of the API server was restored';

/** Decides over the lease as it was just looked at; undefined: there is none. */
export function nextStep(candidacy: Candidacy, stored: StoredLease | undefined, now: Moment): LeaseStep {
  const { identity, wonAt, seen } = candidacy;
  const why = whyOver(candidacy, now.monotonic);
  if (why !== undefined) return { act: 'lost', why };
  // All that is in memory is of a time that never was; watches would go on from there, and be told of nothing.
  if (stored !== undefined && isBehind(candidacy, stored.resourceVersion)) return { act: 'lost', why: RESTORED };
  // Somebody has deleted it. Its holder may not know yet, so it counts for as long as if it were there.
  const record = stored?.record ?? seen?.record;
  const isOurs = record === undefined || record.holder === '' || record.holder === identity;
  if (!isOurs && wonAt !== undefined) return { act: 'lost', why: `${record.holder} has it` };
  if (!isOurs) {
    const since = seen?.since ?? now.monotonic;
    const freeAt = since + Math.max(LEASE_MS, record.durationSeconds * 1000);
    if (now.monotonic < freeAt) return { act: 'wait', holder: record.holder, freeAt };
  }
  return { act: stored === undefined ? 'create' : 'replace', record: recordOf(identity, record, now.wall) };
}

/** The record by which a holder gives the lease back: free at once for whoever looks next. */
export function givenBack(record: LeaseRecord, wall: number): LeaseRecord {
  return { ...record, holder: '', durationSeconds: 1, renewTime: timeAfter(record.renewTime, wall) };
}

function recordOf(identity: string, before: LeaseRecord | undefined, wall: number): LeaseRecord {
  const renewTime = timeAfter(before?.renewTime, wall);
  const isRenewal = before?.holder === identity;
  return {
    holder: identity,
    durationSeconds: LEASE_MS / 1000,
    acquireTime: isRenewal ? before.acquireTime : renewTime,
    renewTime,
    transitions: before === undefined ? 0 : before.transitions + (isRenewal ? 0 : 1),
  };
}

/** Now, and in any case later than before: a clock that was set back must not make a renewal look like none. */
function timeAfter(before: string | undefined, wall: number): string {
  const last = Date.parse(before ?? '');
  const time = Number.isNaN(last) ? wall : Math.max(wall, last + 1);
  // RFC 3339 knows no year after 9999, and no writer of ours made such a time.
  return new Date(time < Date.UTC(9999, 0) ? time : wall).toISOString();
}

function isSame(left: LeaseRecord, right: LeaseRecord): boolean {
  return (
    left.holder === right.holder &&
    left.durationSeconds === right.durationSeconds &&
    left.acquireTime === right.acquireTime &&
    left.renewTime === right.renewTime &&
    left.transitions === right.transitions
  );
}
