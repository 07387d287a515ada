/*
 * What `explain` makes of an object that does not go away: with a real bridge over fakes having written what it writes, the
 * state, what is waited for, and commands that do what they say when they are run.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { entryOf } from '../../../bridge/finalizer.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { recordKey } from '../../../bridge/record.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const MINUTE = 60_000;
const scenes: RuleScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

/** A bridge with a rule, an object that is being deleted, and a person at the command line. */
async function deleting(spec = {}): Promise<{ scene: RuleScene; line: CommandLine }> {
  const scene = await RuleScene.start();
  scenes.push(scene);
  await scene.apply(spec);
  await scene.create('logs');
  await scene.delete('logs');
  return { scene, line: new CommandLine(scene) };
}

/** The commands that an explanation ends with, without the name of the program. */
const commandsIn = (out: string) => [...out.matchAll(/^ +finalizer-bridge (.*)$/gm)].map(([, command = '']) => command);

describe('an entry', () => {
  it('P7: says why it is held, since when, what it waits for and what to type', async () => {
    const { scene, line } = await deleting();
    await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'tag owner-uid is missing' });
    await scene.clock.advance(5 * MINUTE);
    const { exit, out } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain('buckets.storage.example.com/logs in namespace team-a (uid uid-logs) is being deleted since');
    expect(out).toContain(`Rule ${RULE} (handler s3-bucket): Held NotOwned for 5m`);
    expect(out).toContain('said        tag owner-uid is missing');
    expect(out).toContain('target      bucket=team-a-logs region=eu-central-1 account=111122223333');
    expect(out).toContain('proof       finalizer-bridge.dev/owner-uid=uid-logs');
    expect(out).toMatch(/waits for +the outside resource to carry the proof/);
    expect(commandsIn(out)).toEqual([
      'adopt buckets.storage.example.com/logs -n team-a --rule team-buckets',
      'retry buckets.storage.example.com/logs -n team-a --rule team-buckets',
      'release buckets.storage.example.com/logs -n team-a --rule team-buckets --reason WHY',
    ]);
  });

  it('P7: whose request nobody answers for long names the likely reasons, and what to type', async () => {
    const { scene, line } = await deleting();
    await scene.clock.advance(2 * MINUTE);
    expect((await line.run('explain bucket/logs')).out).not.toContain('UnknownSender');

    await scene.clock.advance(5 * MINUTE);

    const { out } = await line.run('explain bucket/logs');
    expect(out).toMatch(/waits for +the result of the request that was sent; nobody has answered yet/);
    expect(out).toContain('UnknownSender');
    expect(commandsIn(out).map((command) => command.split(' ')[0])).toEqual(['retry', 'release']);
  });

  it('is ended by the commands that it names', async () => {
    const { scene, line } = await deleting();
    await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'no' });
    const [, retry = '', release = ''] = commandsIn((await line.run('explain bkt logs')).out);
    expect((await line.run(retry)).exit).toBe(0);
    await scene.clock.advance(1_000);
    expect(scene.requests).toHaveLength(2);
    expect((await line.run(`${release} --now --yes`)).exit).toBe(0);
    await scene.clock.advance(1_000);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('of a release that waits says until when, and the bridge agrees', async () => {
    const { scene, line } = await deleting();
    const { out: told } = await line.run('release bucket/logs --yes --reason x -o json');
    await scene.clock.advance(MINUTE);
    const { out } = await line.run('explain bucket/logs -o json');
    const [entry] = JSON.parse(out).entries;
    expect(entry).toMatchObject({ state: 'Pending', reason: 'ReleaseWaiting', words: ['release: x'] });
    expect(Date.parse(JSON.parse(told).offBy)).toBeGreaterThanOrEqual(Date.parse(entry.nextLook));
    expect(entry.next[0].command).toMatch(/ release \S+ -n team-a --rule \S+ --now --reason WHY$/);
  });

  it('over budget is approved by its command', async () => {
    const { scene, line } = await deleting({ budget: { limit: 1, window: '1h' } });
    await scene.create('more');
    await scene.delete('more');
    await scene.clock.advance(MINUTE);
    const { out } = await line.run('explain bucket/more');
    expect(out).toContain('Held BudgetExceeded');
    await line.run(commandsIn(out)[0] ?? '');
    await scene.clock.advance(1_000);
    expect(scene.requested).toEqual(['logs', 'more']);
  });

  it('P7: of an object that takes no record is as the status of the rule says, in status as well', async () => {
    const { scene, line } = await deleting();
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'patch' && name === 'logs') throw new ApiError('patching buckets/logs', 403, { body: 'denied' });
    };
    await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'no' });
    await scene.clock.advance(5 * MINUTE);
    const held = z.object({ reason: z.string(), message: z.string() });
    const [told] = z.array(held).parse(scene.status().heldObjects);
    expect(told?.message).toBe('no; cannot be recorded: denied');

    const { out } = await line.run('explain bucket/logs');

    expect(out).toContain(`Rule ${RULE} (handler s3-bucket): Held ${told?.reason} for `);
    expect(out).toContain(
      `said        ${told?.message} (as the rule's status says: nothing could be written on the object)`,
    );
    expect(out).not.toContain('the bridge, which has written nothing on the object');
    const { out: counted, err } = await line.run('status');
    expect(counted).toMatch(new RegExp(`${RULE} .* True +0 +1 +1 +5m`));
    expect(counted).toMatch(new RegExp(`${RULE} +team-a +logs +${told?.reason} +\\d+m +${told?.message}`));
    expect(err).not.toContain('has said nothing');
  });

  it('that nothing was written about is the bridge busy at first, and the bridge away later', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    line.cluster.delete('logs');
    expect((await line.run('explain bucket/logs')).out).toContain('writes nothing for the first half minute');
    line.clock.step(10 * MINUTE);
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain('is being deleted since 2026-03-02T09:30:00Z, 10m ago');
    expect(out).toContain('waits for   the bridge, which has written nothing on the object');
  });

  it('whose request is a dead letter waits for the next term, and says where to look (Q7)', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', uid: 'uid-logs', finalizers: [ENTRY] });
    line.cluster.delete('logs');
    const said = { phase: 'Pending', reason: 'DeadLettered', message: 'given up', since: '2026-03-02T09:30:00Z' };
    const record = { uid: 'uid-logs', ruleUid: 'x', ...said, targets: [] };
    line.cluster.annotate('logs', recordKey(RULE), JSON.stringify(record));
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain('waits for   the request of the next term');
    expect(out).toContain('the archive of dead letters');
    expect(commandsIn(out)[0]).toMatch(/^retry /);
  });

  it('whose rule is gone says so, and how to let the object go', async () => {
    const { scene, line } = await deleting();
    scene.forceDelete();
    await scene.clock.advance(2 * MINUTE);
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain(`Rule ${RULE}: Held NoRule`);
    expect(out).toContain('there is no such TeardownRule');
    expect(commandsIn(out)[0]).toMatch(/^release /);
  });

  it('whose rule may not be read is explained as far as the object says', async () => {
    const { scene, line } = await deleting();
    await scene.answer('logs', { outcome: 'refused', reason: 'Kept', message: 'the tag is set' });
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'get' && name === RULE) throw new ApiError('getting it', 403, { body: '{"message":"jo may not"}' });
    };
    const { exit, out } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain('Held Kept');
    expect(out).toContain('rule        cannot be read: jo may not');
  });

  it('of a live object waits for nothing', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec() });
    line.cluster.create({ name: 'live', finalizers: [ENTRY] });
    const { out } = await line.run('explain bucket/live');
    expect(out).toContain('(uid uid-live) is not being deleted.');
    expect(out).toContain(`Rule ${RULE} (handler s3-bucket): Live`);
    expect(commandsIn(out)).toEqual([]);
  });

  it('says what people have said, heard or not, understood or not', async () => {
    const { scene, line } = await deleting();
    await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'no' });
    scene.lease.holds = () => false;
    await line.run('retry bucket/logs');
    scene.cluster.annotate('logs', `approve.finalizer-bridge.dev/${RULE}`, 'another-uid');
    const { out } = await line.run('explain bucket/logs');
    expect(out).toMatch(/a person +retry .*, not heard by the bridge yet/);
    expect(out).toMatch(/a person +not understood: approve is not uid-logs/);
  });

  it.each([
    ['TargetMissing', false, ['release']],
    ['TargetChanged', false, ['retry', 'release']],
    ['TargetChanged', true, ['release']],
  ])('held %s where nobody knows what was asked for before says where to look, and then %j %j', async (...told) => {
    const [reason, requested, words] = told;
    const line = new CommandLine();
    const [since, digest] = ['2026-03-02T09:30:00Z', 'a'.repeat(64)];
    const record = {
      ...{ uid: 'uid-logs', ruleUid: 'r', phase: 'Held', reason, message: 'nobody knows', since, unknownTarget: true },
      targets: [{ target: digest, rule: digest, requested, started: false }],
    };
    const annotations = { [recordKey(RULE)]: JSON.stringify(record) };
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    line.cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, annotations } }));
    line.cluster.delete('logs');
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain('look at what the object named before');
    expect(commandsIn(out).map((command) => command.split(' ')[0])).toEqual(words);
  });

  it('of one of several rules is named in the commands', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: [ENTRY, entryOf('other')] });
    line.cluster.delete('logs');
    line.clock.step(10 * MINUTE);
    const { entries } = JSON.parse((await line.run('explain bucket/logs -o json')).out);
    expect(entries.map(({ rule }: { rule: string }) => rule)).toEqual([RULE, 'other']);
  });

  it('has commands that go to the same cluster, as the same caller', async () => {
    const { scene, line } = await deleting();
    await scene.answer('logs', { outcome: 'refused', reason: 'X', message: 'no' });
    const { out } = await line.run('explain bucket/logs --context prod --as jo');
    expect(commandsIn(out)[0]).toBe(
      '--context prod --as jo retry buckets.storage.example.com/logs -n team-a --rule team-buckets',
    );
  });
});

it('of a rule that is being withdrawn is what the bridge says of it', async () => {
  const { scene, line } = await deleting();
  await scene.deleteRule();
  await scene.clock.advance(2 * MINUTE);
  const { out } = await line.run(`explain tdr ${RULE}`);
  expect(out).toContain('it is being withdrawn; PendingObjects: 1 objects');
  expect(out).toContain(`finalizer-bridge drain --rule ${RULE}`);
  expect(out).not.toMatch(/no finalizers at all|No entry/);
});
