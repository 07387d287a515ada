/*
 * One bucket in the hands of one run: what the steps of emptying share. Made by s3-bucket.ts.
 * The steps themselves stand beside it: locks, abort-uploads, delete-versions.
 */
import type { S3Client } from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import type { Calls } from '../../calls.ts';
import type { Clock } from '../../ports.ts';

/** Ownership is read again when its proof is older; the calls refuse a delete at 5 s. */
export const PROOF_RENEWED_MS = 3_000;

/** What this run has deleted so far. */
export interface Tally {
  versions: number;
  uploads: number;
}

/** The bucket and the ways to it. */
export interface Bucket {
  readonly name: string;
  readonly s3: S3Client;
  /** Goes into every command: the bucket, and the account that has to own it. */
  readonly on: { readonly Bucket: string; readonly ExpectedBucketOwner: string };
  readonly calls: Calls;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before each delete; reads ownership again if the proof is getting old. An outcome means: stop with it. */
  readonly ensureOwned: () => Promise<Outcome | undefined>;
  /** Reads ownership again whatever its age. */
  readonly proveNow: () => Promise<Outcome | undefined>;
  readonly count: (what: keyof Tally, number: number) => void;
}

/** What one pass over versions or uploads did. */
export interface Pass {
  seen: number;
  deleted: number;
  /** Codes of what could not be deleted. */
  readonly codes: Set<string>;
  /** The first version whose deletion was denied. */
  denied?: Version;
  /** Ends the run: the bucket is gone, or not ours any more. */
  stop?: Outcome;
}

/** A version or a delete marker. `VersionId` is `null` (the word) for what was written without versioning. */
export interface Version {
  readonly Key: string;
  readonly VersionId?: string;
}

/** A pass that has seen nothing yet. */
export function newPass(): Pass {
  return { seen: 0, deleted: 0, codes: new Set() };
}

/** Undoes the url encoding of listings, in which a space is a plus sign. */
export function decodeKey(key: string, encoding: string | undefined): string {
  return encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

/** Works items side by side, at most `limit` at a time; the first rejection stops taking new ones and is thrown. */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let isStopped = false;
  const worker = async () => {
    for (let next = iterator.next(); !next.done && !isStopped; next = iterator.next()) {
      try {
        await work(next.value);
      } catch (error) {
        isStopped = true;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: limit }, worker));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
