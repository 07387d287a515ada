/*
 * The handler ec2-instance with a target of tags: which instances it takes for the object's, and that each proves so for
 * itself. Against scripted answers of EC2, through the real SDK client.
 */
import { describe, expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { instances, type Reply, type Seen } from '../support/scripted-aws.ts';
import { done, parametersOf } from '../support/scripted-ec2.ts';
import { ACCOUNT, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const place = { region: REGION, account: ACCOUNT };
const run = (changes: RunChanges = {}) =>
  runOnce(ec2Instance, { ...place, tags: ['team=a', 'role=worker=1'] }, aws.endpoint, {
    ...{ deletedAgo: 180_000, ...changes },
  });
const TAGS = { team: 'a', role: 'worker=1', ...OWNED };
const idOf = (number: number) => `i-${String(number).padStart(17, '0')}`;
const one = (
  number: number,
  changes: { readonly state?: string; readonly tags?: Readonly<Record<string, string>> } = {},
) => ({
  ...{ instanceId: idOf(number), state: 'running', tags: TAGS },
  ...changes,
});
const TERMINATE = 'ec2:TerminateInstances';
const terminated = () => parametersOf(aws, TERMINATE).map((call) => call['InstanceId.1']);

/** EC2 with these instances: all of them to a look by tags, one to a look by id; terminated at once. */
function world(...list: readonly ReturnType<typeof one>[]): void {
  const states = new Map(list.map(({ instanceId, state }) => [instanceId, state]));
  const now = () => list.map((instance) => ({ ...instance, state: states.get(instance.instanceId) ?? '' }));
  aws.on('ec2:DescribeInstances', ({ body }: Seen): Reply => {
    const id = new URLSearchParams(body).get('InstanceId.1');
    return instances(...now().filter(({ instanceId }) => id === null || instanceId === id));
  });
  aws.on(TERMINATE, ({ body }: Seen): Reply => {
    states.set(new URLSearchParams(body).get('InstanceId.1') ?? '', 'terminated');
    return done('TerminateInstances');
  });
}

describe('choosing by tags', () => {
  it('takes down every instance that the tags select, one id per call (C7)', async () => {
    world(one(1), one(2), one(3));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(terminated()).toEqual([idOf(1), idOf(2), idOf(3)]);
    const calls = parametersOf(aws, 'ec2:DescribeInstances');
    expect(calls[0]).toMatchObject({
      ...{ 'Filter.1.Name': 'tag:team', 'Filter.1.Value.1': 'a' },
      ...{ 'Filter.2.Name': 'tag:role', 'Filter.2.Value.1': 'worker=1' },
    });
    const others = calls.filter((call) => call['Filter.1.Name'] === undefined);
    expect(others.every((call) => call['InstanceId.1'] !== undefined && call['InstanceId.2'] === undefined)).toBe(true);
  });

  it.each([
    ['without the proof of ownership', { team: 'a', role: 'worker=1' }, 'NotOwned'],
    ['with the keep tag', { ...TAGS, 'finalizer-bridge.dev/keep': '' }, 'Kept'],
    ['in a scaling group', { ...TAGS, 'aws:autoscaling:groupName': 'workers' }, 'InScalingGroup'],
  ])('touches none when one of them is %s', async (_what, tags, reason) => {
    world(one(1), one(2, { tags }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason, message: expect.stringContaining(idOf(2)) });
    expect(terminated()).toEqual([]);
  });

  it('P4 gives up a list in which a page leads back to itself, and says so', async () => {
    const body = '<DescribeInstancesResponse><reservationSet/><nextToken>t</nextToken></DescribeInstancesResponse>';
    aws.on('ec2:DescribeInstances', { status: 200, body });
    expect(await run()).toMatchObject({ outcome: 'pending', message: expect.stringContaining('leads back to itself') });
    expect(aws.operations()).toHaveLength(2);
  });

  it('P4 gives up a list that comes to no end, in a round or with another token each time, and says so', async () => {
    let page = 0;
    const unending = (tokens: number) =>
      aws.on('ec2:DescribeInstances', () => {
        page += 1;
        const token = `<nextToken>t${page % tokens}</nextToken>`;
        return {
          status: 200,
          body: `<DescribeInstancesResponse><reservationSet/>${token}</DescribeInstancesResponse>`,
        };
      });
    unending(3);
    expect(await run()).toMatchObject({ outcome: 'pending', message: expect.stringContaining('to one before it') });
    expect(page).toBeLessThan(10);
    unending(Number.POSITIVE_INFINITY);
    expect(await run()).toMatchObject({
      outcome: 'pending',
      message: expect.stringContaining('there is no end to it'),
    });
  });

  it('reads the ownership of each again directly before it terminates it (V13)', async () => {
    const second = { ...one(2) };
    world(one(1), second);
    aws.on(TERMINATE, () => {
      second.tags = { ...TAGS, ...{ 'finalizer-bridge.dev/keep': '' } };
      return done('TerminateInstances');
    });
    expect(await run()).toMatchObject({
      outcome: 'refused',
      reason: 'Kept',
      message: expect.stringContaining(idOf(2)),
    });
    expect(terminated()).toEqual([idOf(1)]);
  });

  it('leaves an instance alone whose tags are no longer those that selected it', async () => {
    world(one(1), one(2, { tags: { ...OWNED, team: 'b' } }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(terminated()).toEqual([idOf(1)]);
  });

  it('refuses more instances than one object has, before it looks at any', async () => {
    world(...Array.from({ length: 21 }, (_, number) => one(number)));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'TooManyInstances' });
    expect(aws.operations()).toEqual(['ec2:DescribeInstances']);
  });

  it('follows the pages of a look by tags', async () => {
    aws.on(
      'ec2:DescribeInstances',
      {
        status: 200,
        body: '<DescribeInstancesResponse><reservationSet/><nextToken>t</nextToken></DescribeInstancesResponse>',
      },
      instances(one(1, { state: 'terminated' })),
    );
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(parametersOf(aws, 'ec2:DescribeInstances')[1]).toMatchObject({ NextToken: 't' });
  });

  it('counts an instance once that moved from one page to the next while they were read', async () => {
    const list = Array.from({ length: 11 }, (_, number) => one(number, { state: 'terminated' }));
    world(...list);
    const page = instances(...list);
    if (typeof page !== 'object') throw new Error('no page');
    const body = page.body?.replace('</Describe', '<nextToken>t</nextToken></Describe') ?? '';
    aws.on('ec2:DescribeInstances', ({ body: asked }: Seen): Reply => {
      const [id, token] = ['InstanceId.1', 'NextToken'].map((key) => new URLSearchParams(asked).get(key));
      if (id !== null) return instances(...list.filter(({ instanceId }) => instanceId === id));
      return token === null ? { ...page, body } : page;
    });
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('needs tags as the proof of ownership: without one it would take down whatever carries the tags', async () => {
    world(one(1));
    expect(await run({ ownership: { none: true } })).toMatchObject({ outcome: 'refused', reason: 'OwnershipNeeded' });
    expect(aws.operations()).toEqual([]);
  });

  it('has each found id pass the allow-list as well', async () => {
    world(one(1), one(2));
    const names = ['tag:*', idOf(1)];
    expect(await run({ names })).toMatchObject({ reason: 'NameNotAllowed', message: expect.stringContaining(idOf(2)) });
    expect(terminated()).toEqual([]);
  });

  it('goes on with the others while one is pending, and says gone when all are', async () => {
    world(one(1, { state: 'shutting-down' }), one(2));
    expect(await run()).toMatchObject({ outcome: 'pending', message: expect.stringContaining(idOf(1)) });
    expect(terminated()).toEqual([idOf(2)]);
  });

  it('P1 believes that nothing else carries the tags only after a while: a terminated one hides none (C7, C15)', async () => {
    world(one(1, { state: 'terminated' }));
    const early = await run({ deletedAgo: 60_000 });
    expect(early).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet', progress: expect.any(String) });
    world(one(1, { state: 'terminated' }), one(2));
    expect(await run({ deletedAgo: 60_000 })).toMatchObject({ outcome: 'pending' });
    expect(terminated()).toEqual([idOf(2)]);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('P1 takes down as well what another look by the tags shows once the others are gone (C15)', async () => {
    const list = [one(1)];
    world(...list);
    aws.on(TERMINATE, ({ body }: Seen): Reply => {
      const id = new URLSearchParams(body).get('InstanceId.1') ?? '';
      world(one(1, { state: 'terminated' }), one(2, { state: id === idOf(1) ? 'running' : 'terminated' }));
      return done('TerminateInstances');
    });
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(terminated()).toEqual([idOf(1), idOf(2)]);
  });

  it('believes that nothing carries the tags only after a while (C15)', async () => {
    world();
    expect(await run({ deletedAgo: 60_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
  });
});

describe('the target', () => {
  it('has the tags compared with the allow-list, each as a name of its own', () => {
    const prepared = ec2Instance.prepare({ ...place, tags: ['team=a', 'role=b'] }, {});
    expect(prepared).toMatchObject({ identity: { names: ['tag:team=a', 'tag:role=b'] } });
  });

  it.each([
    ['no tag', { tags: [] }],
    ['neither id nor tags', {}],
    ['both', { tags: ['team=a'], instanceId: idOf(1) }],
    ['a wildcard', { tags: ['team=*'] }],
    ['a wildcard for one letter', { tags: ['team=?'] }],
    ['an escape', { tags: ['team=\\a'] }],
    ['a wildcard as the key', { tags: ['*=a'] }],
    ['an empty value', { tags: ['team='] }],
    ['an empty key', { tags: ['=a'] }],
    ['a key alone', { tags: ['team'] }],
    ['too many', { tags: Array.from({ length: 11 }, (_, index) => `k${index}=a`) }],
  ])('is refused with %s (C12)', (_what, names) => {
    expect(ec2Instance.prepare({ ...place, ...names }, {})).toMatchObject({ ok: false, reason: 'InvalidTarget' });
  });
});
