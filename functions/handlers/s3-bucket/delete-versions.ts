/*
 * Deletes all versions and delete markers of a bucket in one pass. Called by s3-bucket.ts until a pass finds nothing.
 * Versions are always listed, also where versioning never was on or is suspended. Deletes are in flight while listing
 * goes on; memory holds a few pages, whatever the bucket holds. What a delete did not take is found by the next pass.
 */
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { classifyCode, type Fault, isTransient } from '../../aws-errors.ts';
import { CallFailed } from '../../calls.ts';
import { gone } from '../../handler.ts';
import { pause } from '../../ports.ts';
import { type Bucket, eachBounded, newPass, type Pass, type Version } from './bucket.ts';
import { s3Errors } from './errors.ts';
import { walkVersions } from './list-versions.ts';
import { createPace, type Pace } from './pace.ts';
import { deleteVersionsCommand } from './page-commands.ts';

const SINGLE_DELETES_IN_FLIGHT = 8;
/** After trouble that passes, a pass ends and the next one waits, each time longer. */
const TROUBLE_PAUSE_MS = 500;
const TROUBLE_MAX = 5;
/** How many of the versions that are denied are looked at. */
const DENIED_MAX = 8;

/** One pass at work. */
interface Work {
  readonly bucket: Bucket;
  readonly pass: Pass;
  readonly pace: Pace;
}

/** One pass. @throws OutOfTime; CallFailed for whatever does not pass within the run. */
export async function deleteVersions(bucket: Bucket): Promise<Pass> {
  const pass = newPass();
  const work: Work = { bucket, pass, pace: createPace(bucket.clock, bucket.signal) };
  for (let trouble = 1; ; trouble += 1) {
    const before = pass.deleted;
    const failure = await onePass(work);
    if (failure === undefined || pass.stop !== undefined) return pass;
    if (pass.deleted > before) trouble = 1;
    const { error } = failure;
    if (!(error instanceof CallFailed) || !isTransient(error.fault) || trouble === TROUBLE_MAX) throw error;
    await pause(bucket.clock, TROUBLE_PAUSE_MS * 2 ** (trouble - 1), bucket.signal);
  }
}

/** Lists and deletes; ends early, with what was thrown, when a call fails. Never rejects. */
async function onePass(work: Work): Promise<{ readonly error: unknown } | undefined> {
  const { bucket, pass, pace } = work;
  const state: { failure?: { readonly error: unknown } } = {};
  const isEnded = () => state.failure !== undefined || hasEnded(pass);
  const fail = (error: unknown) => {
    state.failure ??= { error };
  };
  const onPage = (page: readonly Version[]) =>
    pace.begin(async () => {
      if (!isEnded()) await deletePage(work, page).catch(fail);
    });
  await walkVersions(bucket, pass, { onPage, isEnded }).catch(fail);
  await pace.rest();
  return state.failure;
}

function hasEnded({ stop, denied }: Pass): boolean {
  return stop !== undefined || denied.length > 0;
}

async function deletePage(work: Work, page: readonly Version[]): Promise<void> {
  const singly = page.filter(({ Key }) => !isExpressible(Key));
  const together = singly.length === 0 ? page : page.filter(({ Key }) => isExpressible(Key));
  if (together.length > 0 && !(await deleteTogether(work, together))) singly.push(...together);
  await eachBounded(singly, SINGLE_DELETES_IN_FLIGHT, (version) => patiently(work, () => deleteSingly(work, version)));
}

/** Repeats what S3 had no room for, more slowly; ownership is read again as before any delete. */
async function patiently<T>({ pace }: Work, attempt: () => Promise<T>): Promise<T> {
  for (let trouble = 1; ; trouble += 1) {
    try {
      const value = await attempt();
      pace.wentWell();
      return value;
    } catch (error) {
      if (!(error instanceof CallFailed) || !isTransient(error.fault) || trouble === TROUBLE_MAX) throw error;
      pace.slowDown();
      await pace.paused();
    }
  }
}

/** Whether a key survives XML 1.0 unharmed: most control characters cannot be written, others are normalised. */
export function isExpressible(key: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return key.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\ufffe\uffff]/.test(key);
}

/** False if S3 could not read the keys in one call. */
async function deleteTogether(work: Work, versions: readonly Version[]): Promise<boolean> {
  const { bucket, pass } = work;
  const input = inputOf(bucket);
  const answer = await patiently(work, async () => {
    if (await mustStop(bucket, pass)) return 'stop';
    return bucket.destroy('s3:DeleteObjects', deleteVersionsCommand(input, versions));
  });
  if (answer === 'stop') return true;
  if (answer.means === 'unready') return false;
  if (answer.means === 'gone') pass.stop ??= gone('deleted');
  if (answer.means !== 'done') {
    pass.codes.add(answer.code);
    return true;
  }
  // A 200 says only that the list was read: each key has its own fate.
  const errors = answer.value.Errors ?? [];
  for (const { Key = '', VersionId, Code = 'Unknown' } of errors) {
    const version = { Key, VersionId };
    noteFault(work, version, classifyCode('s3:DeleteObjects', Code, s3Errors));
  }
  noteDeleted(bucket, versions.length - errors.length, pass);
  return true;
}

async function deleteSingly(work: Work, version: Version): Promise<void> {
  const { bucket, pass } = work;
  // The key becomes a path here, and a dot segment in a path can mean another object.
  if (version.Key.split('/').some((segment) => segment === '.' || segment === '..')) {
    pass.codes.add('KeyNotExpressible');
    return;
  }
  if (await mustStop(bucket, pass)) return;
  try {
    const answer = await bucket.destroy('s3:DeleteObject', new DeleteObjectCommand({ ...inputOf(bucket), ...version }));
    if (answer.means === 'done') noteDeleted(bucket, 1, pass);
    else if (answer.means === 'absent') noteAbsent(pass);
    else if (answer.means === 'gone') pass.stop ??= gone('deleted');
    else pass.codes.add(answer.code);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    const { code, reason, status } = error.fault;
    if (status === 403) noteFault(work, version, classifyCode('s3:DeleteObject', code, s3Errors));
    // One that S3 does not let go for a reason of its own keeps nothing else.
    else if (reason === 'UnexpectedError') pass.codes.add(code);
    else throw error;
  }
}

async function mustStop(bucket: Bucket, pass: Pass): Promise<boolean> {
  if (hasEnded(pass)) return true;
  const stop = await bucket.ensureOwned();
  if (stop !== undefined) pass.stop ??= stop;
  return stop !== undefined;
}

function noteDeleted(bucket: Bucket, number: number, pass: Pass): void {
  if (number <= 0) return;
  pass.deleted += number;
  bucket.count('versions', number);
}

/** Listed, and not there: the next pass would find it again. */
function noteAbsent(pass: Pass): void {
  pass.seen -= 1;
}

function noteFault({ pass, pace }: Work, version: Version, fault: Fault): void {
  if (fault.means === 'absent') {
    noteAbsent(pass);
    return;
  }
  pass.codes.add(fault.code);
  if (fault.reason === 'Throttled') pace.slowDown();
  if (fault.reason === 'AccessDeniedOrForeign' && pass.denied.length < DENIED_MAX) pass.denied.push(version);
}

/** S3 takes the wish to bypass only where object lock is on. */
function inputOf({ objects, bypass }: Bucket) {
  return bypass ? { ...objects, BypassGovernanceRetention: true } : objects;
}
