/*
 * What new objects make a rule's condition FinalizerAtAdmission say: the real bridge and keeper over fakes, and the test
 * plays the admission policy. What one object shows is in at-admission.test.ts, the rule's label in rule-label.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { KNOWN_WITHIN_MS, POLICIES } from '../../bridge/at-admission.ts';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import { RECHECK_MS } from '../../bridge/rule-enforcing.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { SERVED_MS } from '../../bridge/serving.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import type { NewObject } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { stamp } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const OTHER = 'other';
const VALUE = injectsLabel(BUCKETS);
const SAID = 'FinalizerAtAdmission';

const labelOf = (scene: RuleScene, rule = RULE) => scene.rule(rule)?.metadata.labels?.[INJECTS_LABEL];
const authors = [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }];

/** A rule in force that has its label for so long that the policy knows it. */
async function labelled(): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.labelled();
  return scene;
}

/** Somebody creates an object just now, and the admission policy has seen it or not. */
async function born(scene: RuleScene, name: string, isInjected: boolean, object: Partial<NewObject> = {}) {
  const finalizers = isInjected ? { finalizers: [ENTRY] } : {};
  const creationTimestamp = stamp(scene.clock.now());
  await scene.create(name, { creationTimestamp, managedFields: authors, ...finalizers, ...object });
}

const shown = (scene: RuleScene) => scene.clock.advance(2 * STATUS_EVERY_MS);

