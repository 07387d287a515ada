/*
 * What an instance leaves behind, by option: volumes that stay when it goes, Elastic IP addresses. Against scripted
 * answers of EC2, through the real SDK client.
 */
import { beforeEach, expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { MARK_TAG } from '../../functions/ownership.ts';
import { ec2Error, instances, type Reply, type Seen } from '../support/scripted-aws.ts';
import { addresses, type DescribedVolume, done, parametersOf, volumes } from '../support/scripted-ec2.ts';
import { ACCOUNT, REGION, UID } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const instanceId = 'i-0123456789abcdef0';
const volumeId = 'vol-0123456789abcdef0';
const allocationId = 'eipalloc-0123456789abcdef0';
const MARKED = { ...OWNED, [MARK_TAG]: `${UID}/team-buckets` };
const options = { deleteVolumes: true, releaseAddresses: true };
const run = (changes: RunChanges = {}) =>
  runOnce(ec2Instance, { instanceId, region: REGION, account: ACCOUNT }, aws.endpoint, {
    ...{ deletedAgo: 180_000, options, ...changes },
  });
const running = { instanceId, state: 'running', tags: OWNED, staying: [volumeId] };
const attached = { volumeId, state: 'in-use', tags: OWNED, attachedTo: { [instanceId]: 'attached' } };
const free = { volumeId, state: 'available', tags: MARKED };
const noVolume = ec2Error(400, 'InvalidVolume.NotFound');
const operations = () => aws.operations().map((operation) => operation.replace('ec2:', ''));
const made = (operation: string) => operations().includes(operation);
const marked = () => parametersOf(aws, 'ec2:CreateTags').map((call) => call['ResourceId.1']);

beforeEach(() => {
  for (const name of ['TerminateInstances', 'CreateTags', 'DeleteVolume', 'ReleaseAddress'])
    aws.on(`ec2:${name}`, done(name));
  aws.on('ec2:DescribeInstances', instances(running));
  aws.on('ec2:DescribeVolumes', volumes([attached]));
  aws.on('ec2:DescribeAddresses', addresses({ allocationId, associationId: 'eipassoc-1', tags: OWNED }));
});

/** The instance is terminated; what carries the mark is this. */
function terminated(
  list: readonly DescribedVolume[],
  address?: { readonly associationId?: string; readonly tags?: Readonly<Record<string, string>> },
) {
  aws.on('ec2:DescribeInstances', instances({ ...running, state: 'terminated' }));
  const left = new Map(list.map((volume) => [volume.volumeId, volume]));
  aws.on('ec2:DescribeVolumes', ({ body }: Seen): Reply => {
    const id = new URLSearchParams(body).get('VolumeId.1');
    if (id !== null && !left.has(id)) return noVolume;
    return volumes([...left.values()].filter((volume) => id === null || volume.volumeId === id));
  });
  aws.on('ec2:DeleteVolume', ({ body }: Seen): Reply => {
    left.delete(new URLSearchParams(body).get('VolumeId') ?? '');
    return done('DeleteVolume');
  });
  aws.on(
    'ec2:DescribeAddresses',
    address === undefined ? addresses() : addresses({ allocationId, tags: MARKED, ...address }),
  );
}

it('marks what stays before the instance is terminated, and reads its ownership again after that (V13)', async () => {
  expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  expect(marked()).toEqual([volumeId, allocationId]);
  expect(operations()).toEqual([
    ...['DescribeInstances', 'DescribeVolumes', 'DescribeAddresses', 'CreateTags', 'CreateTags'],
    ...['DescribeInstances', 'TerminateInstances', 'DescribeInstances'],
  ]);
});

it('P1 is not gone in the run that has terminated it at once: the look by the mark shows a new one only a while late (C15)', async () => {
  let state = 'stopped';
  aws.on('ec2:DescribeInstances', () => instances({ ...running, state }));
  aws.on('ec2:TerminateInstances', () => {
    state = 'terminated';
    return done('TerminateInstances');
  });
  aws.on('ec2:DescribeVolumes', ({ body }: Seen): Reply => volumes(body.includes('VolumeId.1') ? [attached] : []));
  aws.on('ec2:DescribeAddresses', addresses());
  expect(await run()).toMatchObject({ outcome: 'pending', progress: expect.any(String) });
  expect(marked()).toContain(volumeId);
  terminated([free], {});
  expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(made('DeleteVolume')).toBe(true);
});

it('P1 marks what stays when somebody else has the instance shutting down already', async () => {
  aws.on('ec2:DescribeInstances', instances({ ...running, state: 'shutting-down' }));
  expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  expect(marked()).toEqual([volumeId, allocationId]);
  expect(made('TerminateInstances')).toBe(false);
});

it('P2 marks nothing of an instance that is shutting down and may be a successor’s (V12)', async () => {
  const tags = { team: 'a' };
  const launched = { launchTime: new Date().toISOString() };
  aws.on('ec2:DescribeInstances', instances({ ...running, ...launched, tags, state: 'shutting-down' }));
  aws.on('ec2:DescribeVolumes', volumes([{ ...attached, tags }]));
  expect(await run({ ownership: { tags } })).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  expect(marked()).toEqual([]);
});

it('P1 terminates nothing while a volume that is attached may only not be visible yet (C15)', async () => {
  aws.on('ec2:DescribeVolumes', noVolume);
  expect(await run({ createdAgo: 60_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
  expect(made('TerminateInstances')).toBe(false);
});

it('marks nothing a second time, and no volume that goes with the instance anyway', async () => {
  aws.on('ec2:DescribeInstances', instances({ ...running, leaving: ['vol-ffffffffffffffff0'] }));
  aws.on('ec2:DescribeVolumes', volumes([{ ...attached, tags: MARKED }]));
  expect(await run({ options: { deleteVolumes: true } })).toMatchObject({ reason: 'ShuttingDown' });
  expect(parametersOf(aws, 'ec2:DescribeVolumes')).toMatchObject([{ 'VolumeId.1': volumeId }]);
  expect(marked()).toEqual([]);
});

it('touches neither volumes nor addresses without the options', async () => {
  await run({ options: {} });
  terminated([free], {});
  expect(await run({ options: {} })).toEqual({ outcome: 'gone', evidence: 'deleted' });
  for (const operation of ['DescribeVolumes', 'DescribeAddresses', 'CreateTags', 'DeleteVolume', 'ReleaseAddress'])
    expect(made(operation), operation).toBe(false);
});

it.each([
  ['does not carry the proof', { ...attached, tags: {} }],
  ['carries the keep tag', { ...attached, tags: { ...OWNED, 'finalizer-bridge.dev/keep': '' } }],
  [
    'is attached to another instance as well',
    { ...attached, attachedTo: { [instanceId]: 'attached', 'i-2': 'attached' } },
  ],
])('leaves a volume that %s', async (_what, volume) => {
  aws.on('ec2:DescribeVolumes', volumes([volume]));
  expect(await run({ options: { deleteVolumes: true } })).toMatchObject({ reason: 'ShuttingDown' });
  expect(marked()).toEqual([]);
});

it('deletes and releases what it has marked once the instance is terminated, and then says gone', async () => {
  terminated([free], {});
  expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(parametersOf(aws, 'ec2:DeleteVolume')).toMatchObject([{ VolumeId: volumeId }]);
  expect(parametersOf(aws, 'ec2:ReleaseAddress')).toMatchObject([{ AllocationId: allocationId }]);
  const [byMark] = parametersOf(aws, 'ec2:DescribeVolumes');
  expect(byMark).toMatchObject({ 'Filter.1.Name': `tag:${MARK_TAG}`, 'Filter.1.Value.1': `${UID}/team-buckets` });
});

it('finds what it has marked also when the instance is not known any more', async () => {
  terminated([free]);
  aws.on('ec2:DescribeInstances', ec2Error(400, 'InvalidInstanceID.NotFound'));
  expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(made('DeleteVolume')).toBe(true);
});

it.each([
  [
    'a volume that is still attached',
    [{ ...free, state: 'in-use', attachedTo: { [instanceId]: 'detaching' } }],
    undefined,
    'Attached',
  ],
  ['a volume that is being deleted', [{ ...free, state: 'deleting' }], undefined, 'Deleting'],
  ['an address that is still associated', [], { associationId: 'eipassoc-1' }, 'AddressInUse'],
] as const)('waits for %s, which counts as progress of the deletion', async (_what, list, address, reason) => {
  terminated(list, address);
  expect(await run()).toMatchObject({ outcome: 'pending', reason, progress: expect.any(String) });
  expect(made('DeleteVolume') || made('ReleaseAddress')).toBe(false);
});

it('leaves what was given the keep tag, or another owner, since it was marked (V13)', async () => {
  const kept = { ...MARKED, 'finalizer-bridge.dev/keep': '' };
  terminated([{ ...free, tags: kept }], { tags: { [MARK_TAG]: MARKED[MARK_TAG] ?? '' } });
  expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(made('DeleteVolume') || made('ReleaseAddress')).toBe(false);
});

it('refuses before anything is begun what the allow-list does not name', async () => {
  const refusal = { outcome: 'refused', reason: 'NameNotAllowed', message: expect.stringContaining(volumeId) };
  expect(await run({ names: ['i-*'] })).toMatchObject(refusal);
  expect(made('TerminateInstances')).toBe(false);
  expect(marked()).toEqual([]);
});

it('grants the rights only where the configuration allows the options', () => {
  const allow = { accounts: [ACCOUNT], regions: [REGION], names: ['vol-*'] };
  const granted = (allowed: readonly string[]) =>
    ec2Instance.permissions
      .flatMap(({ actions, resources }) => (resources({ ...allow, options: [...allowed] }).length > 0 ? actions : []))
      .filter((action) => /Delete|Release/.test(action));
  expect(granted([])).toEqual([]);
  expect(granted(['deleteVolumes'])).toEqual(['ec2:DeleteVolume']);
  expect(granted(['releaseAddresses'])).toEqual(['ec2:ReleaseAddress']);
});
