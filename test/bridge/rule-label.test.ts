/*
 * When a rule has the label by which the admission policy finds it: the real bridge and keeper over fakes, while the
 * rule's kind comes, goes and comes again. How long a kind was served is counted in serving.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import { RECHECK_MS } from '../../bridge/rule-enforcing.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { SERVED_MS } from '../../bridge/serving.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const OTHER = 'other';
const VALUE = injectsLabel(BUCKETS);
const KIND = 'storage.example.com/buckets';
const SAID = 'FinalizerAtAdmission';

const labelOf = (scene: RuleScene, rule = RULE) => scene.rule(rule)?.metadata.labels?.[INJECTS_LABEL];

/** A rule in force that has its label for so long that the policy knows it. */
async function labelled(): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.labelled();
  return scene;
}

/** The kind's definition is deleted, or made again. */
async function serve(scene: RuleScene, isServed: boolean): Promise<void> {
  if (isServed) {
    scene.cluster.refused.delete(KIND);
    scene.kinds.served.set(kindKey(BUCKETS), { kind: 'Bucket', namespaced: true });
  } else {
    scene.cluster.refused.set(KIND, 404);
    scene.kinds.served.delete(kindKey(BUCKETS));
    scene.cluster.endWatches();
  }
}

describe('the label by which the admission policy finds a rule', () => {
  it('is set when the kind was served for half a minute, and not before', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.clock.advance(SERVED_MS - 4_000);
    expect(labelOf(scene)).toBeUndefined();
    expect(scene.said('Ready')).toBe('True Ready');
    await scene.clock.advance(4_000);
    expect(labelOf(scene)).toBe(VALUE);
  });

  it('is set at once on another rule for a kind that was served for long', async () => {
    const scene = await labelled();
    await scene.apply({}, OTHER);
    expect(labelOf(scene, OTHER)).toBe(VALUE);
  });

  it('stays on over a restart, without a write', async () => {
    const first = await labelled();
    await first.stop();
    const writes = first.cluster.count('patch');
    const scene = await RuleScene.start({ world: first });
    expect(labelOf(scene)).toBe(VALUE);
    await scene.clock.advance(RECHECK_MS);
    expect(labelOf(scene)).toBe(VALUE);
    expect(scene.cluster.count('patch')).toBe(writes);
  });

  it('of another kind comes off at the start, and the right one waits its time', async () => {
    const scene = await RuleScene.start({
      prepare: ({ cluster }) => {
        const labels = { [INJECTS_LABEL]: injectsLabel(VOLUMES) };
        cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec(), labels });
      },
    });
    await scene.clock.advance(2_000);
    expect(labelOf(scene)).toBeUndefined();
    await scene.labelled();
    expect(labelOf(scene)).toBe(VALUE);
  });

  it('comes off when the kind is not served any more, and on again half a minute after it is back (K8)', async () => {
    const scene = await labelled();
    await serve(scene, false);
    await scene.clock.advance(2 * STATUS_EVERY_MS);
    expect(scene.said('Accepted')).toBe('False UnknownResource');
    expect(labelOf(scene)).toBeUndefined();
    expect(scene.said(SAID)).toBe('False NotLabelled');
    await serve(scene, true);
    await scene.clock.advance(SERVED_MS - 1_000);
    expect(labelOf(scene)).toBeUndefined();
    await scene.clock.advance(2 * SERVED_MS);
    expect(scene.said('Accepted')).toBe('True Accepted');
    expect(labelOf(scene)).toBe(VALUE);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
  });

  it('waits anew after a break that only discovery has shown, and for a kind that nobody watched for a while', async () => {
    const scene = await labelled();
    scene.kinds.served.delete(kindKey(BUCKETS));
    await scene.clock.advance(RECHECK_MS);
    expect(labelOf(scene)).toBeUndefined();
    scene.kinds.served.set(kindKey(BUCKETS), { kind: 'Bucket', namespaced: true });
    await scene.clock.advance(SERVED_MS / 2);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(labelOf(scene)).toBeUndefined();
    await scene.labelled();
    expect(labelOf(scene)).toBe(VALUE);

    scene.forceDelete();
    await scene.clock.advance(2_000);
    await scene.apply({}, OTHER);
    expect(labelOf(scene, OTHER)).toBeUndefined();
    await scene.labelled();
    expect(labelOf(scene, OTHER)).toBe(VALUE);
  });

  it('comes off also for a break that only the watch has met', async () => {
    const scene = await labelled();
    scene.cluster.refused.set(KIND, 404);
    scene.cluster.endWatches();
    await scene.clock.advance(2_000);
    scene.cluster.refused.delete(KIND);
    await scene.clock.advance(STATUS_EVERY_MS);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(labelOf(scene)).toBeUndefined();
    await scene.labelled();
    expect(labelOf(scene)).toBe(VALUE);
  });

  it('stays on while the watch is broken in another way (K10)', async () => {
    const scene = await labelled();
    scene.cluster.before = ({ verb, kind }) => {
      if (verb === 'watch' && kind?.resource === BUCKETS.resource) throw new ApiError('watching', 503);
    };
    scene.cluster.endWatches(new ApiError('watching', 503));
    await scene.clock.advance(2 * STATUS_EVERY_MS);
    expect(scene.said('Watching')).toBe('False NotWatching');
    expect(labelOf(scene)).toBe(VALUE);
  });

  it('is set by the holder of the lease alone', async () => {
    const scene = await RuleScene.start({
      prepare: (begun) => {
        begun.holdsLease = false;
      },
    });
    await scene.apply();
    await scene.labelled();
    expect(scene.cluster.count('patch')).toBe(0);
    scene.holdsLease = true;
    await scene.clock.advance(RECHECK_MS);
    expect(labelOf(scene)).toBe(VALUE);
  });
});
