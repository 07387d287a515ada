/*
 * Entries and the rules that are for them: a rule of the same name for another kind is none, a live object without a rule can
 * be released, and a rule whose version is not served any more keeps nobody from looking at the object.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { releaseWord } from '../../../bridge/words.ts';
import { BUCKETS, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { VOLUMES } from '../../support/fake-kinds.ts';
import { stamp } from '../../support/manual-clock.ts';
import { ruleSpec } from '../../support/rule-objects.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const MINUTE = 60_000;
const RELEASE = ['--reason', 'made by mistake', '--yes'] as const;
const scenes: RuleScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

/** A ready rule. */
function rule(line: CommandLine, spec = {}, name = RULE): void {
  const type = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
  const status = { conditions: [{ ...type, lastTransitionTime: stamp(line.clock.now()) }] };
  line.cluster.create({ name, kind: TEARDOWN_RULES, spec: ruleSpec(spec) });
  line.cluster.change(name, (object) => ({ ...object, status }), TEARDOWN_RULES);
}

/** A volume with the entry of a rule that is for buckets, and a rule of another name for volumes. */
function withVolume(): CommandLine {
  const line = new CommandLine();
  rule(line);
  rule(line, { match: { ...VOLUMES } }, 'vols');
  line.cluster.create({ name: 'v1', kind: VOLUMES, finalizers: [ENTRY], spec: { bucket: 'of-somebody-else' } });
  return line;
}

describe('an entry whose name is that of a rule for another kind', () => {
  it('is shown by status as one without a rule, which is not clean', async () => {
    const line = withVolume();
    line.cluster.delete('v1', {}, VOLUMES);
    line.clock.step(60 * MINUTE);
    const { exit, out } = await line.run('status');
    expect(exit).toBe(1);
    expect(out).toMatch(
      /Entries without a rule[\s\S]*team-buckets +volumes\.storage\.example\.com +team-a +v1 +Deleting/,
    );
    expect(JSON.parse((await line.run('status -o json')).out).noRule).toMatchObject([{ rule: RULE, name: 'v1' }]);
  });

  it('is no entry without a rule where the rule says another version of the same kind', async () => {
    const line = new CommandLine();
    rule(line, { match: { ...BUCKETS, version: 'v1beta1' } });
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    expect((await line.run('status')).exit).toBe(0);
  });

  it('is explained as such, by the record of a bridge, and without advice to restore a rule that is there', async () => {
    const scene = await RuleScene.start();
    scenes.push(scene);
    await scene.apply();
    await scene.apply({ match: { ...VOLUMES } }, 'vols');
    scene.cluster.create({ name: 'v1', namespace: 'team-a', kind: VOLUMES, finalizers: [ENTRY], spec: {} });
    await scene.clock.advance(1_000);
    await scene.delete('v1', VOLUMES);
    await scene.clock.advance(5 * MINUTE);
    const { out } = await new CommandLine(scene).run('explain volumes/v1');
    expect(out).toContain('Held NoRule');
    expect(out).toMatch(/rule +there is none for this kind: the TeardownRule of that name is for buckets\.storage/);
    expect(out).not.toContain('restore the TeardownRule; it goes on by itself');
    expect(out).not.toContain('target      bucket=');
    expect(out).toContain(`finalizer-bridge release volumes.storage.example.com/v1 --rule ${RULE} --reason WHY`);
  });

  it('gives adopt nothing to compute tags from', async () => {
    const { exit, out, err } = await withVolume().run('adopt volume/v1');
    const why = `rule ${RULE} is for buckets.storage.example.com, and not for volumes.storage.example.com/v1`;
    expect({ exit, out, err }).toEqual({ exit: 1, out: '', err: `error: ${why}` });
    expect(await withVolume().run(`adopt volume/v1 --rule ${RULE}`)).toMatchObject({ exit: 1, out: '' });
  });

  it('is released without a target of that rule', async () => {
    const line = withVolume();
    line.cluster.delete('v1', {}, VOLUMES);
    const { err, out } = await line.run('release volume/v1 -o json', ...RELEASE);
    expect(err).toContain('the outside resource, whichever it is');
    expect(JSON.parse(out).leaves).toBeUndefined();
  });
});

