/*
 * The age guard and the mark (trap V12). A proof without the object's uid fits a successor's bucket of the same name as
 * well, so under such a proof a bucket has to be older than the deletion, or to carry the mark that this deletion put on it
 * at its first step: S3 dates a bucket anew when its policy changes. Called by s3-bucket.ts before anything else is changed.
 */
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import { pending, refused } from '../../handler.ts';
import { judgeAge, MARK_TAG, markOf, type Tags } from '../../ownership.ts';
import { arnPartition } from '../../places.ts';
import { TagResourceCommand } from './control.ts';
import type { Context } from './settings.ts';

/** Whether these tags let nobody mistake another object's bucket for this one's. */
export function isSurelyOurs({ ownership, request }: Context, tags: Tags): boolean {
  return judgeAge(request, ownership, { tags, created: undefined }) === 'sure';
}

/** Refuses a bucket that may belong to a successor. */
export async function refuseYounger(context: Context, region: string): Promise<Outcome | undefined> {
  const { bucket } = context.target;
  const { deletionTimestamp } = context.request.object;
  const created = await creationOf(context, region);
  const how = `to have it deleted all the same, give it the tag ${MARK_TAG} with the value ${markOf(context.request)}`;
  if (created === undefined) {
    const message = `this function's account does not list bucket ${bucket}, so its age is not known; ${how}`;
    return refused({ reason: 'AgeUnknown', message });
  }
  const age = judgeAge(context.request, context.ownership, { tags: new Map(), created: created.getTime() });
  if (age !== 'younger') return undefined;
  const dates = `bucket ${bucket} is dated ${created.toISOString()}, the deletion began ${deletionTimestamp}`;
  return refused({ reason: 'YoungerThanDeletion', message: `${dates}; ${how}` });
}

/** Puts the mark on; the bucket's other tags are not written, so that none that somebody puts there now is lost. */
export async function mark({ account, calls, client, request, target }: Context, region: string): Promise<void> {
  const command = new TagResourceCommand({
    AccountId: account,
    ResourceArn: `arn:${arnPartition(region)}:s3:::${target.bucket}`,
    Tags: [{ Key: MARK_TAG, Value: markOf(request) }],
  });
  const answer = await calls.destroy('s3:TagResource', (options) => client(region).send(command, options));
  if (answer.means !== 'done') throw new Error(`marking bucket ${target.bucket}: ${answer.code}`);
}

/** What to say when a bucket that was ours a moment ago carries no mark: too new a one, or another bucket. */
export function markNotSeen(name: string): Outcome {
  return pending({ reason: 'MarkNotSeen', message: `bucket ${name} does not show the mark of this deletion` });
}

/** When a bucket was made, as its own account lists it: no other call says. */
async function creationOf({ calls, client, target }: Context, region: string): Promise<Date | undefined> {
  const command = new ListBucketsCommand({ Prefix: target.bucket, BucketRegion: region, MaxBuckets: 100 });
  const answer = await calls.look('s3:ListBuckets', (options) => client(region).send(command, options));
  if (answer.means !== 'done') throw new Error(`listing buckets: ${answer.code}`);
  return answer.value.Buckets?.find(({ Name }) => Name === target.bucket)?.CreationDate;
}
