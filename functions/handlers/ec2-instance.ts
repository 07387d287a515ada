/*
 * Takes an EC2 instance down. Called by run.ts for each request; slow, so it is pending until the instance is terminated.
 * State is read before tags, because a terminated instance loses them. Evidence: `deleted` if a terminated instance is
 * seen that still proves its owner, `absent` if it does not any more or is not known at all.
 */
import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  EC2Client,
  type Instance,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import * as z from 'zod/mini';
import type { Outcome } from '../../bridge/contract.ts';
import type { ErrorTable } from '../aws-errors.ts';
import { defineHandler, gone, pending, refused, type TeardownContext } from '../handler.ts';
import { isStrong, judgeOwnership, KEEP_TAG, type Tags, tagsFrom } from '../ownership.ts';
import { accountSchema, arnPartition, regionSchema } from '../places.ts';

const targetSchema = z.strictObject({
  instanceId: z.string().check(z.regex(/^i-([0-9a-f]{8}|[0-9a-f]{17})$/, 'not the id of an EC2 instance')),
  region: regionSchema,
  account: accountSchema,
});
const optionsSchema = z.strictObject({});

type Context = TeardownContext<z.output<typeof targetSchema>, z.output<typeof optionsSchema>, EC2Client>;

/** An id that EC2 does not know yet looks like one that it does not know any more. */
const YOUNG_MS = 5 * 60_000;
const YOUNG_RETRY_SECONDS = 60;
const SHUTTING_DOWN_RETRY_SECONDS = 15;

/** Codes of the calls below, see the API's error code reference. */
export const ec2Errors: ErrorTable = {
  'ec2:DescribeInstances': {
    'InvalidInstanceID.NotFound': { means: 'gone', reason: 'NotFound' },
    'InvalidInstanceID.Malformed': { means: 'refused', reason: 'InvalidTarget' },
  },
  'ec2:TerminateInstances': {
    'InvalidInstanceID.NotFound': { means: 'gone', reason: 'NotFound' },
    'InvalidInstanceID.Malformed': { means: 'refused', reason: 'InvalidTarget' },
    OperationNotPermitted: { means: 'refused', reason: 'OperationNotPermitted' },
    UnsupportedOperation: { means: 'refused', reason: 'UnsupportedOperation' },
    IncorrectInstanceState: { means: 'again', reason: 'IncorrectInstanceState' },
  },
  'ec2:DescribeInstanceAttribute': {
    'InvalidInstanceID.NotFound': { means: 'gone', reason: 'NotFound' },
  },
};

/** The handler `ec2-instance`: target {instanceId, region, account}, no options. */
export const ec2Instance = defineHandler({
  name: 'ec2-instance',
  version: '1.0.0',
  target: targetSchema,
  options: optionsSchema,
  errors: ec2Errors,
  // Slow: what waits behind a run of another would wait for minutes.
  limits: { batchSize: 1, memoryMb: 256, maximumConcurrency: 10 },
  permissions: [
    {
      // Describe calls know no resources in IAM.
      actions: ['ec2:DescribeInstances', 'ec2:DescribeInstanceAttribute'],
      resources: () => ['*'],
      condition: ({ regions }) => ({ StringEquals: { 'aws:RequestedRegion': regions } }),
    },
    {
      actions: ['ec2:TerminateInstances'],
      resources: ({ accounts, regions, names }) =>
        accounts.flatMap((account) =>
          regions.flatMap((region) =>
            names.map((name) => `arn:${arnPartition(region)}:ec2:${region}:${account}:instance/${name}`),
          ),
        ),
      // The keep tag binds even if this code were wrong.
      condition: () => ({ Null: { [`aws:ResourceTag/${KEEP_TAG}`]: 'true' } }),
    },
  ],
  identity: ({ instanceId, account, region }) => ({ names: [instanceId], place: { account, region } }),
  service: 'ec2',
  connect: (input) => new EC2Client(input),
  teardown,
});

async function teardown(context: Context): Promise<Outcome> {
  const found = await look(context);
  if (found.known === 'refused') return found.outcome;
  if (found.known === 'no') return isYoung(context) ? young(context) : gone('absent');
  const settled = settledOutcome(context, found);
  if (settled !== undefined) return settled;
  return terminate(context, found);
}

type Found =
  | { readonly known: 'no' }
  | { readonly known: 'refused'; readonly outcome: Outcome }
  | { readonly known: 'yes'; readonly owner: string; readonly instance: Instance; readonly tags: Tags };
type Known = Extract<Found, { known: 'yes' }>;

