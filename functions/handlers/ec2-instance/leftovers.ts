/*
 * What an instance leaves behind, where the rule asks to take it down as well: volumes that are not deleted with it, and
 * its Elastic IP addresses. A terminated instance no longer says what it had, so they get this deletion's mark before,
 * and are found by it after. Only what carries the proof of ownership itself. Called by ec2-instance.ts.
 */
import {
  type Address,
  DescribeAddressesCommand,
  type Filter,
  ReleaseAddressCommand,
  type Volume,
} from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { ask, change, failed, isOutcome, mark, refuseName } from '../../ec2.ts';
import { attachmentsOf, deleteVolume, findVolume, volumesWith } from '../../ec2-volumes.ts';
import { gone, pending } from '../../handler.ts';
import { notFoundYet } from '../../not-found-yet.ts';
import { judgeOwnership, MARK_TAG, markOf, type Tags, tagsFrom } from '../../ownership.ts';
import type { Context, Known } from './instance.ts';

const RETRY_SECONDS = 15;

/** Whether the rule asks for anything that an instance leaves behind. */
export function mayLeave({ options: { deleteVolumes, releaseAddresses } }: Context): boolean {
  return deleteVolumes === true || releaseAddresses === true;
}

/** Marks what is to go after the instance. `marked`: something was, so the proof of the instance may be old. */
export async function markLeftovers(context: Context, found: Known): Promise<'none' | 'marked' | Outcome> {
  const { deleteVolumes = false, releaseAddresses = false } = context.options;
  const volumes = deleteVolumes ? await staying(context, found) : [];
  if (!Array.isArray(volumes)) return volumes;
  const addresses = releaseAddresses ? await addressesWith(context, { Name: 'instance-id', Values: [found.id] }) : [];
  if (!Array.isArray(addresses)) return addresses;
  const things = [...volumes, ...addresses.map(({ AllocationId: id = '', Tags }) => ({ id, tags: tagsFrom(Tags) }))];
  const ours = things.filter(({ tags }) => judgeOwnership(context.ownership, tags).owned);
  for (const { id, tags } of ours) {
    const stop = refuseName(context, id) ?? (await markOnce(context, id, tags));
    if (stop !== undefined) return stop;
  }
  return ours.length === 0 ? 'none' : 'marked';
}

async function markOnce(context: Context, id: string, tags: Tags): Promise<Outcome | undefined> {
  if (tags.get(MARK_TAG) === markOf(context.request)) return undefined;
  context.calls.prove(tags);
  return mark(context, id);
}

/** The volumes that stay when the instance goes, unless another instance has them, too. */
async function staying(context: Context, { id, instance }: Known): Promise<{ id: string; tags: Tags }[] | Outcome> {
  const ids = (instance.BlockDeviceMappings ?? []).flatMap(({ Ebs }) =>
    Ebs?.DeleteOnTermination === false && Ebs.VolumeId !== undefined ? [Ebs.VolumeId] : [],
  );
  const volumes: { id: string; tags: Tags }[] = [];
  for (const volumeId of ids) {
    const found = await findVolume(context, volumeId);
    // What is attached is there: a look that does not find it is a late one.
    const early = found === undefined ? notFoundYet(context, volumeId) : undefined;
    if (early !== undefined) return early;
    if (isOutcome(found)) return found;
    if (found === undefined || attachmentsOf(found).some(({ InstanceId }) => InstanceId !== id)) continue;
    volumes.push({ id: volumeId, tags: tagsFrom(found.Tags) });
  }
  return volumes;
}

async function addressesWith(context: Context, filter: Filter): Promise<Address[] | Outcome> {
  const answer = await ask(context, 'ec2:DescribeAddresses', new DescribeAddressesCommand({ Filters: [filter] }));
  if (answer.means !== 'done') return failed('looking for addresses', answer);
  return (answer.value.Addresses ?? []).filter(({ AllocationId }) => AllocationId !== undefined);
}

/** Takes down what this deletion has marked and the object still owns; undefined if there is nothing. */
export async function takeLeftovers(context: Context): Promise<Outcome | undefined> {
  const { deleteVolumes = false, releaseAddresses = false } = context.options;
  const marked = { Name: `tag:${MARK_TAG}`, Values: [markOf(context.request)] };
  const volumes = deleteVolumes ? await volumesWith(context, marked) : [];
  if (!Array.isArray(volumes)) return volumes;
  const addresses = releaseAddresses ? await addressesWith(context, marked) : [];
  if (!Array.isArray(addresses)) return addresses;
  const ours = ({ Tags }: Volume | Address) => judgeOwnership(context.ownership, tagsFrom(Tags)).owned;
  const outcomes: Outcome[] = [];
  for (const { VolumeId: id = '' } of volumes.filter(ours)) {
    outcomes.push(refuseName(context, id) ?? (await deleteVolume(context, id)));
  }
  for (const { AllocationId: id = '' } of addresses.filter(ours)) {
    outcomes.push(refuseName(context, id) ?? (await release(context, id)));
  }
  const open = outcomes.find(({ outcome }) => outcome !== 'gone') ?? outcomes[0];
  // The instance is terminated, which is this deletion's progress whatever is still in the way.
  return open?.outcome === 'pending' ? { ...open, progress: open.progress ?? 'the instance is terminated' } : open;
}

/** Reads an address and its ownership again, and releases it unless something else has taken it. */
async function release(context: Context, id: string): Promise<Outcome> {
  const { calls, inSeconds } = context;
  const found = await addressesWith(context, { Name: 'allocation-id', Values: [id] });
  if (!Array.isArray(found)) return found;
  const address = found.find(({ AllocationId }) => AllocationId === id);
  // A second owner or the keep tag since it was marked: it stays, as what never was ours does.
  if (address === undefined || !calls.prove(tagsFrom(address.Tags)).owned) return gone('deleted');
  if (address.AssociationId !== undefined) {
    const message = `${id} is still associated, and is released once it is not`;
    return pending({ reason: 'AddressInUse', message, retryAt: inSeconds(RETRY_SECONDS) });
  }
  const answer = await change(context, 'ec2:ReleaseAddress', new ReleaseAddressCommand({ AllocationId: id }));
  return answer.means === 'done' || answer.means === 'gone' ? gone('deleted') : failed(`releasing ${id}`, answer);
}
