/*
 * Who may say which word under the guarding policy, and what counts as one: verbs by rule and by namespace, several words at
 * once, words that come with a backup (K33), words that are taken back, and objects with more annotations than can be read.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMaps } from '../support/admission-kinds.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { type GuardScene, type Held, startGuardScene, type User, userWith } from '../support/guard-scene.ts';

const SITE = 'guard-who';
const kube = sharedKube();
let scene: GuardScene;
let author: User;
let bridge: User;
let thing: Held;

const REFUSED = { status: 403, said: expect.stringContaining('guard-who-words') };
const TAKEN = { status: 200, said: '' };
const key = (word: string, rule: string) => `${word}.finalizer-bridge.dev/${rule}`;
const all = (word: string, rules: readonly string[], value = thing.uid) =>
  Object.fromEntries(rules.map((rule) => [key(word, rule), value]));
const released = (...rules: readonly string[]) => ({ annotations: all('release', rules) });

beforeAll(async () => {
  scene = await startGuardScene(kube, SITE, { bridge: { namespace: SITE, name: 'bridge' }, limits: false });
  author = await scene.user('author');
  bridge = await scene.user('bridge');
  thing = await scene.made(scene.widgets, { name: 'thing' });
  const isRefused = async () => (await author.merge(thing, released('a'), '?dryRun=All')).status === 403;
  await eventually('the policy is at work', isRefused, 45_000);
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

/** A dry run leaves the thing as it is for the next test. */
const tries = (user: User, metadata: object) => user.merge(thing, metadata, '?dryRun=All');

describe('a verb on a rule', () => {
  it.each([
    { verb: 'release', word: 'release' },
    { verb: 'release', word: 'reason' },
    { verb: 'approve', word: 'approve' },
    { verb: 'retry', word: 'retry' },
  ])('$verb allows the word $word for that rule, and nothing else', async ({ verb, word }) => {
    const user = await scene.user(`${verb}-a`, { verbs: [verb], names: ['a'] });
    const value = `${thing.uid}/x`;
    expect(await tries(user, { annotations: all(word, ['a'], value) })).toEqual(TAKEN);
    expect(await tries(user, { annotations: all(word, ['b'], value) })).toEqual(REFUSED);
    for (const other of ['release', 'reason', 'approve', 'retry', 'status']) {
      if (other === word || (verb === 'release' && other === 'reason') || (word === 'reason' && other === 'release'))
        continue;
      expect(await tries(user, { annotations: all(other, ['a'], value) })).toEqual(REFUSED);
    }
  });

  it('says what is missing, in words that can be acted on', async () => {
    const { said } = await tries(author, released('a', 'b'));
    // A map has no order.
    expect(said).toMatch(
      /to release, or to take that back, takes the verb release on teardownrules\.finalizer-bridge\.dev (a, b|b, a)$/,
    );
  });

  it('in one namespace allows the word there', async () => {
    const local = await scene.user('local', { verbs: ['release'], names: ['a'] }, 'here');
    expect(await tries(local, released('a'))).toEqual(TAKEN);
    const elsewhere = thing.path.replace(`/namespaces/${SITE}/`, '/namespaces/default/');
    const made = { apiVersion: `${scene.widgets.group}/v1`, kind: 'Widget', metadata: { name: thing.name } };
    const { body } = await kube.request('POST', elsewhere.slice(0, elsewhere.lastIndexOf('/')), made);
    expect(body).toMatchObject({ kind: 'Widget' });
    const { uid } = (await scene.read({ path: elsewhere })).metadata;
    expect(await local.merge({ path: elsewhere }, { annotations: all('release', ['a'], uid) })).toEqual(REFUSED);
    await kube.request('DELETE', elsewhere);
  });

  it('of an administrator allows everything, records included', async () => {
    const everything = ['release', 'reason', 'approve', 'retry', 'status'].map((word) =>
      all(word, ['a', 'b', 'c', 'd']),
    );
    expect(await tries(scene.admin, { annotations: Object.assign({}, ...everything) })).toEqual(TAKEN);
  });

  it('counts as that of whom somebody acts as', async () => {
    const author2 = userWith(kube, 'the author by another name', { as: author.name });
    expect(await author2.merge(thing, released('a'), '?dryRun=All')).toEqual(REFUSED);
    const before = await author.send(
      'PATCH',
      thing.path,
      { metadata: released('a') },
      {
        ...{ contentType: 'application/merge-patch+json', as: bridge.name },
      },
    );
    expect(before).toEqual({ status: 403, said: expect.stringContaining('cannot impersonate') });
  });
});

