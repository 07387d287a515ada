/*
 * What is kept of the namespaces that are being left, beside what rules do with it (leaving-namespaces.test.ts): nothing of
 * rules that are gone, nor of namespaces that a rule's status names no more (P8).
 */
import { describe, expect, it } from 'vitest';
import { Leavings } from '../../bridge/leavings.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { FakeKinds } from '../support/fake-kinds.ts';
import { ManualClock } from '../support/manual-clock.ts';

const RULE_OF = { name: RULE, uid: 'uid-1', match: BUCKETS };

function prepare() {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  cluster.create({ name: 'logs', namespace: 'team-a', finalizers: [ENTRY] });
  cluster.create({ name: 'maps', namespace: 'team-b', finalizers: [ENTRY] });
  return { clock, cluster, leavings: new Leavings({ cluster, kinds: new FakeKinds(), clock }) };
}

describe('of namespaces that are being left', () => {
  it('nothing is kept once their rule is gone, or names none', async () => {
    const { leavings } = prepare();
    await leavings.look(RULE_OF, ['team-a', 'team-b']);
    await leavings.look({ ...RULE_OF, name: 'others', uid: 'uid-2' }, ['team-a']);
    expect(leavings.size).toBe(2);
    leavings.forget(RULE);
    await leavings.look({ ...RULE_OF, name: 'others', uid: 'uid-2' }, []);
    expect(leavings.size).toBe(0);
  });

  it('nothing is held against a rule that comes again under its name: its lists begin anew', async () => {
    const { leavings, cluster, clock } = prepare();
    await leavings.look(RULE_OF, ['team-a']);
    await leavings.look({ ...RULE_OF, uid: 'uid-2' }, ['team-a']);
    expect([cluster.count('list'), leavings.size]).toEqual([2, 1]);
    await clock.advance(60_000);
    const { carriers } = await leavings.look({ ...RULE_OF, uid: 'uid-2' }, ['team-a']);
    expect([...carriers]).toEqual([['team-a', 1]]);
  });

  it('what was counted stands while others are asked for as well', async () => {
    const { leavings, cluster } = prepare();
    await leavings.look(RULE_OF, ['team-a']);
    const { carriers } = await leavings.look(RULE_OF, ['team-a', 'team-b']);
    expect([...carriers]).toEqual([
      ['team-a', 1],
      ['team-b', 1],
    ]);
    expect(cluster.count('list')).toBe(2);
  });

  it('all are counted at once: lists that hang hold the rule up for one of them, however many there are (P10)', async () => {
    const { clock, cluster } = prepare();
    const list = (...args: Parameters<FakeCluster['list']>) =>
      new Promise<void>((resolve) => void clock.after(15_000, resolve)).then(() => cluster.list(...args));
    const slow = new Leavings({ cluster: { list, get: (path) => cluster.get(path) }, kinds: new FakeKinds(), clock });
    const namespaces = Array.from({ length: 12 }, (_, index) => `left-${index}`);
    const left: unknown[] = [];
    void slow.look(RULE_OF, namespaces).then((found) => left.push(found));
    await clock.advance(15_000);
    expect(left).toEqual([{ emptied: [], carriers: new Map(namespaces.map((namespace) => [namespace, 0])) }]);
  });
});