describe('a live object', () => {
  it('that a bridge tells of is let go by the very command that its Event names (K33)', async () => {
    const scene = await RuleScene.start({ listed: [{ group: BUCKETS.group, resource: BUCKETS.resource }] });
    scenes.push(scene);
    scene.cluster.create({ name: 'logs', namespace: 'team-a', finalizers: [ENTRY], spec: {} });
    await scene.clock.advance(40_000);
    const [, command = ''] = /kubectl finalizer-bridge (.*)$/.exec(scene.cluster.events[0]?.message ?? '') ?? [];
    expect(command).toMatch(/^release /);
    const { exit, out, err } = await new CommandLine(scene).run(command, ...RELEASE);
    expect(exit).toBe(0);
    expect(err).toContain(`no TeardownRule ${RULE} is for its kind`);
    expect(out).toContain('a bridge that looks at this kind takes it off');
    await scene.clock.advance(5_000);
    expect(scene.finalizers('logs') ?? []).toEqual([]);
  });

  it('is explained with that command', async () => {
    const { out } = await withVolume().run('explain volume/v1');
    expect(out).toContain(`finalizer-bridge release volumes.storage.example.com/v1 --rule ${RULE} --reason WHY`);
  });

  it('without a rule asks a person like any release', async () => {
    const line = withVolume();
    line.answers = ['by hand', 'no'];
    expect((await line.run('release volume/v1')).exit).toBe(1);
    expect(line.cluster.count('patch')).toBe(0);
  });

  it('that has its rule cannot be released', async () => {
    const line = withVolume();
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    expect(await line.run('release bucket/logs', ...RELEASE)).toMatchObject({
      ...{ exit: 1, err: expect.stringContaining('is not being deleted, so there is nothing to release') },
    });
    expect(line.cluster.count('patch')).toBe(0);
  });

  it('cannot be released by who may not see whether it has a rule', async () => {
    const line = withVolume();
    line.cluster.before = ({ verb, name }) => {
      if (verb === 'get' && name === RULE) throw new ApiError('getting the rule', 403);
    };
    const { exit, err } = await line.run('release volume/v1', ...RELEASE);
    expect([exit, err]).toEqual([1, expect.stringContaining('cannot be read: not allowed')]);
    expect(line.cluster.count('patch')).toBe(0);
  });
});

describe('a rule whose version is not served any more', () => {
  /** A bucket, served in v1 only, under a rule that says v2. */
  function withBucket(): CommandLine {
    const line = new CommandLine();
    rule(line, { match: { ...BUCKETS, version: 'v2' } });
    line.cluster.create({ name: 'logs', finalizers: [ENTRY], spec: { bucket: 'team-a-logs' } });
    line.cluster.before = ({ verb, kind }) => {
      if (verb === 'get' && kind?.version === 'v2') throw new ApiError('getting buckets/logs', 404);
    };
    return line;
  }
  const NOTE = `buckets.storage.example.com is not served in version v2, which rule ${RULE} names`;

  it('has its object explained in the version that is', async () => {
    const line = withBucket();
    line.cluster.delete('logs');
    const { exit, out } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain(`${NOTE}: what follows from the object is computed from version ${BUCKETS.version}`);
    expect(out).toContain('target      bucket=team-a-logs');
  });

  it('keeps nobody from a release, which says what is left as that version has it', async () => {
    const line = withBucket();
    line.cluster.delete('logs');
    const { exit, err } = await line.run('release bucket/logs', ...RELEASE);
    expect(exit).toBe(0);
    expect(err).toContain(`note: ${NOTE}`);
    expect(err).toContain('nobody takes down bucket=team-a-logs');
    const meta = line.cluster.peek('logs')?.metadata;
    expect(meta === undefined ? undefined : releaseWord(meta, RULE)).toBe('wait');
  });

  it('has adopt say so beside its commands', async () => {
    const { exit, out, err } = await withBucket().run('adopt bucket/logs');
    expect(exit).toBe(0);
    expect(err).toContain(`note: ${NOTE}`);
    expect(out).toContain(`# ${NOTE}`);
    expect(out).toContain('arn:aws:s3:::team-a-logs');
  });

  it('hides no other error: explain tells it beside the rest, adopt prints nothing', async () => {
    const line = withBucket();
    line.cluster.before = ({ verb, kind }) => {
      if (verb === 'get' && kind?.version === 'v2') throw new ApiError('getting buckets/logs', 500);
    };
    expect(await line.run('adopt bucket/logs')).toMatchObject({ exit: 1, err: expect.stringContaining('500') });
    const { exit, out } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain(`cannot be read (getting buckets/logs: HTTP 500) in version v2, which rule ${RULE} names`);
  });
});
