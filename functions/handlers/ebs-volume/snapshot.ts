/*
 * The snapshot that a rule may ask for before a volume is deleted. Called by ebs-volume.ts once the volume is free.
 * It carries the proof of ownership and this deletion's mark, by which every later run finds it instead of making
 * another. Two runs in the very same moment may still make two: EC2 has no token for that, and none is deleted here.
 */
import { CreateSnapshotCommand, DescribeSnapshotsCommand, type Snapshot, type Volume } from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { askAll, change, failed, isOutcome, notOwned } from '../../ec2.ts';
import { findVolume } from '../../ec2-volumes.ts';
import { gone, pending, refused } from '../../handler.ts';
import { MARK_TAG, markOf, tagsFrom } from '../../ownership.ts';
import type { Context } from './detach.ts';

const RETRY_SECONDS = 30;

/** The outcome until a snapshot of this deletion is complete; undefined then. */
export async function ensureSnapshot(context: Context, volume: Volume): Promise<Outcome | undefined> {
  const own = await ownSnapshots(context);
  if (!Array.isArray(own)) return own;
  const { volumeId } = context.target;
  const complete = own.find(({ State }) => State === 'completed');
  if (complete !== undefined) return undefined;
  const begun = own.find(({ State }) => State !== 'error');
  if (begun !== undefined) return snapshotting(context, begun);
  const [broken] = own;
  if (broken !== undefined) {
    const message = `snapshot ${broken.SnapshotId} of ${volumeId} has failed; delete it and retry for another`;
    return refused({ reason: 'SnapshotFailed', message });
  }
  return await createSnapshot(context, volume);
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
  const { calls, target, request, ownership } = context;
  const found = await findVolume(context, target.volumeId);
  if (found === undefined) return gone('deleted');
  if (isOutcome(found)) return found;
  const verdict = calls.prove(tagsFrom(found.Tags));
  if (!verdict.owned) return notOwned(target.volumeId, verdict);
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
