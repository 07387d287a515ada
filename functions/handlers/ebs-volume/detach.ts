/*
 * Takes a volume off what holds it, by force: the one step here that can lose data of something that still runs.
 * Called by ebs-volume.ts only where the rule asks for it and the function's configuration allows it.
 */
import { DetachVolumeCommand, type EC2Client, type Volume } from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { change, failed } from '../../ec2.ts';
import { attachmentsOf } from '../../ec2-volumes.ts';
import type { TeardownContext } from '../../handler.ts';

/** A run of ebs-volume. */
export type Context = TeardownContext<
  { readonly volumeId: string; readonly region: string; readonly account: string },
  { readonly snapshot?: boolean | undefined; readonly forceDetach?: boolean | undefined },
  EC2Client
>;

/** Detaches from each holder, of which a volume with multi-attach has several. Undefined: begun; look again later. */
export async function detachByForce(context: Context, volume: Volume): Promise<Outcome | undefined> {
  const { volumeId: VolumeId } = context.target;
  for (const { InstanceId, State } of attachmentsOf(volume)) {
    if (InstanceId === undefined || State === 'detaching') continue;
    const answer = await change(
      context,
      'ec2:DetachVolume',
      new DetachVolumeCommand({ VolumeId, InstanceId, Force: true }),
    );
    if (answer.means === 'refused') return failed(`detaching ${VolumeId} from ${InstanceId} by force`, answer);
  }
  return undefined;
}