async function look({ target, calls, client }: Context): Promise<Found> {
  const { instanceId } = target;
  const answer = await calls.look('ec2:DescribeInstances', (options) =>
    client(target.region).send(new DescribeInstancesCommand({ InstanceIds: [instanceId] }), options),
  );
  if (answer.means === 'gone') return { known: 'no' };
  if (answer.means !== 'done') {
    const message = `looking at ${instanceId}: ${answer.code}`;
    return { known: 'refused', outcome: refused({ reason: answer.reason, message }) };
  }
  for (const { OwnerId, Instances } of answer.value.Reservations ?? []) {
    const instance = Instances?.find(({ InstanceId }) => InstanceId === instanceId);
    if (instance !== undefined) {
      return { known: 'yes', owner: OwnerId ?? '', instance, tags: tagsFrom(instance.Tags) };
    }
  }
  return { known: 'no' };
}

/** What the state alone decides; undefined if there is still something to terminate. */
function settledOutcome({ target, ownership, inSeconds }: Context, found: Known): Outcome | undefined {
  const { instance, owner, tags } = found;
  if (owner !== target.account) {
    return refused({
      reason: 'AccountMismatch',
      message: `${target.instanceId} belongs to account ${owner}, not to ${target.account}`,
    });
  }
  switch (instance.State?.Name) {
    case 'terminated':
      return gone(judgeOwnership(ownership, tags).owned ? 'deleted' : 'absent');
    case 'shutting-down':
      return shuttingDown(target.instanceId, {
        retryAt: inSeconds(SHUTTING_DOWN_RETRY_SECONDS),
        isOurs: judgeOwnership(ownership, tags).owned,
      });
    default:
      return undefined;
  }
}

async function terminate(context: Context, { instance, tags }: Known): Promise<Outcome> {
  const { target, calls, client, inSeconds, request, ownership } = context;
  const { instanceId } = target;
  const verdict = calls.prove(tags);
  if (!verdict.owned) return refused({ reason: verdict.reason, message: `${instanceId}: ${verdict.message}` });
  if (!isStrong(ownership, request.object.uid) && isYounger(instance, request.object.deletionTimestamp)) {
    return refused({
      reason: 'YoungerThanDeletion',
      message: `${instanceId} was created after the deletion began, and its ownership proof does not name the object's uid`,
    });
  }
  const answer = await calls.destroy('ec2:TerminateInstances', (options) =>
    client(target.region).send(new TerminateInstancesCommand({ InstanceIds: [instanceId] }), options),
  );
  if (answer.means === 'refused') return explainRefusal(context, answer);
  // Also a not-found just after the look is not believed without another look.
  const after = await look(context);
  if (after.known === 'refused') return after.outcome;
  if (after.known === 'no' || after.instance.State?.Name === 'terminated') return gone('deleted');
  return shuttingDown(instanceId, { retryAt: inSeconds(SHUTTING_DOWN_RETRY_SECONDS), isOurs: true });
}

async function explainRefusal(
  { target, calls, client }: Context,
  fault: { readonly reason: string; readonly code: string },
): Promise<Outcome> {
  const { instanceId } = target;
  const attribute = await calls.look('ec2:DescribeInstanceAttribute', (options) =>
    client(target.region).send(
      new DescribeInstanceAttributeCommand({ InstanceId: instanceId, Attribute: 'disableApiTermination' }),
      options,
    ),
  );
  if (attribute.means === 'done' && attribute.value.DisableApiTermination?.Value === true) {
    return refused({ reason: 'ProtectionEnabled', message: `termination protection of ${instanceId} is on` });
  }
  return refused({ reason: fault.reason, message: `terminating ${instanceId}: ${fault.code}` });
}

/** Only a termination of what is ours is this deletion's progress. */
function shuttingDown(instanceId: string, how: { readonly retryAt: string; readonly isOurs: boolean }): Outcome {
  const progress = how.isOurs ? { progress: 'the termination has begun' } : {};
  const message = `${instanceId} is shutting down`;
  return pending({ reason: 'ShuttingDown', message, retryAt: how.retryAt, ...progress });
}

function isYoung({ request, clock }: Context): boolean {
  return clock.now() - Date.parse(request.object.creationTimestamp) < YOUNG_MS;
}

function young({ target, inSeconds }: Context): Outcome {
  return pending({
    reason: 'NotFoundYet',
    message: `${target.instanceId} is not found, but its object is so young that it may only not be visible yet`,
    retryAt: inSeconds(YOUNG_RETRY_SECONDS),
  });
}

/** LaunchTime moves at every start; the first attachments do not. */
function isYounger(
  { LaunchTime, BlockDeviceMappings, NetworkInterfaces }: Instance,
  deletionTimestamp: string,
): boolean {
  const times = [
    LaunchTime,
    ...(BlockDeviceMappings ?? []).map(({ Ebs }) => Ebs?.AttachTime),
    ...(NetworkInterfaces ?? []).map(({ Attachment }) => Attachment?.AttachTime),
  ].flatMap((time) => (time === undefined ? [] : [time.getTime()]));
  return times.length > 0 && Math.min(...times) > Date.parse(deletionTimestamp);
}
