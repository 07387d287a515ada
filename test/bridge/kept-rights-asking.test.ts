/*
 * How the bindings that give the bridge its rights are asked for: several at once and not too many, so that calls that hang hold
 * a rule up for the time of one; one thing at a time in each namespace.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { KeptRights } from '../../bridge/kept-rights.ts';
import { ApiError, type Cluster, type KubeObject } from '../../bridge/ports.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { RuleBook } from '../../bridge/rule-book.ts';
import { RULE_API_VERSION, RULE_KIND } from '../../bridge/rule-facts.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { metaOf } from '../support/bridge-builders.ts';
import { eventually } from '../support/eventually.ts';
import { FakeKinds } from '../support/fake-kinds.ts';
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
  /** What the status of each rule names. */
  const named = new Map<string, readonly string[]>();
  const ruleNaming = (name: string): KubeObject => ({
    ...{ apiVersion: RULE_API_VERSION, kind: RULE_KIND, metadata: metaOf({ name }) },
    status: { namespaces: [...(named.get(name) ?? [])] },
  });
  const broken: { under?: ApiError | undefined } = {};
  const clock = new ManualClock();
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
  const cluster: Pick<Cluster, 'get' | 'list' | 'patch'> = {
    async list() {
      calls.push('list rules');
      if (broken.under !== undefined) throw broken.under;
      return { items: [...named.keys()].map((name) => ruleNaming(name).metadata), resourceVersion: '1' };
    },
    async get({ namespace = '', resource, name }) {
      if (resource === TEARDOWN_RULES.resource) return ruleNaming(name);
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
  const rights = new KeptRights({ cluster, clock, lease, served, log, book: new RuleBook(), kinds: new FakeKinds() });
  begun.push(rights);
  return { rights, calls, named, kept, broken, clock, hanging, givingUp, most: () => most };
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
  const { rights, calls, named, hanging } = scene((namespace) => namespace === 'team-1');
  const first = rights.keep('one', ['team-1']);
  await eventually('it is asked for', () => hanging.size === 1);
  const leaving = rights.leave('one', ['team-1']);
  named.set('two', ['team-1']);
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
  expect(calls).toEqual(['get team-1', 'keep team-1', 'get team-1', 'list rules']);
});

it('what is just being given up for one rule is kept for the next that needs it, also where it was seen kept', async () => {
  const { rights, calls, givingUp } = scene(() => false);
  await rights.keep('one', ['team-1']);
  expect(calls).toEqual(['get team-1', 'keep team-1']);
  const gate = Promise.withResolvers<void>();
  givingUp.under = gate.promise;
  const leaving = rights.leave('one', ['team-1']);
  await eventually('it is about to be given up', () => calls.length === 4);
  await new Promise(setImmediate);
  const keeping = rights.keep('two', ['team-1']);
  gate.resolve();
  await Promise.all([leaving, keeping]);
  expect(calls.slice(2)).toEqual(['get team-1', 'list rules', 'give up team-1', 'get team-1', 'keep team-1']);
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
  expect(calls.slice(2)).toEqual(['get team-1', 'list rules']);
});

describe('where another process leads as well, the rights in a namespace', () => {
  const NOT_GIVEN_UP = ['get team-1', 'list rules'];

  it('are not given up for one rule while another has come to name it that was not seen here (P9)', async () => {
    const { rights, calls, named } = scene(() => false);
    await rights.keep('one', ['team-1']);
    named.set('theirs', ['team-1']);
    await rights.leave('one', ['team-1']);
    expect(calls.slice(2)).toEqual(NOT_GIVEN_UP);
  });

  it('are not given up by a look that remembers no rule which names it (P9)', async () => {
    const { calls, named, kept, clock } = scene(() => false);
    named.set('theirs', ['team-1']);
    kept.add('team-1');
    await clock.advance(60_000);
    const asked = calls.filter((call) => call.endsWith(' team-1') || call === 'list rules');
    expect(asked).toEqual(['get team-1', 'get team-1', 'list rules']);
  });

  it('are given up for the last rule although another was seen here to name it, which does so no more (P9)', async () => {
    const { rights, calls } = scene(() => false);
    await rights.keep('one', ['team-1']);
    rights.saw('theirs', ['team-1']);
    await rights.leave('one', ['team-1']);
    expect(calls.slice(2)).toEqual([...NOT_GIVEN_UP, 'give up team-1']);
  });

  it('are given up for two rules that leave it at once, whose statuses still name it both (P9)', async () => {
    const { rights, calls, named } = scene(() => false);
    for (const rule of ['one', 'two']) named.set(rule, ['team-1']);
    await rights.keep('one', ['team-1']);
    await Promise.all(['one', 'two'].map((rule) => rights.leave(rule, ['team-1'])));
    expect(calls.filter((call) => call === 'give up team-1')).toHaveLength(1);
  });

  it('stay while not all rules can be read, which is tried again', async () => {
    const { rights, calls, broken } = scene(() => false);
    await rights.keep('one', ['team-1']);
    broken.under = new ApiError('listing', 500);
    await expect(rights.leave('one', ['team-1'])).rejects.toThrow('listing');
    broken.under = undefined;
    await rights.leave('one', ['team-1']);
    expect(calls.slice(2)).toEqual([...NOT_GIVEN_UP, ...NOT_GIVEN_UP, 'give up team-1']);
  });
});
