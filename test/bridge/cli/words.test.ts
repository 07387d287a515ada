/*
 * What people say with retry, release and approve, as the bridge then reads it: on exactly the object that was looked at,
 * under one rule, and nothing else of the object touched. Over a tiny API server.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { entryOf } from '../../../bridge/finalizer.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { isApproved, retryWord, unreadWords } from '../../../bridge/words.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

const UID = '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01';
const WORDS = [
  { verb: 'retry', options: [] },
  { verb: 'release', options: ['--reason', 'moved to another account', '--yes'] },
  { verb: 'approve', options: [] },
] as const;

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
  line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec() });
  line.cluster.create({
    name: 'logs',
    uid: UID,
    finalizers: [ENTRY, 'example.com/other'],
    annotations: { theirs: 'x' },
  });
  line.cluster.delete('logs');
});

const meta = (name = 'logs') => {
  const object = line.cluster.peek(name);
  if (object === undefined) throw new Error(`${name} is gone`);
  return object.metadata;
};

describe.each(WORDS)('$verb', ({ verb, options }) => {
  it('P3: touches our own annotations only, on the uid and resourceVersion that were looked at', async () => {
    const before = meta();
    expect(await line.run(`${verb} bucket/logs`, ...options)).toMatchObject({ exit: 0, err: expect.any(String) });
    const { annotations, resourceVersion: _, ...after } = meta();
    expect({ ...after, annotations: annotations?.theirs }).toEqual({
      ...before,
      ...{ annotations: 'x', resourceVersion: undefined },
    });
    const [patch] = line.cluster.calls.filter((call) => call.verb === 'patch');
    expect(patch?.operations?.slice(0, 2)).toEqual([
      { op: 'test', path: '/metadata/uid', value: UID },
      { op: 'test', path: '/metadata/resourceVersion', value: before.resourceVersion },
    ]);
    expect(unreadWords(meta(), RULE)).toEqual([]);
  });

  it('is written on an object without annotations', async () => {
    line.cluster.create({ name: 'bare', finalizers: [ENTRY] });
    line.cluster.delete('bare');
    expect((await line.run(`${verb} bucket bare`, ...options)).exit).toBe(0);
    expect(Object.keys(meta('bare').annotations ?? {})).toContain(`${verb}.finalizer-bridge.dev/${RULE}`);
  });

  it('is tried again when the object has moved, and then over what it is now', async () => {
    let moved = 0;
    line.cluster.before = ({ verb: called }) => {
      if (called === 'patch' && moved++ < 2) line.cluster.annotate('logs', 'theirs', `moved ${moved}`);
    };
    expect((await line.run(`${verb} bucket/logs`, ...options)).exit).toBe(0);
    expect(meta().annotations?.theirs).toBe('moved 2');
    expect(Object.keys(meta().annotations ?? {})).toContain(`${verb}.finalizer-bridge.dev/${RULE}`);
  });

  it('is never written on a successor of the same name', async () => {
    line.cluster.before = ({ verb: called }) => {
      if (called === 'patch') line.cluster.succeed('logs', 'another');
    };
    expect(await line.run(`${verb} bucket/logs`, ...options)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('it is gone by now'),
    });
    expect(meta().uid).toBe('another');
    expect(meta().annotations).toEqual({ theirs: 'x' });
  });

  it('is not written when the entry has come off meanwhile', async () => {
    line.cluster.before = ({ verb: called }) => {
      if (called !== 'patch') return;
      line.cluster.change('logs', (object) => ({
        ...object,
        metadata: { ...object.metadata, finalizers: ['example.com/other'] },
      }));
    };
    expect((await line.run(`${verb} bucket/logs`, ...options)).err).toContain(`the entry of ${RULE} is off by now`);
  });

  it('that the API server refuses says what the server said, and does not ask for ever', async () => {
    line.cluster.patch = async () => ({ kind: 'conflict', said: JSON.stringify({ message: 'policy x denied it' }) });
    const { exit, err } = await line.run(`${verb} bucket/logs`, ...options);
    expect([exit, err]).toEqual([1, expect.stringContaining('the API server refuses it: policy x denied it')]);
  });

  it('that may not be written names verb and resource', async () => {
    const message = 'buckets "logs" is forbidden: User "jo" cannot patch resource "buckets"';
    line.cluster.before = ({ verb: called }) => {
      if (called === 'patch') throw new ApiError('patching buckets/logs', 403, { body: JSON.stringify({ message }) });
    };
    const { exit, err } = await line.run(`${verb} bucket/logs`, ...options);
    expect([exit, err]).toEqual([1, expect.stringContaining(message)]);
  });

  it('needs --rule only where several rules hold the object', async () => {
    const finalizers = [ENTRY, entryOf('other')];
    line.cluster.create({ name: 'both', finalizers });
    line.cluster.delete('both');
    const unsaid = await line.run(`${verb} bucket/both`, ...options);
    expect(unsaid).toMatchObject({
      exit: 2,
      err: expect.stringContaining(`several rules hold buckets.storage.example.com/both: ${RULE}, other`),
    });
    expect((await line.run(`${verb} bucket/both --rule other`, ...options)).exit).toBe(0);
    expect(Object.keys(meta('both').annotations ?? {})).toContain(`${verb}.finalizer-bridge.dev/other`);
  });

  it.each([
    ['pail/logs', 1, 'the API server serves no kind "pail"'],
    ['bucket/nothing', 1, 'buckets.storage.example.com/nothing not found in namespace team-a'],
    ['bucket', 2, 'one object is needed'],
    ['bucket/logs more', 2, 'one object is needed'],
    ['bucket/', 2, 'one object is needed'],
    ['bucket/live', 1, `is not being deleted, so there is nothing to ${verb}`],
    ['bucket/free', 1, 'carries no entry of Finalizer Bridge; its finalizers: example.com/other'],
    ['bucket/logs --rule wrong', 1, `carries no entry of a rule wrong; it does of: ${RULE}`],
    [`tdr/${RULE}`, 1, 'carries no entry of Finalizer Bridge'],
  ])('of %s ends with %d and writes nothing: %s', async (what, code, words) => {
    line.cluster.create({ name: 'live', finalizers: [ENTRY] });
    line.cluster.create({ name: 'free', finalizers: ['example.com/other'] });
    line.cluster.delete('free');
    const { exit, out, err } = await line.run(`${verb} ${what}`, ...options);
    expect([exit, out, err]).toEqual([code, '', expect.stringContaining(words)]);
    expect(line.cluster.count('patch')).toBe(0);
  });
});

describe('retry', () => {
  it('is something new each time, also within one millisecond', async () => {
    await line.run('retry bucket/logs');
    const first = retryWord(meta(), RULE);
    await line.run('retry bucket/logs');
    const second = retryWord(meta(), RULE);
    expect([first, second].every((word) => word !== undefined)).toBe(true);
    expect(second).not.toBe(first);
  });

  it('is told in JSON for programs', async () => {
    expect(JSON.parse((await line.run('retry bucket/logs -o json')).out)).toEqual({
      ...{ object: 'buckets.storage.example.com/logs', namespace: 'team-a', uid: UID, rule: RULE },
      ...{ word: 'retry', asked: '2026-03-02T09:30:00.000Z' },
    });
  });
});

describe('approve', () => {
  it('counts for this deletion', async () => {
    await line.run('approve bucket/logs');
    expect(isApproved(meta(), RULE)).toBe(true);
  });
});
