/*
 * Takes an EBS volume down. Called by run.ts for each request; pending while something holds the volume.
 * In order: find it, ownership, age or mark where the proof is weak, wait until it is detached (or detach it by force,
 * which rule and configuration have to say), make a snapshot if the rule says so and wait for it, read all of it again,
 * delete. Evidence: `absent` if the first look found no volume, else `deleted`.
 */
import { EC2Client, type Volume } from '@aws-sdk/client-ec2';
import * as z from 'zod/mini';
import type { Outcome } from '../../bridge/contract.ts';
import {
  ec2Arns,
  isOutcome,
  lookPermission,
  mark,
  markPermission,
  notOwned,
  onlyFor,
  permit,
  youngerThanDeletion,
} from '../ec2.ts';
import { volumeErrors } from '../ec2-errors.ts';
import { attachmentsOf, busyVolume, deleteVolume, findVolume, goingVolume } from '../ec2-volumes.ts';
import { defineHandler, gone, refused } from '../handler.ts';
import { notFoundYet } from '../not-found-yet.ts';
import { judgeAge, tagsFrom } from '../ownership.ts';
import { accountSchema, arnPartition, regionSchema } from '../places.ts';
import { type Context, detachByForce } from './ebs-volume/detach.ts';
import { CLAIM_TAG, ensureSnapshot } from './ebs-volume/snapshot.ts';

const targetSchema = z.strictObject({
  volumeId: z.string().check(z.regex(/^vol-([0-9a-f]{8}|[0-9a-f]{17})$/, 'not the id of an EBS volume')),
  region: regionSchema,
  account: accountSchema,
});
const optionsSchema = z.strictObject({
  /** Make a snapshot before the volume is deleted; it stays. */
  snapshot: z.optional(z.boolean()),
  /** Detach the volume by force from whatever holds it, instead of waiting: what was not written yet is lost. */
  forceDetach: z.optional(z.boolean()),
});

/** The handler `ebs-volume`: target {volumeId, region, account}. */
export const ebsVolume = defineHandler({
  name: 'ebs-volume',
  version: '1.1.0',
  target: targetSchema,
  options: optionsSchema,
  dangerous: ['forceDetach'],
  errors: volumeErrors,
  limits: { batchSize: 1, memoryMb: 256, maximumConcurrency: 10 },
  permissions: [
    lookPermission('ec2:DescribeVolumes', 'ec2:DescribeSnapshots'),
    permit('DeleteVolume', 'volume'),
    markPermission('volume'),
    // Which run makes the snapshot.
    markPermission('volume', CLAIM_TAG),
    {
      ...permit('CreateSnapshot', 'volume'),
      resources: (allow) => [...ec2Arns(allow, 'volume'), ...snapshotArns(allow.regions)],
    },
    {
      // Only as part of making a snapshot.
      actions: ['ec2:CreateTags'],
      resources: ({ regions }) => snapshotArns(regions),
      condition: () => ({ StringEquals: { 'ec2:CreateAction': 'CreateSnapshot' } }),
    },
    onlyFor('forceDetach', {
      ...permit('DetachVolume', 'volume'),
      resources: (allow) => [...ec2Arns(allow, 'volume'), ...ec2Arns({ ...allow, names: ['*'] }, 'instance')],
    }),
  ],
  identity: ({ volumeId, account, region }) => ({ names: [volumeId], place: { account, region } }),
  service: 'ec2',
  connect: (input) => new EC2Client(input),
  teardown,
});

/** New snapshots have no account in their ARN, and no id yet. */
function snapshotArns(regions: readonly string[]): readonly string[] {
  return regions.map((region) => `arn:${arnPartition(region)}:ec2:${region}::snapshot/*`);
}

async function teardown(context: Context): Promise<Outcome> {
  const { volumeId: id } = context.target;
  const found = await findVolume(context, id);
  if (found === undefined) return notFoundYet(context, id) ?? confirmAbsence(context);
  if (isOutcome(found)) return found;
  const volume = found;
  const objection = goingVolume(context, volume) ?? refuseOther(context, volume) ?? (await claim(context, volume));
  if (objection !== undefined) return objection;
  const { snapshot = false, forceDetach = false } = context.options;
  const busy = busyVolume(context, volume);
  if (busy !== undefined) {
    const isHeld = attachmentsOf(volume).length > 0;
    return forceDetach && isHeld ? ((await detachByForce(context, volume)) ?? busy) : busy;
  }
  const unsaved = snapshot ? await ensureSnapshot(context) : undefined;
  return unsaved ?? deleteVolume(context, id);
}

/** Not found is believed when a second look says the same. */
async function confirmAbsence(context: Context): Promise<Outcome> {
  const again = await findVolume(context, context.target.volumeId);
  if (again === undefined) return gone('absent');
  return isOutcome(again) ? again : teardown(context);
}

function refuseOther({ target }: Context, { OwnerId }: Volume): Outcome | undefined {
  if (OwnerId === undefined || OwnerId === target.account) return undefined;
  const message = `${target.volumeId} belongs to account ${OwnerId}, not to ${target.account}`;
  return refused({ reason: 'AccountMismatch', message });
}

/** Proves that the volume is the object's, and marks it where the proof alone would fit a successor's as well. */
async function claim(context: Context, volume: Volume): Promise<Outcome | undefined> {
  const { calls, ownership, request, target } = context;
  const tags = tagsFrom(volume.Tags);
  const verdict = calls.prove(tags);
  if (!verdict.owned) return notOwned(target.volumeId, verdict);
  switch (judgeAge(request, ownership, { tags, created: volume.CreateTime?.getTime() })) {
    case 'sure':
      return undefined;
    case 'younger':
      return youngerThanDeletion(target.volumeId);
    case 'unmarked':
      return mark(context, target.volumeId);
  }
}
