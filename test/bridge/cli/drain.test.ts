/*
 * The drain command as people type it: what it lists and asks before, what it says after, its exit code, its flags.
 * What it does is in drain-alone, drain-held and drain-beside.
 */
import { describe, expect, it } from 'vitest';
import { LEASE_PLACE } from '../../../bridge/leader-state.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine, type Said } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

const HOUR = 3_600_000;

/** A rule, a live object and one that is being deleted; no bridge. */
function lineWithRule(): CommandLine {
  const line = new CommandLine();
  const spec = ruleSpec();
  line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec, finalizers: [WITHDRAWAL_FINALIZER] });
  line.cluster.create({ name: 'live', finalizers: [ENTRY], spec: { bucket: 'team-a-live' } });
  line.cluster.create({ name: 'stuck', finalizers: [ENTRY], spec: { bucket: 'team-a-stuck' } });
  line.cluster.delete('stuck');
  // As its leader leaves it that never wrote a time.
  line.cluster.create({ ...LEASE_PLACE, kind: LEASE_PLACE, spec: { holderIdentity: '' } });
  return line;
}

/** Runs a line and lets time pass until it has ended. */
async function ran(line: CommandLine, text: string): Promise<Said> {
  let said: Said | undefined;
  void line.run(text).then((ended) => {
    said = ended;
  });
  for (let round = 0; round < 100 && said === undefined; round += 1) await line.clock.advance(10 * 60_000);
  if (said === undefined) throw new Error('the command has not ended');
  return said;
}

describe('drain', () => {
  it('says that all is clean where nothing is, without a question', async () => {
    const said = await new CommandLine().run('drain');
    expect(said).toMatchObject({ exit: 0, out: 'clean: no rule is left, and nothing carries an entry' });
  });

  it('claims no more than it could look at', async () => {
    const line = new CommandLine();
    line.cluster.refused.set('storage.example.com/buckets', 403);
    const said = await line.run('drain');
    expect(said.out).toContain('nothing that could be looked at carries an entry');
    expect(said.out).toContain('not looked at: buckets.storage.example.com (may not be listed)');
  });

  it('says in one line what it may not look at, so that what is left is not lost among it', async () => {
    const line = lineWithRule();
    for (const kind of ['/configmaps', 'storage.example.com/volumes']) line.cluster.refused.set(kind, 403);
    const said = await ran(line, 'drain --yes');
    const lines = said.out.split('\n').filter((one) => one.startsWith('not looked at'));
    expect(lines).toEqual(['not looked at: configmaps, volumes.storage.example.com (may not be listed)']);
  });

  it('lists what is there and asks, and does nothing when the answer is not yes', async () => {
    const line = lineWithRule();
    line.answers = ['y'];
    const said = await line.run('drain --release-held=now');
    expect(said.exit).toBe(2);
    expect(said.err).toContain(`rule ${RULE}: on 1 live objects, on 1 that are being deleted`);
    expect(said.err).toContain('to be released: buckets.storage.example.com team-a/stuck: NoBridge');
    expect(said.err).toContain('"bucket":"team-a-stuck"');
    expect(said.err).toContain('a teardown that was requested already may still happen');
    expect(line.questions).toEqual([
      `Take away ${RULE}, and give up the teardown of everything that is or becomes held? (yes/no) `,
    ]);
    expect(line.cluster.peek(RULE, TEARDOWN_RULES)?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('goes on when the answer is yes', async () => {
    const line = lineWithRule();
    line.answers = ['yes'];
    expect((await ran(line, 'drain --release-held=now')).exit).toBe(0);
    expect(line.cluster.peek(RULE, TEARDOWN_RULES)).toBeUndefined();
  });

  it('needs --yes where nobody can be asked', async () => {
    const line = lineWithRule();
    expect(await line.run('drain')).toMatchObject({ exit: 2, err: expect.stringContaining('--yes') });
    expect(line.cluster.count('patch')).toBe(0);
  });

  it('ends with 1, what blocks and the next command when something is left', async () => {
    const line = lineWithRule();
    const said = await ran(line, `drain --yes --rule ${RULE}`);
    expect(said.exit).toBe(1);
    expect(said.out.split('\n')).toEqual([
      'not clean: 1 rule is left',
      expect.stringContaining(`${RULE}: being deleted, and with the entry still on: 1 NoBridge`),
      expect.stringContaining('buckets.storage.example.com team-a/stuck: NoBridge'),
      expect.stringContaining(`give them up with finalizer-bridge drain --rule ${RULE} --release-held`),
    ]);
    expect(Object.keys(line.cluster.peek('live')?.metadata ?? { finalizers: [] })).not.toContain('finalizers');
  });

  it('says when a release that waits can be acted on', async () => {
    const line = lineWithRule();
    const said = await ran(line, 'drain --yes --release-held --timeout 10m');
    expect(said.exit).toBe(1);
    expect(said.out).toMatch(/next: finalizer-bridge drain --release-held after 2026-03-02T/);
  });

  it('waits for it when there is time', async () => {
    const line = lineWithRule();
    expect((await ran(line, 'drain --yes --release-held --timeout 13h')).exit).toBe(0);
  });

  it('takes since when the bridge is gone', async () => {
    const line = lineWithRule();
    const since = new Date(line.clock.now()).toISOString();
    await line.clock.advance(3 * HOUR);
    expect((await ran(line, `drain --yes --release-held --bridge-gone ${since}`)).exit).toBe(0);
  });

  it('prints the same for programs', async () => {
    const said = await ran(lineWithRule(), 'drain --yes -o json');
    expect(JSON.parse(said.out)).toMatchObject({
      clean: false,
      left: [
        {
          rule: RULE,
          objects: [{ object: 'buckets.storage.example.com team-a/stuck', uid: 'uid-stuck', reason: 'NoBridge' }],
        },
      ],
      unseen: [],
    });
  });

  it('does not call a name clean that is of no rule and of no entry', async () => {
    const said = await lineWithRule().run('drain --yes --rule team-bucket');
    expect(said).toMatchObject({ exit: 1, out: 'there is no rule team-bucket, and nothing carries its entry' });
    const forPrograms = await lineWithRule().run('drain --yes --rule team-bucket -o json');
    expect(forPrograms.exit).toBe(1);
    expect(JSON.parse(forPrograms.out)).toMatchObject({
      clean: false,
      found: false,
      missing: ['team-bucket'],
      left: [],
    });
  });

  it('drains the rules that are there beside a name that is of none, and ends with 1', async () => {
    const line = lineWithRule();
    const said = await ran(line, `drain --yes --release-held=now --rule team-bucket ${RULE}`);
    expect([said.exit, said.out.split('\n')]).toEqual([
      1,
      [`clean: nothing is left of ${RULE}`, 'there is no rule team-bucket, and nothing carries its entry'],
    ]);
    expect(line.cluster.peek(RULE, TEARDOWN_RULES)).toBeUndefined();
  });

  it('takes a name that entries alone have', async () => {
    const line = lineWithRule();
    line.cluster.create({ name: 'lost', finalizers: ['finalizer-bridge.dev/gone'] });
    expect(await ran(line, 'drain --yes --rule gone')).toMatchObject({ exit: 0 });
    expect(Object.keys(line.cluster.peek('lost')?.metadata ?? { finalizers: [] })).not.toContain('finalizers');
  });

  it.each(['--timeout soon', '--bridge-gone yesterday', '--release-held=later', '--bridge-up --bridge-gone'])(
    'refuses %s',
    async (flags) => {
      expect((await lineWithRule().run(`drain --yes ${flags}`)).exit).toBe(2);
    },
  );
});
