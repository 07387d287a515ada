/*
 * The bridge's own account under the guarding policy, on a real API server: with more rights than it is ever given it still
 * changes nothing but our entries and annotations, of a rule also our label, and the drain's account the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addEntry, removeEntry } from '../../bridge/finalizer.ts';
import { writeRecord } from '../../bridge/record.ts';
import { labelRule, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { configMaps } from '../support/admission-kinds.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { type GuardScene, type Held, pods, startGuardScene, type User, userWith } from '../support/guard-scene.ts';

const SITE = 'guard-limits';
const RULES = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules';
const kube = sharedKube();
let scene: GuardScene;
/** Both may do everything that RBAC can give. */
let bridge: User;
let drain: User;
let other: User;
let thing: Held;
let rule: { readonly path: string };

/** Over so many a loop takes the API server more than a second; that there is none is shown by test/infra/admission.test.ts. */
const MANY = 10_000;

const TAKEN = { status: 200, said: '' };
const refused = (words: string) => ({ status: 403, said: expect.stringContaining(words) });
const entry = 'finalizer-bridge.dev/team';

beforeAll(async () => {
  const accounts = { bridge: { namespace: SITE, name: 'bridge' }, drain: { namespace: SITE, name: 'drain' } };
  scene = await startGuardScene(kube, SITE, { ...accounts, words: false });
  const everything = { verbs: ['*'] };
  bridge = await scene.user('bridge', everything);
  drain = await scene.user('drain', everything);
  other = await scene.user('other', everything);
  thing = await scene.made(
    scene.widgets,
    {
      ...{ name: 'thing', labels: { a: 'b' }, annotations: { 'example.com/a': '1' } },
      finalizers: ['example.com/x', entry, 'example.com/y'],
    },
    { spec: { replicas: 1, list: [1, 2] } },
  );
  rule = { path: `${RULES}/${SITE}` };
  const match = { group: scene.widgets.group, version: 'v1', resource: 'widgets' };
  const spec = { match, handler: 'by-hand', target: { name: 'object.metadata.name' } };
  const manifest = {
    apiVersion: 'finalizer-bridge.dev/v1alpha1',
    kind: 'TeardownRule',
    metadata: { name: SITE },
    spec,
  };
  expect((await kube.request('POST', RULES, manifest)).status).toBe(201);
  const isRefused = async () => (await bridge.merge(thing, { labels: { a: 'c' } }, '?dryRun=All')).status === 403;
  await eventually('the policy is at work', isRefused, 45_000);
});
afterAll(async () => {
  await kube.request(
    'PATCH',
    rule.path,
    { metadata: { finalizers: null } },
    { contentType: 'application/merge-patch+json' },
  );
  await kube.request('DELETE', rule.path);
  await scene?.stop();
  await kube.close();
});

