/*
 * What `status` shows: with a bridge over fakes, and without one; with all rights, with those of one namespace, with none.
 * Counts are the objects' own, unless nobody may list them, and then they say of when they are.
 */
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { entryOf } from '../../../bridge/finalizer.ts';
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { VOLUMES } from '../../support/fake-kinds.ts';
import { ruleSpec } from '../../support/rule-objects.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const MINUTE = 60_000;
const scenes: RuleScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

/** A bridge with a ready rule, one live object and two that are being deleted, one of them refused. */
async function busy(): Promise<{ scene: RuleScene; line: CommandLine }> {
  const scene = await RuleScene.start();
  scenes.push(scene);
  await scene.apply();
  for (const name of ['live', 'slow', 'kept']) await scene.create(name);
  for (const name of ['slow', 'kept']) await scene.delete(name);
  await scene.answer('kept', { outcome: 'refused', reason: 'Kept', message: 'the tag is set' });
  await scene.clock.advance(5 * MINUTE);
  return { scene, line: new CommandLine(scene) };
}

/** A rule and an object, and no bridge. */
function unattended(): CommandLine {
  const line = new CommandLine();
  line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec() });
  line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
  line.cluster.delete('logs');
  line.clock.step(10 * MINUTE);
  return line;
}

const reportOf = async (line: CommandLine, options = '') =>
  JSON.parse((await line.run(`status -o json ${options}`)).out);

describe('status', () => {
  it('shows rules with their counts, and what is held and why; that is not clean', async () => {
    const { line } = await busy();
    const { exit, out } = await line.run('status');
    expect(exit).toBe(1);
    expect(out.split('\n')).toEqual([
      'RULE           KIND                          HANDLER     READY   LIVE   PENDING   HELD   OLDEST',
      'team-buckets   buckets.storage.example.com   s3-bucket   True    1      2         1      5m',
      '',
      'Held:',
      'RULE           NAMESPACE   NAME   REASON   FOR   MESSAGE',
      'team-buckets   team-a      kept   Kept     5m    the tag is set',
    ]);
  });

  it('is clean when rules are ready and nothing is held', async () => {
    const { scene, line } = await busy();
    await scene.answer('slow');
    await line.run('release bucket/kept --now --yes --reason x');
    await scene.clock.advance(1_000);
    expect(await line.run('status')).toMatchObject({ exit: 0, err: '' });
  });

  it('agrees with what the bridge counts', async () => {
    const { scene, line } = await busy();
    const { rules } = await reportOf(line);
    const { pending, held, heldObjects, oldestPendingTime } = scene.status();
    const [rule] = rules;
    expect(rule).toMatchObject({ pending, held, counted: { from: 'objects' } });
    expect(Date.parse(rule.oldestPendingTime)).toBe(Date.parse(String(oldestPendingTime)));
    expect(rule.heldObjects).toMatchObject(z.array(z.looseObject({})).parse(heldObjects));
  });

  it('has a shape for programs', async () => {
    const { line } = await busy();
    expect(await reportOf(line)).toEqual({
      asOf: expect.stringMatching(/^2026-03-02T09:3\d:\d\dZ$/),
      rules: [
        {
          ...{ name: RULE, kind: 'buckets.storage.example.com', handler: 's3-bucket', deleting: false },
          ready: { status: 'True', reason: 'Ready', message: expect.any(String) },
          conditions: expect.arrayContaining([expect.objectContaining({ type: 'Accepted', status: 'True' })]),
          ...{ live: 1, pending: 2, held: 1, silent: 0, oldestPendingTime: expect.any(String) },
          heldObjects: [
            {
              ...{ namespace: 'team-a', name: 'kept', uid: 'uid-kept', reason: 'Kept', message: 'the tag is set' },
              since: expect.any(String),
            },
          ],
          counted: { from: 'objects' },
        },
      ],
      noRule: [],
      notes: [],
    });
  });

  it('counts with the bridge down, and says that nobody has said anything', async () => {
    const { exit, out, err } = await unattended().run('status');
    expect(exit).toBe(1);
    expect(out).toMatch(/team-buckets .* Unknown NotJudged +0 +1 +0 +10m/);
    expect(err).toContain('the bridge has said nothing about 1 pending objects; does it run?');
  });

  it('names entries whose rule is gone, also those of kinds that no rule is about', async () => {
    const line = unattended();
    line.cluster.create({ name: 'lost', finalizers: [entryOf('removed')] });
    line.cluster.create({ name: 'far', kind: VOLUMES, finalizers: [entryOf('removed')] });
    const seen = async (options: string) =>
      (await reportOf(line, options)).noRule.map(({ rule, kind, name }: Record<string, string>) => [rule, kind, name]);
    expect(await seen('')).toEqual([['removed', 'buckets.storage.example.com', 'lost']]);
    expect(await seen('--all-kinds')).toEqual([
      ['removed', 'buckets.storage.example.com', 'lost'],
      ['removed', 'volumes.storage.example.com', 'far'],
    ]);
    expect((await line.run('status')).out).toMatch(/removed +buckets\S+ +team-a +lost +Live/);
  });

  it('says why a rule is not ready, and why one does not go', async () => {
    const { scene, line } = await busy();
    await scene.apply({ handler: 'no-such-handler' });
    expect((await line.run('status')).err).toContain('team-buckets is not ready: NoQueue: no queue is configured');
    await scene.deleteRule();
    await scene.clock.advance(2 * MINUTE);
    expect((await line.run('status')).err).toMatch(/team-buckets is being withdrawn: HeldObjects: \d held objects/);
  });

  it('shows the rules that are named, and fails on one that is not there', async () => {
    const line = unattended();
    line.cluster.create({ name: 'other', kind: TEARDOWN_RULES, spec: ruleSpec() });
    const names = (await reportOf(line, RULE)).rules.map(({ name }: { name: string }) => name);
    expect(names).toEqual([RULE]);
    expect(await line.run('status wrong')).toMatchObject({ exit: 1, err: 'error: there is no TeardownRule wrong' });
  });

  it('stands a rule whose spec does not read', async () => {
    const line = unattended();
    line.cluster.create({ name: 'odd', kind: TEARDOWN_RULES, spec: { match: 'everything' } });
    const { rules } = await reportOf(line, 'odd');
    expect(rules).toMatchObject([{ name: 'odd', counted: { from: 'status' }, ready: { status: 'Unknown' } }]);
  });

  it('of no rules at all is clean', async () => {
    expect(await new CommandLine().run('status')).toEqual({ exit: 0, out: 'There are no rules.', err: '' });
  });
});

