/*
 * Rules as people have them: applied to a real API server, changed and mended while the bridge runs under its few rights.
 * What a rule says of itself is read as kubectl shows it. The tests run side by side.
 */
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { sumOf } from '../support/metrics-page.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import { bucketsOf } from '../support/site-buckets.ts';
import type { Hands } from '../support/site-hands.ts';
import { ruleFor } from '../support/site-kind.ts';
import type { SiteRules } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things } from '../support/site-things.ts';

vi.setConfig({ maxConcurrency: 10 });

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'rules-api', handlers: ['s3-bucket', 'by-hand'] });
  ({ site, rules, things, hands } = ruled);
  [bridge] = await Promise.all([
    site.startBridgeOverApi({ kinds: [{ group: '', resource: 'configmaps' }] }),
    site.startFunction(),
  ]);
  await bridge.ready();
});
afterAll(() => ruled?.stop());

/** An object that carries the rule's entry. */
async function made(name: string, rule: string): Promise<Thing> {
  const thing = await things.bucket(name, { labels: { rule } });
  await things.claimed(thing, rule);
  return thing;
}

async function goes(thing: Thing): Promise<void> {
  await hands.finish(thing);
  await things.gone(thing);
}

describe.concurrent('a rule that is applied', () => {
  it('holds what it selects, says that it is in force, and its objects are taken down', async ({ expect }) => {
    const buckets = bucketsOf(site);
    await rules.apply('api-team', ruleFor(site.group, 'api-team', {}).spec);

    const { status, metadata } = await rules.ready('api-team').then(() => rules.found('api-team'));

    const said = status.conditions.map(({ type, status: is, reason }) => [type, is, reason]);
    // What is said of entries at birth depends on the time that the kind was served, and never makes a rule not ready.
    expect(said.filter(([type]) => type !== 'FinalizerAtAdmission').sort()).toEqual([
      ['Accepted', 'True', 'Accepted'],
      ['Permitted', 'True', 'Permitted'],
      ['Ready', 'True', 'Ready'],
      ['Watching', 'True', 'Watching'],
    ]);
    expect(status.observedGeneration).toBe(metadata.generation);
    expect(metadata.finalizers).toEqual(['finalizer-bridge.dev/withdrawal']);
    const made = await buckets.create('logs', { rule: 'api-team' });
    await buckets.delete(made.name);
    await buckets.gone(made.name);
    expect(await buckets.versions(made.bucket)).toBeUndefined();
  });

  it('shows in the columns of kubectl get what is pending and held, within a minute', async ({ expect }) => {
    await rules.apply('api-shown', rules.spec('api-shown', { target: { bucket: 'object.spec.name' } }));
    await rules.ready('api-shown');
    expect(await rules.printed('api-shown')).toMatchObject({
      ...{ Name: 'api-shown', Resource: 'buckets', Handler: 'by-hand', Ready: 'True', Reason: 'Ready' },
      ...{ Pending: 0, Held: 0, Oldest: null, Group: site.group, Paused: false },
    });
    const thing = await things.bucket('nameless', { labels: { rule: 'api-shown' } });
    await things.claimed(thing, 'api-shown');
    await things.delete(thing);
    await things.says(thing, 'api-shown', 'TargetMissing');

    await expect
      .poll(() => rules.printed('api-shown'), { timeout: 240_000 })
      .toMatchObject({ Pending: 1, Held: 1, Oldest: expect.stringMatching(/^\d+s$/), Ready: 'True' });

    const { status } = await rules.found('api-shown');
    const namespace = site.namespace;
    expect(status.heldObjects).toMatchObject([
      { namespace, name: 'nameless', uid: thing.uid, reason: 'TargetMissing' },
    ]);
    await things.release(thing, 'api-shown');
    await things.gone(thing);
    await expect.poll(() => rules.printed('api-shown'), { timeout: 240_000 }).toMatchObject({ Pending: 0, Held: 0 });
  });

  it('may prove ownership by name only: in force, and said to be weak', async () => {
    const tags = { owner: "object.metadata.namespace + '/' + object.metadata.name" };
    await rules.apply('api-weak', rules.spec('api-weak', { ownership: { tags } }));

    await rules.says('api-weak', 'Accepted', { status: 'True', reason: 'OwnershipWeak' });

    await rules.ready('api-weak');
  });
});

