/*
 * Aborts all unfinished multipart uploads of a bucket: they cost, and one that completes would refill it.
 * Called by s3-bucket.ts before each pass over the versions.
 */
import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { CallFailed } from '../../calls.ts';
import { gone } from '../../handler.ts';
import { createMarks } from '../../marks.ts';
import { type Bucket, decodeKey, eachBounded, newPass, type Pass } from './bucket.ts';

const ABORTS_IN_FLIGHT = 8;

interface Upload {
  readonly Key: string;
  readonly UploadId: string;
}

/** One pass over all unfinished uploads. @throws CallFailed, OutOfTime */
export async function abortUploads(bucket: Bucket): Promise<Pass> {
  const pass = newPass();
  const mark = createMarks(`listing uploads of ${bucket.name}`);
  let after: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
  while (after !== undefined && pass.stop === undefined) {
    const markers: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } = after;
    const answer = await bucket.look(
      's3:ListMultipartUploads',
      new ListMultipartUploadsCommand({ ...bucket.objects, ...markers, EncodingType: 'url' }),
    );
    if (answer.means === 'gone') {
      pass.stop = gone('deleted');
      return pass;
    }
    if (answer.means !== 'done') throw new Error(`listing uploads of ${bucket.name}: ${answer.code}`);
    const { Uploads = [], IsTruncated, NextKeyMarker, NextUploadIdMarker, EncodingType } = answer.value;
    const uploads = Uploads.flatMap(({ Key, UploadId }) =>
      Key === undefined || UploadId === undefined ? [] : [{ Key: decodeKey(Key, EncodingType), UploadId }],
    );
    pass.seen += uploads.length;
    await eachBounded(uploads, ABORTS_IN_FLIGHT, (upload) => abortUpload(bucket, upload, pass));
    const next = NextKeyMarker === undefined ? undefined : decodeKey(NextKeyMarker, EncodingType);
    after =
      IsTruncated && next !== undefined
        ? { KeyMarker: next, ...(NextUploadIdMarker ? { UploadIdMarker: NextUploadIdMarker } : {}) }
        : undefined;
    if (after !== undefined) mark(JSON.stringify(after));
  }
  return pass;
}

async function abortUpload(bucket: Bucket, upload: Upload, pass: Pass): Promise<void> {
  if (pass.stop !== undefined) return;
  const stop = await bucket.ensureOwned();
  if (stop !== undefined) {
    pass.stop ??= stop;
    return;
  }
  try {
    const command = new AbortMultipartUploadCommand({ ...bucket.objects, ...upload });
    const answer = await bucket.destroy('s3:AbortMultipartUpload', command);
    if (answer.means === 'done') {
      pass.deleted += 1;
      bucket.count('uploads', 1);
    } else if (answer.means === 'absent') {
      // Listed, and not there: the next pass would find it again.
      pass.seen -= 1;
    } else if (answer.means === 'gone') {
      pass.stop ??= gone('deleted');
    } else {
      pass.codes.add(answer.code);
    }
  } catch (error) {
    // One that S3 does not let go for a reason of its own keeps nothing else.
    if (!(error instanceof CallFailed) || error.fault.reason !== 'UnexpectedError') throw error;
    pass.codes.add(error.fault.code);
  }
}
