/*
 * Deletes all versions and delete markers of a bucket in one pass. Called by s3-bucket.ts until a pass finds nothing.
 * Versions are always listed, also where versioning never was on or is suspended. Deletes are in flight while listing
 * goes on; memory holds a few pages, whatever the bucket holds. What a delete did not take is found by the next pass.
 */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
} from '@aws-sdk/client-s3';
import { classifyCode, type Fault, isTransient } from '../../aws-errors.ts';
import { CallFailed } from '../../calls.ts';
import { gone } from '../../handler.ts';
import { pause } from '../../ports.ts';
import { type Bucket, decodeKey, eachBounded, newPass, type Pass, type Version } from './bucket.ts';
import { s3Errors } from './errors.ts';

/** Delete calls of up to 1,000 keys in flight. One S3 prefix partition takes about 3,500 deletes/s. */
const DELETES_IN_FLIGHT = 4;
const SINGLE_DELETES_IN_FLIGHT = 8;
/** After trouble that passes, a pass ends and the next one waits, each time longer. */
const TROUBLE_PAUSE_MS = 500;
const TROUBLE_MAX = 5;

/** One pass. @throws OutOfTime; CallFailed for whatever does not pass within the run. */
export async function deleteVersions(bucket: Bucket): Promise<Pass> {
  const pass = newPass();
  for (let trouble = 1; ; trouble += 1) {
    const before = pass.deleted;
    const failure = await onePass(bucket, pass);
    if (failure === undefined || pass.stop !== undefined) return pass;
    if (pass.deleted > before) trouble = 1;
    const { error } = failure;
    if (!(error instanceof CallFailed) || !isTransient(error.fault) || trouble === TROUBLE_MAX) throw error;
    await pause(bucket.clock, TROUBLE_PAUSE_MS * 2 ** (trouble - 1), bucket.signal);
  }
}

/** Lists and deletes; ends early, with what was thrown, when a call fails. Never rejects. */
async function onePass(bucket: Bucket, pass: Pass): Promise<{ readonly error: unknown } | undefined> {
  const inFlight = new Set<Promise<void>>();
  const state: { failure?: { readonly error: unknown } } = {};
  const isEnded = () => state.failure !== undefined || pass.stop !== undefined || pass.denied !== undefined;
  try {
    for await (const page of versionPages(bucket, pass)) {
      while (inFlight.size >= DELETES_IN_FLIGHT) await Promise.race(inFlight);
      if (isEnded()) break;
      const work = deletePage(bucket, page, pass)
        .catch((error: unknown) => {
          state.failure ??= { error };
        })
        .finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
  } catch (error) {
    state.failure ??= { error };
  }
  await Promise.all(inFlight);
  return state.failure;
}

/** The pages of a bucket's versions and delete markers; both markers are paged, keys come url-encoded. */
async function* versionPages(bucket: Bucket, pass: Pass): AsyncGenerator<readonly Version[]> {
  const { calls, s3, on, name } = bucket;
  let markers: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> | undefined = {};
  while (markers !== undefined) {
    const from: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> = markers;
    const answer = await calls.look('s3:ListObjectVersions', (options) =>
      s3.send(new ListObjectVersionsCommand({ ...on, ...from, EncodingType: 'url', MaxKeys: 1000 }), options),
    );
    if (answer.means === 'gone') {
      pass.stop ??= gone('deleted');
      return;
    }
    if (answer.means !== 'done') throw new Error(`listing versions of ${name}: ${answer.code}`);
    const { Versions = [], DeleteMarkers = [], IsTruncated, NextKeyMarker, NextVersionIdMarker } = answer.value;
    const { EncodingType } = answer.value;
    const page = [...Versions, ...DeleteMarkers].flatMap(({ Key, VersionId }) =>
      Key === undefined
        ? []
        : [{ Key: decodeKey(Key, EncodingType), ...(VersionId === undefined ? {} : { VersionId }) }],
    );
    pass.seen += page.length;
    if (page.length > 0) yield page;
    markers =
      IsTruncated && NextKeyMarker !== undefined
        ? {
            KeyMarker: decodeKey(NextKeyMarker, EncodingType),
            ...(NextVersionIdMarker ? { VersionIdMarker: NextVersionIdMarker } : {}),
          }
        : undefined;
  }
}

async function deletePage(bucket: Bucket, page: readonly Version[], pass: Pass): Promise<void> {
  const singly = page.filter(({ Key }) => !isExpressible(Key));
  const together = singly.length === 0 ? page : page.filter(({ Key }) => isExpressible(Key));
  if (together.length > 0 && !(await deleteTogether(bucket, together, pass))) singly.push(...together);
  await eachBounded(singly, SINGLE_DELETES_IN_FLIGHT, (version) => deleteSingly(bucket, version, pass));
}

/** Whether a key survives XML 1.0 unharmed: most control characters cannot be written, others are normalised. */
export function isExpressible(key: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return key.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\ufffe\uffff]/.test(key);
}

