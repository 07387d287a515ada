/*
 * What S3's codes mean, by call. Pure. See the API reference of each operation and "Error responses" of S3.
 * 403 is never in here as anything but "again": an answer that could come from another owner proves nothing.
 */
import type { ErrorRow, ErrorTable } from '../../aws-errors.ts';

const row = (means: ErrorRow['means'], reason: string): ErrorRow => ({ means, reason });
const noBucket = row('gone', 'NotFound');
const elsewhere = row('elsewhere', 'RegionMismatch');
const denied = row('again', 'AccessDeniedOrForeign');
const noTarget = row('refused', 'InvalidTarget');
const notFound = row('absent', 'NotFound');
const notLocked = row('absent', 'NotLocked');
const noVersion = { NoSuchKey: notFound, NoSuchVersion: notFound };
const lockOfVersion = {
  ...noVersion,
  NoSuchObjectLockConfiguration: notLocked,
  InvalidRequest: notLocked,
  MethodNotAllowed: row('absent', 'DeleteMarker'),
};
/** The control API has buckets of its own to miss; none of its answers says that the bucket is gone. */
const control = { NoSuchBucket: row('again', 'NotAnswered') };

/** S3's rows. The call `*` holds what every bucket call may answer. */
export const s3Errors: ErrorTable = {
  '*': {
    NoSuchBucket: noBucket,
    AccessDenied: denied,
    AllAccessDisabled: denied,
    AccountProblem: denied,
    PermanentRedirect: elsewhere,
    TemporaryRedirect: elsewhere,
    Redirect: elsewhere,
    IllegalLocationConstraintException: elsewhere,
    AuthorizationHeaderMalformed: elsewhere,
    InvalidBucketName: noTarget,
    InvalidBucketOwnerAWSAccountID: noTarget,
    OperationAborted: row('again', 'OperationAborted'),
  },
  's3:ListAccessPoints': control,
  's3:TagResource': control,
  's3:DeleteAccessPoint': { ...control, NoSuchAccessPoint: notFound },
  's3:GetBucketPolicy': { NoSuchBucketPolicy: row('absent', 'NoPolicy') },
  's3:GetBucketTagging': { NoSuchTagSet: row('absent', 'NotTagged') },
  's3:GetObjectLockConfiguration': { ObjectLockConfigurationNotFoundError: notLocked },
  's3:GetObjectLegalHold': lockOfVersion,
  's3:GetObjectRetention': lockOfVersion,
  's3:DeleteObjects': { ...noVersion, MalformedXML: row('unready', 'KeysNotExpressible') },
  's3:DeleteObject': noVersion,
  's3:AbortMultipartUpload': { NoSuchUpload: notFound },
  's3:DeleteBucket': {
    BucketNotEmpty: row('unready', 'NotEmpty'),
    BucketHasAccessPointsAttached: row('refused', 'AccessPointsAttached'),
  },
};
