/*
 * What stands between ec2-instance and a termination that lasts: protections, and what would bring the instance back.
 * Against scripted answers of EC2, through the real SDK client; the emulator knows neither fleets nor stop protection.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { ec2Error, instances } from '../support/scripted-aws.ts';
import { done, fleets, parametersOf, protections, spotFleet, spotRequest } from '../support/scripted-ec2.ts';
import { ACCOUNT, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const instanceId = 'i-0123456789abcdef0';
const target = { instanceId, region: REGION, account: ACCOUNT };
const run = (changes: RunChanges = {}) =>
  runOnce(ec2Instance, target, aws.endpoint, { deletedAgo: 180_000, ...changes });
const running = { instanceId, state: 'running', tags: OWNED };
const LOOK = 'ec2:DescribeInstances';
const TERMINATE = 'ec2:TerminateInstances';

beforeEach(() => {
  aws.on(TERMINATE, done('TerminateInstances'));
});

describe('protections (C6)', () => {
  beforeEach(() => {
    aws.on(LOOK, instances(running));
    aws.on(TERMINATE, ec2Error(400, 'OperationNotPermitted'));
    aws.on('ec2:ModifyInstanceAttribute', done('ModifyInstanceAttribute'));
  });

  it.each([
    [['disableApiTermination'], `termination protection of ${instanceId} is on`],
    [['disableApiStop'], `stop protection of ${instanceId} is on`],
    [['disableApiTermination', 'disableApiStop'], `termination protection and stop protection of ${instanceId} is on`],
  ] as const)('refuses an instance with %j, and names what protects it', async (on, message) => {
    aws.on('ec2:DescribeInstanceAttribute', protections(on));
    expect(await run()).toEqual({ outcome: 'refused', reason: 'ProtectionEnabled', message });
    expect(aws.operations()).not.toContain('ec2:ModifyInstanceAttribute');
  });

  it('says what EC2 said when nothing protects the instance', async () => {
    aws.on('ec2:DescribeInstanceAttribute', protections([]));
    const message = `terminating ${instanceId}: OperationNotPermitted`;
    expect(await run()).toEqual({ outcome: 'refused', reason: 'OperationNotPermitted', message });
    expect(await run({ options: { liftProtections: true } })).toMatchObject({ reason: 'OperationNotPermitted' });
    expect(aws.operations()).not.toContain('ec2:ModifyInstanceAttribute');
  });

  it('lifts both by option, each with ownership read again, and terminates in the next run (V13)', async () => {
    aws.on('ec2:DescribeInstanceAttribute', protections(['disableApiTermination', 'disableApiStop']));
    const options = { liftProtections: true };
    expect(await run({ options })).toMatchObject({ outcome: 'pending', reason: 'ProtectionLifted' });
    const [first, second] = parametersOf(aws, 'ec2:ModifyInstanceAttribute');
    expect(first).toMatchObject({ InstanceId: instanceId, 'DisableApiTermination.Value': 'false' });
    expect(second).toMatchObject({ InstanceId: instanceId, 'DisableApiStop.Value': 'false' });
    expect(aws.operations().slice(-4)).toEqual([
      ...[LOOK, 'ec2:ModifyInstanceAttribute', LOOK, 'ec2:ModifyInstanceAttribute'],
    ]);
    aws.on(TERMINATE, done('TerminateInstances'));
    expect(await run({ options })).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  });

  it('lifts nothing of an instance that was given the keep tag meanwhile (V13)', async () => {
    aws.on('ec2:DescribeInstanceAttribute', protections(['disableApiTermination']));
    aws.on(LOOK, instances(running), instances({ ...running, tags: { ...OWNED, 'finalizer-bridge.dev/keep': '' } }));
    expect(await run({ options: { liftProtections: true } })).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(aws.operations()).not.toContain('ec2:ModifyInstanceAttribute');
  });

  it('says that the option is one that the function’s configuration has to allow', () => {
    const prepared = ec2Instance.prepare(target, { liftProtections: true });
    expect(prepared).toMatchObject({ ok: true, dangers: ['liftProtections'] });
    const allow = { accounts: [ACCOUNT], regions: [REGION], names: ['i-*'] };
    const lifting = ec2Instance.permissions.find(({ actions }) => actions.includes('ec2:ModifyInstanceAttribute'));
    expect(lifting?.resources(allow)).toEqual([]);
    expect(lifting?.resources({ ...allow, options: ['liftProtections'] })).toEqual([
      `arn:aws:ec2:${REGION}:${ACCOUNT}:instance/i-*`,
    ]);
  });
});

describe('scaling groups and fleets (C6)', () => {
  const inGroup = { ...running, tags: { ...OWNED, 'aws:autoscaling:groupName': 'workers-a' } };
  const inFleet = { ...running, tags: { ...OWNED, 'aws:ec2:fleet-id': 'fleet-1' } };
  const inSpotFleet = { ...running, tags: { ...OWNED, 'aws:ec2spot:fleet-request-id': 'sfr-1' } };
  const notTerminated = () => expect(aws.operations()).not.toContain(TERMINATE);

  it('refuses an instance in a scaling group, with the name of the group', async () => {
    aws.on(LOOK, instances(inGroup));
    expect(await run()).toMatchObject({
      ...{ outcome: 'refused', reason: 'InScalingGroup' },
      message: expect.stringContaining('scaling group workers-a,'),
    });
    notTerminated();
  });

  it('takes an instance of a group for gone once it is terminated', async () => {
    aws.on(LOOK, instances({ ...inGroup, state: 'terminated' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('refuses an instance in a fleet that keeps its size, also on a later page of fleets', async () => {
    aws.on(LOOK, instances(inFleet));
    aws.on('ec2:DescribeFleets', fleets(['fleet-0'], 'next'), fleets(['fleet-1']));
    expect(await run()).toMatchObject({ reason: 'InFleet', message: expect.stringContaining('fleet fleet-1,') });
    const [first, second] = parametersOf(aws, 'ec2:DescribeFleets');
    expect(first).toMatchObject({ 'Filter.1.Name': 'type', 'Filter.1.Value.1': 'maintain' });
    expect(second).toMatchObject({ NextToken: 'next' });
    notTerminated();
  });

  it('terminates an instance of a fleet that launches once, or is gone', async () => {
    aws.on(LOOK, instances(inFleet));
    aws.on('ec2:DescribeFleets', fleets([]));
    expect(await run()).toMatchObject({ reason: 'ShuttingDown' });
    aws.on(LOOK, instances(inSpotFleet));
    aws.on('ec2:DescribeSpotFleetRequests', ec2Error(400, 'InvalidSpotFleetRequestId.NotFound'));
    expect(await run()).toMatchObject({ reason: 'ShuttingDown' });
  });

  it.each([
    ['maintain', 'active', 'InFleet'],
    ['maintain', 'modifying', 'InFleet'],
    ['maintain', 'cancelled_running', 'ShuttingDown'],
    ['request', 'active', 'ShuttingDown'],
  ])('of a spot fleet of type %s that is %s says %s', async (type, state, reason) => {
    aws.on(LOOK, instances(inSpotFleet));
    aws.on('ec2:DescribeSpotFleetRequests', spotFleet('sfr-1', type, state));
    expect(await run()).toMatchObject({ reason });
  });
});

describe('a spot request (C6)', () => {
  const spot = { ...running, spotRequestId: 'sir-1' };
  const persistent = { id: 'sir-1', type: 'persistent', instanceId } as const;
  const DESCRIBE = 'ec2:DescribeSpotInstanceRequests';
  const CANCEL = 'ec2:CancelSpotInstanceRequests';
  beforeEach(() => aws.on(CANCEL, done('CancelSpotInstanceRequests')));

  it.each(['active', 'open', 'disabled'])(
    'that is persistent and %s is cancelled before the instance is terminated, with ownership read in between',
    async (state) => {
      aws.on(LOOK, instances(spot));
      aws.on(DESCRIBE, spotRequest({ ...persistent, state }));
      expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
      expect(parametersOf(aws, CANCEL)).toMatchObject([{ 'SpotInstanceRequestId.1': 'sir-1' }]);
      expect(aws.operations()).toEqual([LOOK, DESCRIBE, CANCEL, LOOK, TERMINATE, LOOK]);
    },
  );

  it.each([
    ['one-time', 'active'],
    ['persistent', 'cancelled'],
    ['persistent', 'closed'],
  ] as const)('that is %s and %s brings nothing back, and is left alone', async (type, state) => {
    aws.on(LOOK, instances(spot));
    aws.on(DESCRIBE, spotRequest({ ...persistent, type, state }));
    expect(await run()).toMatchObject({ reason: 'ShuttingDown' });
    expect(aws.operations()).toEqual([LOOK, DESCRIBE, TERMINATE, LOOK]);
  });

  it('that is not known any more brings nothing back', async () => {
    aws.on(LOOK, instances(spot));
    aws.on(DESCRIBE, ec2Error(400, 'InvalidSpotInstanceRequestID.NotFound'));
    expect(await run()).toMatchObject({ reason: 'ShuttingDown' });
  });

  it('is not cancelled for an instance that is not the object’s', async () => {
    for (const state of ['running', 'shutting-down', 'terminated']) {
      aws.on(LOOK, instances({ ...spot, state, tags: {} }));
      await run();
    }
    expect(aws.operations()).not.toContain(DESCRIBE);
    expect(aws.operations()).not.toContain(CANCEL);
  });

  it('is cancelled also where somebody else terminated the instance, before it is told gone', async () => {
    aws.on(LOOK, instances({ ...spot, state: 'terminated' }));
    aws.on(DESCRIBE, spotRequest({ id: 'sir-1', type: 'persistent', state: 'open' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations()).toEqual([LOOK, DESCRIBE, CANCEL]);
  });

  it('that has launched another instance already is cancelled, and a person is told until that one is down', async () => {
    const other = { instanceId: 'i-ffffffffffffffff0', state: 'running' };
    const down = instances({ ...spot, state: 'terminated' });
    aws.on(LOOK, down, instances(other));
    aws.on(DESCRIBE, spotRequest({ ...persistent, state: 'active', instanceId: other.instanceId }));
    const told = { outcome: 'refused', reason: 'BroughtBack', message: expect.stringContaining(other.instanceId) };
    expect(await run()).toMatchObject(told);
    expect(aws.operations()).toContain(CANCEL);
    aws.on(DESCRIBE, spotRequest({ ...persistent, state: 'cancelled', instanceId: other.instanceId }));
    aws.on(LOOK, down, instances(other));
    expect(await run(), 'also when it is cancelled already').toMatchObject(told);
    aws.on(LOOK, down, instances({ ...other, state: 'terminated' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('that cannot be cancelled keeps the instance, which would only come back', async () => {
    aws.on(LOOK, instances(spot));
    aws.on(DESCRIBE, spotRequest({ ...persistent, state: 'active' }));
    aws.on(CANCEL, ec2Error(403, 'UnauthorizedOperation'));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'AccessDenied' });
    expect(aws.operations()).not.toContain(TERMINATE);
  });
});
