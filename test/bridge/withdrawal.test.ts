/*
 * A rule that is deleted leaves cleanly (P9, K20, K25): with the real bridge and keeper over fakes and virtual time.
 * What pending deletions, rights and restarts do to it is in withdrawal-blocked.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { INJECTS_LABEL } from '../../bridge/injects.ts';
import { ApiError } from '../../bridge/ports.ts';
import { SETTLE_MS } from '../../bridge/settling.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { counts, ENTRY, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { settled } from '../support/manual-clock.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const OTHER = 'other';
const OTHER_ENTRY = `finalizer-bridge.dev/${OTHER}`;
/** When nothing is left to do, how long a withdrawal takes at least, and how soon after it is over. */
const SOON = 10_000;

/** A rule in force and three objects that carry its entry. */
async function scene(): Promise<RuleScene> {
  const begun = await RuleScene.start();
  await begun.apply();
  for (const name of ['a', 'b', 'c']) await begun.create(name);
  return begun;
}

const lists = ({ cluster }: RuleScene) => cluster.count('list');

describe('withdrawing a rule (P9)', () => {
  it('stops the injection at once: the label is off the rule, and nothing new is claimed', async () => {
    const begun = await scene();
    await begun.labelled();
    expect(begun.rule()?.metadata.labels?.[INJECTS_LABEL]).toBeDefined();
    await begun.deleteRule();
    expect(begun.rule()?.metadata.labels).toBeUndefined();
    expect(begun.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
    await begun.create('late');
    await begun.clock.advance(50_000);
    expect(begun.finalizers('late')).toEqual([]);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    expect(begun.said('WithdrawalBlocked')).toBe('True Settling');
    expect(begun.said('Ready')).toBe('False Withdrawing');
    expect(begun.said('FinalizerAtAdmission')).toBe('False NotLabelled');
    expect(lists(begun)).toBe(0);
  });

  it('stops it also while nothing else can be found out about the rule', async () => {
    const begun = await scene();
    await begun.clock.advance(20_000);
    begun.kinds.fails.set('storage.example.com/v1/buckets', new ApiError('discovering', 503));
    await begun.deleteRule();
    await begun.create('late');
    await begun.clock.advance(60_000);
    expect(begun.finalizers('late')).toEqual([]);
    expect(begun.rule()).toBeDefined();
  });

  it('takes the entry off live objects after a minute, and lets the rule go after another clean minute (K20)', async () => {
    const begun = await scene();
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS - 1);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.clock.advance(1);
    expect(['a', 'b', 'c'].map((name) => begun.finalizers(name))).toEqual([[], [], []]);
    expect(await counts(begun.metrics.removed)).toEqual({ [`${RULE}/Withdrawn`]: 3 });
    await begun.clock.advance(SETTLE_MS);
    expect(begun.rule()).toBeDefined();
    await begun.clock.advance(SOON);
    expect(begun.rule()).toBeUndefined();
    expect(begun.book.rules).toEqual([]);
    expect(lists(begun)).toBe(3);
  });

  it('takes two minutes also when nobody carries the entry: it may still be put on', async () => {
    const begun = await RuleScene.start();
    await begun.apply();
    await begun.deleteRule();
    await begun.clock.advance(2 * SETTLE_MS - 1);
    expect(begun.rule()).toBeDefined();
    await begun.clock.advance(1);
    expect(begun.rule()).toBeUndefined();
    expect(lists(begun)).toBe(2);
  });

  it('begins its last minute anew when an object got the entry after the sweep (K25)', async () => {
    const begun = await scene();
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.finalizers('a')).toEqual([]);
    await begun.create('late', { finalizers: [ENTRY, 'a/b'] });
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.rule()).toBeDefined();
    expect(begun.finalizers('late')).toEqual(['a/b']);
    await begun.create('later', { finalizers: [ENTRY] });
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.rule()).toBeDefined();
    expect(begun.finalizers('later')).toEqual([]);
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('finds carriers on every page of a list, and asks again when a page fails', async () => {
    const begun = await RuleScene.start();
    await begun.apply();
    for (let index = 0; index < 1_100; index += 1) {
      begun.cluster.create({ name: `o-${index}`, finalizers: index % 100 === 0 ? [ENTRY] : ['a/b'] });
    }
    await settled();
    // No watch tells of them: only the list does.
    const carried = () => Array.from({ length: 1_100 }, (_, index) => begun.finalizers(`o-${index}`)).flat();
    await begun.deleteRule();
    let pages = 0;
    begun.cluster.before = ({ verb }) => {
      if (verb !== 'list') return;
      pages += 1;
      if (pages === 2) throw new ApiError('listing buckets', 410);
    };
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(pages).toBeGreaterThanOrEqual(5);
    expect(carried().filter((entry) => entry === ENTRY)).toEqual([]);
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('touches nothing of others: entries, finalizers and labels stay', async () => {
    const begun = await scene();
    await begun.apply({}, OTHER);
    await begun.labelled();
    await begun.create('d', { finalizers: ['a/b'] });
    begun.cluster.change(
      RULE,
      ({ metadata, ...rest }) => ({
        ...rest,
        metadata: {
          ...metadata,
          finalizers: ['x/y', ...(metadata.finalizers ?? [])],
          labels: { ...metadata.labels, t: 'a' },
        },
      }),
      TEARDOWN_RULES,
    );
    const other = begun.rule(OTHER);
    await begun.deleteRule();
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(begun.finalizers('a')).toEqual([OTHER_ENTRY]);
    expect(begun.finalizers('d')).toEqual(['a/b', OTHER_ENTRY]);
    expect(begun.rule()?.metadata).toMatchObject({ finalizers: ['x/y'], labels: { t: 'a' } });
    expect(begun.rule(OTHER)).toEqual(other);
    expect(begun.rule(OTHER)?.metadata.labels?.[INJECTS_LABEL]).toBeDefined();
    await begun.create('e');
    await begun.delete('e');
    expect(begun.requested).toEqual(['e']);
  });

  it('of two rules of one kind goes on for each by itself', async () => {
    const begun = await scene();
    await begun.apply({}, OTHER);
    await begun.deleteRule();
    await begun.clock.advance(30_000);
    await begun.deleteRule(OTHER);
    await begun.clock.advance(30_000);
    expect(begun.finalizers('a')).toEqual([OTHER_ENTRY]);
    await begun.clock.advance(30_000);
    expect(begun.finalizers('a')).toEqual([]);
    await begun.clock.advance(30_000 + SOON);
    expect([begun.rule(), begun.rule(OTHER) === undefined]).toEqual([undefined, false]);
    await begun.clock.advance(30_000);
    expect(begun.rule(OTHER)).toBeUndefined();
  });

  it('of a rule that comes again under its name waits as long as the first time', async () => {
    const begun = await scene();
    await begun.deleteRule();
    let isCreated = false;
    // The new rule is there before anybody has seen that the old one went.
    begun.cluster.before = ({ verb, name, operations = [] }) => {
      const lets =
        verb === 'patch' &&
        name === RULE &&
        operations.some(({ op, path }) => op === 'remove' && path.includes('final'));
      if (!lets || isCreated) return;
      isCreated = true;
      begun.forceDelete();
      begun.cluster.create({ name: RULE, uid: 'uid-2', kind: TEARDOWN_RULES, spec: ruleSpec() });
    };
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(isCreated).toBe(true);
    expect(begun.rule()?.metadata).toMatchObject({ uid: 'uid-2', finalizers: [WITHDRAWAL_FINALIZER] });
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.deleteRule();
    await begun.clock.advance(SETTLE_MS - 1);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.clock.advance(SETTLE_MS);
    expect(begun.rule()).toBeDefined();
    await begun.clock.advance(SOON);
    expect(begun.rule()).toBeUndefined();
  });

  it('of a rule for a cluster-scoped kind and of one for another kind lists only that kind', async () => {
    const begun = await RuleScene.start();
    await begun.apply();
    await begun.apply({ match: VOLUMES }, OTHER);
    await begun.create('disk', { kind: VOLUMES });
    await begun.create('logs');
    await begun.deleteRule(OTHER);
    await begun.clock.advance(2 * SETTLE_MS + SOON);
    expect(begun.finalizers('disk', VOLUMES)).toEqual([]);
    expect(begun.finalizers('logs')).toEqual([ENTRY]);
    const listed = begun.cluster.calls.filter(({ verb }) => verb === 'list').map(({ name }) => name);
    expect(new Set(listed)).toEqual(new Set(['volumes']));
  });
});
