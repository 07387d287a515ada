/*
 * What EC2's codes mean, by call. Pure. Shared by the handlers for instances and volumes, which speak to one service.
 * See the API's error code reference; what stands in no row means "again", such as VolumeInUse and IncorrectState.
 */
import type { ErrorRow, ErrorTable } from './aws-errors.ts';

const notFound: ErrorRow = { means: 'gone', reason: 'NotFound' };
const absent: ErrorRow = { means: 'absent', reason: 'NotFound' };
const again = (reason: string): ErrorRow => ({ means: 'again', reason });
const invalid: ErrorRow = { means: 'refused', reason: 'InvalidTarget' };
const refusals = {
  OperationNotPermitted: { means: 'refused', reason: 'OperationNotPermitted' },
  UnsupportedOperation: { means: 'refused', reason: 'UnsupportedOperation' },
} as const;

const instance = { 'InvalidInstanceID.NotFound': notFound, 'InvalidInstanceID.Malformed': invalid };
const instanceState = { IncorrectInstanceState: again('IncorrectInstanceState') };
const volume = { 'InvalidVolume.NotFound': notFound, 'InvalidVolumeID.Malformed': invalid };
const volumeState = { VolumeInUse: again('VolumeInUse'), IncorrectState: again('IncorrectState') };
const address = { 'InvalidAllocationID.NotFound': notFound };
const spotRequest = { 'InvalidSpotInstanceRequestID.NotFound': absent };

/** EC2's rows. */
export const ec2Errors: ErrorTable = {
  'ec2:DescribeInstances': instance,
  'ec2:DescribeInstanceAttribute': instance,
  'ec2:ModifyInstanceAttribute': { ...instance, ...instanceState, ...refusals },
  'ec2:TerminateInstances': { ...instance, ...instanceState, ...refusals },
  'ec2:DescribeSpotInstanceRequests': spotRequest,
  'ec2:CancelSpotInstanceRequests': spotRequest,
  'ec2:DescribeSpotFleetRequests': { 'InvalidSpotFleetRequestId.NotFound': absent },
  'ec2:DescribeVolumes': volume,
  'ec2:DetachVolume': { ...volume, ...volumeState, ...refusals, 'InvalidAttachment.NotFound': absent },
  'ec2:CreateSnapshot': {
    ...volume,
    ...volumeState,
    ...refusals,
    SnapshotCreationPerVolumeRateExceeded: again('Throttled'),
    ConcurrentSnapshotLimitExceeded: again('Throttled'),
    PendingSnapshotLimitExceeded: again('Throttled'),
    SnapshotLimitExceeded: { means: 'refused', reason: 'SnapshotLimitExceeded' },
  },
  'ec2:DeleteVolume': { ...volume, ...volumeState, ...refusals },
  'ec2:ReleaseAddress': {
    ...address,
    ...refusals,
    'InvalidIPAddress.InUse': again('AddressInUse'),
    'InvalidAddress.Locked': { means: 'refused', reason: 'AddressLocked' },
  },
  'ec2:CreateTags': {
    ...address,
    'InvalidInstanceID.NotFound': notFound,
    'InvalidVolume.NotFound': notFound,
    TagLimitExceeded: { means: 'refused', reason: 'TagLimitExceeded' },
    TagPolicyViolation: { means: 'refused', reason: 'TagPolicyViolation' },
  },
};
