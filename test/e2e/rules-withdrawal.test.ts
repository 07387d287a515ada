/*
 * Rules that are withdrawn, on a real API server, and what else takes minutes: all tests of this file run side by side, so
 * that the two minutes of a withdrawal are spent once. A bridge prepares some of it, is stopped, and comes back.
 */
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Spec } from '../support/rule-corpus.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { definitionOf } from '../support/site-kind.ts';
import { queuesOf } from '../support/site-queues.ts';
import { type Rights, rightsOf } from '../support/site-rights.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

/** Until nothing can get an entry any more, and with the second clean list a minute after the first. */
const SETTLED_WITHIN = 80_000;
const WITHDRAWN_WITHIN = 100_000;

vi.setConfig({ maxConcurrency: 10 });

let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let rights: Rights;
let orphan: Thing;
let braked: readonly Thing[];
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'withdrawal', handlers: ['by-hand'] });
  [rules, things] = [siteRulesOf(site), thingsOf(site)];
  rights = rightsOf(site);
  hands = handsOf(site, queuesOf(site), 'by-hand');
  await rules.install();
  await define('comets', 'Comet');
  const kinds = [{ group: site.group, resource: 'comets' }];
  const first = await site.startBridgeOverApi({ kinds });
  await first.ready();
  await rule('wd-orphan');
  orphan = await made('orphan', 'wd-orphan');
  await rule('wd-braked', { budget: { limit: 2, window: '1m' } });
  braked = await Promise.all(['a', 'b', 'c', 'd'].map((name) => made(`braked-${name}`, 'wd-braked')));
  for (const thing of braked.slice(0, 2)) {
    await things.delete(thing);
    await hands.requested(thing);
  }
  await first.stop();
  await rules.delete('wd-orphan');
  const next = await site.startBridgeOverApi({ kinds });
  await next.ready();
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.stop();
});

async function rule(name: string, changes: Spec = {}): Promise<void> {
  await rules.apply(name, rules.spec(name, changes));
  await rules.ready(name);
}

async function made(name: string, of: string, inNamespace = site.namespace): Promise<Thing> {
  const thing = await things.bucket(name, { labels: { rule: of } }, inNamespace);
  await things.claimed(thing, of);
  return thing;
}

const matching = (resource: string) => ({ match: { group: site.group, version: 'v1', resource } });
const collectionOf = (resource: string) => `/apis/${site.group}/v1/namespaces/${site.namespace}/${resource}`;
const custom = (kind: string, name: string) => ({ apiVersion: `${site.group}/v1`, kind, metadata: { name } });
const define = (plural: string, kind: string) => site.admin.apply([definitionOf(site.group, { plural, kind })]);

/** As an admission policy makes it that has not heard of the rule's end. */
const raced = (name: string, of: string) => things.bucket(name, { labels: { rule: of }, finalizers: [entryOf(of)] });

async function goes(thing: Thing): Promise<void> {
  await hands.finish(thing);
  await things.gone(thing);
}

const blocked = (name: string, reason: string, message?: string) =>
  rules.says(name, 'WithdrawalBlocked', { status: 'True', reason, ...(message && { message }) }, SETTLED_WITHIN);

describe.concurrent('a rule that is deleted', () => {
  it('K25 K9 takes nothing new, lets live objects go and pending ones finish, and goes last', async ({ expect }) => {
    await rule('wd-live');
    const ending = await things.namespace('withdrawal-ending');
    const live = [await made('live', 'wd-live'), await made('ending', 'wd-live', ending.name)];
    const pending = await made('pending', 'wd-live');
    await things.delete(ending);
    await things.delete(pending);
    await hands.requested(pending);

    await rules.delete('wd-live');

    await blocked('wd-live', 'Settling');
    await rules.says('wd-live', 'Ready', { status: 'False', reason: 'Withdrawing' });
    expect((await rules.found('wd-live')).metadata.labels).toEqual({});
    const fresh = await things.bucket('fresh', { labels: { rule: 'wd-live' } });
    live.push(await raced('early', 'wd-live'));
    await Promise.all(live.map((thing) => things.unclaimed(thing, 'wd-live', SETTLED_WITHIN)));
    expect(await things.finalizers(fresh)).toEqual([]);
    await blocked('wd-live', 'PendingObjects');
    const late = await raced('late', 'wd-live');
    await goes(pending);
    await things.unclaimed(late, 'wd-live', SETTLED_WITHIN);
    expect(await rules.read('wd-live')).toBeDefined();
    await rules.gone('wd-live', WITHDRAWN_WITHIN);
    expect(await things.finalizers(fresh)).toEqual([]);
  });

  it('names the held objects that block it, until they are released', async ({ expect }) => {
    await rule('wd-held', { target: { bucket: 'object.status.bucketName' } });
    const held = await made('stuck', 'wd-held');
    await things.delete(held);
    await things.says(held, 'wd-held', 'TargetMissing');

    await rules.delete('wd-held');

    await blocked('wd-held', 'HeldObjects', `${site.namespace}/stuck`);
    expect(await things.finalizers(held)).toEqual([entryOf('wd-held')]);
    await things.release(held, 'wd-held');
    await things.gone(held);
    await rules.gone('wd-held', WITHDRAWN_WITHIN);
    expect(hands.of(held)).toEqual([]);
  });

  it('K26 while no bridge runs stays, and is withdrawn when one comes back', async ({ expect }) => {
    const { metadata } = await rules.found('wd-orphan');
    expect(metadata.finalizers).toEqual(['finalizer-bridge.dev/withdrawal']);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(await things.finalizers(orphan)).toEqual([entryOf('wd-orphan')]);
    await blocked('wd-orphan', 'Settling');

    await things.unclaimed(orphan, 'wd-orphan', SETTLED_WITHIN);

    await rules.gone('wd-orphan', WITHDRAWN_WITHIN);
  });
});