describe('the condition FinalizerAtAdmission', () => {
  it('goes from NotLabelled over NothingCreatedYet to Observed, and the rule is ready all along', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    expect(scene.said(SAID)).toBe('False NotLabelled');
    expect(scene.said('Ready')).toBe('True Ready');
    await scene.labelled();
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
    expect(scene.said('Ready')).toBe('True Ready');
    await born(scene, 'a', true);
    await shown(scene);
    expect(scene.said(SAID)).toBe('True Observed');
  });

  it('is NotInjected when a new object came without the entry, which it gets by patch', async () => {
    const scene = await labelled();
    await born(scene, 'a', false);
    expect(scene.finalizers('a')).toEqual([ENTRY]);
    await shown(scene);
    expect(scene.said(SAID)).toBe('False NotInjected');
    expect(scene.condition(SAID)?.message).toContain('buckets.storage.example.com');
    expect(scene.said('Ready')).toBe('True Ready');
    await born(scene, 'b', true);
    await shown(scene);
    expect(scene.said(SAID)).toBe('True Observed');
  });

  it('says nothing of objects that are too young, not selected, changed, listed, or have the entry from their author', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ match: { ...BUCKETS, labelSelector: { matchLabels: { app: 'logs' } } } });
    const labels = { app: 'logs' };
    await scene.clock.advance(SERVED_MS - 3_000);
    await born(scene, 'unlabelled', false, { labels });
    await scene.clock.advance(2_000);
    expect(labelOf(scene)).toBe(VALUE);
    await born(scene, 'young', false, { labels });
    await scene.clock.advance(KNOWN_WITHIN_MS + 1_000);
    await born(scene, 'other', false);
    scene.cluster.change('other', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels } }));
    const owned = [{ manager: 'velero', fieldsV1: { 'f:metadata': { 'f:finalizers': { [`v:"${ENTRY}"`]: {} } } } }];
    await born(scene, 'restored', true, { labels, managedFields: owned });
    // A strip that nobody saw, met by a new list.
    scene.cluster.endWatches(new ApiError('watching', 410));
    await born(scene, 'stripped', false, { labels });
    await scene.clock.advance(60_000);
    expect(scene.finalizers('stripped')).toEqual([ENTRY]);
    expect(scene.finalizers('other')).toEqual([ENTRY]);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
  });

  it('tells a missing binding from a missing policy by the objects of other kinds', async () => {
    const scene = await labelled();
    await scene.apply({ match: VOLUMES }, OTHER);
    await scene.labelled();
    await born(scene, 'a', false);
    await shown(scene);
    expect(scene.condition(SAID)?.message).toContain('Either there is no admission policy, or');
    await born(scene, 'disk', true, { kind: VOLUMES, finalizers: [`finalizer-bridge.dev/${OTHER}`] });
    await shown(scene);
    expect(scene.said(SAID, OTHER)).toBe('True Observed');
    await scene.clock.advance(RECHECK_MS);
    expect(scene.condition(SAID)?.message).toContain('the policy seems to have no binding for buckets');
  });

  it('stays as it was for an object that shows nothing', async () => {
    const scene = await labelled();
    await born(scene, 'a', false);
    await shown(scene);
    await born(scene, 'restored', true, { managedFields: [] });
    await shown(scene);
    expect(scene.said(SAID)).toBe('False NotInjected');
  });

  it('is forgotten with the label: what was seen before says nothing of afterwards', async () => {
    const scene = await labelled();
    await born(scene, 'a', true);
    await shown(scene);
    await scene.apply({ target: { bucket: 'object.spec.' } });
    await shown(scene);
    expect(scene.said(SAID)).toBe('False NotLabelled');
    await scene.apply();
    await shown(scene);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
  });

  it('stands over a restart until something new is seen', async () => {
    const first = await labelled();
    await born(first, 'a', true);
    await shown(first);
    const condition = first.condition(SAID);
    await first.stop();
    const scene = await RuleScene.start({ world: first });
    await scene.clock.advance(RECHECK_MS);
    expect(scene.condition(SAID)).toEqual(condition);
    expect(scene.said(SAID)).toBe('True Observed');
    await born(scene, 'b', false);
    await shown(scene);
    expect(scene.said(SAID)).toBe('False NotInjected');
  });

  it('stands over an edit of the rule, as said of its new generation', async () => {
    const scene = await labelled();
    await born(scene, 'a', true);
    await shown(scene);
    await scene.apply({ paused: true });
    expect(scene.condition(SAID)).toMatchObject({ reason: 'Observed', observedGeneration: 2 });
  });

  it('is NotServed where the API server has no such policies, and found to be more when it has', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.served.delete(kindKey(POLICIES)) });
    await scene.apply();
    expect(scene.said(SAID)).toBe('False NotServed');
    await scene.labelled();
    expect(scene.said(SAID)).toBe('False NotServed');
    expect(scene.said('Ready')).toBe('True Ready');
    scene.kinds.served.set(kindKey(POLICIES), { kind: 'MutatingAdmissionPolicy', namespaced: false });
    await scene.clock.advance(2 * RECHECK_MS);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
  });

  it('that cannot be told, as discovery fails, holds up no rule (P10)', async () => {
    const prepare = ({ kinds }: RuleScene) => void kinds.fails.set(kindKey(POLICIES), new ApiError('discovering', 503));
    const scene = await RuleScene.start({ prepare });
    await scene.apply();
    await scene.labelled();
    expect(scene.said('Ready')).toBe('True Ready');
    expect(labelOf(scene)).toBe(VALUE);
    expect(scene.condition(SAID)).toBeUndefined();
  });

  it('costs no call per object, and few writes when each object says something else (P8)', async () => {
    const scene = await labelled();
    await born(scene, 'first', true);
    await shown(scene);
    const calls = scene.cluster.calls.length;
    for (let index = 0; index < 100; index += 1) await born(scene, `with-${index}`, true);
    expect(scene.cluster.calls.length).toBe(calls);
    const writes = () => scene.cluster.calls.filter(({ subresource }) => subresource === 'status').length;
    const before = writes();
    for (let index = 0; index < 60; index += 1) {
      await born(scene, `mixed-${index}`, index % 2 === 0);
      await scene.clock.advance(1_000);
    }
    expect(writes() - before).toBeGreaterThan(0);
    expect(writes() - before).toBeLessThanOrEqual(7);
  });

  it('counts from the label, not from when another bridge might have set it', async () => {
    const scene = await RuleScene.start({
      prepare: (begun) => {
        begun.holdsLease = false;
      },
    });
    await scene.apply();
    await scene.labelled();
    await born(scene, 'a', false);
    scene.holdsLease = true;
    await scene.clock.advance(RECHECK_MS);
    expect(scene.finalizers('a')).toEqual([ENTRY]);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
  });

  it('is known to a bridge without the lease as well, which writes it once it has the lease', async () => {
    const first = await labelled();
    const scene = await RuleScene.start({
      world: first,
      prepare: (begun) => {
        begun.holdsLease = false;
      },
    });
    await first.stop();
    await scene.clock.advance(60_000);
    await born(scene, 'a', true);
    await shown(scene);
    expect(scene.said(SAID)).toBe('Unknown NothingCreatedYet');
    scene.holdsLease = true;
    await scene.clock.advance(RECHECK_MS);
    expect(scene.said(SAID)).toBe('True Observed');
  });
});
