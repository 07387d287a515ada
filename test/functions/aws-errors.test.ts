/*
 * The table of error codes, a test per code: what each means for the call that it came from.
 * Also that no status which proves nothing is ever taken for an absence.
 */
import { describe, expect, it } from 'vitest';
import { classify, classifyCode, type ErrorTable, GENERAL_ERRORS } from '../../functions/aws-errors.ts';
import { instanceErrors, volumeErrors } from '../../functions/ec2-errors.ts';
import { s3Errors } from '../../functions/handlers/s3-bucket/errors.ts';
import { snsErrors } from '../../functions/handlers/sns-notify.ts';
import { registry } from '../../functions/registry.ts';

/** What the SDK throws for an answer with this code. */
const serviceError = (code: string, httpStatusCode: number) =>
  Object.assign(new Error('a message that nothing reads'), { name: code, $metadata: { httpStatusCode } });

type Row = readonly [code: string, status: number, means: string];
const instance: readonly Row[] = [
  ['InvalidInstanceID.NotFound', 400, 'gone'],
  ['InvalidInstanceID.Malformed', 400, 'refused'],
];
const volume: readonly Row[] = [
  ['InvalidVolume.NotFound', 400, 'gone'],
  ['InvalidVolumeID.Malformed', 400, 'refused'],
];
const notPermitted: readonly Row[] = [
  ['OperationNotPermitted', 400, 'refused'],
  ['UnsupportedOperation', 400, 'refused'],
];

/** All codes that mean anything but "again", written down a second time on purpose. */
const expected: Readonly<Record<string, readonly Row[]>> = {
  's3:GetBucketTagging': [
    ['NoSuchBucket', 404, 'gone'],
    ['NoSuchTagSet', 404, 'absent'],
    ['PermanentRedirect', 301, 'elsewhere'],
    ['TemporaryRedirect', 307, 'elsewhere'],
    ['Redirect', 307, 'elsewhere'],
    ['IllegalLocationConstraintException', 400, 'elsewhere'],
    ['AuthorizationHeaderMalformed', 400, 'elsewhere'],
    ['InvalidBucketName', 400, 'refused'],
    ['InvalidBucketOwnerAWSAccountID', 400, 'refused'],
  ],
  's3:GetObjectLockConfiguration': [['ObjectLockConfigurationNotFoundError', 404, 'absent']],
  's3:GetObjectLegalHold': [
    ['NoSuchObjectLockConfiguration', 404, 'absent'],
    ['InvalidRequest', 400, 'absent'],
    ['NoSuchKey', 404, 'absent'],
    ['NoSuchVersion', 404, 'absent'],
    ['MethodNotAllowed', 405, 'absent'],
  ],
  's3:GetObjectRetention': [
    ['NoSuchObjectLockConfiguration', 404, 'absent'],
    ['InvalidRequest', 400, 'absent'],
    ['NoSuchKey', 404, 'absent'],
    ['NoSuchVersion', 404, 'absent'],
    ['MethodNotAllowed', 405, 'absent'],
  ],
  's3:DeleteObjects': [
    ['NoSuchKey', 404, 'absent'],
    ['NoSuchVersion', 404, 'absent'],
    ['MalformedXML', 400, 'unready'],
  ],
  's3:DeleteObject': [
    ['NoSuchKey', 404, 'absent'],
    ['NoSuchVersion', 404, 'absent'],
  ],
  's3:AbortMultipartUpload': [['NoSuchUpload', 404, 'absent']],
  's3:DeleteBucket': [
    ['BucketNotEmpty', 409, 'unready'],
    ['BucketHasAccessPointsAttached', 400, 'refused'],
  ],
  's3:DeleteAccessPoint': [['NoSuchAccessPoint', 404, 'absent']],
  's3:GetBucketPolicy': [['NoSuchBucketPolicy', 404, 'absent']],
  'ec2:DescribeInstances': [...instance],
  'ec2:DescribeInstanceAttribute': [...instance],
  'ec2:ModifyInstanceAttribute': [...instance, ...notPermitted],
  'ec2:TerminateInstances': [...instance, ...notPermitted],
  'ec2:DescribeSpotInstanceRequests': [['InvalidSpotInstanceRequestID.NotFound', 400, 'absent']],
  'ec2:CancelSpotInstanceRequests': [['InvalidSpotInstanceRequestID.NotFound', 400, 'absent']],
  'ec2:DescribeSpotFleetRequests': [['InvalidSpotFleetRequestId.NotFound', 400, 'absent']],
  'ec2:DescribeVolumes': [...volume],
  'ec2:DetachVolume': [...volume, ...notPermitted, ['InvalidAttachment.NotFound', 400, 'absent']],
  'ec2:CreateSnapshot': [...volume, ...notPermitted, ['SnapshotLimitExceeded', 400, 'refused']],
  'ec2:DeleteVolume': [...volume, ...notPermitted],
  'ec2:ReleaseAddress': [
    ['InvalidAllocationID.NotFound', 400, 'gone'],
    ...notPermitted,
    ['InvalidAddress.Locked', 400, 'refused'],
  ],
  'ec2:CreateTags': [
    ['InvalidInstanceID.NotFound', 400, 'gone'],
    ['InvalidVolume.NotFound', 400, 'gone'],
    ['InvalidAllocationID.NotFound', 400, 'gone'],
    ['TagLimitExceeded', 400, 'refused'],
    ['TagPolicyViolation', 400, 'refused'],
  ],
  'sns:ListTagsForResource': [
    ['ResourceNotFound', 404, 'refused'],
    ['InvalidParameter', 400, 'refused'],
  ],
  'sns:Publish': [
    ['NotFound', 404, 'refused'],
    ['InvalidParameter', 400, 'refused'],
    ['KMSAccessDenied', 400, 'refused'],
    ['KMSDisabled', 400, 'refused'],
    ['KMSInvalidState', 400, 'refused'],
    ['KMSNotFound', 400, 'refused'],
    ['KMSOptInRequired', 403, 'refused'],
  ],
};
const ec2Errors = { ...volumeErrors, ...instanceErrors };
const tables: Readonly<Record<string, ErrorTable>> = { s3: s3Errors, ec2: ec2Errors, sns: snsErrors };
const tableOf = (call: string) => tables[call.split(':')[0] ?? ''] ?? {};
const expectations = Object.entries(expected).flatMap(([call, rows]) => rows.map((row) => [call, ...row] as const));

