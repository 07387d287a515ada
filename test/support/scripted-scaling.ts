/*
 * Answers about scaling groups in the shapes of the API reference of Amazon EC2 Auto Scaling, for what the emulator does
 * not show: hooks that hold a termination up, other states, protections, the refusals. Used by test/functions.
 */
import { type Reply, xml } from './scripted-aws.ts';

/** What a group says of one of its instances. */
export interface Member {
  readonly instanceId: string;
  readonly group: string;
  readonly state: string;
  readonly isProtected?: boolean;
}

/** The answer of DescribeAutoScalingInstances: an instance, or none that any group has. */
export function members(...list: readonly Member[]): Reply {
  const items = list.map(
    ({ instanceId, group, state, isProtected = false }) =>
      `<member><InstanceId>${instanceId}</InstanceId><AutoScalingGroupName>${group}</AutoScalingGroupName><LifecycleState>${state}</LifecycleState><ProtectedFromScaleIn>${isProtected}</ProtectedFromScaleIn></member>`,
  );
  return result('DescribeAutoScalingInstances', `<AutoScalingInstances>${items.join('')}</AutoScalingInstances>`);
}

/** What is said of a group. */
export interface GroupFacts {
  readonly name: string;
  readonly least: number;
  readonly desired: number;
  readonly tags?: Readonly<Record<string, string>>;
}

/** The answer of DescribeAutoScalingGroups: one group. */
export const scalingGroup = (facts: GroupFacts) => scalingGroups(facts);

/** The same for any number of groups. */
export function scalingGroups(...groups: readonly GroupFacts[]): Reply {
  const items = groups.map(({ name, least, desired, tags = {} }) => {
    const set = Object.entries(tags).map(([key, value]) => `<member><Key>${key}</Key><Value>${value}</Value></member>`);
    return `<member><AutoScalingGroupName>${name}</AutoScalingGroupName><MinSize>${least}</MinSize><DesiredCapacity>${desired}</DesiredCapacity><Tags>${set.join('')}</Tags></member>`;
  });
  return result('DescribeAutoScalingGroups', `<AutoScalingGroups>${items.join('')}</AutoScalingGroups>`);
}

/** The answer of TerminateInstanceInAutoScalingGroup: what the group is doing now. */
export const terminating: Reply = result(
  'TerminateInstanceInAutoScalingGroup',
  '<Activity><ActivityId>a</ActivityId><StatusCode>InProgress</StatusCode></Activity>',
);

/** A refusal. */
export function scalingError(code: string, status = 400): Reply {
  return xml(`<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code></Error></ErrorResponse>`, status);
}

function result(operation: string, body: string): Reply {
  return xml(`<${operation}Response><${operation}Result>${body}</${operation}Result></${operation}Response>`);
}
