/*
 * What a run of a script has shown, with all that may differ between two servers taken out: uids become the order in which they
 * were met, resourceVersions their rank among all that were read, times the word that they are one. Made by api-run.ts.
 */
import type { ApiError } from '../../../bridge/ports.ts';

const SECOND = 1_000;

/** A refusal as it is shown: its status, and whether it says when to come back; how long that is depends on what the server sees. */
export function refusalIn({ status, retryAfter }: ApiError): string | number {
  if (retryAfter === undefined) return status;
  return `${status}, to come back ${retryAfter >= SECOND && retryAfter % SECOND === 0 ? 'in whole seconds' : `in ${retryAfter} ms`}`;
}

/** What one step showed. */
export interface Shown {
  readonly step: string;
  readonly saw: unknown;
}

const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** Texts that are longer than people read. */
const LONG = 1_000;
const TIMES = new Set(['creationTimestamp', 'deletionTimestamp']);

/** Puts names in the place of what is different at each run. */
export function normalised(shown: readonly Shown[]): readonly Shown[] {
  const plain: unknown = JSON.parse(JSON.stringify(shown));
  const versions = [...versionsIn(plain)].toSorted((left, right) => Number(left) - Number(right));
  const names: Names = { uids: [], versions };
  const renamed = rename(plain, names, '');
  return Array.isArray(renamed) ? renamed : [];
}

interface Names {
  readonly uids: string[];
  readonly versions: readonly string[];
}

function rename(value: unknown, names: Names, key: string): unknown {
  if (Array.isArray(value)) return value.map((member) => rename(member, names, ''));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, member]) => [name, rename(member, names, name)]),
    );
  }
  if (typeof value !== 'string') return value;
  if (TIMES.has(key)) return WHOLE_SECOND.test(value) ? 'a time' : value;
  if (key === 'resourceVersion') return `version ${names.versions.indexOf(value) + 1}`;
  if (key === 'uid') return uidName(value, names);
  return value.length > LONG ? `${value.slice(0, 20)}… of ${value.length}` : value;
}

function uidName(uid: string, { uids }: Names): string {
  if (!uids.includes(uid)) uids.push(uid);
  return `uid ${uids.indexOf(uid) + 1}`;
}

function versionsIn(value: unknown, key = ''): ReadonlySet<string> {
  if (typeof value === 'string') return new Set(key === 'resourceVersion' ? [value] : []);
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(Object.entries(value).flatMap(([name, member]) => [...versionsIn(member, name)]));
}

/** A frame of a watch as it is shown. */
export interface ShownFrame {
  readonly type: string;
  readonly isFresh?: boolean;
  readonly isAdded?: boolean;
  readonly meta?: unknown;
}

/** The objects of an initial list come in no order that anybody may rely on. */
export function inOrder(frames: readonly ShownFrame[]): readonly ShownFrame[] {
  const end = Math.max(
    frames.findIndex(({ type }) => type === 'synced'),
    0,
  );
  const initial = frames.slice(0, end).toSorted((left, right) => (nameIn(left) < nameIn(right) ? -1 : 1));
  return [...initial, ...frames.slice(end)];
}

function nameIn({ meta }: ShownFrame): string {
  return JSON.stringify(Object(meta).name ?? '');
}