describe('rows of the shipped handlers', () => {
  it.each(expectations)('%s: %s (HTTP %i) means %s (C9)', (call, code, status, means) => {
    expect(classify(call, serviceError(code, status), tableOf(call))).toMatchObject({ means, call, code, status });
  });

  it.each(expectations)('%s: %s proves nothing when it comes as a 403, 429 or 5xx (C5)', (call, code) => {
    for (const status of [401, 403, 408, 429, 500, 503]) {
      const { means } = classify(call, serviceError(code, status), tableOf(call));
      expect(['gone', 'absent']).not.toContain(means);
    }
  });

  it('has no row with a meaning that this test does not know', () => {
    const ofCall = (call: string) => (call === '*' ? 's3:GetBucketTagging' : call);
    const known = new Set(expectations.map(([call, code]) => `${call} ${code}`));
    const unknown = Object.values(tables).flatMap((table) =>
      Object.entries(table).flatMap(([call, rows]) =>
        Object.entries(rows)
          .filter(([code, row]) => row.means !== 'again' && !known.has(`${ofCall(call)} ${code}`))
          .map(([code]) => `${call} ${code}`),
      ),
    );
    expect(unknown).toEqual([]);
  });

  it.each(['s3:ListAccessPoints', 's3:DeleteAccessPoint', 's3:TagResource'])(
    'does not take the answer of %s, which may be about another bucket, for gone',
    (call) => {
      expect(classify(call, serviceError('NoSuchBucket', 404), s3Errors).means).toBe('again');
    },
  );

  it('does not take the not-found of another call or service for this one', () => {
    expect(classify('s3:GetBucketTagging', serviceError('NoSuchKey', 404), s3Errors).means).toBe('again');
    expect(classify('s3:DeleteBucket', serviceError('NoSuchTagSet', 404), s3Errors).means).toBe('again');
    expect(classify('ec2:DescribeInstances', serviceError('NoSuchBucket', 404), ec2Errors).means).toBe('again');
    expect(classify('s3:GetBucketTagging', serviceError('NoSuchBucket', 404), {}).means).toBe('again');
  });
});