describe.concurrent('a rule that is changed', () => {
  it('is in force anew without a restart; the others and their watches are not disturbed', async ({ expect }) => {
    const configmaps = { group: '', version: 'v1', resource: 'configmaps' };
    const labelSelector = { matchLabels: { rule: 'api-other' } };
    await rules.apply('api-other', rules.spec('api-other', { match: { ...configmaps, labelSelector } }));
    await rules.apply('api-changed', rules.spec('api-changed'));
    await Promise.all([rules.ready('api-other'), rules.ready('api-changed')]);
    // But for watches that the API server has ended by itself, as it does when it is starved of CPU.
    const restarts = async () => {
      const [page, metric] = [await bridge.metrics(), 'finalizer_bridge_watch_restarts_total'];
      const ended = sumOf(page, metric, { resource: 'configmaps', cause: 'Ended' });
      return sumOf(page, metric, { resource: 'configmaps' }) - ended;
    };
    const before = await restarts();
    const other = await things.create(`/api/v1/namespaces/${site.namespace}/configmaps`, {
      metadata: { name: 'other', labels: { rule: 'api-other' } },
    });
    await things.claimed(other, 'api-other');
    await things.delete(other);
    const waiting = await things.bucket('waiting', { labels: { rule: 'elsewhere' } });

    const matchExpressions = [{ key: 'rule', operator: 'In', values: ['api-changed', 'elsewhere'] }];
    const match = { group: site.group, version: 'v1', resource: 'buckets', labelSelector: { matchExpressions } };
    const { metadata } = await rules.apply('api-changed', rules.spec('api-changed', { match }));

    expect(metadata.generation).toBe(2);
    await things.claimed(waiting, 'api-changed');
    await rules.ready('api-changed');
    await goes(other);
    expect(await restarts()).toBe(before);
    await things.delete(waiting);
    await goes(waiting);
  });

  it('and broken by it: a gone for what was sent counts, nothing new is sent, and the object says so', async ({
    expect,
  }) => {
    await rules.apply('api-broken', rules.spec('api-broken'));
    await rules.ready('api-broken');
    const [sent, late] = [await made('broken-sent', 'api-broken'), await made('broken-late', 'api-broken')];
    await things.delete(sent);
    await hands.requested(sent);

    await rules.apply('api-broken', rules.spec('api-broken', { target: { bucket: 'object.metadata.(' } }));

    const wrong = { status: 'False', reason: 'Invalid', message: 'spec.target.bucket' } as const;
    await rules.says('api-broken', 'Accepted', wrong);
    await rules.says('api-broken', 'Ready', wrong);
    await things.delete(late);
    const said = await things.says(late, 'api-broken', 'RuleNotAccepted');
    expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining('spec.target.bucket') });
    await goes(sent);
    expect(hands.of(late)).toEqual([]);
    await rules.apply('api-broken', rules.spec('api-broken'));
    await goes(late);
    await rules.ready('api-broken');
  });

  it('K22 and paused by it: sends nothing new and lets finish what was sent; unpaused, it goes on', async ({
    expect,
  }) => {
    await rules.apply('api-paused', rules.spec('api-paused'));
    await rules.ready('api-paused');
    const [sent, late] = [await made('sent', 'api-paused'), await made('late', 'api-paused')];
    await things.delete(sent);
    await hands.requested(sent);
    await rules.patch('api-paused', { paused: true });
    await rules.says('api-paused', 'Ready', { status: 'True' });
    expect(await rules.printed('api-paused')).toMatchObject({ Paused: true });
    await things.delete(late);

    // Said after half a minute, as nothing is wrong.
    const said = await things.says(late, 'api-paused', 'Paused', 45_000);

    expect(said).toMatchObject({ phase: 'Pending', message: expect.stringContaining('paused') });
    expect(hands.of(late)).toEqual([]);
    const fresh = await made('fresh', 'api-paused');
    expect(await things.finalizers(fresh)).toEqual([entryOf('api-paused')]);
    await goes(sent);
    await rules.patch('api-paused', { paused: false });
    await goes(late);
  });
});
