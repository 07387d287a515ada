/*
 * Words and records under the guarding policy, on a real API server and by users with the least rights: whoever may write an
 * object cannot say a word without the verb on the rule, nor forge what the bridge has recorded, whichever way it is written.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasWord, releaseWord } from '../../bridge/words.ts';
import { claims, configMaps } from '../support/admission-kinds.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { type GuardScene, type Held, pods, startGuardScene, type Tried, type User } from '../support/guard-scene.ts';

const SITE = 'guard-words';
const RULE = 'team.buckets-1';
const kube = sharedKube();
let scene: GuardScene;
/** May write every object, and has no verb on any rule. */
let author: User;
let thing: Held;

const key = (word: string, rule = RULE) => `${word}.finalizer-bridge.dev/${rule}`;
const pointer = (name: string) => `/metadata/annotations/${name.replace('/', '~1')}`;
const REFUSED = { status: 403, said: expect.stringContaining('finalizer-bridge.dev') };
const TAKEN = { status: 200, said: '' };

beforeAll(async () => {
  scene = await startGuardScene(kube, SITE, { bridge: { namespace: SITE, name: 'bridge' }, limits: false });
  author = await scene.user('author');
  thing = await scene.made(scene.widgets, { name: 'thing', annotations: { 'example.com/a': '1' } });
  const isRefused = async () => (await author.merge(thing, said('release'), '?dryRun=All')).status === 403;
  await eventually('the policy is at work', isRefused, 45_000);
});
afterAll(async () => {
  await scene?.stop();
  await kube.close();
});

/** Annotations that say a word about the thing. */
const said = (word: string, of = thing, rule = RULE) => ({ annotations: { [key(word, rule)]: `${of.uid}/x` } });

type Way = readonly [string, (user: User, name: string, value: string) => Promise<Tried>];
const ways: readonly Way[] = [
  ['a merge patch', (user, name, value) => user.merge(thing, { annotations: { [name]: value } })],
  ['a JSON patch', (user, name, value) => user.json(thing, [{ op: 'add', path: pointer(name), value }])],
  [
    'a JSON patch of all annotations',
    (user, name, value) => user.json(thing, [{ op: 'add', path: '/metadata/annotations', value: { [name]: value } }]),
  ],
  ['server-side apply', (user, name, value) => user.apply(thing, { annotations: { [name]: value } })],
  [
    'kubectl replace',
    (user, name, value) =>
      user.put(thing, ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: value } },
      })),
  ],
  [
    'a patch of the metadata only',
    (user, name, value) =>
      user.send(
        'PATCH',
        thing.path,
        { metadata: { annotations: { [name]: value } } },
        {
          contentType: 'application/merge-patch+json',
          accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
        },
      ),
  ],
  [
    'another version of the kind',
    (user, name, value) => user.merge({ path: thing.path.replace('/v1/', '/v2/') }, { annotations: { [name]: value } }),
  ],
  ['a dry run', (user, name, value) => user.merge(thing, { annotations: { [name]: value } }, '?dryRun=All')],
];

describe.each(ways)('%s', (_, write) => {
  it.each(['release', 'approve', 'retry', 'reason', 'status'])('cannot write %s without the right', async (word) => {
    expect(await write(author, key(word), `${thing.uid}/x`)).toEqual(REFUSED);
    expect((await scene.read(thing)).metadata.annotations).toEqual({ 'example.com/a': '1' });
  });

  it('writes other annotations as ever', async () => {
    expect(await write(author, 'example.com/a', '1')).toEqual(TAKEN);
  });
});

describe('a subresource', () => {
  const word = (of: Held) => ({ [key('release')]: of.uid });

  it.each([
    ['pods', pods],
    ['persistentvolumeclaims', claims],
  ])('%s/status cannot carry a word without the right', async (_, kind) => {
    const held = await scene.made(kind, { name: 'by-status' });
    const status = { path: `${held.path}/status` };
    expect(await author.merge(status, { annotations: word(held) })).toEqual(REFUSED);
    expect(await author.merge(status, { annotations: { 'example.com/b': '2' } })).toEqual(TAKEN);
    expect((await scene.read(held)).metadata.annotations ?? {}).not.toHaveProperty(key('release'));
  });

  it('status of a custom kind changes no annotations, for nobody', async () => {
    const { status } = await author.merge({ path: `${thing.path}/status` }, { annotations: word(thing) });
    expect(status).toBe(200);
    expect((await scene.read(thing)).metadata.annotations).toEqual({ 'example.com/a': '1' });
  });

  it('scale of a custom kind is let be', async () => {
    const scale = { spec: { replicas: 2 } };
    const by = { contentType: 'application/merge-patch+json' };
    expect(await author.send('PATCH', `${thing.path}/scale`, scale, by)).toEqual(TAKEN);
  });

  it('binding of a Pod, which takes its annotations along, cannot carry a word without the right', async () => {
    const pod = await scene.made(pods, { name: 'bound' });
    const binding = (annotations: object) => ({
      ...{ apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'node-1' } },
      metadata: { name: pod.name, annotations },
    });
    expect(await author.send('POST', `${pod.path}/binding`, binding(word(pod)))).toEqual(REFUSED);
    const taken = await author.send('POST', `${pod.path}/binding`, binding({ 'example.com/c': '3' }));
    expect(taken.status).toBe(201);
    expect((await scene.read(pod)).metadata.annotations).toEqual({ 'example.com/c': '3' });
  });
});

describe('a key that is not quite one of ours', () => {
  it.each([
    `RELEASE.finalizer-bridge.dev/${RULE}`,
    `Release.Finalizer-Bridge.dev/${RULE}`,
    `x-release.finalizer-bridge.dev/${RULE}`,
    `released.finalizer-bridge.dev/${RULE}`,
    `finalizer-bridge.dev/${RULE}`,
  ])('%s says nothing to the bridge, and is let be', async (name) => {
    const held = await scene.made(configMaps, { generateName: 'key-' });
    expect(await author.merge(held, { annotations: { [name]: held.uid } })).toEqual(TAKEN);
    const meta = { ...(await scene.read(held)).metadata };
    expect([releaseWord(meta, RULE), hasWord(meta, RULE)]).toEqual(['none', false]);
  });

  it('for a rule whose name differs by its case is a word for that rule, and refused', async () => {
    const name = key('release', RULE.toUpperCase());
    expect(await author.merge(thing, { annotations: { [name]: thing.uid } })).toEqual(REFUSED);
  });
});