describe('several words at once', () => {
  it('are allowed for two rules by their names, and with their reasons', async () => {
    const user = await scene.user('two', { verbs: ['release'], names: ['a', 'b', 'c'] });
    const both = { ...all('release', ['a', 'b']), ...all('reason', ['a', 'b'], `${thing.uid}/moved`) };
    expect(await tries(user, { annotations: both })).toEqual(TAKEN);
    expect(
      await tries(user, { annotations: { ...all('release', ['a']), ...all('reason', ['b'], `${thing.uid}/moved`) } }),
    ).toEqual(TAKEN);
    const refused = await tries(user, released('a', 'b', 'c'));
    expect(refused).toEqual({ status: 403, said: expect.stringContaining('or of 2 rules at a time') });
  });

  it('with a reason that is a book are refused, as the object would have no room for what the bridge records', async () => {
    const user = await scene.user('novelist', { verbs: ['release'], names: ['a'] });
    const because = (length: number) => ({
      annotations: { ...all('release', ['a']), ...all('reason', ['a'], `${thing.uid}/${'x'.repeat(length)}`) },
    });
    expect(await tries(user, because(256))).toEqual(TAKEN);
    expect(await tries(user, because(257))).toEqual({
      status: 403,
      said: expect.stringContaining('a reason has at most 256 characters'),
    });
  });

  it('are refused when one of them is', async () => {
    const user = await scene.user('one-of', { verbs: ['release', 'retry'], names: ['a'] });
    expect(await tries(user, released('a', 'b'))).toEqual(REFUSED);
    expect(await tries(user, { annotations: { ...all('release', ['a']), ...all('approve', ['a']) } })).toEqual(REFUSED);
    expect(
      await tries(user, { annotations: { ...all('release', ['a']), ...all('retry', ['a'], `${thing.uid}/1`) } }),
    ).toEqual(TAKEN);
  });

  it('of many rules are allowed to who has the verb on every rule', async () => {
    const user = await scene.user('every', { verbs: ['release'] });
    expect(await tries(user, released('a', 'b', 'c', 'd', 'e'))).toEqual(TAKEN);
  });
});

describe('a record', () => {
  const record = (text: string) => ({ annotations: { [key('status', 'a')]: text } });

  it('is written by the bridge', async () => {
    expect(await tries(bridge, record(JSON.stringify({ uid: thing.uid })))).toEqual(TAKEN);
  });

  it('is all that the bridge writes: it says no word and takes none back, without the policy on what it may change', async () => {
    const record = { [key('status', 'a')]: `{"uid":"${thing.uid}"}` };
    for (const word of ['release', 'reason', 'approve', 'retry']) {
      const said = all(word, ['a'], `${thing.uid}/x`);
      expect(await tries(bridge, { annotations: said })).toEqual(REFUSED);
      expect(await tries(bridge, { annotations: { ...record, ...said } })).toEqual(REFUSED);
    }
    const admin = await scene.user('sayer', { verbs: ['release'] });
    expect((await admin.merge(thing, released('a'))).status).toBe(200);
    expect(await tries(bridge, { annotations: { [key('release', 'a')]: null } })).toEqual(REFUSED);
    expect(await tries(bridge, { annotations: record })).toEqual(TAKEN);
    expect((await admin.merge(thing, { annotations: { [key('release', 'a')]: null } })).status).toBe(200);
  });

  it('V14 is not forged with a uid that is written in escapes', async () => {
    const [first = ''] = thing.uid;
    const hidden = `\\u00${first.charCodeAt(0).toString(16)}${thing.uid.slice(1)}`;
    const text = `{"uid":"${hidden}"}`;
    expect(JSON.parse(text)).toEqual({ uid: thing.uid });
    expect(await tries(author, record(text))).toEqual(REFUSED);
  });

  it('is not taken away, so that what was requested stays known', async () => {
    const held = await scene.made(scene.widgets, { name: 'recorded' });
    await bridge.merge(held, record(`{"uid":"${held.uid}"}`));
    expect(await author.merge(held, { annotations: { [key('status', 'a')]: null } })).toEqual(REFUSED);
    expect(await author.merge(held, { annotations: null })).toEqual(REFUSED);
    expect(await author.merge(held, record('{}'))).toEqual(REFUSED);
    expect(await author.merge(held, { annotations: { 'example.com/a': '1' } })).toEqual(TAKEN);
    expect(
      await author.put(held, ({ metadata: { annotations, ...metadata }, ...rest }) => ({ ...rest, metadata })),
    ).toEqual(REFUSED);
  });
});

