/*
 * What is done about strays, over a tiny API server: an entry comes off on a person's word for this very object, and for
 * nothing else (P9, K33); many are told of by one line and one Event.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import { ApiError } from '../../bridge/ports.ts';
import { createReporter } from '../../bridge/reporter.ts';
import { NO_RULE } from '../../bridge/rule-book.ts';
import { isStrayKey, StrayActs } from '../../bridge/stray-acts.ts';
import { BUCKETS, counts, keptLog } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';

const KEY = 'stray:uid-logs/gone';
const WORD = 'release.finalizer-bridge.dev/gone';
const FINALIZERS = ['a/b', 'finalizer-bridge.dev/gone', 'finalizer-bridge.dev/here', 'finalizer-bridge.dev/gone'];
const LEFT = ['a/b', 'finalizer-bridge.dev/here'];
const logs = { kind: BUCKETS, name: 'logs', namespace: 'team-a', uid: 'uid-logs' };

function bench() {
  const [cluster, metrics, kept, clock] = [new FakeCluster(), createMetrics(), keptLog(), new ManualClock()];
  const state = { holds: true, rules: new Set(['here']) };
  const added: string[] = [];
  const labelOf = (name: string) => (state.rules.has(name) ? name : NO_RULE);
  const acts = new StrayActs({
    ...{ cluster, metrics, log: kept.log, lease: { holds: () => state.holds } },
    reporter: createReporter({ clock, cluster, log: kept.log, metrics, labelOf }),
    hasRule: (name) => state.rules.has(name),
    labelOf,
    add: (key) => void added.push(key),
  });
  cluster.create({ name: 'logs', finalizers: FINALIZERS, annotations: { [WORD]: 'uid-logs' } });
  const finalizers = () => cluster.peek('logs')?.metadata.finalizers;
  return { acts, cluster, metrics, kept, state, added, finalizers };
}

let of: ReturnType<typeof bench>;
beforeEach(() => {
  of = bench();
  of.acts.release(logs, 'gone');
});

describe('a released stray', () => {
  it('is waited for in the queue of claims', () => {
    expect(of.added).toEqual([KEY]);
    expect(isStrayKey(KEY)).toBe(true);
    expect(isStrayKey('claim:uid-logs/gone')).toBe(false);
  });

  it('loses all copies of that entry and no other, and that is told with who asked for it (P3, P9)', async () => {
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(LEFT);
    expect(of.cluster.calls.map(({ verb }) => verb)).toEqual(['get', 'patch', 'event']);
    expect(await counts(of.metrics.removed)).toEqual({ '(no rule)/Released': 1 });
    expect(await counts(of.metrics.words)).toEqual({ '(no rule)/release': 1 });
    expect(of.cluster.events).toMatchObject([{ type: 'Warning', reason: 'Released', object: { uid: 'uid-logs' } }]);
    await of.acts.run(KEY);
    expect(of.cluster.calls).toHaveLength(3);
  });

  it.each([
    ['has lost the word', (cluster: FakeCluster) => cluster.annotate('logs', WORD, undefined)],
    ['has a word for another object', (cluster: FakeCluster) => cluster.annotate('logs', WORD, 'uid-of-the-original')],
    ['is being deleted', (cluster: FakeCluster) => cluster.delete('logs')],
    ['is another one of that name (K3)', (cluster: FakeCluster) => cluster.succeed('logs', 'another')],
  ])('keeps it when the object, read anew, %s', async (_what, meanwhile) => {
    meanwhile(of.cluster);
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(FINALIZERS);
    expect(of.cluster.calls.map(({ verb }) => verb)).toEqual(['get']);
    expect(of.cluster.events).toEqual([]);
    await of.acts.run(KEY);
    expect(of.cluster.calls).toHaveLength(1);
  });

  it('keeps it when its rule has come, also while the object is read (K33)', async () => {
    of.cluster.before = ({ verb }) => {
      if (verb === 'get') of.state.rules.add('gone');
    };
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(FINALIZERS);
  });

  it('that was deleted between the read and the write is left to what decides on pending ones', async () => {
    of.cluster.before = ({ verb }) => {
      if (verb === 'patch') of.cluster.delete('logs');
    };
    await expect(of.acts.run(KEY)).rejects.toThrow('releasing buckets/logs: it has changed');
    of.cluster.before = () => {};
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(FINALIZERS);
  });

  it('is not touched without the lease, and is when it is held (V3)', async () => {
    of.state.holds = false;
    await expect(of.acts.run(KEY)).rejects.toThrow('the lease is not held');
    expect(of.finalizers()).toEqual(FINALIZERS);
    of.state.holds = true;
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(LEFT);
  });

  it('is tried again when the API server does not answer', async () => {
    of.cluster.before = () => {
      throw new ApiError('patching', 503);
    };
    await expect(of.acts.run(KEY)).rejects.toThrow('503');
    of.cluster.before = () => {};
    await of.acts.run(KEY);
    expect(of.finalizers()).toEqual(LEFT);
  });
});

describe('a word on a live stray that says nothing there', () => {
  const faults = ['release is not uid-logs or uid-logs/now'];

  it('is answered once, by a log line and an Event on the object (P7)', async () => {
    for (let seen = 0; seen < 3; seen += 1) of.acts.misread(logs, 'gone', faults);
    await expect.poll(() => of.cluster.events).toHaveLength(1);
    const message = 'gone: not understood: release is not uid-logs or uid-logs/now';
    expect(of.cluster.events).toMatchObject([{ reason: 'WordNotUnderstood', type: 'Warning', message }]);
    expect(of.kept.lines).toMatchObject([{ level: 'warn', message, fields: { name: 'logs', rule: 'gone' } }]);
    expect(of.finalizers()).toEqual(FINALIZERS);
  });

  it('is answered by nobody without the lease, and again where it says something else', async () => {
    of.state.holds = false;
    of.acts.misread(logs, 'gone', faults);
    of.state.holds = true;
    of.acts.misread(logs, 'gone', faults);
    of.acts.misread(logs, 'gone', ['approve is not uid-logs']);
    expect(of.kept.lines).toHaveLength(2);
  });
});

describe('strays', () => {
  const told = { kind: BUCKETS, rule: 'gone', name: 'gone', count: 1_200, examples: [logs] };

  it('are told of by one log line and one Event on one of them, with what to do (P7)', async () => {
    of.acts.tell(told);
    await expect.poll(() => of.cluster.events).toHaveLength(1);
    const says = expect.stringMatching(/^gone: NoRule: 1200 live buckets carry the entry finalizer-bridge.dev\/gone,/);
    const command = 'kubectl finalizer-bridge release buckets.storage.example.com/logs -n team-a --rule gone';
    expect(of.cluster.events).toMatchObject([
      { reason: 'NoRule', type: 'Warning', message: says, object: { name: 'logs' } },
    ]);
    expect(of.cluster.events[0]?.message).toContain(command);
    expect(of.kept.lines).toMatchObject([
      {
        level: 'warn',
        message: says,
        fields: { rule: 'gone', count: 1_200, examples: ['team-a/logs'], reason: 'NoRule' },
      },
    ]);
    expect(of.finalizers()).toEqual(FINALIZERS);
  });

  it('of too many names, and those of which none is known any more, are told by what is known of them', () => {
    of.acts.tell({ ...told, rule: '(others)', name: undefined });
    of.acts.tell({ ...told, examples: [] });
    expect(of.kept.lines.map(({ message }) => message)).toEqual([
      expect.stringMatching(/carry entries of yet other names, .*Restore the rule$/),
      expect.stringMatching(/carry the entry finalizer-bridge.dev\/gone, .*Restore the rule$/),
    ]);
  });

  it('are told all the same when no Event can be recorded, and by nobody without the lease (K9)', async () => {
    of.cluster.before = () => {
      throw new ApiError('getting', 403);
    };
    of.acts.tell(told);
    of.state.holds = false;
    of.acts.tell(told);
    await expect.poll(() => of.kept.lines.map(({ level }) => level)).toEqual(['warn', 'debug']);
  });
});
