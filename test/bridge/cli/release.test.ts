/*
 * A release by a person: what is asked before it is written, what it says of the time at which the entry comes off, and
 * what is left of it for those who ask later who did it and why. Over a tiny API server.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { entryOf } from '../../../bridge/finalizer.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { reasonGiven, releaseWord } from '../../../bridge/words.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { START, stamp } from '../../support/manual-clock.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

const UID = '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01';
const RELEASE = ['--reason', 'moved to another account', '--yes'] as const;

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
  line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec() });
  line.cluster.create({ name: 'logs', uid: UID, finalizers: [ENTRY], spec: { bucket: 'team-a-logs' } });
  line.cluster.delete('logs');
});

const meta = () => {
  const object = line.cluster.peek('logs');
  if (object === undefined) throw new Error('logs is gone');
  return object.metadata;
};

describe('release', () => {
  it('says by when the entry comes off: when no request that was sent can still run', async () => {
    const { out, err } = await line.run('release bucket/logs', ...RELEASE);
    expect(releaseWord(meta(), RULE)).toBe('wait');
    // Its rule has had its term of an hour since before the deletion: two terms, two minutes ahead, and what a call takes.
    expect(out).toContain('the bridge takes the entry off by 2026-03-02T11:31:30Z');
    expect(err).toContain('nobody takes down bucket=');
  });

  it('V6: assumes the longest term where the rule is gone, or may not be read', async () => {
    const twelveHours = /takes the entry off by 2026-03-02T21:3\d/;
    line.cluster.create({ name: 'lost', finalizers: [entryOf('no-such-rule')] });
    line.cluster.delete('lost');
    expect((await line.run('release bucket/lost', ...RELEASE)).out).toMatch(twelveHours);
    line.cluster.before = ({ verb, name }) => {
      if (verb === 'get' && name === RULE) throw new ApiError('getting it', 403);
    };
    const { out, err } = await line.run('release bucket/logs', ...RELEASE);
    expect([out, err]).toEqual([expect.stringMatching(twelveHours), expect.stringContaining('cannot be read')]);
  });

  it('at once warns that a teardown may still happen', async () => {
    const { out, err } = await line.run('release bucket/logs --now', ...RELEASE);
    expect(releaseWord(meta(), RULE)).toBe('now');
    expect([out, err]).toEqual([
      expect.stringContaining('at once'),
      expect.stringContaining('take it down after the object is gone'),
    ]);
  });

  it('keeps its reason on the object, bound to the deletion', async () => {
    await line.run('release bucket/logs', ...RELEASE);
    expect(reasonGiven(meta(), RULE)).toBe('moved to another account');
    expect(meta().annotations?.[`reason.finalizer-bridge.dev/${RULE}`]).toMatch(new RegExp(`^${UID}/`));
  });

  it('asks a person for reason and the end of the uid', async () => {
    line.answers = ['by hand', '0a9c01'];
    expect((await line.run('release bucket/logs')).exit).toBe(0);
    expect(line.questions[1]).toContain(`The uid of buckets.storage.example.com/logs is ${UID}`);
    expect(reasonGiven(meta(), RULE)).toBe('by hand');
  });

  it.each([
    ['a wrong uid', ['by hand', '0a9c02'], 1, 'that is not the end of its uid; nothing was changed'],
    ['no answer', ['by hand', ''], 1, 'that is not the end of its uid'],
    ['no reason', [''], 2, 'a release needs a reason'],
  ])('changes nothing on %s', async (_, answers, code, words) => {
    line.answers = answers;
    expect(await line.run('release bucket/logs')).toMatchObject({ exit: code, err: expect.stringContaining(words) });
    expect(line.cluster.count('patch')).toBe(0);
  });

  it.each([
    [['--yes'], 'a release needs --reason'],
    [['--reason', 'because'], 'nobody is there to confirm'],
    [['--yes', '--reason', 'two\nlines'], 'a reason is one line'],
    [['--yes', '--reason', 'x'.repeat(257)], 'at most 256 characters'],
  ])('with nobody there, %j is not enough', async (options, words) => {
    expect(await line.run('release bucket/logs', ...options)).toMatchObject({
      exit: 2,
      err: expect.stringContaining(words),
    });
    expect(line.cluster.count('patch')).toBe(0);
  });

  it('is told in JSON with the time by which the entry is off', async () => {
    const { out } = await line.run('release bucket/logs -o json', ...RELEASE);
    expect(JSON.parse(out)).toEqual({
      ...{ object: 'buckets.storage.example.com/logs', namespace: 'team-a', uid: UID, rule: RULE, word: 'release' },
      ...{ now: false, reason: 'moved to another account', offBy: '2026-03-02T11:31:30Z' },
      leaves: { bucket: 'team-a-logs', region: 'eu-central-1', account: '111122223333' },
    });
  });
});

it('counts a deletion from when it was asked for, whatever grace period it has', async () => {
  line.cluster.create({ name: 'slow', finalizers: [ENTRY] });
  line.cluster.delete('slow', { deletionTimestamp: stamp(START + 600_000), deletionGracePeriodSeconds: 600 });
  expect((await line.run('release bucket/slow', ...RELEASE)).out).toContain('2026-03-02T11:31:30Z');
});
