/*
 * One object with thousands of entries, which anybody can give it who may write it: what a command looks up and prints stays
 * small, the rest is counted, and a drain still takes all of them off.
 */
import { describe, expect, it } from 'vitest';
import { WITHOUT_RULE_MAX } from '../../../bridge/cli/drain/run.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { CommandLine } from '../../support/command-line.ts';
import { blocking, DrainScene } from '../../support/drain-scene.ts';

const entries = (count: number) => Array.from({ length: count }, (_, index) => `finalizer-bridge.dev/r${index}`);

/** A live bucket with so many entries, none of which has a rule. */
function lineWith(count: number): CommandLine {
  const line = new CommandLine();
  line.cluster.create({ name: 'logs', finalizers: entries(count) });
  return line;
}

describe('an object with thousands of entries', () => {
  it('has some of them explained, and is told how many more there are', async () => {
    const line = lineWith(5_000);
    const { exit, out } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain('And 4950 more entries, about which nothing was looked up.');
    expect(line.cluster.count('get')).toBe(51);
    expect(JSON.parse((await line.run('explain bucket/logs -o json')).out).moreEntries).toBe(4_950);
  });

  it('has none of them adopted without a name', async () => {
    const line = lineWith(5_000);
    expect(await line.run('adopt bucket/logs')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('5000 rules hold'),
    });
    expect(line.cluster.count('get')).toBe(1);
  });

  it('is named in a short message by a word about none of them', async () => {
    const line = lineWith(5_000);
    line.cluster.delete('logs');
    const { exit, err } = await line.run('retry bucket/logs');
    expect([exit, err]).toEqual([2, expect.stringContaining('r19 and 4980 more; say which by --rule')]);
  });

  it('has a few rows in a status for people, and all for programs', async () => {
    const line = lineWith(5_000);
    const { out } = await line.run('status --all-kinds');
    expect(out.split('\n').length).toBeLessThan(70);
    expect(out).toContain('and 4950 more');
    expect(JSON.parse((await line.run('status --all-kinds -o json')).out).noRule).toHaveLength(5_000);
  });
});

describe('a drain of more entries without a rule than it sees to at once', () => {
  it('takes all of them off, some after the others', async () => {
    const begun = new DrainScene();
    begun.object('logs', { finalizers: entries(2 * WITHOUT_RULE_MAX + 1) });
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS + 30_000);
    expect(running.end).toEqual({ left: [], unseen: [] });
    expect(begun.finalizers('logs')).toEqual([]);
    expect(running.lines).toContain(`entries without a rule: ${WITHOUT_RULE_MAX + 1} more names wait for their turn`);
  });

  it('says how many it has not begun with, and does first what needs no word', async () => {
    const begun = new DrainScene();
    begun.deleting('stuck', { finalizers: entries(WITHOUT_RULE_MAX + 7) });
    begun.object('live', { finalizers: ['finalizer-bridge.dev/z'] });
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.finalizers('live')).toEqual([]);
    expect(new Set(blocking(running))).toEqual(new Set(['stuck: NoBridge']));
    expect(running.end?.left.at(-1)).toMatchObject({
      rule: '(others)',
      step: { why: expect.stringMatching(/^entries of 8 more names, none of which has a rule/) },
    });
  });
});
