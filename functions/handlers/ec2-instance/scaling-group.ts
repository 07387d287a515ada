/*
 * An instance of a scaling group is terminated through the group, in one call that also lowers the group's desired capacity,
 * so that nothing is launched in its place (C6). Called by ec2-instance.ts and replacers.ts, only where the rule asks for it
 * and the function's configuration allows it. The group does not ask for the protections of the instance, so they are asked
 * for here; the group has to be one that the allow-list names, and may carry the keep tag.
 */
import {
  AutoScalingClient,
  type AutoScalingInstanceDetails,
  DescribeAutoScalingGroupsCommand,
  DescribeAutoScalingInstancesCommand,
  TerminateInstanceInAutoScalingGroupCommand,
} from '@aws-sdk/client-auto-scaling';
import type { Outcome } from '../../../bridge/contract.ts';
import type { Allow } from '../../config.ts';
import { failed, isOutcome, refuseName } from '../../ec2.ts';
import { pending, refused } from '../../handler.ts';
import { KEEP_TAG, tagsFrom } from '../../ownership.ts';
import { arnPartition } from '../../places.ts';
import { type Context, type Known, shuttingDown } from './instance.ts';
import { refuseProtected } from './protections.ts';

/** The tag that AWS sets on what a group has launched. */
const GROUP_TAG = 'aws:autoscaling:groupName';
/** How groups stand in an allow-list. */
const GROUP = 'group:';
const RETRY_SECONDS = 30;

/** ARNs of the groups that the allow-list names, as `group:<name>`; a wider pattern names all of them. */
export function groupArns({ accounts, regions, names }: Allow): readonly string[] {
  const patterns = names.flatMap((name) => {
    if (name.startsWith(GROUP)) return name.slice(GROUP.length);
    const [head = '', ...rest] = name.split('*');
    return rest.length > 0 && GROUP.startsWith(head) ? '*' : [];
  });
  return accounts.flatMap((account) =>
    regions.flatMap((region) =>
      [...new Set(patterns)].map(
        (name) =>
          `arn:${arnPartition(region)}:autoscaling:${region}:${account}:autoScalingGroup:*:autoScalingGroupName/${name}`,
      ),
    ),
  );
}

/** By region and endpoint; made when the first instance of a group comes. */
const clients = new Map<string, AutoScalingClient>();

function scaling({ aws, target }: Context): AutoScalingClient {
  const input = aws('auto-scaling', target.region);
  const key = `${input.region} ${input.endpoint ?? ''}`;
  const client = clients.get(key) ?? new AutoScalingClient(input);
  clients.set(key, client);
  return client;
}

/** The scaling group that launched an instance. */
export function groupOf({ tags }: Known): string | undefined {
  return tags.get(GROUP_TAG);
}

/** Why an instance may not be taken out of its group; undefined if it may, or is on its way out already. */
export async function refuseInGroup(context: Context, found: Known, group: string): Promise<Outcome | undefined> {
  const { id } = found;
  if (context.options.shrinkGroup !== true) return inGroup(id, `scaling group ${group},`);
  const notNamed = refuseName(context, GROUP + group);
  if (notNamed !== undefined) return notNamed;
  const member = await memberOf(context, id);
  if (member !== undefined && isOutcome(member)) return member;
  if (isLeaving(member)) return undefined;
  const state = member?.LifecycleState ?? 'none that it knows';
  if (state.startsWith('Pending')) {
    const message = `${id} is being launched by scaling group ${group}`;
    return pending({ reason: 'Launching', message, retryAt: context.inSeconds(RETRY_SECONDS) });
  }
  if (state !== 'InService' || member?.AutoScalingGroupName !== group) {
    return inGroup(id, `scaling group ${group}, in the state ${state},`);
  }
  const scaleIn = member.ProtectedFromScaleIn === true ? ['scale-in protection'] : [];
  return (await refuseProtected(context, id, scaleIn)) ?? (await refuseGroup(context, group));
}

function inGroup(id: string, where: string): Outcome {
  const message = `${id} is in ${where} which would replace it: detach it from the group, or scale the group`;
  return refused({ reason: 'InScalingGroup', message });
}

/** A group that is to be kept, or that would have to go below its smallest size; one that is not found, on its way out, is waited for. */
async function refuseGroup(context: Context, group: string): Promise<Outcome | undefined> {
  const command = new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: [group] });
  const answer = await context.calls.look('autoscaling:DescribeAutoScalingGroups', (options) =>
    scaling(context).send(command, options),
  );
  if (answer.means !== 'done') return failed(`looking at scaling group ${group}`, answer);
  const found = answer.value.AutoScalingGroups?.find(({ AutoScalingGroupName }) => AutoScalingGroupName === group);
  if (found === undefined) {
    const message = `scaling group ${group} has the instance in service, and is itself not found`;
    return pending({ reason: 'GroupNotFound', message, retryAt: context.inSeconds(RETRY_SECONDS) });
  }
  if (tagsFrom(found.Tags).has(KEEP_TAG)) {
    return refused({ reason: 'Kept', message: `scaling group ${group}: the tag ${KEEP_TAG} is set` });
  }
  const { MinSize = 0, DesiredCapacity = 0 } = found;
  if (DesiredCapacity > MinSize) return undefined;
  const message = `scaling group ${group} has ${DesiredCapacity} instances, and ${MinSize} is its smallest size: lower that first`;
  return refused({ reason: 'GroupAtMinimum', message });
}

/** The outcome for an instance that its group is terminating, which hooks of the group may hold up; undefined for others. */
export async function leavingGroup(context: Context, found: Known): Promise<Outcome | undefined> {
  if (groupOf(found) === undefined) return undefined;
  const member = await memberOf(context, found.id);
  if (member !== undefined && isOutcome(member)) return member;
  return isLeaving(member) ? shuttingDown(context, found) : undefined;
}

/** Terminates an instance whose ownership was just proven, and lowers its group's desired capacity by one. Undefined: done. */
export async function terminateInGroup(context: Context, { id }: Known): Promise<Outcome | undefined> {
  // The instance may have come into a group since it was judged.
  if (context.options.shrinkGroup !== true) return inGroup(id, 'a scaling group,');
  const command = new TerminateInstanceInAutoScalingGroupCommand({
    InstanceId: id,
    ShouldDecrementDesiredCapacity: true,
  });
  const answer = await context.calls.destroy('autoscaling:TerminateInstanceInAutoScalingGroup', (options) =>
    scaling(context).send(command, options),
  );
  return answer.means === 'done' ? undefined : failed(`terminating ${id} in its scaling group`, answer);
}

function isLeaving(member: AutoScalingInstanceDetails | undefined): boolean {
  return member?.LifecycleState?.startsWith('Terminat') === true;
}

/** What the group says of an instance; undefined if no group has it. */
async function memberOf(context: Context, id: string): Promise<AutoScalingInstanceDetails | Outcome | undefined> {
  const command = new DescribeAutoScalingInstancesCommand({ InstanceIds: [id] });
  const answer = await context.calls.look('autoscaling:DescribeAutoScalingInstances', (options) =>
    scaling(context).send(command, options),
  );
  if (answer.means !== 'done') return failed(`looking for the scaling group of ${id}`, answer);
  return answer.value.AutoScalingInstances?.find(({ InstanceId }) => InstanceId === id);
}
