/*
 * Rules that cannot work (yet), on a real API server: each says why in its conditions while the others go on, and recovers
 * by itself when what it lacked is there. The tests run side by side, as a rule is judged anew only every few seconds.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import type { Hands } from '../support/site-hands.ts';
import { definitionOf } from '../support/site-kind.ts';
import { type Rights, rightsOf } from '../support/site-rights.ts';
import type { SiteRules } from '../support/site-rules.ts';
import type { Thing, Things } from '../support/site-things.ts';

/** A rule is judged anew every 15 s, and its kind is then listed. */
const RECOVERS_WITHIN = 40_000;

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let rights: Rights;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'recovering' });
  ({ site, rules, things, hands } = ruled);
  rights = rightsOf(site);
  bridge = await start();
  await bridge.ready();
});
afterAll(() => ruled?.stop());

const start = () =>
  site.startBridgeOverApi({ kinds: ['latecomers', 'lockers'].map((resource) => ({ group: site.group, resource })) });

const matching = (resource: string) => ({ match: { group: site.group, version: 'v1', resource } });
/** Defines a kind of the site's group and makes an object of it. */
async function comes(plural: string, kind: string): Promise<Thing> {
  await site.admin.apply([definitionOf(site.group, { plural, kind })]);
  const collection = `/apis/${site.group}/v1/namespaces/${site.namespace}/${plural}`;
  return await things.create(collection, { apiVersion: `${site.group}/v1`, kind, metadata: { name: 'first' } });
}

/** Deleted and taken down. */
async function goesThrough(thing: Thing, rule: string): Promise<void> {
  await things.claimed(thing, rule);
  await things.delete(thing);
  await hands.finish(thing);
  await things.gone(thing);
}

describe.concurrent('a rule', () => {
  it('for a kind that is not there says UnknownResource, and recovers when the kind comes', async ({ expect }) => {
    await rules.apply('recovering-unknown', rules.spec('recovering-unknown', matching('latecomers')));

    const name = `latecomers.v1.${site.group}`;
    const wanted = { status: 'False', reason: 'UnknownResource', message: name } as const;
    await rules.says('recovering-unknown', 'Accepted', wanted);
    await rules.says('recovering-unknown', 'Ready', wanted);
    expect((await rules.found('recovering-unknown')).metadata.labels).toEqual({});

    const thing = await comes('latecomers', 'Latecomer');
    await rules.ready('recovering-unknown', RECOVERS_WITHIN);
    await goesThrough(thing, 'recovering-unknown');
  });

  it('K19 for a kind that the bridge may not touch names the verbs, and recovers when they are given', async ({
    expect,
  }) => {
    const [none, some] = ['recovering-forbidden', 'recovering-readonly'];
    const [vault, safe] = [await comes('vaults', 'Vault'), await comes('safes', 'Safe')];
    await rights.grant('safes', ['get', 'list', 'watch']);
    await rules.apply(none, rules.spec(none, matching('vaults')));
    await rules.apply(some, rules.spec(some, matching('safes')));

    const forbidden = { status: 'False', reason: 'MissingVerbs' } as const;
    await rules.says(none, 'Permitted', { ...forbidden, message: 'may not get, list, watch, patch vaults.' });
    await rules.says(some, 'Permitted', { ...forbidden, message: 'may not patch safes.' });
    for (const name of [none, some]) {
      await rules.says(name, 'Ready', forbidden);
      expect((await rules.found(name)).metadata.labels).toEqual({});
      expect(await rules.printed(name)).toMatchObject({ Ready: 'False', Reason: 'MissingVerbs' });
    }

    for (const resource of ['vaults', 'safes']) await rights.grant(resource);
    await Promise.all([none, some].map((name) => rules.ready(name, RECOVERS_WITHIN)));
    await Promise.all([goesThrough(vault, none), goesThrough(safe, some)]);
  });

  it('P7 that selects by namespaces that the bridge may not watch says so, and recovers when it may', async ({
    expect,
  }) => {
    const name = 'recovering-spaces';
    const { match, ...rest } = rules.spec(name);
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': site.namespace } };
    const selecting = {
      ...matching('buckets').match,
      labelSelector: { matchLabels: { rule: name } },
      namespaceSelector,
    };
    await rules.apply(name, { ...rest, match: selecting });
    const wanted = { status: 'False', reason: 'MissingVerbs', message: 'may not list, watch namespaces' } as const;
    for (const type of ['Permitted', 'Ready']) await rules.says(name, type, wanted);
    const thing = await things.bucket('spaced', { labels: { rule: name } });
    await bridge.ready();
    expect((await things.found(thing)).metadata.finalizers ?? []).toEqual([]);

    await rights.grant('namespaces', ['list', 'watch'], '');
    await rules.ready(name, RECOVERS_WITHIN);
    await goesThrough(thing, name);
  });

  it('for a handler without a queue says NoQueue, and is in force when another one is named', async ({ expect }) => {
    await rules.apply('recovering-queueless', rules.spec('recovering-queueless', { handler: 'nobody' }));

    const wanted = { status: 'False', reason: 'NoQueue', message: 'nobody' } as const;
    await rules.says('recovering-queueless', 'Accepted', wanted);

    const restored = {
      labels: { rule: 'recovering-queueless' },
      finalizers: ['finalizer-bridge.dev/recovering-queueless'],
    };
    const thing = await things.bucket('restored', restored);
    await things.delete(thing);
    const said = await things.says(thing, 'recovering-queueless', 'RuleNotAccepted');
    expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining('nobody') });
    await rules.apply('recovering-queueless', rules.spec('recovering-queueless'));
    await rules.ready('recovering-queueless');
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('whose ownership is bound to nothing is not accepted', async () => {
    const ownership = { tags: { team: 'object.kind' } };

    await rules.apply('recovering-unbound', rules.spec('recovering-unbound', { ownership }));

    await rules.says('recovering-unbound', 'Accepted', { status: 'False', reason: 'OwnershipNotBound' });
    await rules.says('recovering-unbound', 'Permitted', { status: 'Unknown', reason: 'NotAccepted' });
  });
});

