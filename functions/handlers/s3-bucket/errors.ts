/*
 * What S3's codes mean, by call. Pure. See the API reference of each operation and "Error responses" of S3.
 * 403 is never in here as anything but "again": an answer that could come from another owner proves nothing.
 */
import type { ErrorRow, ErrorTable } from '../../aws-errors.ts';

const noBucket: ErrorRow = { means: 'gone', reason: 'NotFound' };
const elsewhere: ErrorRow = { means: 'elsewhere', reason: 'RegionMismatch' };
const denied: ErrorRow = { means: 'again', reason: 'AccessDeniedOrForeign' };
const absent = (reason: string): ErrorRow => ({ means: 'absent', reason });

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
    InvalidBucketName: { means: 'refused', reason: 'InvalidTarget' },
    InvalidBucketOwnerAWSAccountID: { means: 'refused', reason: 'InvalidTarget' },
    OperationAborted: { means: 'again', reason: 'OperationAborted' },
  },
  's3:GetBucketTagging': { NoSuchTagSet: absent('NotTagged') },
  's3:GetObjectLockConfiguration': { ObjectLockConfigurationNotFoundError: absent('NotLocked') },
  's3:GetObjectLegalHold': {
    NoSuchObjectLockConfiguration: absent('NotLocked'),
    InvalidRequest: absent('NotLocked'),
    NoSuchKey: absent('NotFound'),
    NoSuchVersion: absent('NotFound'),
    MethodNotAllowed: absent('DeleteMarker'),
  },
  's3:GetObjectRetention': {
    NoSuchObjectLockConfiguration: absent('NotLocked'),
    InvalidRequest: absent('NotLocked'),
    NoSuchKey: absent('NotFound'),
    NoSuchVersion: absent('NotFound'),
    MethodNotAllowed: absent('DeleteMarker'),
  },
  's3:DeleteObjects': {
    NoSuchKey: absent('NotFound'),
    NoSuchVersion: absent('NotFound'),
    MalformedXML: { means: 'unready', reason: 'KeysNotExpressible' },
  },
  's3:DeleteObject': { NoSuchKey: absent('NotFound'), NoSuchVersion: absent('NotFound') },
  's3:AbortMultipartUpload': { NoSuchUpload: absent('NotFound') },
  's3:DeleteBucket': { BucketNotEmpty: { means: 'unready', reason: 'NotEmpty' } },
};
