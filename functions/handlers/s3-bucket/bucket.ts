/*
 * One bucket in the hands of one run: what the steps of emptying share. Made by find.ts.
 * The steps themselves stand beside it: locks, deny-writes, access-points, abort-uploads, delete-versions.
 */
import type {
  $Command,
  S3Client,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import type { Answer, Calls } from '../../calls.ts';
import type { Clock, Log } from '../../ports.ts';

/** Ownership is read again when its proof is older; the calls refuse a delete at 5 s. */
export const PROOF_RENEWED_MS = 3_000;

/** What this run has deleted so far. */
export interface Tally {
  versions: number;
  uploads: number;
}

/** Sends a command under the name of its call, `s3:Operation`. @throws as the run's calls */
export type Send = <I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  call: string,
  command: $Command<I, O, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>,
) => Promise<Answer<O>>;

/** The bucket and the ways to it. */
export interface Bucket {
  readonly name: string;
  /** Where it really is. */
  readonly region: string;
  /** Goes into every command: the bucket, and the account that has to own it. */
  readonly on: { readonly Bucket: string; readonly ExpectedBucketOwner: string };
  /** The same for commands about objects: whoever pays for requests, this function agrees to. */
  readonly objects: Bucket['on'] & { readonly RequestPayer: 'requester' };
  /** The object's uid, and when its request expires (RFC 3339, UTC). */
  readonly deletion: { readonly uid: string; readonly expires: string };
  /** Whether versions under governance retention are deleted as well. */
  readonly bypass: boolean;
  /** The calls of the run, with commands for the bucket's client. */
  readonly look: Send;
  readonly destroy: Send;
  readonly restore: Send;
  readonly clock: Clock;
  readonly log: Log;
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
  /** Some of the versions whose deletion was denied; a pass ends with the first. */
  readonly denied: Version[];
  /** Ends the run: the bucket is gone, or not ours any more. */
  stop?: Outcome;
}

/** A version or a delete marker. `VersionId` is `null` (the word) for what was written without versioning. */
export interface Version {
  readonly Key: string;
  readonly VersionId?: string | undefined;
}

/** How commands of one client become calls of one kind. */
export function sendBy(call: Calls[keyof Pick<Calls, 'look' | 'destroy' | 'restore'>], s3: S3Client): Send {
  return (name, command) => call(name, (options) => s3.send(command, options));
}

/** A pass that has seen nothing yet. */
export function newPass(): Pass {
  return { seen: 0, deleted: 0, codes: new Set(), denied: [] };
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
