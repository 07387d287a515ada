/*
 * What is said of one generation of a rule: every reason why it cannot work, in words for its conditions, and that it
 * recovers by itself when the reason goes. The judge alone over plain data, then with the keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { RECHECK_MS, REJUDGE_MS } from '../../bridge/rule-enforcing.ts';
import { VERBS } from '../../bridge/rule-rights.ts';
import { BUCKETS, ENTRY, HANDLER, RULE, type SpecChanges } from '../support/bridge-builders.ts';
import type { FakeKinds } from '../support/fake-kinds.ts';
import { judged } from '../support/judged-rules.ts';
import { RuleScene } from '../support/rule-scene.ts';

const KIND = 'storage.example.com/v1/buckets';
const OTHER = 'other';

describe('a rule', () => {
  it('that can work is accepted, permitted, watched and ready', async () => {
    const { judgement, said } = await judged();
    expect(judgement.rule).toMatchObject({ name: RULE, uid: `uid-of-${RULE}`, entry: ENTRY, generation: 1 });
    expect(said).toEqual({
      ...{ Accepted: 'True Accepted', Permitted: 'True Permitted', Watching: 'True Watching', Ready: 'True Ready' },
    });
  });

  it.each<[string, SpecChanges, string, string]>([
    [
      'whose expression does not compile',
      { target: { a: 'object.spec.name +' } },
      'Invalid',
      'spec.target.a: no CEL expression: it ends where more is expected, at character 19 of: object.spec.name +',
    ],
    ['with two faults', { target: {}, paused: 'no' }, 'Invalid', '; spec.paused: '],
    ['with a field that nobody knows', { dryRun: true }, 'Invalid', 'spec.dryRun: unknown field'],
    ['for a refused kind', { match: { ...BUCKETS, group: '', resource: 'secrets' } }, 'Invalid', 'secrets are refused'],
    ['with an unknown field called like a reason', { OwnershipNotBound: 1 }, 'Invalid', 'spec.OwnershipNotBound'],
    ['whose tags bind to nothing', { ownership: { tags: { a: "'b'" } } }, 'OwnershipNotBound', 'spec.ownership: Own'],
    [
      'whose tags hold only a name, for a kind in namespaces',
      { ownership: { tags: { owner: 'object.metadata.name' } } },
      'OwnershipNotBound',
      'buckets.v1.storage.example.com are in namespaces',
    ],
    [
      'that waits for its own entry',
      { waitFor: { finalizers: ['a.b/c', ENTRY], atMost: '1h' } },
      'WaitsInCircle',
      `waits for its own entry: ${RULE} -> ${RULE}`,
    ],
    ['whose handler has no queue', { handler: 'nobody' }, 'NoQueue', 'handler nobody'],
    [
      'for a kind that is not served',
      { match: { ...BUCKETS, resource: 'pails' } },
      'UnknownResource',
      'pails.v1.storage.example.com',
    ],
    [
      'for a version that is not served',
      { match: { ...BUCKETS, version: 'v2' } },
      'UnknownResource',
      'buckets.v2.storage.example.com',
    ],
    [
      'for a core kind that is not served',
      { match: { group: '', version: 'v1', resource: 'pails' } },
      'UnknownResource',
      'serve pails.v1',
    ],
  ])('%s is not accepted, and says why', async (_what, changes, reason, message) => {
    const { judgement, said, messages } = await judged(changes, undefined, false);
    expect(judgement.rule).toBeUndefined();
    expect(said).toEqual({
      ...{ Accepted: `False ${reason}`, Ready: `False ${reason}` },
      ...{ Permitted: 'Unknown NotAccepted', Watching: 'False NotWatching' },
    });
    expect(messages.Accepted).toContain(message);
    expect(messages.Ready).toBe(messages.Accepted);
  });

  it('that may not do all it needs is accepted, and names the verbs that are missing (K19)', async () => {
    const { judgement, said, messages } = await judged({}, ({ lacks }) => void lacks.set(KIND, ['list', 'patch']));
    expect(judgement.rule).toBeDefined();
    expect(said).toMatchObject({
      Accepted: 'True Accepted',
      Permitted: 'False MissingVerbs',
      Ready: 'False MissingVerbs',
    });
    expect(messages.Permitted).toBe('may not list, patch buckets.storage.example.com');
    expect(VERBS).toEqual(['get', 'list', 'watch', 'patch']);
  });

  it('whose proof is weak works, and says so', async () => {
    const tags = { owner: "object.metadata.namespace + '/' + object.metadata.name" };
    const { said } = await judged({ ownership: { tags } });
    expect(said).toMatchObject({ Accepted: 'True OwnershipWeak', Ready: 'True Ready' });
  });

  it.each<[string, SpecChanges, string]>([
    [
      'a name, for a kind without namespaces',
      {
        match: { group: '', version: 'v1', resource: 'namespaces' },
        ownership: { tags: { owner: 'object.metadata.name' } },
      },
      'OwnershipWeak',
    ],
    ['nothing, on its own word', { ownership: { none: true } }, 'OwnershipNone'],
  ])('whose proof is bound by %s works, and says so', async (_what, changes, reason) => {
    const { said, messages } = await judged(changes);
    expect(said).toMatchObject({ Accepted: `True ${reason}`, Ready: 'True Ready' });
    expect(messages.Accepted).toMatch(/^the rule is in force/);
  });

  it('that waits for a rule that is not there works, and says that nothing is waited for', async () => {
    const { said, messages } = await judged({
      waitFor: { finalizers: ['finalizer-bridge.dev/notcie'], atMost: '1h' },
    });
    expect(said).toMatchObject({ Accepted: 'True Accepted', Ready: 'True Ready' });
    expect(messages.Accepted).toContain('is called notcie, so nothing is waited for in its place');
  });

  it('whose kind is not being watched is not ready', async () => {
    const { said } = await judged({}, undefined, false);
    expect(said).toMatchObject({
      Accepted: 'True Accepted',
      Watching: 'False NotWatching',
      Ready: 'False NotWatching',
    });
  });

  it('that nobody could ask about is not judged', async () => {
    const fails = ({ fails: failing }: FakeKinds) => void failing.set(KIND, new ApiError('discovering', 503));
    await expect(judged({}, fails)).rejects.toThrow('discovering: HTTP 503');
  });
});

describe('a rule that is not ready', () => {
  it('recovers by itself when its kind comes, and says so when it goes again (K8)', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.served.delete(KIND) });
    await scene.apply();
    await scene.create('logs', { finalizers: [] });
    expect(scene.said('Ready')).toBe('False UnknownResource');
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    scene.kinds.served.set(KIND, { kind: 'Bucket', namespaced: true });
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    scene.kinds.served.delete(KIND);
    await scene.clock.advance(RECHECK_MS + 2_000);
    expect(scene.said('Ready')).toBe('False UnknownResource');
    expect(scene.book.named(RULE)?.notAccepted).toContain('does not serve buckets.v1.storage.example.com');
    scene.kinds.served.set(KIND, { kind: 'Bucket', namespaced: true });
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.book.named(RULE)?.notAccepted).toBeUndefined();
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('recovers by itself when its handler gets a queue', async () => {
    const scene = await RuleScene.start({ prepare: ({ handlers }) => handlers.clear() });
    await scene.apply();
    expect(scene.said('Ready')).toBe('False NoQueue');
    scene.handlers.add(HANDLER);
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('recovers by itself when it is granted what it lacked, and only then gets its label (K19)', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.lacks.set(KIND, ['patch']) });
    await scene.apply();
    expect(scene.said('Permitted')).toBe('False MissingVerbs');
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    scene.kinds.lacks.clear();
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Permitted')).toBe('True Permitted');
    await scene.labelled();
    expect(scene.rule()?.metadata.labels).toBeDefined();
  });

  it('is seen to have lost a right within minutes, and loses its label', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.labelled();
    scene.kinds.lacks.set(KIND, ['watch']);
    await scene.clock.advance(RECHECK_MS + 2_000);
    expect(scene.said('Ready')).toBe('False MissingVerbs');
    expect(scene.rule()?.metadata.labels).toBeUndefined();
  });

  it('says within seconds that its kind is not being watched any more, and that it is again (K17)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    scene.cluster.refused.set('storage.example.com/buckets', 403);
    scene.cluster.endWatches(new ApiError('watching', 403));
    await scene.clock.advance(11_000);
    expect(scene.said('Ready')).toBe('False NotWatching');
    scene.cluster.refused.clear();
    await scene.clock.advance(60_000);
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('is judged again soon when the API server could not be asked, its last judgement in force meanwhile', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    scene.kinds.fails.set(KIND, new ApiError('discovering', 503));
    await scene.apply({ options: { a: 1 } });
    expect(scene.book.named(RULE)?.generation).toBe(1);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.condition('Ready')?.observedGeneration).toBe(1);
    scene.kinds.fails.clear();
    await scene.clock.advance(31_000);
    expect(scene.book.named(RULE)?.generation).toBe(2);
    expect(scene.condition('Ready')?.observedGeneration).toBe(2);
  });

  it.each<[string, SpecChanges]>([
    ['broken', { target: { a: 'object.' } }],
    ['unknown', { match: { ...BUCKETS, resource: 'pails' } }],
    ['without a queue', { handler: 'nobody' }],
    ['refused by the API server', { match: { group: '', version: 'v1', resource: 'configmaps' } }],
  ])('(%s) stops no other (P10)', async (_what, changes) => {
    const scene = await RuleScene.start({ prepare: ({ cluster }) => void cluster.refused.set('/configmaps', 403) });
    await scene.apply(changes, OTHER);
    await scene.apply();
    await scene.create('logs');
    await scene.delete('logs');
    expect(scene.said('Ready', OTHER)).toMatch(/^False /);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});
