/*
 * Takes EC2 instances down: one by its id, or those that carry the tags that the rule names. Called by run.ts for each
 * request; slow, so it is pending until every one is terminated. All are looked at and judged before the first is
 * touched; then one after the other, each by its own calls: mark it where the proof is weak, cancel the spot request
 * that would bring it back, mark what it leaves behind, ownership again, terminate. State is read before tags, because a
 * terminated instance loses them. What was left behind goes last, where the rule asks for it.
 * Evidence: `deleted` if a terminated instance is seen that still proves its owner, `absent` if it does not any more or
 * is not known at all.
 */
import { EC2Client, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import * as z from 'zod/mini';
import type { Outcome } from '../../bridge/contract.ts';
import {
  change,
  ec2Arns,
  failed,
  isOutcome,
  lookPermission,
  mark,
  markPermission,
  notOwned,
  onlyFor,
  permit,
  refuseName,
  youngerThanDeletion,
} from '../ec2.ts';
import { instanceErrors } from '../ec2-errors.ts';
import { defineHandler, gone, pending } from '../handler.ts';
import { notFoundYet } from '../not-found-yet.ts';
import { judgeAge, judgeOwnership, notKept } from '../ownership.ts';
import { accountSchema, regionSchema } from '../places.ts';
import { type Context, createdAt, type Known, look, shuttingDown } from './ec2-instance/instance.ts';
import { markLeftovers, mayLeave, takeLeftovers } from './ec2-instance/leftovers.ts';
import { liftProtections } from './ec2-instance/protections.ts';
import { cancelSpotRequest, isDown, refuseReplaced } from './ec2-instance/replacers.ts';
import { groupArns, groupOf, leavingGroup, terminateInGroup } from './ec2-instance/scaling-group.ts';
import { select, selectsMore } from './ec2-instance/select.ts';

/** Key and value, without what EC2 takes for a wildcard, and neither of them empty. */
const tag = z.string().check(z.regex(/^[^=*?\\]{1,128}=[^*?\\]{1,256}$/, 'not a tag as key=value without wildcards'));
const targetSchema = z
  .strictObject({
    instanceId: z.optional(
      z.string().check(z.regex(/^i-([0-9a-f]{8}|[0-9a-f]{17})$/, 'not the id of an EC2 instance')),
    ),
    tags: z.optional(z.array(tag).check(z.minLength(1), z.maxLength(10))),
    region: regionSchema,
    account: accountSchema,
  })
  .check(
    z.refine(
      ({ instanceId, tags }) => (instanceId === undefined) !== (tags === undefined),
      'names instanceId or tags, one of them',
    ),
  );
const optionsSchema = z.strictObject({
  /** Switch termination protection and stop protection off, instead of refusing. */
  liftProtections: z.optional(z.boolean()),
  /** Delete volumes that stay when the instance goes and carry the proof of ownership themselves. */
  deleteVolumes: z.optional(z.boolean()),
  /** Release Elastic IP addresses of the instance that carry the proof of ownership themselves. */
  releaseAddresses: z.optional(z.boolean()),
  /** Terminate an instance of a scaling group through the group, whose desired capacity goes down by one. */
  shrinkGroup: z.optional(z.boolean()),
});
const PROTECTION_RETRY_SECONDS = 15;
const DOWN = 'what was found is terminated';

/** The handler `ec2-instance`: target {instanceId or tags, region, account}. */
export const ec2Instance = defineHandler({
  name: 'ec2-instance',
  version: '1.2.0',
  target: targetSchema,
  options: optionsSchema,
  dangerous: ['liftProtections', 'deleteVolumes', 'releaseAddresses', 'shrinkGroup'],
  errors: instanceErrors,
  // Slow: what waits behind a run of another would wait for minutes.
  limits: { batchSize: 1, memoryMb: 256, maximumConcurrency: 10 },
  permissions: [
    lookPermission(
      'ec2:DescribeInstances',
      'ec2:DescribeInstanceAttribute',
      'ec2:DescribeSpotInstanceRequests',
      'ec2:DescribeSpotFleetRequests',
      'ec2:DescribeFleets',
      'ec2:DescribeVolumes',
      'ec2:DescribeAddresses',
    ),
    permit('TerminateInstances', 'instance'),
    markPermission('instance'),
    {
      ...permit('CancelSpotInstanceRequests', 'spot-instances-request'),
      resources: (allow) => ec2Arns({ ...allow, names: ['*'] }, 'spot-instances-request'),
    },
    onlyFor('liftProtections', permit('ModifyInstanceAttribute', 'instance')),
    onlyFor('deleteVolumes', permit('DeleteVolume', 'volume')),
    onlyFor('deleteVolumes', markPermission('volume')),
    onlyFor('releaseAddresses', permit('ReleaseAddress', 'elastic-ip')),
    onlyFor('releaseAddresses', markPermission('elastic-ip')),
    onlyFor(
      'shrinkGroup',
      lookPermission('autoscaling:DescribeAutoScalingInstances', 'autoscaling:DescribeAutoScalingGroups'),
    ),
    onlyFor('shrinkGroup', {
      actions: ['autoscaling:TerminateInstanceInAutoScalingGroup'],
      resources: groupArns,
      condition: notKept,
    }),
  ],
  identity: ({ instanceId, tags = [], account, region }) => ({
    names: instanceId === undefined ? tags.map((one) => `tag:${one}`) : [instanceId],
    place: { account, region },
  }),
  service: 'ec2',
  connect: (input) => new EC2Client(input),
  teardown,
});

async function teardown(context: Context): Promise<Outcome> {
  const selected = await select(context);
  if (!isList(selected)) return selected;
  if (selected.length === 0) return absent(context);
  for (const found of selected) {
    const objection = await refuse(context, found);
    if (objection !== undefined) return objection;
  }
  const outcomes: Outcome[] = [];
  for (const found of selected) outcomes.push(await takeDown(context, found, selected.length === 1));
  const open = firstOf(outcomes, 'refused') ?? firstOf(outcomes, 'pending');
  if (open !== undefined) return open;
  const done = outcomes.find((one) => one.outcome === 'gone' && one.evidence === 'deleted');
  const more = await selectsMore(context, selected);
  if (more === true) return teardown(context);
  if (more !== false) return more.outcome === 'pending' && done !== undefined ? { ...more, progress: DOWN } : more;
  return (await takeLeftovers(context)) ?? done ?? gone('absent');
}

const firstOf = (outcomes: readonly Outcome[], kind: Outcome['outcome']) =>
  outcomes.find(({ outcome }) => outcome === kind);

/** Nothing is known of the target: believed once it is old enough and a second look says the same. */
async function absent(context: Context): Promise<Outcome> {
  const { instanceId, tags } = context.target;
  const early = notFoundYet(context, instanceId ?? `an instance with the tags ${tags?.join(', ')}`);
  if (early !== undefined) return early;
  const again = await select(context);
  if (!isList(again)) return again;
  if (again.length > 0) return teardown(context);
  return (await takeLeftovers(context)) ?? gone('absent');
}

/** Why an instance is not to be touched; one that is down already needs no permission to stay so. */
async function refuse(context: Context, found: Known): Promise<Outcome | undefined> {
  const { calls, request, ownership } = context;
  const { id, instance, tags } = found;
  if (isDown(instance.State?.Name)) return undefined;
  const verdict = calls.prove(tags);
  if (!verdict.owned) return notOwned(id, verdict);
  const isYounger = judgeAge(request, ownership, { tags, created: createdAt(instance) }) === 'younger';
  if (isYounger) return youngerThanDeletion(id);
  return refuseName(context, id) ?? (await refuseReplaced(context, found));
}

async function takeDown(context: Context, found: Known, isFresh: boolean): Promise<Outcome> {
  if (isDown(found.instance.State?.Name)) return settle(context, found);
  const now = isFresh ? found : await prove(context, found.id);
  if (isOutcome(now)) return now;
  const prepared = await prepare(context, now);
  if (typeof prepared === 'object') return prepared;
  const proven = prepared === 'nothing' ? now : await prove(context, found.id);
  return isOutcome(proven) ? proven : terminate(context, proven);
}

/** Reads an instance and its ownership again. */
async function prove(context: Context, id: string): Promise<Known | Outcome> {
  const found = await look(context, id);
  if (found === undefined) return notFoundYet(context, id) ?? gone('deleted');
  if (isOutcome(found)) return found;
  if (isDown(found.instance.State?.Name)) return settle(context, found);
  const verdict = context.calls.prove(found.tags);
  return verdict.owned ? found : notOwned(id, verdict);
}

/** The outcome for an instance that is down or going. What would bring it back is cancelled all the same. */
async function settle(context: Context, found: Known): Promise<Outcome> {
  const isOurs = judgeOwnership(context.ownership, found.tags).owned;
  if (isOurs) {
    context.calls.prove(found.tags);
    const spot = await cancelSpotRequest(context, found);
    if (typeof spot === 'object') return spot;
    const left = await markOfGoing(context, found);
    if (typeof left === 'object') return left;
  }
  if (found.instance.State?.Name === 'terminated') return gone(isOurs ? 'deleted' : 'absent');
  return shuttingDown(context, found);
}

/** Whoever had it terminated, what it leaves behind is marked while it still says what it has. */
async function markOfGoing(context: Context, found: Known): Promise<'none' | 'marked' | Outcome> {
  const { instance, tags } = found;
  if (instance.State?.Name === 'terminated') return 'none';
  const isYounger = judgeAge(context.request, context.ownership, { tags, created: createdAt(instance) }) === 'younger';
  return isYounger ? 'none' : await markLeftovers(context, found);
}

/** The steps before the last one. `something`: a call was made since the proof, so it has to be renewed. */
async function prepare(context: Context, found: Known): Promise<'nothing' | 'something' | Outcome> {
  const { request, ownership } = context;
  const { id, instance, tags } = found;
  const leaving = await leavingGroup(context, found);
  if (leaving !== undefined) return leaving;
  const isUnmarked = judgeAge(request, ownership, { tags, created: createdAt(instance) }) === 'unmarked';
  const marking = isUnmarked ? await mark(context, id) : undefined;
  if (marking !== undefined) return marking;
  const spot = await cancelSpotRequest(context, found);
  if (typeof spot === 'object') return spot;
  const left = await markLeftovers(context, found);
  if (typeof left === 'object') return left;
  const hasAsked = isUnmarked || spot === 'done' || left === 'marked' || groupOf(found) !== undefined;
  return hasAsked ? 'something' : 'nothing';
}

async function terminate(context: Context, found: Known): Promise<Outcome> {
  const { id } = found;
  const stop =
    groupOf(found) === undefined ? await terminateAlone(context, id) : await terminateInGroup(context, found);
  if (stop !== undefined) return stop;
  // Also a not-found just after the look is not believed without another look.
  const after = await look(context, id);
  if (isOutcome(after)) return after;
  if (after !== undefined && after.instance.State?.Name !== 'terminated') return shuttingDown(context, after);
  // EC2 finds by a mark that was just put on only a while later: what is left behind is for the next run.
  return mayLeave(context) ? shuttingDown(context, found) : gone('deleted');
}

/** Undefined: EC2 has taken it, or does not know the instance any more. */
async function terminateAlone(context: Context, id: string): Promise<Outcome | undefined> {
  const answer = await change(context, 'ec2:TerminateInstances', new TerminateInstancesCommand({ InstanceIds: [id] }));
  if (answer.means !== 'refused') return undefined;
  const stop = await liftProtections(context, id, failed(`terminating ${id}`, answer));
  if (stop !== undefined) return stop;
  // EC2 takes a while to know it, so the next run tries again.
  const retryAt = context.inSeconds(PROTECTION_RETRY_SECONDS);
  return pending({ reason: 'ProtectionLifted', message: `the protection of ${id} was switched off`, retryAt });
}

function isList(selected: readonly Known[] | Outcome): selected is readonly Known[] {
  return Array.isArray(selected);
}
