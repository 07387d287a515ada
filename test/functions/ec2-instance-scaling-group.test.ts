/*
 * ec2-instance and instances of scaling groups, where the rule says that the group may shrink (C6). Against scripted answers
 * through the real SDK clients; the emulator's part is in test/e2e/handlers-scaling-group.test.ts.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { groupArns } from '../../functions/handlers/ec2-instance/scaling-group.ts';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { KEEP_TAG } from '../../functions/ownership.ts';
import { instances } from '../support/scripted-aws.ts';
import { done, parametersOf, protections } from '../support/scripted-ec2.ts';
import {
  type Member,
  members,
  scalingError,
  scalingGroup,
  scalingGroups,
  terminating,
} from '../support/scripted-scaling.ts';
import { ACCOUNT, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const instanceId = 'i-0123456789abcdef0';
const group = 'workers-a';
const shrinking = { options: { shrinkGroup: true } };
const run = (changes: RunChanges = shrinking) =>
  runOnce(ec2Instance, { instanceId, region: REGION, account: ACCOUNT }, aws.endpoint, changes);
const inGroup = { instanceId, state: 'running', tags: { ...OWNED, 'aws:autoscaling:groupName': group } };
const member: Member = { instanceId, group, state: 'InService' };

const LOOK = 'ec2:DescribeInstances';
const MEMBER = 'autoscaling:DescribeAutoScalingInstances';
const GROUP = 'autoscaling:DescribeAutoScalingGroups';
const TERMINATE = 'autoscaling:TerminateInstanceInAutoScalingGroup';
const terminated = () => aws.operations().filter((operation) => /Terminate/.test(operation));

beforeEach(() => {
  aws.on(LOOK, instances(inGroup));
  aws.on(MEMBER, members(member));
  aws.on(GROUP, scalingGroup({ name: group, least: 1, desired: 3 }));
  aws.on('ec2:DescribeInstanceAttribute', protections([]));
  aws.on('ec2:TerminateInstances', done('TerminateInstances'));
  aws.on(TERMINATE, terminating);
});

describe('an instance of a scaling group that may shrink (C6)', () => {
  it('is terminated through the group, whose desired capacity goes down, with ownership read just before (V13)', async () => {
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
    expect(terminated()).toEqual([TERMINATE]);
    expect(parametersOf(aws, TERMINATE)).toMatchObject([
      { InstanceId: instanceId, ShouldDecrementDesiredCapacity: 'true' },
    ]);
    expect(aws.operations().slice(-3)).toEqual([LOOK, TERMINATE, LOOK]);
  });

  it('is left alone when it was given the keep tag between the first look and the last', async () => {
    aws.on(LOOK, instances(inGroup), instances({ ...inGroup, tags: { ...inGroup.tags, [KEEP_TAG]: '' } }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(terminated()).toEqual([]);
  });

  it.each(['Terminating', 'Terminating:Wait', 'Terminating:Proceed', 'Terminated'])(
    'is waited for and not terminated again while the group has it as %s, though EC2 still has it running',
    async (state) => {
      aws.on(MEMBER, members({ ...member, state }));
      expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
      expect(terminated()).toEqual([]);
    },
  );

  it('is gone once it is terminated, without the group being asked', async () => {
    aws.on(LOOK, instances({ ...inGroup, state: 'terminated' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations()).toEqual([LOOK]);
  });

  it.each(['ValidationError', 'ScalingActivityInProgress', 'ResourceContention'])(
    'is tried again after %s, and never terminated beside its group',
    async (code) => {
      aws.on(TERMINATE, scalingError(code));
      expect(await run()).toMatchObject({ outcome: 'pending', reason: expect.stringMatching(/^Scaling/) });
      expect(terminated()).toEqual([TERMINATE]);
    },
  );
});

it('an instance whose scaling group is not found is waited for: nothing says yet whether the group lets it go (C6)', async () => {
  aws.on(GROUP, scalingGroups());
  expect(await run()).toMatchObject({
    ...{ outcome: 'pending', reason: 'GroupNotFound', retryAt: expect.any(String) },
    message: expect.stringContaining(`scaling group ${group} has the instance in service`),
  });
  expect(terminated()).toEqual([]);
});

describe('an instance of a scaling group is refused (C6)', () => {
  const refused = async (reason: string, message: string, changes?: RunChanges) => {
    const outcome = await run(changes);
    expect(outcome).toMatchObject({ outcome: 'refused', reason, message: expect.stringContaining(message) });
    expect(terminated()).toEqual([]);
  };

  it('where the rule does not say that the group may shrink', () =>
    refused('InScalingGroup', `${instanceId} is in scaling group ${group},`, {}));

  it('where the group came after the instance was judged, and the rule does not say it', async () => {
    aws.on(LOOK, instances({ ...inGroup, tags: OWNED, launchTime: '2020-01-01T00:00:00Z' }), instances(inGroup));
    aws.on('ec2:CreateTags', done('CreateTags'));
    await refused('InScalingGroup', 'which would replace it', { ownership: { tags: OWNED }, uid: 'another' });
  });

  it('where the function’s configuration names the instance but not the group', () =>
    refused('NameNotAllowed', `group:${group}`, { ...shrinking, names: ['i-*'] }));

  it('where the group has its smallest size', async () => {
    aws.on(GROUP, scalingGroup({ name: group, least: 3, desired: 3 }));
    await refused('GroupAtMinimum', `scaling group ${group} has 3 instances, and 3 is its smallest size`);
  });

  it('where the group carries the keep tag', async () => {
    aws.on(GROUP, scalingGroup({ name: group, least: 0, desired: 3, tags: { [KEEP_TAG]: 'yes' } }));
    await refused('Kept', `scaling group ${group}`);
  });

  it.each(['Standby', 'EnteringStandby', 'Detaching', 'Detached', 'Warmed:Stopped', 'Quarantined'])(
    'in the state %s, from which the group does not terminate it for good',
    async (state) => {
      aws.on(MEMBER, members({ ...member, state }));
      await refused('InScalingGroup', `in the state ${state},`);
    },
  );

  it('where no group has it, whatever its tag says', async () => {
    aws.on(MEMBER, members());
    await refused('InScalingGroup', 'in the state none that it knows,');
  });

  it('where it is protected from scaling in, which the call would not ask for', async () => {
    aws.on(MEMBER, members({ ...member, isProtected: true }));
    await refused('ProtectionEnabled', `scale-in protection of ${instanceId} is on`);
    expect(await run({ options: { shrinkGroup: true, liftProtections: true } })).toMatchObject({ outcome: 'pending' });
    expect(terminated()).toEqual([TERMINATE]);
  });

  it('where it is protected from termination, which a group would not ask for either', async () => {
    aws.on('ec2:DescribeInstanceAttribute', protections(['disableApiTermination']));
    await refused('ProtectionEnabled', `termination protection of ${instanceId} is on`);
  });
});

it('waits for an instance that its group is still launching', async () => {
  aws.on(MEMBER, members({ ...member, state: 'Pending:Wait' }));
  expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Launching' });
  expect(terminated()).toEqual([]);
});

describe('the role of ec2-instance', () => {
  const allow = { accounts: [ACCOUNT], regions: [REGION], names: ['i-*', 'group:workers-*'] };

  it('has rights on scaling groups only where the configuration allows it, and only on those that are named', () => {
    const rights = ec2Instance.permissions.filter(({ actions }) => actions.some((one) => /^autoscaling:/.test(one)));
    expect(rights.flatMap(({ resources }) => resources(allow))).toEqual([]);
    const shrinkable = { ...allow, options: ['shrinkGroup'] };
    const [looks, terminates] = rights.map(({ resources }) => resources(shrinkable));
    expect(looks).toEqual(['*']);
    expect(terminates).toEqual([
      `arn:aws:autoscaling:${REGION}:${ACCOUNT}:autoScalingGroup:*:autoScalingGroupName/workers-*`,
    ]);
  });

  it.each([
    [['*'], ['*']],
    [['g*'], ['*']],
    [
      ['group:a', 'group:b-*'],
      ['a', 'b-*'],
    ],
    [['*', 'gr*'], ['*']],
    [['i-*', 'group', 'tag:a=b'], []],
  ])('takes %j for the groups %j', (names, groups) => {
    const [first = ''] = groupArns({ ...allow, names: ['*'] });
    expect(groupArns({ ...allow, names })).toEqual(groups.map((one) => first.replace(/\*$/, one)));
  });
});