describe('a word that is there', () => {
  it('is taken back by who may say it, and stays through the writes of others', async () => {
    const user = await scene.user('back', { verbs: ['release'] });
    const held = await scene.made(scene.widgets, { name: 'spoken' });
    const word = { annotations: { [key('release', 'a')]: held.uid } };
    expect(await user.merge(held, word)).toEqual(TAKEN);
    expect(await author.merge(held, word)).toEqual(TAKEN);
    expect(await author.merge(held, { labels: { some: 'label' } })).toEqual(TAKEN);
    expect(await author.merge(held, { annotations: { [key('release', 'a')]: `${held.uid}/now` } })).toEqual(REFUSED);
    expect(await author.merge(held, { annotations: { [key('release', 'a')]: 'nothing' } })).toEqual(REFUSED);
    expect(await author.merge(held, { annotations: { [key('release', 'a')]: null } })).toEqual(REFUSED);
    expect(await user.merge(held, { annotations: { [key('release', 'a')]: null } })).toEqual(TAKEN);
  });
});

describe('K33 what a backup brings along', () => {
  const old = '5f0c8c2e-0000-4000-8000-000000000000';
  const carried = {
    [key('release', 'a')]: old,
    [key('reason', 'a')]: `${old}/moved`,
    [key('status', 'a')]: JSON.stringify({ uid: old }),
  };

  it.each(['name', 'generateName'])('is restored by anybody, %s', async (by) => {
    const collection = thing.path.slice(0, thing.path.lastIndexOf('/'));
    const metadata = { [by]: `restored-${by.toLowerCase()}`, annotations: carried };
    const made = { apiVersion: `${scene.widgets.group}/v1`, kind: 'Widget', metadata };
    expect(await author.send('POST', collection, made)).toEqual({ status: 201, said: '' });
  });

  it('is restored by server-side apply, cannot name the new object, and is swept up by anybody', async () => {
    const path = `${thing.path.slice(0, thing.path.lastIndexOf('/'))}/applied`;
    const held = { path, name: 'applied', uid: '', kind: scene.widgets };
    const metadata = { uid: old, annotations: carried };
    expect((await author.apply(held, { annotations: carried })).status).toBe(201);
    const { uid } = (await scene.read(held)).metadata;
    expect(uid).not.toBe(old);
    expect((await author.apply(held, { ...metadata, uid })).status).toBe(200);
    expect(await author.merge(held, { annotations: { [key('status', 'a')]: '{}' } })).toEqual(TAKEN);
    expect(await author.merge(held, { annotations: { [key('status', 'a')]: JSON.stringify({ uid }) } })).toEqual(
      REFUSED,
    );
    expect(await author.merge(held, { annotations: null })).toEqual(TAKEN);
    await kube.request('DELETE', path);
  });

  it('a uid that the creator chooses is not the one of the object', async () => {
    const held = await scene.made(configMaps, { name: 'chosen', uid: old, annotations: carried });
    expect(held.uid).not.toBe(old);
  });
});

describe('an object with more annotations than are looked through', () => {
  const CROWD = 2_000;

  it('is written as ever, but for its annotations, which an administrator can clear', async () => {
    const many = Object.fromEntries(Array.from({ length: CROWD }, (_, index) => [`k${index}`, '']));
    const held = await scene.made(configMaps, { name: 'crowded', annotations: many });
    const crowded = { status: 403, said: expect.stringContaining('more than 500 annotations') };
    expect(await author.merge(held, { labels: { some: 'label' } })).toEqual(TAKEN);
    expect(await author.merge(held, { annotations: all('release', ['a'], held.uid) })).toEqual(crowded);
    expect(await author.merge(held, { annotations: { k1: 'changed' } })).toEqual(crowded);
    expect(await bridge.merge(held, { annotations: all('status', ['a'], held.uid) })).toEqual(TAKEN);
    expect(await scene.admin.merge(held, { annotations: null })).toEqual(TAKEN);
    expect(await author.merge(held, { annotations: { k1: 'changed' } })).toEqual(TAKEN);
  });
});
