/*
 * Answers of EC2 beside those for instances (scripted-aws.ts): volumes, snapshots, addresses, spot requests, fleets,
 * protections. In the shapes of the API reference, for what no emulator shows. Used by test/functions.
 */
import type { Reply, ScriptedAws, Seen } from './scripted-aws.ts';
import { xml } from './scripted-aws.ts';

type Tags = Readonly<Record<string, string>>;
const tagSet = (tags: Tags = {}) =>
  `<tagSet>${Object.entries(tags)
    .map(([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`)
    .join('')}</tagSet>`;
const element = (name: string, value: string | undefined) => (value === undefined ? '' : `<${name}>${value}</${name}>`);

/** The answer to a call that says no more than that it was done. */
export function done(operation: string, body = ''): Reply {
  return xml(`<${operation}Response>${body}<return>true</return></${operation}Response>`);
}

/** A volume as DescribeVolumes has it. */
export interface DescribedVolume {
  readonly volumeId: string;
  readonly state: string;
  readonly tags?: Tags;
  readonly createTime?: string;
  readonly owner?: string;
  /** Instances that hold it, and in what state of attachment. */
  readonly attachedTo?: Readonly<Record<string, string>>;
}

/** The answer of DescribeVolumes; a page if a token follows. */
export function volumes(list: readonly DescribedVolume[], nextToken?: string): Reply {
  const items = list.map(({ volumeId, state, tags, createTime, owner, attachedTo = {} }) => {
    const attachments = Object.entries(attachedTo).map(
      ([instanceId, status]) => `<item>${element('instanceId', instanceId)}${element('status', status)}</item>`,
    );
    return `<item>${element('volumeId', volumeId)}${element('status', state)}${element('createTime', createTime)}${element('ownerId', owner)}<attachmentSet>${attachments.join('')}</attachmentSet>${tagSet(tags)}</item>`;
  });
  return xml(
    `<DescribeVolumesResponse><volumeSet>${items.join('')}</volumeSet>${element('nextToken', nextToken)}</DescribeVolumesResponse>`,
  );
}

/** A snapshot as DescribeSnapshots has it. */
export interface DescribedSnapshot {
  readonly snapshotId: string;
  readonly volumeId: string;
  readonly state: string;
  readonly tags?: Tags;
  readonly progress?: string;
}

/** The answer of DescribeSnapshots; a page if a token follows. */
export function snapshots(list: readonly DescribedSnapshot[], nextToken?: string): Reply {
  const items = list.map((one) => `<item>${snapshotBody(one)}</item>`);
  return xml(
    `<DescribeSnapshotsResponse><snapshotSet>${items.join('')}</snapshotSet>${element('nextToken', nextToken)}</DescribeSnapshotsResponse>`,
  );
}

/** The answer of CreateSnapshot. */
export function snapshotBegun(snapshot: DescribedSnapshot): Reply {
  return xml(`<CreateSnapshotResponse>${snapshotBody(snapshot)}</CreateSnapshotResponse>`);
}

function snapshotBody({ snapshotId, volumeId, state, tags, progress }: DescribedSnapshot): string {
  return `${element('snapshotId', snapshotId)}${element('volumeId', volumeId)}${element('status', state)}${element('progress', progress)}${tagSet(tags)}`;
}

/** The answer of DescribeAddresses. */
export function addresses(
  ...list: readonly { readonly allocationId: string; readonly associationId?: string; readonly tags?: Tags }[]
): Reply {
  const items = list.map(
    ({ allocationId, associationId, tags }) =>
      `<item>${element('allocationId', allocationId)}${element('associationId', associationId)}${tagSet(tags)}</item>`,
  );
  return xml(`<DescribeAddressesResponse><addressesSet>${items.join('')}</addressesSet></DescribeAddressesResponse>`);
}

/** The answer of DescribeSpotInstanceRequests for one request. */
export function spotRequest(facts: {
  readonly id: string;
  readonly type: 'persistent' | 'one-time';
  readonly state: string;
  readonly instanceId?: string;
}): Reply {
  const body = `${element('spotInstanceRequestId', facts.id)}${element('type', facts.type)}${element('state', facts.state)}${element('instanceId', facts.instanceId)}`;
  return xml(
    `<DescribeSpotInstanceRequestsResponse><spotInstanceRequestSet><item>${body}</item></spotInstanceRequestSet></DescribeSpotInstanceRequestsResponse>`,
  );
}

/** The answer of DescribeFleets; a page if a token follows. */
export function fleets(ids: readonly string[], nextToken?: string): Reply {
  const items = ids.map((id) => `<item>${element('fleetId', id)}</item>`);
  return xml(
    `<DescribeFleetsResponse><fleetSet>${items.join('')}</fleetSet>${element('nextToken', nextToken)}</DescribeFleetsResponse>`,
  );
}

/** The answer of DescribeSpotFleetRequests for one request. */
export function spotFleet(id: string, type: string, state: string): Reply {
  return xml(
    `<DescribeSpotFleetRequestsResponse><spotFleetRequestConfigSet><item>${element('spotFleetRequestId', id)}${element('spotFleetRequestState', state)}<spotFleetRequestConfig>${element('type', type)}</spotFleetRequestConfig></item></spotFleetRequestConfigSet></DescribeSpotFleetRequestsResponse>`,
  );
}

/** Answers DescribeInstanceAttribute: which protections are on. */
export function protections(on: readonly ('disableApiTermination' | 'disableApiStop')[]): (seen: Seen) => Reply {
  return ({ body }) => {
    const attribute = new URLSearchParams(body).get('Attribute') ?? '';
    const value = on.some((one) => one === attribute);
    return xml(
      `<DescribeInstanceAttributeResponse><${attribute}><value>${value}</value></${attribute}></DescribeInstanceAttributeResponse>`,
    );
  };
}

/** The parameters of each call of an operation, in order. */
export function parametersOf(aws: ScriptedAws, operation: string): readonly Readonly<Record<string, string>>[] {
  return aws.seen
    .filter((seen) => seen.operation === operation)
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
}
