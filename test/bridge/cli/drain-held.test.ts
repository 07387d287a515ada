/*
 * What is being deleted while a drain runs and no bridge sees to it: never let go silently, released on a person's word only,
 * and then never before a request that was sent could still run (Q13). Over a tiny API server and virtual time.
 */
import { describe, expect, it } from 'vitest';
import { CALL_TIMEOUT_MS, CLOCK_SKEW_MS, TERM_MAX_MS } from '../../../bridge/contract.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { recordKey } from '../../../bridge/record.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { blockers, blocking, DrainScene } from '../../support/drain-scene.ts';
import { START, stamp } from '../../support/manual-clock.ts';

const HOUR = 3_600_000;
const SOON = 10_000;
const CLEAN = { left: [], unseen: [] };
const WORD = `release.finalizer-bridge.dev/${RULE}`;
/** Longer than any wait. */
const DAY = 24 * HOUR;
const wordOn = (begun: DrainScene, name: string) => begun.cluster.peek(name)?.metadata.annotations?.[WORD];

/** A rule without a bridge, a live object, and one that is being deleted. */
function scene(): DrainScene {
  const begun = new DrainScene();
  begun.rule(RULE, { term: '1h' });
  begun.object('live');
  begun.deleting('stuck');
  return begun;
}

describe('an object that is being deleted, without a word (P1)', () => {
  it('keeps its entry and its rule; everything else is drained, and what blocks is named with its target', async () => {
    const begun = scene();
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.finalizers('live')).toEqual([]);
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
    expect(begun.hasRule()).toBe(true);
    expect(blocking(running)).toEqual(['stuck: NoBridge']);
    expect(blockers(running.end)[0]?.target).toContain('"bucket":"team-a-stuck"');
    expect(wordOn(begun, 'stuck')).toBeUndefined();
  });

  it('says why it was held when a bridge still ran', async () => {
    const begun = scene();
    const standing = { uid: 'uid-stuck', ruleUid: 'x', phase: 'Held', reason: 'NotOwned', message: 'no tag' };
    begun.cluster.annotate('stuck', recordKey(RULE), JSON.stringify({ ...standing, since: stamp(START), targets: [] }));
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(blockers(running.end)).toMatchObject([{ reason: 'NotOwned', message: 'no tag' }]);
  });

  it('keeps it also where its rule is gone (K33)', async () => {
    const begun = new DrainScene();
    begun.deleting('stuck');
    const running = begun.start();
    await begun.clock.advance(1_000);
    expect(blocking(running)).toEqual(['stuck: NoBridge']);
    expect(blockers(running.end)[0]?.target).toContain('its rule is gone');
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
  });
});

