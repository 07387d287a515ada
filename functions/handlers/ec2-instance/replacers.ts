/*
 * What would bring an instance back (C6): a scaling group, a fleet that keeps its size, a persistent spot request.
 * Groups and fleets are refused with their name, because they serve others as well (scaling-group.ts has what an option
 * does about groups); the spot request is the instance's own and is cancelled before it. Called by ec2-instance.ts.
 */
import {
  CancelSpotInstanceRequestsCommand,
  DescribeFleetsCommand,
  DescribeSpotFleetRequestsCommand,
  DescribeSpotInstanceRequestsCommand,
  type SpotInstanceRequest,
} from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { ask, askAll, change, failed, isOutcome } from '../../ec2.ts';
import { refused } from '../../handler.ts';
import { type Context, type Known, look } from './instance.ts';
import { groupOf, refuseInGroup } from './scaling-group.ts';

/** Tags that AWS sets on what its own machinery has launched. */
const FLEET_TAG = 'aws:ec2:fleet-id';
const SPOT_FLEET_TAG = 'aws:ec2spot:fleet-request-id';

/** The refusal of an instance that a group or fleet would replace. */
export async function refuseReplaced(context: Context, found: Known): Promise<Outcome | undefined> {
  const { id, tags } = found;
  const group = groupOf(found);
  if (group !== undefined) return refuseInGroup(context, found, group);
  const fleet = tags.get(FLEET_TAG);
  if (fleet !== undefined) return refuseInFleet(await keepsSize(context, fleet), id, fleet);
  const spotFleet = tags.get(SPOT_FLEET_TAG);
  if (spotFleet !== undefined) return refuseInFleet(await spotKeepsSize(context, spotFleet), id, spotFleet);
  return undefined;
}

function refuseInFleet(keeps: boolean | Outcome, id: string, fleet: string): Outcome | undefined {
  if (typeof keeps === 'object') return keeps;
  if (!keeps) return undefined;
  const message = `${id} is in fleet ${fleet}, which would replace it: delete the fleet, or lower its capacity`;
  return refused({ reason: 'InFleet', message });
}

/** Fleets of the other types launch once; they are not even listed. By filter, as an unknown id has no documented code. */
async function keepsSize(context: Context, fleet: string): Promise<boolean | Outcome> {
  const Filters = [
    { Name: 'type', Values: ['maintain'] },
    { Name: 'fleet-state', Values: ['submitted', 'active', 'modifying'] },
  ];
  const answer = await askAll(context, 'ec2:DescribeFleets', (from) => new DescribeFleetsCommand({ Filters, ...from }));
  if (answer.means !== 'done') return failed(`looking at fleet ${fleet}`, answer);
  return answer.value.some(({ Fleets = [] }) => Fleets.some(({ FleetId }) => FleetId === fleet));
}

async function spotKeepsSize(context: Context, fleet: string): Promise<boolean | Outcome> {
  const answer = await ask(
    context,
    'ec2:DescribeSpotFleetRequests',
    new DescribeSpotFleetRequestsCommand({ SpotFleetRequestIds: [fleet] }),
  );
  if (answer.means === 'absent') return false;
  if (answer.means !== 'done') return failed(`looking at fleet ${fleet}`, answer);
  const isAlive = (state: string | undefined) => ['submitted', 'active', 'modifying'].includes(state ?? '');
  return (answer.value.SpotFleetRequestConfigs ?? []).some(
    (one) => one.SpotFleetRequestConfig?.Type === 'maintain' && isAlive(one.SpotFleetRequestState),
  );
}

/**
 * Cancels the persistent spot request that an instance came from, also when the instance is down already.
 * The caller has just proven ownership of the instance. `done`: something was cancelled, so the proof may be old.
 */
export async function cancelSpotRequest(context: Context, { id, instance }: Known): Promise<'none' | 'done' | Outcome> {
  const SpotInstanceRequestIds = [instance.SpotInstanceRequestId ?? ''];
  if (SpotInstanceRequestIds[0] === '') return 'none';
  const answer = await ask(
    context,
    'ec2:DescribeSpotInstanceRequests',
    new DescribeSpotInstanceRequestsCommand({ SpotInstanceRequestIds }),
  );
  if (answer.means === 'absent') return 'none';
  if (answer.means !== 'done') return failed(`looking at the spot request of ${id}`, answer);
  const request = answer.value.SpotInstanceRequests?.find((one) => one.Type === 'persistent');
  if (request === undefined) return 'none';
  const isAlive = ['open', 'active', 'disabled'].includes(request.State ?? '');
  if (isAlive) {
    const cancelled = await change(
      context,
      'ec2:CancelSpotInstanceRequests',
      new CancelSpotInstanceRequestsCommand({ SpotInstanceRequestIds }),
    );
    if (cancelled.means !== 'done' && cancelled.means !== 'absent')
      return failed(`cancelling the spot request of ${id}`, cancelled);
  }
  return (await broughtBack(context, id, request)) ?? (isAlive ? 'done' : 'none');
}

/** An instance that the request has already launched in place of ours carries no tag of ours: a person decides. */
async function broughtBack(context: Context, id: string, request: SpotInstanceRequest): Promise<Outcome | undefined> {
  const { InstanceId: other, SpotInstanceRequestId: spot } = request;
  if (other === undefined || other === id) return undefined;
  const found = await look(context, other);
  if (found === undefined || isOutcome(found)) return found;
  if (isDown(found.instance.State?.Name)) return undefined;
  const message = `spot request ${spot} of ${id} has launched ${other} in its place: terminate that as well, then retry`;
  return refused({ reason: 'BroughtBack', message });
}

/** Whether an instance in this state is terminated or about to be. */
export function isDown(state: string | undefined): boolean {
  return state === 'terminated' || state === 'shutting-down';
}