it('P10 a bridge that starts among broken rules is ready, and works for the one that is sound', async () => {
  await bridge.stop();
  await rules.apply('recovering-nowhere', rules.spec('recovering-nowhere', matching('nothings')));
  await rules.apply('recovering-queueless', rules.spec('recovering-queueless', { handler: 'nobody' }));
  await rules.apply('recovering-sound', rules.spec('recovering-sound'));
  const thing = await things.bucket('sound', { labels: { rule: 'recovering-sound' } });

  bridge = await start();

  await bridge.ready();
  await rules.ready('recovering-sound');
  await goesThrough(thing, 'recovering-sound');
  await rules.says('recovering-nowhere', 'Ready', { status: 'False', reason: 'UnknownResource' });
});

it('a rule that is broken with work pending: after a restart the object still says so, and finishes when it is mended', async () => {
  const rule = 'recovering-broken';
  const thing = await comes('lockers', 'Locker');
  await rules.apply(rule, rules.spec(rule, matching('lockers')));
  await rules.ready(rule);
  await things.claimed(thing, rule);
  await rules.apply(rule, rules.spec(rule, { ...matching('lockers'), target: { bucket: 'object.metadata.(' } }));
  await rules.says(rule, 'Accepted', { status: 'False', reason: 'Invalid' });
  await bridge.stop();
  await things.delete(thing);

  bridge = await start();

  await things.says(thing, rule, 'RuleNotAccepted');
  await rules.apply(rule, rules.spec(rule, matching('lockers')));
  await hands.finish(thing);
  await things.gone(thing);
});

it('P5 a rule that is broken after its request: after a restart a gone still counts, Retain retains, nothing is sent', async ({
  expect,
}) => {
  const rule = 'recovering-remembered';
  const policy = "object.metadata.annotations[?'on-delete'].orValue('Delete')";
  await rules.apply(rule, rules.spec(rule, { policy }));
  await rules.ready(rule);
  const labels = { rule };
  const asked = await things.bucket('asked', { labels });
  const kept = await things.bucket('kept', { labels, annotations: { 'on-delete': 'Retain' } });
  const late = await things.bucket('late', { labels });
  for (const thing of [asked, kept, late]) await things.claimed(thing, rule);
  await things.delete(asked);
  await hands.requested(asked);
  const { status, metadata } = await rules.found(rule);
  expect(status.lastAccepted).toMatchObject({ uid: metadata.uid, generation: 1, spec: { policy } });
  await bridge.stop();
  // No bridge has seen the edit.
  await rules.apply(rule, rules.spec(rule, { policy, target: { bucket: 'object.metadata.(' } }));

  bridge = await start();

  await bridge.ready();
  await rules.says(rule, 'Accepted', { status: 'False', reason: 'Invalid' });
  for (const thing of [kept, late]) await things.delete(thing);
  await things.says(late, rule, 'RuleNotAccepted');
  await things.gone(kept);
  await hands.finish(asked);
  await things.gone(asked);
  expect([hands.of(late), hands.of(kept)]).toEqual([[], []]);
  expect((await rules.found(rule)).status.lastAccepted).toMatchObject({ generation: 1 });
  await rules.apply(rule, rules.spec(rule, { policy }));
  await hands.finish(late);
  await things.gone(late);
});
