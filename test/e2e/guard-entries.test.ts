/*
 * Entries under the policy that lets nobody take them off by hand (off unless an installation asks for it), on a real API
 * server: `kubectl replace` of an old manifest, `finalizers: []`, and what must go on all the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMaps } from '../support/admission-kinds.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { type GuardScene, type Held, startGuardScene, type User } from '../support/guard-scene.ts';

const kube = sharedKube();
const TAKEN = { status: 200, said: '' };
const REFUSED = { status: 403, said: expect.stringContaining('to take an entry off by hand takes the verb release') };
const entry = (rule: string) => `finalizer-bridge.dev/${rule}`;
/** A loop over so many takes the API server more than a second. */
const MANY = 10_000;
const others = ['example.com/x', 'example.com/y'];

afterAll(() => kube.close());

describe.each(['Deleting', 'Always'] as const)('where entries are guarded: %s', (entries) => {
  const site = `guard-entries-${entries.toLowerCase()}`;
  let scene: GuardScene;
  let author: User;
  let releaser: User;

  beforeAll(async () => {
    const accounts = { bridge: { namespace: site, name: 'bridge' }, drain: { namespace: site, name: 'drain' } };
    scene = await startGuardScene(kube, site, { ...accounts, entries, words: false, limits: false });
    author = await scene.user('author');
    releaser = await scene.user('releaser', { verbs: ['release'], names: ['a', 'b', 'c'] });
    const probe = await made('probe');
    const isRefused = async () => (await author.merge(probe, { finalizers: others }, '?dryRun=All')).status === 403;
    await eventually('the policy is at work', isRefused, 45_000);
  });
  afterAll(() => scene?.stop());

  /** An object in the midst of its deletion. */
  async function made(name: string, rules = ['a'], kind = scene.widgets): Promise<Held> {
    const held = await scene.made(kind, { name, finalizers: [...others, ...rules.map(entry)] });
    await scene.admin.send('DELETE', held.path);
    return held;
  }

  it.each(['widgets', 'configmaps'])('K27 nobody takes the entry off %s without the right', async (resource) => {
    const held = await made(`taken-${resource}`, ['a'], resource === 'widgets' ? scene.widgets : configMaps);
    const without = { finalizers: others };
    expect(await author.merge(held, without)).toEqual(REFUSED);
    expect(await author.merge(held, { finalizers: null })).toEqual(REFUSED);
    expect(await author.merge(held, { finalizers: [] })).toEqual(REFUSED);
    expect(await author.json(held, [{ op: 'remove', path: '/metadata/finalizers/2' }])).toEqual(REFUSED);
    expect(
      await author.json(held, [{ op: 'replace', path: '/metadata/finalizers/2', value: 'example.com/x' }]),
    ).toEqual(REFUSED);
    const replaced = await author.put(held, ({ metadata: { finalizers, ...metadata }, ...rest }) => ({
      ...rest,
      metadata,
    }));
    expect(replaced).toEqual(REFUSED);
    expect((await scene.read(held)).metadata.finalizers).toEqual([...others, entry('a')]);
  });

  it('nobody takes it off by an apply that has owned the list', async () => {
    const held = await made(`applied`);
    await author.apply(held, { finalizers: [...others, entry('a')] });
    const owned = await author.send(
      'PATCH',
      `${held.path}?fieldManager=them&force=true`,
      { apiVersion: `${held.kind.group}/v1`, kind: held.kind.kind, metadata: { name: held.name, finalizers: others } },
      { contentType: 'application/apply-patch+yaml' },
    );
    // What the bridge or the create owns as well stays on; what would come off is refused.
    expect([200, 403]).toContain(owned.status);
    expect((await scene.read(held)).metadata.finalizers).toContain(entry('a'));
  });

  it('others take their own off, add some, and write what they like', async () => {
    const held = await scene.made(scene.widgets, { name: 'others', finalizers: [...others, entry('a')] });
    const foreground = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' };
    await scene.admin.send('DELETE', held.path, foreground);
    expect((await scene.read(held)).metadata.finalizers).toContain('foregroundDeletion');
    // As the garbage collector does when all dependents are gone.
    expect(await author.merge(held, { finalizers: [...others, entry('a')] })).toEqual(TAKEN);
    expect(await author.merge(held, { labels: { a: 'b' } })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: [entry('a'), 'example.com/z'] })).toMatchObject({ status: 422 });
    expect(await author.merge(held, { finalizers: [entry('a')] })).toEqual(TAKEN);
  });

  it('who may release takes it off, of two rules at a time', async () => {
    const held = await made('released', ['a', 'b', 'c']);
    expect(await releaser.merge(held, { finalizers: others })).toMatchObject({ status: 403 });
    expect(await releaser.merge(held, { finalizers: [...others, entry('c')] })).toEqual(TAKEN);
    const foreign = await made('foreign', ['d']);
    expect(await releaser.merge(foreign, { finalizers: others })).toEqual(REFUSED);
  });

  it.each(['bridge', 'drain'])('the %s takes it off', async (name) => {
    const held = await made(`by-${name}`, ['a', 'b', 'c']);
    const user = await scene.user(name);
    expect(await user.merge(held, { finalizers: others })).toEqual(TAKEN);
  });

  it('one of two copies is no entry less (K30)', async () => {
    const held = await scene.made(scene.widgets, { name: 'twice', finalizers: [entry('a'), entry('a')] });
    await scene.admin.send('DELETE', held.path);
    expect(await author.merge(held, { finalizers: [entry('a')] })).toEqual(TAKEN);
  });

  it('an administrator does as ever', async () => {
    const held = await made('by-admin', ['a', 'b', 'c']);
    expect(await scene.admin.merge(held, { finalizers: null })).toEqual(TAKEN);
  });

  it(`a live object ${entries === 'Always' ? 'keeps it, too' : 'is let be, as the bridge puts it back'}`, async () => {
    const held = await scene.made(scene.widgets, { name: 'live', finalizers: [entry('a')] });
    expect(await author.merge(held, { finalizers: [] })).toEqual(entries === 'Always' ? REFUSED : TAKEN);
  });

  it('finalizers of others may be very many: none is lost with them, and what is allowed stays so', async () => {
    const many = Array.from({ length: MANY }, (_, index) => `example.com/${index}`);
    const all = [entry('a'), ...many.slice(0, 7), entry('b'), entry('c'), ...many.slice(7), entry('d')];
    const held = await scene.made(scene.widgets, { name: 'many', finalizers: all });
    await scene.admin.send('DELETE', held.path);
    const named = (rules: string) => ({
      status: 403,
      said: expect.stringContaining(`teardownrules.finalizer-bridge.dev ${rules}`),
    });
    expect(await author.merge(held, { finalizers: many })).toEqual(named('a, b, c, d, or of 2 rules at a time'));
    expect(await author.merge(held, { finalizers: all.slice(0, -1) })).toEqual(named('d'));
    expect(await author.merge(held, { finalizers: all.toSpliced(8, 1) })).toEqual(named('b'));
    const without = all.filter((one) => one !== entry('b') && one !== entry('c'));
    expect(await releaser.merge(held, { finalizers: without })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: [entry('a'), entry('d')] })).toEqual(TAKEN);
    expect((await scene.read(held)).metadata.finalizers).toEqual([entry('a'), entry('d')]);
  });

  it('what only looks like an entry is one of others', async () => {
    const alike = ['x.finalizer-bridge.dev/a', 'finalizer-bridge.device/a'];
    const held = await scene.made(scene.widgets, { name: 'alike', finalizers: [...alike, entry('ab')] });
    await scene.admin.send('DELETE', held.path);
    expect(await author.merge(held, { finalizers: [entry('ab')] })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: [] })).toEqual(REFUSED);
  });

  it('an order that changes, or what takes the place of another, is no entry less', async () => {
    const held = await scene.made(scene.widgets, { name: 'moved', finalizers: [entry('a'), ...others, entry('ab')] });
    await scene.admin.send('DELETE', held.path);
    expect(await author.merge(held, { finalizers: [entry('ab'), ...others.toReversed(), entry('a')] })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: [entry('ab')] })).toEqual(REFUSED);
  });

  it('an object with more than 500 entries of ours has its finalizers changed by who may release all', async () => {
    const ours = Array.from({ length: 501 }, (_, index) => entry(`of-${index}`));
    const held = await scene.made(scene.widgets, { name: 'crowded', finalizers: [...others, ...ours] });
    await scene.admin.send('DELETE', held.path);
    const refused = { status: 403, said: expect.stringContaining('is not looked through') };
    expect(await releaser.merge(held, { finalizers: ours })).toEqual(refused);
    expect(await author.merge(held, { finalizers: ours.slice(1) })).toEqual(refused);
    expect(await author.merge(held, { labels: { a: 'b' } })).toEqual(TAKEN);
    expect(await scene.admin.merge(held, { finalizers: [...others, ...ours.slice(1)] })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: ours.slice(1) })).toEqual(TAKEN);
    expect(await author.merge(held, { finalizers: ours.slice(2) })).toEqual(REFUSED);
  });

  it.each([30, 499, 500])('who takes %d of long names off is told so in words, and not in CEL', async (count) => {
    const ours = Array.from({ length: count }, (_, index) => entry(`rule-${index}-${'x'.repeat(50)}`));
    const held = await scene.made(scene.widgets, { name: `long-${count}`, finalizers: [...others, ...ours] });
    await scene.admin.send('DELETE', held.path);
    const words =
      /an entry off by hand takes the verb release on teardownrules\.finalizer-bridge\.dev rule-0-.*…, or of 2/;
    expect(await author.merge(held, { finalizers: others })).toEqual({
      status: 403,
      said: expect.stringMatching(words),
    });
    expect(await scene.admin.merge(held, { finalizers: others })).toEqual(TAKEN);
  });
});
