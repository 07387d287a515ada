/*
 * What the command line does for an object of a kind whose versions nothing converts into one another just now: it is read in the
 * version that a rule names, as the bridge reads it.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { entryOf } from '../../../bridge/finalizer.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine, SERVED } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

const OTHER = 'other-rule';
const WHY = 'conversion webhook for buckets failed: connection refused';
const body = JSON.stringify({ message: WHY });
let line: CommandLine;

/** A kind whose preferred version is v2, and an object that is stored in v1. */
beforeEach(() => {
  line = new CommandLine();
  line.served = SERVED.map((kind) => (kind.resource === BUCKETS.resource ? { ...kind, version: 'v2' } : kind));
  line.cluster.before = ({ kind }) => {
    if (kind?.version === 'v2') throw new ApiError('getting buckets/logs', 500, { body });
  };
  line.cluster.create({ name: 'logs', spec: { bucket: 'team-a-logs' }, finalizers: [ENTRY] });
  line.cluster.delete('logs');
  line.clock.step(60_000);
});

const match = { group: BUCKETS.group, resource: BUCKETS.resource };
const rule = (name: string, version: string) =>
  line.cluster.create({ name, kind: TEARDOWN_RULES, spec: ruleSpec({ match: { ...match, version } }) });

describe('of a kind whose preferred version cannot be read', () => {
  it('P7 an object is explained as the version shows it that its rule names', async () => {
    rule(RULE, 'v1');
    const { exit, out, err } = await line.run('explain bucket/logs');
    expect(exit).toBe(0);
    expect(out).toContain('target      bucket=team-a-logs');
    expect(err).toContain(`note: version v2 of buckets.storage.example.com cannot be read, so v1 is`);
    expect(err).toContain(WHY);
  });

  it('an entry whose rule names that version is explained beside the others, with a note', async () => {
    rule(RULE, 'v1');
    rule(OTHER, 'v2');
    line.cluster.create({ name: 'more', spec: { bucket: 'more' }, finalizers: [ENTRY, entryOf(OTHER)] });
    const { exit, out } = await line.run('explain bucket/more');
    expect(exit).toBe(0);
    expect(out).toContain(`Rule ${OTHER} (handler s3-bucket): Live`);
    expect(out).toContain(`cannot be read (${WHY}) in version v2, which rule ${OTHER} names`);
  });

  it('an object is released', async () => {
    rule(RULE, 'v1');
    const { exit } = await line.run('release bucket/logs --yes --now --reason gone');
    expect(exit).toBe(0);
    const { annotations } = line.cluster.peek('logs')?.metadata ?? {};
    expect(annotations).toMatchObject({ [`release.finalizer-bridge.dev/${RULE}`]: 'uid-logs/now' });
  });

  it('no tags are told that are computed from another version than the rule names', async () => {
    rule(RULE, 'v1');
    rule(OTHER, 'v2');
    const { exit, out, err } = await line.run(`adopt bucket/logs --rule ${OTHER}`);
    expect(exit).toBe(1);
    expect(out).toBe('');
    expect(err).toContain(WHY);
  });

  it.each([
    ['no rule names another one', () => rule(RULE, 'v2')],
    [
      'rules may not be listed',
      () => {
        rule(RULE, 'v1');
        const { before } = line.cluster;
        line.cluster.before = (call) => {
          if (call.verb === 'list') throw new ApiError('listing teardownrules', 403);
          before?.(call);
        };
      },
    ],
  ])('what the API server says of it is told where %s', async (_where, prepare) => {
    prepare();
    const { exit, err } = await line.run('explain bucket/logs');
    expect(exit).toBe(1);
    expect(err).toContain(WHY);
  });
});
