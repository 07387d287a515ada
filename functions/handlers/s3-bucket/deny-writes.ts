/*
 * Keeps others from filling the bucket while it is emptied: one statement in its policy that denies writes to everybody,
 * called by s3-bucket.ts before emptying, and taken out again when the deletion is refused. Best effort: a policy that is
 * full, public where that is blocked, or not ours to change only means that the bucket may have to be emptied more often.
 * The statement names the deletion and ends with its request, so that it cannot outlive a release or a crash for long.
 */
import { DeleteBucketPolicyCommand, GetBucketPolicyCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import { isTransient } from '../../aws-errors.ts';
import { CallFailed } from '../../calls.ts';
import { arnPartition } from '../../places.ts';
import type { Bucket } from './bucket.ts';
import { withoutStatement, withStatement } from './policy-text.ts';

/** Never what the function itself needs: deleting and listing stay as they were. */
const WRITES = ['s3:PutObject', 's3:ReplicateObject', 's3:ReplicateDelete'];

/** Puts the statement in. An outcome means: stop with it. @throws OutOfTime */
export async function denyWrites(bucket: Bucket): Promise<Outcome | undefined> {
  const { destroy, on } = bucket;
  try {
    const policy = await readPolicy(bucket);
    if (policy.is === 'unknown') return undefined;
    const { sid, statement } = statementFor(bucket);
    // Written by an earlier run of the same request.
    if (policy.is === 'there' && policy.text.includes(sid) && policy.text.includes(endOf(bucket))) return undefined;
    const Policy = withStatement(policy.is === 'there' ? policy.text : undefined, statement, sid);
    if (Policy === undefined) return undefined;
    const stop = await bucket.ensureOwned();
    if (stop !== undefined) return stop;
    await destroy('s3:PutBucketPolicy', new PutBucketPolicyCommand({ ...on, Policy }));
  } catch (error) {
    giveUp(bucket, error);
  }
  return undefined;
}

/**
 * Takes the statement out, if it is there; every other byte of the policy stays.
 * @throws CallFailed for trouble that passes, so that the refusal is tried again; OutOfTime
 */
export async function allowWrites(bucket: Bucket): Promise<void> {
  const { restore, on } = bucket;
  try {
    const policy = await readPolicy(bucket);
    const rest = policy.is === 'there' ? withoutStatement(policy.text, statementFor(bucket).sid) : undefined;
    if (rest === undefined) return;
    if (rest === '') {
      await restore('s3:DeleteBucketPolicy', new DeleteBucketPolicyCommand(on));
    } else {
      const send = new PutBucketPolicyCommand({ ...on, Policy: rest });
      await restore('s3:PutBucketPolicy', send);
    }
  } catch (error) {
    const passes =
      error instanceof CallFailed && (isTransient(error.fault) || error.fault.reason === 'OperationAborted');
    if (passes) throw error;
    giveUp(bucket, error);
  }
}

type Policy = { readonly is: 'there'; readonly text: string } | { readonly is: 'none' | 'unknown' };

async function readPolicy({ look, on }: Bucket): Promise<Policy> {
  const answer = await look('s3:GetBucketPolicy', new GetBucketPolicyCommand(on));
  if (answer.means === 'absent') return { is: 'none' };
  const text = answer.means === 'done' ? answer.value.Policy : undefined;
  return text === undefined ? { is: 'unknown' } : { is: 'there', text };
}

function statementFor(bucket: Bucket): { readonly sid: string; readonly statement: string } {
  const sid = `FinalizerBridge${bucket.deletion.uid.replace(/[^0-9A-Za-z]/g, '')}`;
  const statement = JSON.stringify({
    Sid: sid,
    Effect: 'Deny',
    Principal: '*',
    Action: WRITES,
    Resource: `arn:${arnPartition(bucket.region)}:s3:::${bucket.name}/*`,
    Condition: { DateLessThan: { 'aws:CurrentTime': endOf(bucket) } },
  });
  return { sid, statement };
}

/** When the request expires, to the second: IAM documents no finer dates. */
function endOf({ deletion }: Bucket): string {
  return `${new Date(deletion.expires).toISOString().slice(0, 19)}Z`;
}

function giveUp({ log, name }: Bucket, error: unknown): void {
  if (!(error instanceof CallFailed)) throw error;
  log.warn('changing the policy of a bucket failed; going on without', { bucket: name, error });
}
