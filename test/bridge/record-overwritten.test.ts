/*
 * A record that another process which believes to lead has written over this one's: what it has asked for is learnt from there, as
 * plain data first, then through the whole bridge over fakes, where the other bridge is an annotation that changes.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { recall } from '../../bridge/observe.ts';
import type { Pending } from '../../bridge/pending.ts';
import { ApiError, type ObjectMeta } from '../../bridge/ports.ts';
import { recordKey } from '../../bridge/record.ts';
import { deletingMeta, ENTRY, pendingOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { START, stamp } from '../support/manual-clock.ts';
import { elsewhere } from '../support/two-versions.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const KEY = recordKey(RULE);
const HOUR = 3_600_000;
const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };

describe('a record that another process has written over', () => {
  const asked = { target: A, rule: B, requested: true, started: true };
  const met = { target: B, rule: B, requested: false, started: false };
  const over = (targets: unknown[], changes: object = {}): ObjectMeta => {
    const record = {
      ...{ uid: 'uid-logs', ruleUid: `uid-of-${RULE}`, phase: 'Held', reason: 'NotOwned', message: 'm', targets },
      ...{ since: stamp(START - 60_000), retry: 'x', retries: 3, ...changes },
    };
    const text = JSON.stringify(record);
    return deletingMeta({ annotations: { [KEY]: text } });
  };
  const read = (changes: Partial<Pending>): Pending => {
    const pending = pendingOf({ recalled: true, ...changes });
    recall(pending, ruleOf(), START + 7);
    return pending;
  };

  it('tells what that one has asked for, copies of which can still run (V10, V12); nothing else', () => {
    const { othersUntil, seen, retries, retryHandled, standing } = read({ meta: over([asked, met]) });
    expect({ othersUntil, seen, retries, retryHandled, standing }).toEqual({
      ...{ othersUntil: START + 7, seen: [asked], retries: 0, retryHandled: undefined, standing: undefined },
    });
  });

  it('before the first look tells no more of it than any record does: it may be older, or somebody else’s (P4)', () => {
    for (const knowsAllSent of [true, false]) {
      const first = read({ meta: over([asked, met]), recalled: false, knowsAllSent });
      expect(first).toMatchObject({ othersUntil: undefined, seen: [asked, met], retries: 3 });
    }
  });

  it.each([
    ['and asked for nothing', over([met])],
    ['of another object', over([asked], { uid: 'uid-of-another' })],
    ['of another rule of that name', over([asked], { ruleUid: 'older' })],
    ['and somebody damaged since', deletingMeta({ annotations: { [KEY]: '{"uid":"uid-logs"' } })],
    ['in a way that cannot be read', over([{ to: A }])],
    ['and somebody took off', deletingMeta()],
  ])('%s tells nothing', (_what, meta) => {
    expect(read({ meta })).toMatchObject({ othersUntil: undefined, seen: [], unknownTarget: undefined });
  });

  it('in a form of a later version tells what can be read of it', () => {
    expect(read({ meta: over([{ to: A }, asked], { phase: 'Later' }) })).toMatchObject({
      ...{ othersUntil: START + 7, seen: [asked], unknownTarget: undefined },
    });
  });
});

describe('a bridge whose record another one writes over', () => {
  const OTHERS = 'said by another bridge';
  /** A bridge that has asked for its target, and how another one writes that it has asked for a second. */
  const overwriting = async () => {
    let isServed = true;
    const scene = await Scene.start({
      rules: [ruleOf(), elsewhere],
      prepare: ({ cluster }) => {
        cluster.before = ({ verb, kind }) => {
          if (!isServed && verb === 'get' && kind?.version === 'v1') throw new ApiError('asking', 404);
        };
      },
    });
    await scene.deleted();
    await scene.clock.advance(31_000);
    const write = () => {
      const record = scene.record();
      const targets = [record?.targets[0], { ...record?.targets[0], target: A }];
      scene.cluster.annotate('logs', KEY, JSON.stringify({ ...record, message: OTHERS, targets }));
      return targets;
    };
    const serve = (isItServed: boolean) => {
      isServed = isItServed;
    };
    return { scene, write, serve };
  };
  const overwritten = async (): Promise<Scene> => {
    const { scene, write } = await overwriting();
    write();
    return scene;
  };

  it('P1 V10 frees nothing by the gone of its own target, and has the other one stay written', async () => {
    const scene = await overwritten();
    const both = scene.record()?.targets;
    await scene.clock.advance(HOUR / 3);
    expect([scene.record()?.message === OTHERS, scene.record()?.targets]).toEqual([false, both]);
    expect(await scene.answer(gone)).toBe(true);
    expect([scene.standing(), scene.finalizers()]).toEqual(['Held TargetChanged', [ENTRY]]);
    await scene.bridge.stop();
    const next = await Scene.start({ after: scene });
    await next.answer(gone);
    expect([next.standing(), next.finalizers()]).toEqual(['Held TargetChanged', [ENTRY]]);
  });

  it('P2 V1 has a release wait until what the other one has sent can run no more', async () => {
    const scene = await overwritten();
    await scene.clock.advance(HOUR / 3);
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    await scene.clock.advance(11 * HOUR);
    expect([scene.standing(), scene.finalizers()]).toEqual(['Pending ReleaseWaiting', [ENTRY]]);
    await scene.clock.advance(2 * HOUR);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('P4 has a release wait no longer for it where the other one only tells of that again and again', async () => {
    const scene = await overwritten();
    scene.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    for (let passed = 0; passed < 13 * HOUR && scene.cluster.peek('logs') !== undefined; passed += HOUR / 4) {
      await scene.clock.advance(HOUR / 4);
      const record = scene.record();
      if (record !== undefined && record.message !== OTHERS) {
        scene.cluster.annotate('logs', KEY, JSON.stringify({ ...record, message: OTHERS }));
      }
    }
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('P1 V10 keeps what the other one has asked for where it cannot read the object, and tells so', async () => {
    const { scene, write } = await overwriting();
    const get = scene.cluster.get.bind(scene.cluster);
    scene.cluster.get = () => Promise.reject(new ApiError('asking', 503));
    const both = write();
    await scene.clock.advance(HOUR / 4);
    expect([scene.standing(), scene.record()?.targets]).toEqual(['Held Failing', both]);
    scene.cluster.get = get;
    await scene.clock.advance(HOUR / 4);
    await scene.answer(gone);
    expect([scene.standing(), scene.finalizers()]).toEqual(['Held TargetChanged', [ENTRY]]);
  });

  it('P1 V10 keeps it over a time in which the version of its rule is not served', async () => {
    const { scene, write, serve } = await overwriting();
    serve(false);
    const both = write();
    await scene.clock.advance(HOUR / 12);
    expect(scene.record()).toMatchObject({ reason: 'RuleNotAccepted', targets: both });
    serve(true);
    await scene.clock.advance(HOUR / 12);
    expect(scene.record()).toMatchObject({ reason: 'Requested', targets: both });
    await scene.answer(gone);
    expect([scene.standing(), scene.finalizers()]).toEqual(['Held TargetChanged', [ENTRY]]);
  });
});
