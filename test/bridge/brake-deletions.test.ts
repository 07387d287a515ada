/*
 * Deletions of a rule with a budget: which are requested, which are held, and what lets them go on. The real bridge and
 * keeper over fakes; how tokens are taken is in brake.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { TOKEN_LIVES_MS } from '../../bridge/budget-blocks.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const HOUR = 3_600_000;
const budget = (limit: number) => ({ budget: { limit, window: '1h' } });

/** A rule with a budget, and deletions of it, one after the other. */
async function scene(limit: number, ...names: readonly string[]): Promise<RuleScene> {
  const begun = await RuleScene.start();
  await begun.apply(budget(limit));
  await remove(begun, ...names);
  return begun;
}

async function remove(begun: RuleScene, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await begun.create(name);
    await begun.delete(name);
  }
}

const distinct = ({ requested }: RuleScene) => [...new Set(requested)];

describe('a deletion over budget', () => {
  it('is held, says so, and goes on by itself when the window has moved', async () => {
    const begun = await scene(2, 'a', 'b', 'c');
    expect(begun.requested).toEqual(['a', 'b']);
    expect(begun.standing('c')).toBe('Held BudgetExceeded');
    await begun.clock.advance(60_000);
    expect(begun.status()).toMatchObject({
      pending: 3,
      held: 1,
      heldObjects: [{ name: 'c', reason: 'BudgetExceeded' }],
    });
    await begun.clock.advance(HOUR - 60_000);
    expect(distinct(begun)).toEqual(['a', 'b']);
    await begun.clock.advance(TOKEN_LIVES_MS);
    expect(distinct(begun)).toEqual(['a', 'b', 'c']);
  });

  it('costs no read of its object when the window moves and others get all that it frees (P8)', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const begun = await scene(1, ...names);
    const reads = () => begun.cluster.calls.filter(({ verb, name }) => verb === 'get' && names.includes(name)).length;
    // Longer than it takes to say on each that it is held.
    await begun.clock.advance(HOUR / 2);
    const before = reads();
    await begun.clock.advance(HOUR / 2 + TOKEN_LIVES_MS);
    expect(distinct(begun)).toHaveLength(2);
    // The one that goes, and the first, which is asked for again in its next term.
    expect(reads() - before).toBeLessThan(5);
  });

  it('goes at once when a person approves it, and takes no token', async () => {
    const begun = await scene(1, 'a', 'b');
    begun.cluster.annotate('b', `approve.finalizer-bridge.dev/${RULE}`, 'uid-another');
    await settled();
    expect(begun.requested).toEqual(['a']);
    begun.cluster.annotate('b', `approve.finalizer-bridge.dev/${RULE}`, 'uid-b');
    await settled();
    expect(begun.requested).toEqual(['a', 'b']);
    expect(begun.status()).toMatchObject({ budget: { reservations: [{ size: 1 }] } });
  });

  it.each([
    ['a larger budget', budget(3)],
    ['no budget at all', {}],
  ])('goes when its rule gets %s', async (_what, changes) => {
    const begun = await scene(1, 'a', 'b');
    await begun.apply(changes);
    expect(begun.requested).toEqual(['a', 'b']);
  });

  it('ends without a request by a release, by a policy that retains, and with its object', async () => {
    const begun = await scene(1, 'a', 'b');
    begun.cluster.annotate('b', `release.finalizer-bridge.dev/${RULE}`, 'uid-b');
    await settled();
    expect(begun.cluster.peek('b')).toBeUndefined();
    await remove(begun, 'c');
    await begun.apply({ ...budget(1), policy: "'Retain'" });
    expect(begun.cluster.peek('c')).toBeUndefined();
    expect(begun.requested).toEqual(['a']);
  });
});

