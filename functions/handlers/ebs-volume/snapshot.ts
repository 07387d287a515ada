/*
 * The snapshot that a rule may ask for before a volume is deleted. Called by ebs-volume.ts once the volume is free.
 * It carries the proof of ownership and this deletion's mark, by which every later run finds it instead of making
 * another. EC2 has no token that makes a second call harmless, and no snapshot is ever deleted here; so of runs at the same
 * time each puts a claim of its own on the volume, in one tag, waits until the others must have, and only the run whose
 * claim is there goes on, after another look for snapshots. A claim holds nothing: the next run puts its own over it.
 */
import {
  CreateSnapshotCommand,
  CreateTagsCommand,
  DescribeSnapshotsCommand,
  type Snapshot,
  type Volume,
} from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { askAll, change, failed, isOutcome, notOwned } from '../../ec2.ts';
import { findVolume } from '../../ec2-volumes.ts';
import { gone, pending, refused } from '../../handler.ts';
import { notFoundYet } from '../../not-found-yet.ts';
import { MARK_TAG, markOf, tagsFrom } from '../../ownership.ts';
import { pause } from '../../ports.ts';
import type { Context } from './detach.ts';

/** The tag of a volume that says which run makes its snapshot. */
export const CLAIM_TAG = 'finalizer-bridge.dev/snapshot';
/** Longer than EC2 takes to show what was just made or tagged. */
export const SETTLE_MS = 5_000;
const RETRY_SECONDS = 30;

/** The outcome until a snapshot of this deletion is complete; undefined then. */
export async function ensureSnapshot(context: Context): Promise<Outcome | undefined> {
  const own = await ownSnapshots(context);
  if (!Array.isArray(own)) return own;
  return own.length === 0 ? await makeOne(context) : standOf(context, own);
}

/** The outcome for snapshots that are there already; undefined once one is complete. */
function standOf(context: Context, own: readonly Snapshot[]): Outcome | undefined {
  const { volumeId } = context.target;
  const complete = own.find(({ State }) => State === 'completed');
  if (complete !== undefined) return undefined;
  const begun = own.find(({ State }) => State !== 'error');
  if (begun !== undefined) return snapshotting(context, begun);
  const failures = own.map(({ SnapshotId }) => SnapshotId).join(', ');
  const message = `snapshot ${failures} of ${volumeId} has failed; delete it and retry for another`;
  return refused({ reason: 'SnapshotFailed', message });
}

/** Makes a snapshot, unless another run does at this moment. */
async function makeOne(context: Context): Promise<Outcome | undefined> {
  const { clock, random, signal, target, inSeconds } = context;
  const free = await provenVolume(context);
  if (isOutcome(free)) return free;
  const claim = Math.floor(random() * Number.MAX_SAFE_INTEGER).toString(36);
  const Tags = [{ Key: CLAIM_TAG, Value: claim }];
  const claimed = await change(
    context,
    'ec2:CreateTags',
    new CreateTagsCommand({ Resources: [target.volumeId], Tags }),
  );
  await pause(clock, SETTLE_MS, signal);
  const volume = await provenVolume(context);
  if (isOutcome(volume)) return volume;
  // A volume that takes no further tag has its snapshot without one.
  if (claimed.means === 'done' && tagsFrom(volume.Tags).get(CLAIM_TAG) !== claim) {
    const message = `another run is making a snapshot of ${target.volumeId}`;
    return pending({ reason: 'Snapshotting', message, retryAt: inSeconds(RETRY_SECONDS) });
  }
  const own = await ownSnapshots(context);
  if (!Array.isArray(own)) return own;
  return own.length === 0 ? await createSnapshot(context, volume) : standOf(context, own);
}

/** Reads the volume and its ownership again. */
async function provenVolume(context: Context): Promise<Volume | Outcome> {
  const { volumeId } = context.target;
  const found = await findVolume(context, volumeId);
  if (found === undefined) return notFoundYet(context, volumeId) ?? gone('deleted');
  if (isOutcome(found)) return found;
  const verdict = context.calls.prove(tagsFrom(found.Tags));
  return verdict.owned ? found : notOwned(volumeId, verdict);
}

/** The snapshots that this deletion has made of the volume. */
async function ownSnapshots(context: Context): Promise<Snapshot[] | Outcome> {
  const { volumeId } = context.target;
  const mark = markOf(context.request);
  const Filters = [
    { Name: 'volume-id', Values: [volumeId] },
    { Name: `tag:${MARK_TAG}`, Values: [mark] },
  ];
  const answer = await askAll(
    context,
    'ec2:DescribeSnapshots',
    (from) => new DescribeSnapshotsCommand({ OwnerIds: ['self'], Filters, ...from }),
  );
  if (answer.means !== 'done') return failed(`looking for snapshots of ${volumeId}`, answer);
  // What the filters let through is compared once more: a wrong snapshot would cost the data.
  return answer.value
    .flatMap(({ Snapshots = [] }) => Snapshots)
    .filter(({ VolumeId, Tags }) => VolumeId === volumeId && tagsFrom(Tags).get(MARK_TAG) === mark);
}

async function createSnapshot(context: Context, { VolumeId }: Volume): Promise<Outcome> {
  const { target, request, ownership } = context;
  const proof = 'tags' in ownership ? Object.entries(ownership.tags) : [];
  // AWS lets nobody set tags of its own.
  const owned = proof.filter(([key]) => !key.startsWith('aws:')).map(([Key, Value]) => ({ Key, Value }));
  const input = {
    VolumeId,
    Description: `Before the deletion of ${target.volumeId}, for ${request.object.kind} ${request.object.name}`.slice(
      0,
      255,
    ),
    TagSpecifications: [
      { ResourceType: 'snapshot' as const, Tags: [...owned, { Key: MARK_TAG, Value: markOf(request) }] },
    ],
  };
  const answer = await change(context, 'ec2:CreateSnapshot', new CreateSnapshotCommand(input));
  if (answer.means === 'gone') return gone('deleted');
  if (answer.means !== 'done') return failed(`making a snapshot of ${target.volumeId}`, answer);
  return snapshotting(context, answer.value);
}

/** No progress in the contract's sense: nothing is being deleted yet. */
function snapshotting({ target, inSeconds }: Context, { SnapshotId, Progress }: Snapshot): Outcome {
  const share = Progress === undefined || Progress === '' ? '' : ` (${Progress})`;
  return pending({
    reason: 'Snapshotting',
    message: `snapshot ${SnapshotId} of ${target.volumeId} is being made${share}`,
    retryAt: inSeconds(RETRY_SECONDS),
  });
}
