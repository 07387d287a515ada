/*
 * What the codes of EC2 and of its scaling groups mean, by call. Pure. A table for each of the two handlers, instances and
 * volumes, which share some calls. See the API's error code reference; what stands in no row means "again".
 */
import type { ErrorRow, ErrorTable } from './aws-errors.ts';

const notFound: ErrorRow = { means: 'gone', reason: 'NotFound' };
const absent: ErrorRow = { means: 'absent', reason: 'NotFound' };
const again = (reason: string): ErrorRow => ({ means: 'again', reason });
const refused = (reason: string): ErrorRow => ({ means: 'refused', reason });
const invalid = refused('InvalidTarget');
const refusals = {
  OperationNotPermitted: refused('OperationNotPermitted'),
  UnsupportedOperation: refused('UnsupportedOperation'),
};

const instance = { 'InvalidInstanceID.NotFound': notFound, 'InvalidInstanceID.Malformed': invalid };
const instanceState = { IncorrectInstanceState: again('IncorrectInstanceState') };
const volume = { 'InvalidVolume.NotFound': notFound, 'InvalidVolumeID.Malformed': invalid };
const volumeState = { VolumeInUse: again('VolumeInUse'), IncorrectState: again('IncorrectState') };
const address = { 'InvalidAllocationID.NotFound': notFound };
const spotRequest = { 'InvalidSpotInstanceRequestID.NotFound': absent };
const tagging = {
  'InvalidVolume.NotFound': notFound,
  TagLimitExceeded: refused('TagLimitExceeded'),
  TagPolicyViolation: refused('TagPolicyViolation'),
};

/** Calls that both handlers make: an instance may leave volumes behind. */
const volumes: ErrorTable = {
  'ec2:DescribeVolumes': volume,
  'ec2:DeleteVolume': { ...volume, ...volumeState, ...refusals },
};

/** Rows for ec2-instance. */
export const instanceErrors: ErrorTable = {
  ...volumes,
  'ec2:DescribeInstances': instance,
  'ec2:DescribeInstanceAttribute': instance,
  'ec2:ModifyInstanceAttribute': { ...instance, ...instanceState, ...refusals },
  'ec2:TerminateInstances': { ...instance, ...instanceState, ...refusals },
  'ec2:DescribeSpotInstanceRequests': spotRequest,
  'ec2:CancelSpotInstanceRequests': spotRequest,
  'ec2:DescribeSpotFleetRequests': { 'InvalidSpotFleetRequestId.NotFound': absent },
  'ec2:ReleaseAddress': {
    ...address,
    ...refusals,
    'InvalidIPAddress.InUse': again('AddressInUse'),
    'InvalidAddress.Locked': refused('AddressLocked'),
  },
  'ec2:CreateTags': { ...tagging, ...address, 'InvalidInstanceID.NotFound': notFound },
  // One code for a group at its smallest size and for an instance that it does not have: the next look tells.
  'autoscaling:TerminateInstanceInAutoScalingGroup': {
    ValidationError: again('ScalingRefused'),
    ScalingActivityInProgress: again('ScalingInProgress'),
    ResourceContention: again('ScalingInProgress'),
  },
};

/** Rows for ebs-volume. */
export const volumeErrors: ErrorTable = {
  ...volumes,
  'ec2:DetachVolume': { ...volume, ...volumeState, ...refusals, 'InvalidAttachment.NotFound': absent },
  'ec2:CreateSnapshot': {
    ...volume,
    ...volumeState,
    ...refusals,
    SnapshotCreationPerVolumeRateExceeded: again('Throttled'),
    ConcurrentSnapshotLimitExceeded: again('Throttled'),
    PendingSnapshotLimitExceeded: again('Throttled'),
    SnapshotLimitExceeded: refused('SnapshotLimitExceeded'),
  },
  'ec2:CreateTags': tagging,
};
