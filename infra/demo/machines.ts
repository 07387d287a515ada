/*
 * Virtual machines for the demo: launched, tagged and looked at through the EC2 API. Called by outside.ts; the function
 * that takes them down is functions/handlers/ec2-instance.ts and knows nothing of this.
 */
import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  _InstanceType as instanceTypes,
  RunInstancesCommand,
} from '@aws-sdk/client-ec2';
import { z } from 'zod/mini';
import { type Clients, OWNER_TAG, type Thing } from './outside.ts';

/** An instance. */
export interface MachinePlan {
  readonly object: string;
  readonly instanceType: string;
}

/** The emulator takes any image. */
const IMAGE = 'ami-12345678';

/** The instance of a plan; it proves its owner. */
export function machineThing({ ec2 }: Pick<Clients, 'ec2'>, { object, instanceType }: MachinePlan): Thing {
  let instanceId = '';
  return {
    object,
    isOwned: true,
    name: () => `EC2 instance ${instanceId}`,
    async make() {
      const InstanceType = z.parse(z.enum(instanceTypes), instanceType);
      const launched = await ec2.send(
        new RunInstancesCommand({ ImageId: IMAGE, InstanceType, MinCount: 1, MaxCount: 1 }),
      );
      instanceId = z.parse(z.string(), launched.Instances?.[0]?.InstanceId);
    },
    async prove(uid) {
      await ec2.send(new CreateTagsCommand({ Resources: [instanceId], Tags: [{ Key: OWNER_TAG, Value: uid }] }));
    },
    status: () => ({ instanceId }),
    async look() {
      const found = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [instanceId] }));
      const state = z.parse(z.string(), found.Reservations?.[0]?.Instances?.[0]?.State?.Name);
      // EC2 lists a terminated instance for about an hour.
      return state === 'terminated' ? { kind: 'absent', answer: state } : { kind: 'instance', state };
    },
  };
}