describe('the bridge', () => {
  it.each([
    ['spec', { spec: { replicas: 2 } }, 'outside of metadata'],
    ['an item of the spec', { spec: { list: [1, 3] } }, 'outside of metadata'],
    ['a new field', { data: { a: 'b' } }, 'outside of metadata'],
    ['a field away', { spec: null }, 'outside of metadata'],
    ['a label', { metadata: { labels: { a: 'c' } } }, 'no labels'],
    ['all labels away', { metadata: { labels: null } }, 'no labels'],
    ['our label on an object', { metadata: { labels: { 'finalizer-bridge.dev/injects': 'x' } } }, 'no labels'],
    [
      'an annotation of others',
      { metadata: { annotations: { 'example.com/a': '2' } } },
      'no annotations but its records',
    ],
    ['a new annotation', { metadata: { annotations: { 'example.com/b': '2' } } }, 'no annotations but its records'],
    [
      'an annotation like ours',
      { metadata: { annotations: { 'x.finalizer-bridge.dev/a': '2' } } },
      'no annotations but its records',
    ],
    [
      'a word',
      { metadata: { annotations: { 'release.finalizer-bridge.dev/a': '2' } } },
      'no annotations but its records',
    ],
    ['a generated name', { metadata: { generateName: 'a-' } }, 'nothing of metadata'],
    ['annotations away', { metadata: { annotations: null } }, 'no annotations but its records'],
    ['finalizers of others away', { metadata: { finalizers: [entry] } }, 'no finalizers of others'],
    ['all finalizers away', { metadata: { finalizers: null } }, 'no finalizers of others'],
    ['their order', { metadata: { finalizers: ['example.com/y', 'example.com/x', entry] } }, 'no finalizers of others'],
    [
      'a finalizer of others',
      { metadata: { finalizers: ['example.com/x', 'example.com/y', 'a/b'] } },
      'no finalizers of others',
    ],
    [
      'an owner',
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' }] } },
      'nothing of metadata',
    ],
    [
      'a record and a label',
      { metadata: { annotations: { 'status.finalizer-bridge.dev/a': '{}' }, labels: { a: 'c' } } },
      'no labels',
    ],
  ])('does not change %s', async (_, change, words) => {
    const by = { contentType: 'application/merge-patch+json' };
    const before = await scene.read(thing);
    expect(await bridge.send('PATCH', thing.path, change, by)).toEqual(refused(words));
    expect(await scene.read(thing)).toEqual(before);
    const { status } = await other.send('PATCH', `${thing.path}?dryRun=All`, change, by);
    expect(status).toBe(200);
  });

  it('creates, replaces by another version, scales and deletes nothing', async () => {
    const collection = thing.path.slice(0, thing.path.lastIndexOf('/'));
    const made = { apiVersion: `${scene.widgets.group}/v1`, kind: 'Widget', metadata: { generateName: 'new-' } };
    expect(await bridge.send('POST', collection, made)).toEqual(refused('does no CREATE'));
    expect(await bridge.apply({ ...thing, path: `${collection}/applied`, name: 'applied' }, {})).toEqual(
      refused('does no CREATE'),
    );
    expect(await bridge.send('DELETE', thing.path)).toEqual(refused('does no DELETE'));
    expect(await bridge.send('DELETE', collection)).toEqual(refused('does no DELETE'));
    expect(await drain.send('DELETE', thing.path)).toEqual(refused('does no DELETE'));
    const by = { contentType: 'application/merge-patch+json' };
    expect(await bridge.send('PATCH', `${thing.path}/scale`, { spec: { replicas: 3 } }, by)).toEqual(
      refused('outside'),
    );
    expect(await bridge.send('PATCH', `${thing.path}/status`, { status: { a: 'b' } }, by)).toEqual(refused('outside'));
    const inV2 = thing.path.replace('/v1/', '/v2/');
    expect(await bridge.merge({ path: inV2 }, { labels: { a: 'c' } })).toEqual(refused('no labels'));
    const pod = await scene.made(pods, { name: 'pod' });
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'pod' },
      target: { kind: 'Node', name: 'n' },
    };
    expect(await bridge.send('POST', `${pod.path}/binding`, binding)).toEqual(refused('does no CREATE'));
    expect((await scene.read(thing)).metadata.deletionTimestamp).toBeUndefined();
  });

  it('writes what it has to: entries on and off, and records', async () => {
    for (const kind of [scene.widgets, configMaps, pods]) {
      const held = await scene.made(kind, { generateName: 'written-' });
      const meta = async () => (await scene.read(held)).metadata;
      expect(await bridge.json(held, addEntry(await meta(), entry) ?? [])).toEqual(TAKEN);
      expect(await bridge.json(held, [{ op: 'add', path: '/metadata/finalizers/0', value: `${entry}-2` }])).toEqual(
        TAKEN,
      );
      expect((await meta()).finalizers).toEqual([`${entry}-2`, entry]);
      const now = '2026-01-01T00:00:00Z';
      const record = {
        uid: held.uid,
        ruleUid: '',
        phase: 'Held' as const,
        reason: 'R',
        message: 'm',
        since: now,
        targets: [],
      };
      expect(await bridge.json(held, writeRecord(await meta(), 'team', record))).toEqual(TAKEN);
      expect(await bridge.json(held, writeRecord(await meta(), 'team', { ...record, message: 'n' }))).toEqual(TAKEN);
      await scene.admin.send('DELETE', held.path);
      expect(await bridge.json(held, removeEntry(await meta(), `${entry}-2`) ?? [])).toEqual(TAKEN);
      expect(await bridge.json(held, removeEntry(await meta(), entry) ?? [])).toEqual(TAKEN);
    }
  });

  it('takes entries off among very many finalizers of others, and moves none of them', async () => {
    const others = Array.from({ length: MANY }, (_, at) => `a.io/${at}`);
    const held = await scene.made(scene.widgets, {
      generateName: 'crowded-',
      finalizers: [entry, ...others.slice(0, 7), `${entry}-2`, `${entry}-3`, ...others.slice(7), `${entry}-4`],
    });
    const meta = async () => (await scene.read(held)).metadata;
    const swapped = [entry, ...others.slice(0, 6), ...others.slice(7), ...others.slice(6, 7)];
    expect(await bridge.merge(held, { finalizers: swapped })).toEqual(refused('no finalizers of others'));
    expect(await bridge.json(held, removeEntry(await meta(), `${entry}-2`) ?? [])).toEqual(TAKEN);
    const left = others.toSpliced(7, 0, `${entry}-3`);
    expect((await meta()).finalizers).toEqual([entry, ...left, `${entry}-4`]);
  });

  it.each([
    ['what only looks like ours', ['x.finalizer-bridge.dev/a'], ['x.finalizer-bridge.dev/b']],
    ['what begins as ours', ['finalizer-bridge.device/a'], []],
    ['the last one', [], ['example.com/x']],
    ['the only one of others', ['example.com/x', entry], [entry]],
  ])('takes %s for a finalizer of others', async (_, before, after) => {
    const held = await scene.made(scene.widgets, { generateName: 'told-apart-', finalizers: before });
    expect(await bridge.merge(held, { finalizers: after })).toEqual(refused('no finalizers of others'));
    expect(await other.merge(held, { finalizers: after }, '?dryRun=All')).toEqual(TAKEN);
  });

  it('does not go through more than 500 entries of ours', async () => {
    const ours = Array.from({ length: 501 }, (_, at) => `${entry}-${at}`);
    const held = await scene.made(scene.widgets, { generateName: 'ours-', finalizers: ours });
    expect(await bridge.merge(held, { finalizers: ours.slice(1) })).toEqual(refused('more than 500 entries of ours'));
    await scene.admin.merge(held, { finalizers: ours.slice(1) });
    expect(await bridge.merge(held, { finalizers: ours.slice(2) })).toEqual(TAKEN);
  });

  it('leaves words to the drain, and the drain records to the bridge', async () => {
    const value = (word: string) => ({ annotations: { [`${word}.finalizer-bridge.dev/a`]: thing.uid } });
    for (const word of ['release', 'reason']) {
      expect(await drain.merge(thing, value(word), '?dryRun=All')).toEqual(TAKEN);
      expect(await bridge.merge(thing, value(word), '?dryRun=All')).toEqual(refused('no annotations but its records'));
    }
    for (const word of ['status', 'approve', 'retry']) {
      expect(await drain.merge(thing, value(word), '?dryRun=All')).toEqual(refused('the drain none but its releases'));
    }
    expect(await bridge.merge(thing, value('status'), '?dryRun=All')).toEqual(TAKEN);
  });

  it('touches nothing of a rule but our finalizer and our label', async () => {
    const { metadata } = await scene.read(rule);
    const marked = [addEntry(metadata, WITHDRAWAL_FINALIZER), labelRule(metadata, 'abc')].flatMap((some) => some ?? []);
    expect(await bridge.json(rule, marked)).toEqual(TAKEN);
    expect((await scene.read(rule)).metadata).toMatchObject({ labels: { 'finalizer-bridge.dev/injects': 'abc' } });
    const [by, paused] = [{ contentType: 'application/merge-patch+json' }, { spec: { paused: true } }];
    expect(await bridge.send('PATCH', rule.path, paused, by)).toEqual(refused('outside of metadata'));
    expect(await bridge.merge(rule, { labels: { team: 'a' } })).toEqual(refused('no labels'));
    expect(await bridge.send('PATCH', `${rule.path}/status`, { status: { pending: 1 } }, by)).toEqual(
      refused('cannot patch resource'),
    );
    expect(await bridge.send('DELETE', rule.path)).toEqual(refused('does no DELETE'));
    expect(await drain.send('PATCH', rule.path, paused, by)).toEqual(refused('outside of metadata'));
    expect(await drain.send('DELETE', rule.path)).toEqual(TAKEN);
  });

  it('is the account, and whoever acts as it', async () => {
    const as = userWith(kube, 'administrator as the bridge', { as: bridge.name });
    expect(await as.merge(thing, { labels: { a: 'c' } })).toEqual(refused('no labels'));
    expect(await other.merge(thing, { labels: { a: 'c' } }, '?dryRun=All')).toEqual(TAKEN);
  });
});