/** False if S3 could not read the keys in one call. */
async function deleteTogether(bucket: Bucket, versions: readonly Version[], pass: Pass): Promise<boolean> {
  if (await mustStop(bucket, pass)) return true;
  const answer = await bucket.calls.destroy('s3:DeleteObjects', (options) =>
    bucket.s3.send(
      new DeleteObjectsCommand({ ...bucket.on, Delete: { Objects: [...versions], Quiet: true } }),
      options,
    ),
  );
  if (answer.means === 'unready') return false;
  if (answer.means === 'gone') pass.stop ??= gone('deleted');
  if (answer.means !== 'done') {
    pass.codes.add(answer.code);
    return true;
  }
  // A 200 says only that the list was read: each key has its own fate.
  const errors = answer.value.Errors ?? [];
  for (const { Key = '', VersionId, Code = 'Unknown' } of errors) {
    const version = { Key, ...(VersionId === undefined ? {} : { VersionId }) };
    noteFault(pass, version, classifyCode('s3:DeleteObjects', Code, s3Errors));
  }
  noteDeleted(bucket, versions.length - errors.length, pass);
  return true;
}

async function deleteSingly(bucket: Bucket, version: Version, pass: Pass): Promise<void> {
  // The key becomes a path here, and a dot segment in a path can mean another object.
  if (version.Key.split('/').some((segment) => segment === '.' || segment === '..')) {
    pass.codes.add('KeyNotExpressible');
    return;
  }
  if (await mustStop(bucket, pass)) return;
  try {
    const answer = await bucket.calls.destroy('s3:DeleteObject', (options) =>
      bucket.s3.send(new DeleteObjectCommand({ ...bucket.on, ...version }), options),
    );
    if (answer.means === 'done' || answer.means === 'absent') noteDeleted(bucket, 1, pass);
    else if (answer.means === 'gone') pass.stop ??= gone('deleted');
    else pass.codes.add(answer.code);
  } catch (error) {
    if (!(error instanceof CallFailed) || error.fault.status !== 403) throw error;
    noteFault(pass, version, classifyCode('s3:DeleteObject', error.fault.code, s3Errors));
  }
}

async function mustStop(bucket: Bucket, pass: Pass): Promise<boolean> {
  if (pass.stop !== undefined || pass.denied !== undefined) return true;
  const stop = await bucket.ensureOwned();
  if (stop !== undefined) pass.stop ??= stop;
  return stop !== undefined;
}

function noteDeleted(bucket: Bucket, number: number, pass: Pass): void {
  if (number <= 0) return;
  pass.deleted += number;
  bucket.count('versions', number);
}

function noteFault(pass: Pass, version: Version, fault: Fault): void {
  if (fault.means === 'absent') return;
  pass.codes.add(fault.code);
  if (fault.reason === 'AccessDeniedOrForeign') pass.denied ??= version;
}
