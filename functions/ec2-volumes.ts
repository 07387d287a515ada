/*
 * EBS volumes: looking at them and deleting them, for the handler of volumes and for what an instance leaves behind.
 * Called with ids or with the mark of this deletion; ownership is read again directly before the delete.
 */
import {
  DeleteVolumeCommand,
  DescribeVolumesCommand,
  type Filter,
  type Volume,
  type VolumeAttachment,
} from '@aws-sdk/client-ec2';
import type { Outcome } from '../bridge/contract.ts';
import { ask, askAll, change, type Ec2Context, failed, isOutcome, notOwned } from './ec2.ts';
import { gone, pending } from './handler.ts';
import { notFoundYet } from './not-found-yet.ts';
import { judgeOwnership, tagsFrom } from './ownership.ts';

const DELETING_RETRY_SECONDS = 15;
const BUSY_RETRY_SECONDS = 30;
const BEGUN = 'the deletion of the volume has begun';

/** Looks at one volume; undefined if there is none. */
export async function findVolume(context: Ec2Context, id: string): Promise<Volume | Outcome | undefined> {
  const answer = await ask(context, 'ec2:DescribeVolumes', new DescribeVolumesCommand({ VolumeIds: [id] }));
  if (answer.means === 'gone') return undefined;
  if (answer.means !== 'done') return failed(`looking at ${id}`, answer);
  return answer.value.Volumes?.find(({ VolumeId }) => VolumeId === id);
}

/** All volumes that a filter finds; an outcome if the look is refused. */
export async function volumesWith(context: Ec2Context, filter: Filter): Promise<Volume[] | Outcome> {
  const answer = await askAll(
    context,
    'ec2:DescribeVolumes',
    (from) => new DescribeVolumesCommand({ Filters: [filter], ...from }),
  );
  if (answer.means !== 'done') return failed('looking for volumes', answer);
  return answer.value.flatMap(({ Volumes = [] }) => Volumes);
}

/** The outcome for a volume that is going or gone, whatever its tags say; undefined if it is there. */
export function goingVolume({ inSeconds, ownership }: Ec2Context, volume: Volume): Outcome | undefined {
  const { VolumeId: id, State } = volume;
  const isOurs = judgeOwnership(ownership, tagsFrom(volume.Tags)).owned;
  if (State === 'deleted') return gone(isOurs ? 'deleted' : 'absent');
  if (State !== 'deleting') return undefined;
  // Only a deletion of what is ours is this deletion's progress.
  const progress = isOurs ? { progress: BEGUN } : {};
  return pending({ ...deleting(id), retryAt: inSeconds(DELETING_RETRY_SECONDS), ...progress });
}

/** The outcome for a volume that has to become free first; undefined if it is. */
export function busyVolume({ inSeconds }: Ec2Context, volume: Volume): Outcome | undefined {
  const { VolumeId: id, State } = volume;
  const retryAt = inSeconds(BUSY_RETRY_SECONDS);
  if (State === 'creating') return pending({ reason: 'Creating', message: `${id} is still being created`, retryAt });
  const attached = attachmentsOf(volume);
  if (attached.length === 0 && State !== 'in-use') return undefined;
  const holders = attached.flatMap((one) => one.InstanceId ?? one.AssociatedResource ?? []).join(', ');
  const message = `${id} is attached to ${holders === '' ? 'something' : holders}, and is deleted once it is detached`;
  return pending({ reason: 'Attached', message, retryAt });
}

/** What holds a volume; several things may. */
export function attachmentsOf({ Attachments = [] }: Volume): readonly VolumeAttachment[] {
  return Attachments.filter(({ State }) => State !== 'detached');
}

/** Reads a volume and its ownership again, and deletes it if that still proves it ours. */
export async function deleteVolume(context: Ec2Context, id: string): Promise<Outcome> {
  const { calls } = context;
  const found = await findVolume(context, id);
  // It was there when this run began: whoever deleted it did so for this deletion, or it is gone all the same.
  if (found === undefined) return notFoundYet(context, id) ?? gone('deleted');
  if (isOutcome(found)) return found;
  const going = goingVolume(context, found);
  if (going !== undefined) return going;
  const verdict = calls.prove(tagsFrom(found.Tags));
  if (!verdict.owned) return notOwned(id, verdict);
  const busy = busyVolume(context, found);
  if (busy !== undefined) return busy;
  const answer = await change(context, 'ec2:DeleteVolume', new DeleteVolumeCommand({ VolumeId: id }));
  if (answer.means !== 'done' && answer.means !== 'gone') return failed(`deleting ${id}`, answer);
  const after = await findVolume(context, id);
  if (after === undefined) return gone('deleted');
  if (isOutcome(after)) return after;
  // Seen as it was before is a late answer.
  const retryAt = context.inSeconds(DELETING_RETRY_SECONDS);
  return goingVolume(context, after) ?? pending({ ...deleting(id), progress: BEGUN, retryAt });
}

function deleting(id: string | undefined) {
  return { reason: 'Deleting', message: `${id} is being deleted` };
}
