/*
 * Two bridges that judge one rule differently, as during a rolling update: each write of its status wakes the other, so
 * neither may answer the other's with its own at once.
 */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../bridge/ports.ts';
import { STATUS_EVERY_MS, updateStatus, type Written } from '../../bridge/rule-status.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { type Condition, statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, RULE } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock, START } from '../support/manual-clock.ts';

const READY: Condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'all is well' };
const UNREADY: Condition = { ...READY, status: 'False', reason: 'NoQueue' };

it('a status that another process has written otherwise waits its time', async () => {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: { match: BUCKETS } });
  const seen = { served: EVERYWHERE, isWatching: () => true, blindIn: () => [], pendings: () => [] };
  const bridge = () => ({ cluster, clock, written: new Map(), ...seen });
  const [ours, theirs] = [bridge(), bridge()];
  await updateStatus(ours, { name: RULE, conditions: [READY] });
  await clock.advance(1_000);
  await updateStatus(theirs, { name: RULE, conditions: [UNREADY] });
  expect(cluster.count('patch')).toBe(2);
  await clock.advance(1_000);
  expect(await updateStatus(ours, { name: RULE, conditions: [READY] })).toBe(START + STATUS_EVERY_MS);
  expect(cluster.count('patch'), 'the verdict is the one that was written before').toBe(2);
  await updateStatus(ours, { name: RULE, conditions: [UNREADY] });
  await updateStatus(ours, { name: RULE, conditions: [{ ...UNREADY, reason: 'UnknownResource' }] });
  expect(cluster.count('patch'), 'a verdict that changes is written at once').toBe(3);
  await clock.advance(STATUS_EVERY_MS);
  await updateStatus(ours, { name: RULE, conditions: [READY] });
  expect(cluster.count('patch')).toBe(4);
});

it('the sight of what was written brings no look only where all that it was written over was looked at', async () => {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: { match: BUCKETS } });
  const seen = { served: EVERYWHERE, isWatching: () => true, blindIn: () => [], pendings: () => [] };
  const ours = { cluster, clock, written: new Map<string, Written>(), ...seen };
  const counting = async (byOthers: () => void) => {
    await clock.advance(STATUS_EVERY_MS);
    const blank = (object: KubeObject) => ({ ...object, status: { ...statusOf(object), pending: 7 } });
    const read = cluster.change(RULE, blank, TEARDOWN_RULES);
    byOthers();
    await updateStatus(ours, { name: RULE, conditions: [READY], seen: read });
    const stored = cluster.peek(RULE, TEARDOWN_RULES);
    expect(stored && statusOf(stored)).toMatchObject({ pending: 0 });
    return ours.written.get(RULE)?.counted === stored?.metadata.resourceVersion;
  };
  await updateStatus(ours, { name: RULE, conditions: [READY] });
  expect(await counting(() => {})).toBe(true);
  expect(await counting(() => cluster.annotate(RULE, 'touched', 'yes', TEARDOWN_RULES))).toBe(false);
});
