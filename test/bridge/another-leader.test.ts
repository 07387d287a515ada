/*
 * An answer to a request that this bridge cannot account for: it has watched the deletion from its beginning and sent nothing, so
 * another one believes to lead as well, or did a moment ago. What that one has sent can still run (P2, traps V1, V11 and V12).
 */
import { describe, expect, it } from 'vitest';
import type { Outcome, Request } from '../../bridge/contract.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

const HOUR = 3_600_000;
const WEAK = { tags: { owner: "object.metadata.namespace + '/' + object.metadata.name" } };
const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const slow: Outcome = { outcome: 'pending', reason: 'Deleting', message: 'it goes slowly' };

/** A bridge that has watched a deletion begin and sends nothing, and the request that another one has sent for it. */
async function besideAnother(changes: Parameters<typeof ruleOf>[0] = {}): Promise<{ scene: Scene; asked: Request }> {
  const other = await Scene.start({ rules: [ruleOf(changes)] });
  await other.deleted();
  await other.bridge.stop();
  const scene = await Scene.start({ rules: [ruleOf({ ...changes, paused: true })] });
  await scene.deleted();
  expect(scene.requests).toEqual([]);
  return { scene, asked: other.request };
}

const release = ({ cluster }: Scene) => cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');

describe('an answer to what another leader has sent', () => {
  it.each([WEAK, { none: true } as const])(
    'P2 V12 frees nothing while copies can still run, where the proof is %j',
    async (ownership) => {
      const { scene, asked } = await besideAnother({ ownership });
      await scene.answer(gone, asked);
      expect([scene.standing(), scene.finalizers()]).toEqual(['Pending WaitingForCopies', [ENTRY]]);
      await scene.clock.advance(2 * HOUR);
      expect(scene.finalizers()).toEqual([ENTRY]);
      // No term is known for sure of a rule from a file: the largest one is waited for.
      await scene.clock.advance(11 * HOUR);
      expect(scene.cluster.peek('logs')).toBeUndefined();
    },
  );

  it('P1 V12 frees at once where the proof tells a successor’s resource from this one', async () => {
    const { scene, asked } = await besideAnother();
    await scene.answer(gone, asked);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('P2 V1 has a release wait until what was sent can run no more', async () => {
    const { scene, asked } = await besideAnother();
    await scene.answer(slow, asked);
    release(scene);
    await scene.clock.advance(2 * HOUR);
    expect([scene.standing(), scene.finalizers()]).toEqual(['Pending ReleaseWaiting', [ENTRY]]);
    await scene.clock.advance(11 * HOUR);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('has a release wait no longer than it would where it is of a request that is known to have been possible', async () => {
    const first = await Scene.start();
    await first.deleted();
    await first.bridge.stop();
    const next = await Scene.start({ after: first, rules: [ruleOf({ paused: true })] });
    await next.clock.advance(HOUR);
    await next.answer(slow, first.request);
    release(next);
    // Twelve hours and what clocks may be off, from when it first looked.
    await next.clock.advance(11 * HOUR + 5 * 60_000);
    expect(next.cluster.peek('logs')).toBeUndefined();
  });
});