describe('a token', () => {
  it('is spent once a deletion, not once a term: repeating starves nobody (V21)', async () => {
    const begun = await scene(1, 'a', 'b');
    await begun.clock.advance(4 * HOUR);
    expect(begun.requested.filter((name) => name === 'a').length).toBeGreaterThanOrEqual(5);
    expect(begun.requested.filter((name) => name === 'b').length).toBeGreaterThanOrEqual(3);
    expect(begun.status()).toMatchObject({ budget: {} });
    await remove(begun, 'c');
    await begun.clock.advance(HOUR + TOKEN_LIVES_MS);
    expect(distinct(begun)).toEqual(['a', 'b', 'c']);
  });

  it('that was not used because the queue took nothing does not count later on (V21)', async () => {
    const begun = await RuleScene.start();
    begun.queue.sending = async () => {
      throw new Error('the queue is away');
    };
    await begun.apply(budget(2));
    await remove(begun, 'a', 'b', 'c', 'd');
    await begun.clock.advance(5 * HOUR);
    expect(begun.requested).toEqual([]);
    begun.queue.sending = async () => [];
    const times = new Map<string, number>();
    for (let minute = 0; minute < 400; minute += 1) {
      await begun.clock.advance(60_000);
      for (const name of begun.requested) if (!times.has(name)) times.set(name, minute);
    }
    const [first = 0, , third = 0] = [...times.values()].sort((left, right) => left - right);
    expect(times.size).toBe(4);
    expect(third - first).toBeGreaterThanOrEqual(59);
  });

  it('that lapses while its request waits for a free call is taken anew before it goes (V21)', async () => {
    const begun = await scene(100, 'a');
    await begun.clock.advance(55_000);
    const calls = Promise.withResolvers<void>();
    begun.queue.sending = async () => {
      await calls.promise;
      return [];
    };
    await remove(begun, 'b', 'c', 'd', 'e', 'f');
    expect(begun.status()).toMatchObject({ budget: { reservations: [{ size: 10 }] } });
    await begun.clock.advance(6_000);
    calls.resolve();
    await settled();
    expect(begun.requested).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(begun.status()).toMatchObject({ budget: { reservations: [{ size: 6 }, { size: 10 }] } });
  });

  it('that a deletion holds while it is paused lapses', async () => {
    const begun = await RuleScene.start();
    await begun.apply(budget(1));
    let isAway = true;
    begun.queue.sending = async () => {
      if (isAway) throw new Error('the queue is away');
      return [];
    };
    await remove(begun, 'a');
    await begun.apply({ ...budget(1), paused: true });
    isAway = false;
    await begun.clock.advance(2 * HOUR);
    await remove(begun, 'b');
    await begun.apply(budget(1));
    await begun.clock.advance(60_000);
    expect(begun.requested).toHaveLength(1);
  });
});

describe('a budget', () => {
  it('survives a restart, and what was requested and recorded needs no second token (P5)', async () => {
    const first = await scene(2, 'a', 'b');
    await first.clock.advance(2 * 60_000);
    await first.stop();
    const second = await RuleScene.start({ world: first });
    await remove(second, 'c');
    await second.clock.advance(60_000);
    expect(second.requested).toEqual(['a', 'b', 'a', 'b']);
    expect(second.standing('c')).toBe('Held BudgetExceeded');
    expect(second.status()).toMatchObject({ budget: { reservations: [{ size: 1 }, { size: 1 }] } });
  });

  it('is kept by two leaders at once', async () => {
    const first = await RuleScene.start();
    const second = await RuleScene.start({ world: first });
    await first.apply(budget(3));
    await remove(first, ...'abcdefgh');
    await first.clock.advance(50 * 60_000);
    expect(distinct(first).length).toBeGreaterThan(0);
    expect(distinct(first).length).toBeLessThanOrEqual(3);
    await second.stop();
    await first.clock.advance(6 * HOUR);
    expect(distinct(first)).toHaveLength(8);
  });

  it('of one rule is not that of another', async () => {
    const begun = await scene(1, 'a');
    await begun.apply({}, 'free');
    await begun.create('b');
    await begun.delete('b');
    const sent = begun.requests.map(({ data }) => `${data.object.name} ${data.rule.name}`);
    expect(sent).toEqual([`a ${RULE}`, 'b free']);
    expect(begun.standing('b')).toBe('Held BudgetExceeded');
  });
});

it('an object that is to be retained by the time its deletion has a token is not asked for: the watch has told (P2, V2)', async () => {
  const begun = await RuleScene.start();
  const policy = "object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')";
  await begun.apply({ ...budget(5), policy });
  await begun.create('logs');
  const { cluster } = begun;
  const patch = cluster.patch.bind(cluster);
  cluster.patch = async (path, operations, how) => {
    const isToken = path.resource === TEARDOWN_RULES.resource && JSON.stringify(operations).includes('reservations');
    if (isToken && cluster.peek('logs')?.metadata.deletionTimestamp !== undefined) {
      cluster.patch = patch;
      cluster.annotate('logs', 'team.example.com/on-delete', 'Retain');
      await settled();
    }
    return await patch(path, operations, how);
  };
  await begun.delete('logs');
  await begun.clock.advance(5_000);

  expect(cluster.patch).toBe(patch);
  expect(begun.requested).toEqual([]);
  expect(cluster.peek('logs')).toBeUndefined();
});
