/*
 * How the bindings that give the bridge its rights are asked for: several at once and not too many, so that calls that hang hold
 * a rule up for the time of one; one thing at a time in each namespace.
 */
import { afterEach, expect, it } from 'vitest';
import { KeptRights } from '../../bridge/kept-rights.ts';
import type { Cluster, KubeObject } from '../../bridge/ports.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';

const NAMESPACES = Array.from({ length: 25 }, (_, index) => `team-${index}`);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const begun: KeptRights[] = [];
afterEach(async () => {
  for (const rights of begun.splice(0)) await rights.stop();
});

/** Rights over bindings whose calls end when the test says so; `hangs` are the namespaces where a GET waits for that. */
function scene(hangs: (namespace: string) => boolean) {
  const hanging = new Map<string, () => void>();
  const calls: string[] = [];
  const kept = new Set<string>();
  const givingUp: { under?: Promise<void> } = {};
  let most = 0;
  const binding = (namespace: string): KubeObject => ({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
    metadata: {
      name: RIGHTS_BINDING.name,
      namespace,
      uid: `uid-${namespace}`,
      resourceVersion: '1',
      creationTimestamp: '2026-03-02T09:00:00Z',
      finalizers: kept.has(namespace) ? [RIGHTS_FINALIZER] : [],
    },
  });
  const cluster: Pick<Cluster, 'get' | 'patch'> = {
    async get({ namespace = '' }) {
      calls.push(`get ${namespace}`);
      if (hangs(namespace)) {
        await new Promise<void>((resolve) => {
          hanging.set(namespace, resolve);
          most = Math.max(most, hanging.size);
        });
        hanging.delete(namespace);
      }
      return binding(namespace);
    },
    async patch({ namespace = '' }, operations) {
      const isAdded = operations.some(({ op }) => op === 'add');
      if (!isAdded) await givingUp.under;
      calls.push(`${isAdded ? 'keep' : 'give up'} ${namespace}`);
      if (isAdded) kept.add(namespace);
      else kept.delete(namespace);
      return { kind: 'patched', meta: binding(namespace).metadata };
    },
  };
  const served = { namespaces: NAMESPACES, leaving: [] };
  const lease = { holds: () => true };
  const rights = new KeptRights({ cluster, clock: new ManualClock(), lease, served, log, isComplete: () => true });
  begun.push(rights);
  return { rights, calls, hanging, givingUp, most: () => most };
}

const patchesIn = (calls: readonly string[]) => calls.filter((call) => call.startsWith('keep'));

it('many that hang hold a rule up for the time of a few, never more than ten at once, and each is asked for once', async () => {
  const { rights, calls, hanging, most } = scene(() => true);
  let isKept = false;
  const keeping = rights.keep('rule', NAMESPACES).then(() => {
    isKept = true;
  });
  let rounds = 0;
  while (!isKept) {
    await eventually(
      'as many hang as may',
      () => hanging.size === 10 || calls.length === NAMESPACES.length + patchesIn(calls).length,
    );
    rounds += 1;
    for (const release of [...hanging.values()]) release();
    await new Promise(setImmediate);
  }
  await keeping;
  expect([most(), rounds]).toEqual([10, 3]);
  expect(calls.toSorted()).toEqual(NAMESPACES.flatMap((name) => [`get ${name}`, `keep ${name}`]).toSorted());
});

it('one that hangs holds up no other namespace', async () => {
  const { rights, calls, hanging } = scene((namespace) => namespace === 'team-0');
  const keeping = rights.keep('rule', NAMESPACES);
  await eventually('all others are kept', () => patchesIn(calls).length === NAMESPACES.length - 1);
  expect(calls).not.toContain('keep team-0');
  hanging.get('team-0')?.();
  await keeping;
  expect(calls).toContain('keep team-0');
});

it('what one rule gives up another that needs it has again, whoever was first', async () => {
  const { rights, calls, hanging } = scene((namespace) => namespace === 'team-1');
  const first = rights.keep('one', ['team-1']);
  await eventually('it is asked for', () => hanging.size === 1);
  const leaving = rights.leave('one', ['team-1']);
  const second = rights.keep('two', ['team-1']);
  let isOver = false;
  const all = Promise.all([first, leaving, second]).then(() => {
    isOver = true;
  });
  while (!isOver) {
    hanging.get('team-1')?.();
    await new Promise(setImmediate);
  }
  await all;
  expect(calls).toEqual(['get team-1', 'keep team-1']);
});

it('what is just being given up for one rule is kept for the next that needs it, also where it was seen kept', async () => {
  const { rights, calls, givingUp } = scene(() => false);
  await rights.keep('one', ['team-1']);
  expect(calls).toEqual(['get team-1', 'keep team-1']);
  const gate = Promise.withResolvers<void>();
  givingUp.under = gate.promise;
  const leaving = rights.leave('one', ['team-1']);
  await eventually('it is about to be given up', () => calls.length === 3);
  await new Promise(setImmediate);
  const keeping = rights.keep('two', ['team-1']);
  gate.resolve();
  await Promise.all([leaving, keeping]);
  expect(calls.slice(2)).toEqual(['get team-1', 'give up team-1', 'get team-1', 'keep team-1']);
});

it('and is not given up at all where that rule comes before the write: a binding that was deleted would go for good', async () => {
  let isSlow = false;
  const { rights, calls, hanging } = scene(() => isSlow);
  await rights.keep('one', ['team-1']);
  isSlow = true;
  const leaving = rights.leave('one', ['team-1']);
  await eventually('it is looked at', () => hanging.size === 1);
  const keeping = rights.keep('two', ['team-1']);
  isSlow = false;
  hanging.get('team-1')?.();
  await Promise.all([leaving, keeping]);
  expect(calls.slice(2)).toEqual(['get team-1']);
});