describe('rows that say why it has to be tried again', () => {
  it.each([
    ['ec2:TerminateInstances', 'IncorrectInstanceState', 'IncorrectInstanceState'],
    ['ec2:ModifyInstanceAttribute', 'IncorrectInstanceState', 'IncorrectInstanceState'],
    ['ec2:DeleteVolume', 'VolumeInUse', 'VolumeInUse'],
    ['ec2:DeleteVolume', 'IncorrectState', 'IncorrectState'],
    ['ec2:DetachVolume', 'IncorrectState', 'IncorrectState'],
    ['ec2:DetachVolume', 'VolumeInUse', 'VolumeInUse'],
    ['ec2:CreateSnapshot', 'IncorrectState', 'IncorrectState'],
    ['ec2:CreateSnapshot', 'SnapshotCreationPerVolumeRateExceeded', 'Throttled'],
    ['ec2:CreateSnapshot', 'ConcurrentSnapshotLimitExceeded', 'Throttled'],
    ['ec2:CreateSnapshot', 'PendingSnapshotLimitExceeded', 'Throttled'],
    ['ec2:ReleaseAddress', 'InvalidIPAddress.InUse', 'AddressInUse'],
    ['autoscaling:TerminateInstanceInAutoScalingGroup', 'ValidationError', 'ScalingRefused'],
    ['autoscaling:TerminateInstanceInAutoScalingGroup', 'ResourceContention', 'ScalingInProgress'],
  ])('%s: %s means again, as %s (C9)', (call, code, reason) => {
    expect(classify(call, serviceError(code, 400), ec2Errors)).toMatchObject({ means: 'again', reason });
  });
});

describe('general rows', () => {
  const general = Object.entries(GENERAL_ERRORS['*'] ?? {});

  it.each(general)('%s means again, as $reason', (code, row) => {
    expect(row.means).toBe('again');
    expect(classify('any:Call', serviceError(code, 400))).toMatchObject({ means: 'again', reason: row.reason, code });
  });

  it.each([
    [301, 'UnexpectedError'],
    [400, 'UnexpectedError'],
    [401, 'AccessDenied'],
    [403, 'AccessDenied'],
    [404, 'UnexpectedError'],
    [408, 'Unreachable'],
    [429, 'Throttled'],
    [500, 'ServiceError'],
    [503, 'ServiceError'],
  ])('an unknown code with status %i means again, as %s', (status, reason) => {
    expect(classify('any:Call', serviceError('NeverHeardOf', status))).toMatchObject({ means: 'again', reason });
  });

  it('follows a redirect without a body by its header only', () => {
    const answer = { headers: { 'x-amz-bucket-region': 'eu-west-1' } };
    const redirect = Object.assign(serviceError('Unknown', 301), { $response: answer });
    expect(classify('s3:GetBucketTagging', redirect, s3Errors)).toMatchObject({
      means: 'elsewhere',
      region: 'eu-west-1',
    });
    const denied = Object.assign(serviceError('Unknown', 403), { $response: answer });
    expect(classify('s3:GetBucketTagging', denied, s3Errors).means).toBe('again');
  });

  it.each([[undefined], [null], ['text'], [42], [{}], [new Error('x')], [Object.assign(new Error('x'), { name: 7 })]])(
    'takes %j, which is no error of a service, for again',
    (thrown) => {
      expect(classify('any:Call', thrown, s3Errors)).toMatchObject({ means: 'again', reason: 'UnexpectedError' });
    },
  );

  it('knows the codes of the network', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(classify('any:Call', refused)).toMatchObject({
      means: 'again',
      reason: 'Unreachable',
      code: 'ECONNREFUSED',
    });
  });

  it('is not fooled by names that every object has', () => {
    for (const code of ['constructor', 'toString', '__proto__']) {
      expect(classify('s3:DeleteBucket', serviceError(code, 404), s3Errors).means).toBe('again');
    }
  });
});

it('classifies the codes of per-key errors', () => {
  expect(classifyCode('s3:DeleteObjects', 'NoSuchVersion', s3Errors).means).toBe('absent');
  expect(classifyCode('s3:DeleteObjects', 'AccessDenied', s3Errors)).toMatchObject({ reason: 'AccessDeniedOrForeign' });
  expect(classifyCode('s3:DeleteObjects', 'Whatever', s3Errors)).toMatchObject({ reason: 'UnexpectedError' });
});

it('gives reasons that results can carry, in every registered handler', () => {
  const rows = registry.flatMap(({ errors }) => Object.values(errors).flatMap((byCode) => Object.values(byCode)));
  expect(rows.length).toBeGreaterThan(20);
  for (const { reason } of rows) expect(reason).toMatch(/^[A-Z][A-Za-z0-9]{0,63}$/);
});