describe('with few rights', () => {
  /** As an API server to which only one namespace's buckets may be shown; undefined: none. */
  function narrowed(line: CommandLine, namespace?: string): void {
    const list = line.cluster.list.bind(line.cluster);
    line.cluster.list = async (kind, page = {}) => {
      if (kind.resource === BUCKETS.resource && (namespace === undefined || kind.namespace !== namespace)) {
        throw new ApiError('listing buckets', 403, { body: JSON.stringify({ message: 'buckets is forbidden' }) });
      }
      return await list(kind, page);
    };
  }

  it('counts in the namespace of the context, and says so', async () => {
    const { line } = await busy();
    line.cluster.create({ name: 'elsewhere', namespace: 'team-b', finalizers: [ENTRY] });
    narrowed(line, 'team-a');
    const { out, err } = await line.run('status');
    expect(out).toMatch(/True +1 +2 +1 +5m/);
    expect(err).toContain('team-buckets: counted in namespace team-a only');
  });

  it('takes the counts of the bridge where nothing may be listed, with their time', async () => {
    const { scene, line } = await busy();
    scene.cluster.change(
      RULE,
      ({ metadata, ...rest }) => {
        const managedFields = [{ manager: 'finalizer-bridge', subresource: 'status', time: '2026-03-02T09:33:00Z' }];
        return { ...rest, metadata: Object.assign({ ...metadata }, { managedFields }) };
      },
      TEARDOWN_RULES,
    );
    narrowed(line);
    const { out, err } = await line.run('status');
    expect(out).toMatch(/True +\? +2 +1 +5m/);
    expect(err).toContain(
      "team-buckets: counts are the bridge's own as of 2026-03-02T09:33:00Z; you may not list buckets.storage.example.com",
    );
  });

  it('looks only where it is told to', async () => {
    const line = unattended();
    line.cluster.create({ name: 'elsewhere', namespace: 'team-b', finalizers: [ENTRY] });
    const [rule] = (await reportOf(line, '-n team-b')).rules;
    expect(rule).toMatchObject({ live: 1, pending: 0, counted: { from: 'objects', namespace: 'team-b' } });
  });

  it('looks at objects without a namespace whichever namespace is asked for', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'team-b', kind: NAMESPACES, namespace: undefined });
    line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec({ match: { ...VOLUMES } }) });
    line.cluster.create({ name: 'disk', kind: VOLUMES, namespace: undefined, finalizers: [ENTRY] });
    const [rule] = (await reportOf(line, '-n team-b')).rules;
    expect(rule).toMatchObject({ live: 1, counted: { from: 'objects' } });
    line.cluster.refused.set('storage.example.com/volumes', 403);
    expect((await line.run('status')).err).toContain('you may not list volumes.storage.example.com');
  });

  it('counts a kind in the version that is served, and says of one that is not', async () => {
    const line = new CommandLine();
    const match = { ...BUCKETS, version: 'v1beta1' };
    line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec({ match }) });
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    expect((await reportOf(line)).rules).toMatchObject([{ live: 1, counted: { from: 'objects' } }]);
    expect(line.cluster.calls.filter(({ verb }) => verb === 'list').map(({ kind }) => kind?.version)).toContain('v1');
    line.served = line.served.filter(({ resource }) => resource !== 'buckets');
    expect((await line.run('status')).err).toContain('the API server does not serve buckets.storage.example.com');
  });

  it('P10: sees the others where one kind cannot be listed', async () => {
    const line = unattended();
    line.cluster.create({ name: 'disks', kind: TEARDOWN_RULES, spec: ruleSpec({ match: { ...VOLUMES } }) });
    line.cluster.before = ({ verb, name }) => {
      if (verb === 'list' && name === 'volumes') {
        throw new ApiError('listing volumes', 500, { body: JSON.stringify({ message: 'conversion webhook failed' }) });
      }
    };
    const { out, err } = await line.run('status');
    expect(out).toMatch(/team-buckets .* +0 +1 +0 +10m/);
    expect(err).toMatch(/disks: counts are the bridge's own as of .*; listing volumes: conversion webhook failed/);
  });

  it('fails where rules may not be listed, with what the server said', async () => {
    const line = unattended();
    const message = 'teardownrules is forbidden: User "jo" cannot list resource "teardownrules"';
    line.cluster.list = async () => {
      throw new ApiError('listing teardownrules', 403, { body: JSON.stringify({ message }) });
    };
    expect(await line.run('status')).toMatchObject({ exit: 1, err: expect.stringContaining(message) });
  });

  it('fails where Finalizer Bridge is not installed', async () => {
    const line = new CommandLine();
    line.cluster.refused.set('finalizer-bridge.dev/teardownrules', 404);
    expect((await line.run('status')).err).toContain('Finalizer Bridge is not installed');
  });
});