describe('--release-held', () => {
  it('waits until no request can still run by the term of the rule, then lets go, and the rule after it', async () => {
    const begun = scene();
    const running = begun.start({ release: 'wait', timeout: DAY });
    // The deletion began now; the last request of its first term expires two terms later.
    const ready = 2 * HOUR + CLOCK_SKEW_MS + CALL_TIMEOUT_MS;
    await begun.clock.advance(ready - 2_000);
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
    expect(wordOn(begun, 'stuck')).toBe('uid-stuck');
    await begun.clock.advance(2_000 + SOON);
    expect(begun.cluster.peek('stuck')).toBeUndefined();
    expect(begun.cluster.events).toMatchObject([{ type: 'Warning', reason: 'Released', object: { name: 'stuck' } }]);
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
    const told = running.lines.filter((line) => line.startsWith('releasing'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('team-a/stuck');
    expect(told[0]).toContain('"bucket":"team-a-stuck"');
  });

  it('takes the longest term where the rule is gone, or younger than the deletion (V6)', async () => {
    const begun = new DrainScene();
    begun.deleting('orphan');
    begun.deleting('older', { finalizers: ['finalizer-bridge.dev/young'] });
    begun.cluster.create({
      ...{
        name: 'young',
        uid: 'uid-of-young',
        kind: { group: 'finalizer-bridge.dev', version: 'v1alpha1', resource: 'teardownrules' },
      },
      ...{ creationTimestamp: stamp(START + 1_000), finalizers: ['finalizer-bridge.dev/withdrawal'] },
    });
    begun.start({ release: 'wait', timeout: DAY });
    const ready = 2 * TERM_MAX_MS + 3 * CLOCK_SKEW_MS + CALL_TIMEOUT_MS;
    await begun.clock.advance(ready - 1_000);
    expect(begun.finalizers('orphan')).toEqual([ENTRY]);
    expect(begun.finalizers('older')).toEqual(['finalizer-bridge.dev/young']);
    await begun.clock.advance(1_000 + SOON);
    expect(begun.cluster.peek('orphan')).toBeUndefined();
    await begun.clock.advance(2 * SETTLE_MS);
    expect(begun.cluster.peek('older')).toBeUndefined();
  });

  it('counts from when the last leader was alive, so that a later run need not wait again', async () => {
    const begun = scene();
    begun.lease('', 0);
    begun.start({ release: 'wait', timeout: 5 * 60_000 });
    await begun.clock.advance(3 * HOUR);
    expect(wordOn(begun, 'stuck')).toBe('uid-stuck');
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
    const again = begun.start({ release: 'wait', timeout: 5 * 60_000 });
    await begun.clock.advance(3 * SETTLE_MS);
    expect(again.end).toEqual(CLEAN);
  });

  it('counts from when a person says that the bridge went, too', async () => {
    const begun = new DrainScene();
    begun.deleting('orphan');
    const running = begun.start({ release: 'wait', said: { said: 'gone', since: START - 13 * HOUR } });
    await begun.clock.advance(SOON);
    expect(running.end).toEqual(CLEAN);
  });

  it('leaves it to a bridge that begins after the last look, also when the wait is over (P2)', async () => {
    const begun = scene();
    begun.lease('', 0);
    await begun.clock.advance(3 * HOUR);
    let isLed = false;
    begun.cluster.before = ({ verb, name }) => {
      if (verb !== 'patch' || name !== 'stuck' || isLed) return;
      isLed = true;
      begun.leading();
    };
    begun.start({ release: 'wait' });
    await begun.clock.advance(3 * SOON);
    expect(isLed).toBe(true);
    expect(wordOn(begun, 'stuck')).toBe('uid-stuck');
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
  });

  it('ends at once when the wait is longer than its time, and says until when', async () => {
    const begun = scene();
    const running = begun.start({ release: 'wait', timeout: 10 * 60_000 });
    await begun.clock.advance(2 * SETTLE_MS);
    expect(blocking(running)).toEqual(['stuck: ReleaseWaiting']);
    expect(running.end?.left).toMatchObject([
      { step: { readyAt: START + 2 * HOUR + CLOCK_SKEW_MS + CALL_TIMEOUT_MS } },
    ]);
  });

  it("goes by the API server's clock, not by its own", async () => {
    const begun = new DrainScene();
    begun.deleting('orphan');
    begun.serverAhead = -6 * HOUR;
    const running = begun.start({ release: 'wait', said: { said: 'gone', since: START - 13 * HOUR } });
    await begun.clock.advance(SOON);
    expect(begun.finalizers('orphan')).toEqual([ENTRY]);
    expect(blocking(running)).toEqual(['orphan: ReleaseWaiting']);
  });

  it('says for one object that it may not be released, and releases the others (P10)', async () => {
    const begun = scene();
    begun.deleting('guarded');
    begun.cluster.before = ({ verb, name }) => {
      if (verb === 'patch' && name === 'guarded') throw new ApiError('patching guarded', 403);
    };
    const running = begun.start({ release: 'now' });
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.cluster.peek('stuck')).toBeUndefined();
    expect(blocking(running)).toEqual(['guarded: NotReleased']);
    expect(blockers(running.end)[0]?.message).toContain('403');
  });

  it('says so where the API server refuses the word by a policy, and does not try for ever', async () => {
    const begun = scene();
    const patch = begun.cluster.patch.bind(begun.cluster);
    begun.cluster.patch = async (path, operations) =>
      path.name === 'stuck' ? { kind: 'conflict', said: '{"message":"by policy"}' } : await patch(path, operations);
    const running = begun.start({ release: 'wait', timeout: DAY });
    await begun.clock.advance(3 * SETTLE_MS);
    expect(blockers(running.end)[0]?.message).toContain('the API server refuses it: by policy');
  });
});

describe('--release-held=now', () => {
  it('does not take the successor of an object for the object (K3)', async () => {
    const begun = new DrainScene();
    begun.deleting('stuck');
    let isDone = false;
    begun.cluster.before = ({ verb, name }) => {
      if (verb !== 'patch' || name !== 'stuck' || isDone) return;
      isDone = true;
      begun.cluster.change('stuck', ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, finalizers: [] },
      }));
      begun.deleting('stuck', { uid: 'uid-of-successor' });
      // From here on it is only the one write that could hit it.
      begun.cluster.refused.set('storage.example.com/buckets', 403);
    };
    begun.start({ release: 'now' });
    await begun.clock.advance(60_000);
    expect(isDone).toBe(true);
    expect(begun.cluster.peek('stuck')?.metadata.uid).toBe('uid-of-successor');
    expect(begun.finalizers('stuck')).toEqual([ENTRY]);
  });

  it('does not wait until no new object can get the entry', async () => {
    const begun = scene();
    begun.start({ release: 'now' });
    await begun.clock.advance(5_000);
    expect(begun.cluster.peek('stuck')).toBeUndefined();
    expect(begun.finalizers('live')).toEqual([ENTRY]);
  });

  it('lets go at once, on every object that is being deleted and on no live one that others hold', async () => {
    const begun = scene();
    begun.deleting('shared', { finalizers: ['a/b', ENTRY, ENTRY] });
    const running = begun.start({ release: 'now' });
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(begun.cluster.peek('stuck')).toBeUndefined();
    expect(begun.finalizers('shared')).toEqual(['a/b']);
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
  });

  it('takes a word that a person left on the object', async () => {
    const begun = scene();
    begun.cluster.annotate('stuck', WORD, 'uid-stuck/now');
    const running = begun.start({ release: 'wait' });
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(running.end).toEqual(CLEAN);
  });

  it('needs no Event: in a namespace that is going none can be created (K9)', async () => {
    const begun = scene();
    begun.cluster.before = ({ verb }) => {
      if (verb === 'event') throw new ApiError('recording an Event', 403);
    };
    const running = begun.start({ release: 'now' });
    await begun.clock.advance(2 * SETTLE_MS + 2 * SOON);
    expect(running.end).toEqual(CLEAN);
  });
});