describe.concurrent('a rule that is deleted after the rights on its kind', () => {
  it('K26 stays and says so, and is withdrawn when they are given again', async ({ expect }) => {
    await define('safes', 'Safe');
    await rights.grant('safes');
    await rule('wd-safes', matching('safes'));
    const safe = await things.create(collectionOf('safes'), custom('Safe', 'locked'));
    await things.claimed(safe, 'wd-safes');
    await rights.revoke('safes');

    await rules.delete('wd-safes');

    await blocked('wd-safes', 'NotPermitted');
    expect(await things.finalizers(safe)).toEqual([entryOf('wd-safes')]);
    await rights.grant('safes');
    await things.unclaimed(safe, 'wd-safes');
    await rules.gone('wd-safes', WITHDRAWN_WITHIN);
  });
});

describe.concurrent('a budget', () => {
  it('outlives a restart, holds what exceeds it, lets a person approve one, and moves on', async ({ expect }) => {
    const [first, second, third, fourth] = braked as readonly [Thing, Thing, Thing, Thing];
    const { reservations = [] } = (await rules.found('wd-braked')).status.budget ?? {};
    expect(reservations.map(({ size }) => size)).toEqual([1, 1]);

    await Promise.all([things.delete(third), things.delete(fourth)]);

    for (const thing of [third, fourth]) {
      expect(await things.says(thing, 'wd-braked', 'BudgetExceeded')).toMatchObject({ phase: 'Held' });
    }
    await Promise.all([goes(first), goes(second)]);
    expect([...hands.of(third), ...hands.of(fourth)]).toEqual([]);
    await things.approve(third, 'wd-braked');
    await goes(third);
    // A block counts for its window and a minute.
    const freeAt = Date.parse(reservations[0]?.time ?? '') + 120_000;
    await hands.requested(fourth, 150_000);
    expect(Date.now()).toBeGreaterThanOrEqual(freeAt);
    await goes(fourth);
  });
});

describe.concurrent('a deadline', () => {
  it('that has passed is said on the object, which goes on being tried', async ({ expect }) => {
    await rule('wd-deadline', { deadline: '1m' });
    const thing = await made('overdue', 'wd-deadline');
    await things.delete(thing);
    await hands.requested(thing);

    const said = await things.says(thing, 'wd-deadline', 'DeadlineExceeded', 150_000);

    expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining('waiting for the result') });
    await expect.poll(async () => (await things.events(thing)).map(({ reason }) => reason)).toEqual(['TeardownHeld']);
    await goes(thing);
  });
});

describe.concurrent('a kind whose definition is deleted', () => {
  it('K8 has its objects taken down before it goes, and is held again when it comes back', async ({ expect }) => {
    const match = { group: site.group, version: 'v1', resource: 'comets' };
    const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/comets.${site.group}`;
    const collection = `/apis/${site.group}/v1/namespaces/${site.namespace}/comets`;
    const comet = (name: string) =>
      things.create(collection, { apiVersion: `${site.group}/v1`, kind: 'Comet', metadata: { name } });
    await rule('wd-comets', { match });
    const comets = [await comet('one'), await comet('two')];
    await Promise.all(comets.map((thing) => things.claimed(thing, 'wd-comets')));

    await things.ask('DELETE', definition);

    await Promise.all(comets.map((thing) => hands.requested(thing, 60_000)));
    expect((await site.admin.request('GET', definition)).status).toBe(200);
    await Promise.all(comets.map(goes));
    const isGone = async () => (await site.admin.request('GET', definition)).status === 404;
    await eventually('the definition is gone', isGone, 60_000);
    await rules.says('wd-comets', 'Ready', { status: 'False' }, 40_000);
    await define('comets', 'Comet');
    await rules.ready('wd-comets', 60_000);
    const again = await comet('one');
    await things.claimed(again, 'wd-comets');
    await things.delete(again);
    await goes(again);
  });
});
