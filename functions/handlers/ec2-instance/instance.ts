/*
 * One instance in the hands of one run: looking at it by its own id, and what is known of it. State is read before tags,
 * because a terminated instance loses them. Used by ec2-instance.ts and the steps beside it.
 */
import { DescribeInstancesCommand, type EC2Client, type Filter, type Instance } from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { ask, askAll, failed } from '../../ec2.ts';
import { pending, refused, type TeardownContext } from '../../handler.ts';
import { judgeOwnership, type Tags, tagsFrom } from '../../ownership.ts';

/** What a rule names: one instance by its id, or those that carry all of these tags, each as `key=value`. */
export interface InstanceTarget {
  readonly instanceId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly region: string;
  readonly account: string;
}

/** What a rule may ask for. */
export interface InstanceOptions {
  readonly liftProtections?: boolean | undefined;
  readonly deleteVolumes?: boolean | undefined;
  readonly releaseAddresses?: boolean | undefined;
  readonly shrinkGroup?: boolean | undefined;
}

/** A run of ec2-instance. */
export type Context = TeardownContext<InstanceTarget, InstanceOptions, EC2Client>;

/** An instance that a look found. */
export interface Known {
  readonly id: string;
  readonly instance: Instance;
  readonly tags: Tags;
}
/** What a look at one id found: an instance, none, or why it says nothing. */
export type Found = Known | Outcome | undefined;

const SHUTTING_DOWN_RETRY_SECONDS = 15;

/** Looks at one instance; one of another account is refused, whatever its state. */
export async function look(context: Context, id: string): Promise<Found> {
  const { account } = context.target;
  const answer = await ask(context, 'ec2:DescribeInstances', new DescribeInstancesCommand({ InstanceIds: [id] }));
  if (answer.means === 'gone') return undefined;
  if (answer.means !== 'done') return failed(`looking at ${id}`, answer);
  for (const { OwnerId = '', Instances } of answer.value.Reservations ?? []) {
    const instance = Instances?.find(({ InstanceId }) => InstanceId === id);
    if (instance === undefined) continue;
    if (OwnerId === account) return { id, instance, tags: tagsFrom(instance.Tags) };
    const message = `${id} belongs to account ${OwnerId}, not to ${account}`;
    return refused({ reason: 'AccountMismatch', message });
  }
  return undefined;
}

/** Ids of the instances that carry all tags, in any state; an outcome if the look is refused. */
export async function idsWithTags(context: Context, tags: readonly string[]): Promise<readonly string[] | Outcome> {
  const Filters = tags.map(filterOf);
  const answer = await askAll(
    context,
    'ec2:DescribeInstances',
    (from) => new DescribeInstancesCommand({ Filters, ...from }),
  );
  if (answer.means !== 'done') return failed('looking for instances by their tags', answer);
  const ids = answer.value
    .flatMap(({ Reservations = [] }) => Reservations)
    .flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId }) => InstanceId ?? []));
  // What moves from one page to the next while they are read is on both.
  return [...new Set(ids)];
}

/** The schema lets no wildcard through. */
function filterOf(tag: string): Filter {
  const [key, value] = splitTag(tag);
  return { Name: `tag:${key}`, Values: [value] };
}

/** Key and value of a tag that is written `key=value`. */
export function splitTag(tag: string): readonly [key: string, value: string] {
  const at = tag.indexOf('=');
  return [tag.slice(0, at), tag.slice(at + 1)];
}

/** Only a termination of what is ours is this deletion's progress. */
export function shuttingDown({ ownership, inSeconds }: Context, { id, tags }: Known): Outcome {
  const progress = judgeOwnership(ownership, tags).owned ? { progress: `the termination of ${id} has begun` } : {};
  const retryAt = inSeconds(SHUTTING_DOWN_RETRY_SECONDS);
  return pending({ reason: 'ShuttingDown', message: `${id} is shutting down`, retryAt, ...progress });
}

/** When it was made, in ms since the epoch: LaunchTime moves at every start, the first attachments do not. */
export function createdAt({ LaunchTime, BlockDeviceMappings, NetworkInterfaces }: Instance): number | undefined {
  const times = [
    LaunchTime,
    ...(BlockDeviceMappings ?? []).map(({ Ebs }) => Ebs?.AttachTime),
    ...(NetworkInterfaces ?? []).map(({ Attachment }) => Attachment?.AttachTime),
  ].flatMap((time) => (time === undefined ? [] : [time.getTime()]));
  return times.length === 0 ? undefined : Math.min(...times);
}
