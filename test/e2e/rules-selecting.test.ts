/*
 * What a rule selects, when that changes, on a real API server: labels of objects and of namespaces, while the bridge looks
 * and while it is down; and entries that no rule has a name for.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import type { Hands } from '../support/site-hands.ts';
import type { SiteRules } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things } from '../support/site-things.ts';

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'selecting' });
  ({ site, rules, things, hands } = ruled);
  await start();
  await rules.apply('sel-keep', rules.spec('sel-keep'));
  await rules.apply('sel-release', rules.spec('sel-release', { unmatched: 'Release' }));
  await Promise.all(['sel-keep', 'sel-release'].map((name) => rules.ready(name)));
});
afterAll(() => ruled?.stop());

async function start(): Promise<void> {
  bridge = await site.startBridgeOverApi({ namespaceSelectors: true });
  await bridge.ready();
}

/** What happens while the bridge is down. */
async function meanwhile(changes: () => Promise<void>): Promise<void> {
  await bridge.stop();
  await changes();
  await start();
}

async function claimed(name: string, rule: string): Promise<Thing> {
  const thing = await things.bucket(name, { labels: { rule } });
  await things.claimed(thing, rule);
  return thing;
}

async function goesThrough(thing: Thing): Promise<void> {
  await things.delete(thing);
  await hands.finish(thing);
  await things.gone(thing);
}

describe('the label of an object', () => {
  it('K28 that comes brings the entry; one that goes leaves it on, unless the rule says Release', async () => {
    const late = await things.bucket('late');
    const kept = await claimed('kept', 'sel-keep');
    const freed = await claimed('let-go', 'sel-release');

    await things.label(kept, { rule: null });
    await things.label(freed, { rule: null });
    await things.label(late, { rule: 'sel-keep' });

    await things.unclaimed(freed, 'sel-release');
    await things.claimed(late, 'sel-keep');
    expect(await things.finalizers(kept)).toEqual([entryOf('sel-keep')]);
    await Promise.all([goesThrough(kept), goesThrough(late)]);
    await things.delete(freed);
    await things.gone(freed);
    expect(hands.of(freed)).toEqual([]);
  });

  it('K28 that changed while the bridge was down is seen at its start, and what it holds is taken down', async () => {
    const late = await things.bucket('late-down');
    const freed = await claimed('let-go-down', 'sel-release');
    const moved = await claimed('moved-down', 'sel-release');
    const kept = await claimed('kept-down', 'sel-keep');
    const deleted = await claimed('deleted-down', 'sel-release');

    await meanwhile(async () => {
      await things.label(late, { rule: 'sel-keep' });
      await things.label(freed, { rule: null });
      await things.label(moved, { rule: 'sel-keep' });
      await things.label(kept, { rule: null });
      await things.label(deleted, { rule: null });
      await things.delete(deleted);
    });

    await things.claimed(late, 'sel-keep');
    await things.claimed(moved, 'sel-keep');
    await Promise.all([freed, moved].map((thing) => things.unclaimed(thing, 'sel-release')));
    expect(await things.finalizers(kept)).toEqual([entryOf('sel-keep')]);
    // Once it is being deleted only the entry counts.
    await hands.finish(deleted);
    await things.gone(deleted);
    await Promise.all([goesThrough(late), goesThrough(moved), goesThrough(kept)]);
  });
});

describe('the labels of a namespace', () => {
  const rule = 'sel-spaces';
  beforeAll(async () => {
    const { match, ...rest } = rules.spec(rule);
    const namespaceSelector = { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] };
    const selecting = { group: site.group, version: 'v1', resource: 'buckets', namespaceSelector };
    const labelSelector = { matchLabels: { rule } };
    await rules.apply(rule, { ...rest, match: { ...selecting, labelSelector }, unmatched: 'Release' });
    await rules.ready(rule);
  });

  it('select what is in it, now and when they change', async () => {
    const inside = await things.namespace('selecting-inside', { team: 'a' });
    const outside = await things.namespace('selecting-outside', { team: 'c' });
    const second = await things.bucket('second', { labels: { rule } }, outside.name);
    const first = await things.bucket('first', { labels: { rule } }, inside.name);
    await things.claimed(first, rule);
    expect(await things.finalizers(second)).toEqual([]);

    await things.label(outside, { team: 'b' });
    await things.claimed(second, rule);
    await things.label(inside, { team: null });
    await things.unclaimed(first, rule);

    expect(await things.finalizers(second)).toEqual([entryOf(rule)]);
    await goesThrough(second);
  });

  it('that changed while the bridge was down count at its start', async () => {
    const gained = await things.namespace('selecting-gained');
    const lost = await things.namespace('selecting-lost', { team: 'a' });
    const first = await things.bucket('first', { labels: { rule } }, gained.name);
    const second = await things.bucket('second', { labels: { rule } }, lost.name);
    const third = await things.bucket('third', { labels: { rule } }, lost.name);
    await Promise.all([second, third].map((thing) => things.claimed(thing, rule)));

    await meanwhile(async () => {
      await things.label(gained, { team: 'b' });
      await things.label(lost, { team: 'z' });
      await things.delete(third);
    });

    await things.claimed(first, rule);
    await things.unclaimed(second, rule);
    await hands.finish(third);
    await things.gone(third);
    await goesThrough(first);
  });
});

describe('an entry that no rule has a name for', () => {
  const rule = 'sel-nobody';
  let stray: Thing;
  let strays = 0;
  const restored = (name: string, annotations: Readonly<Record<string, string>> = {}) =>
    things.bucket(name, { finalizers: [entryOf(rule)], annotations });
  beforeEach(async () => {
    strays += 1;
    stray = await restored(`stray-${strays}`);
    await things.delete(stray);
    await things.says(stray, rule, 'NoRule');
  });

  it('K33 holds what is deleted, and says so, until a person releases this very object', async () => {
    expect(await things.record(stray, rule)).toMatchObject({ phase: 'Held', message: expect.stringContaining('rule') });
    const note = expect.stringContaining('NoRule');
    await expect.poll(() => things.events(stray)).toMatchObject([{ reason: 'TeardownHeld', note }]);
    const other = await restored('other');
    await things.delete(other);
    await things.says(other, rule, 'NoRule');

    await things.release(stray, rule, other.uid);
    await things.release(other, rule);

    await things.gone(other);
    expect(await things.finalizers(stray)).toEqual([entryOf(rule)]);
    await things.release(stray, rule);
    await things.gone(stray);
  });

  it('K33 is not released by what a backup brought along, and is taken down when a rule of its name comes', async () => {
    const uid = '11111111-2222-4333-8444-555555555555';
    const record = { uid, ruleUid: uid, phase: 'Held', reason: 'NotOwned', message: 'of another', targets: [] };
    const backup = await restored('backed-up', {
      [`status.finalizer-bridge.dev/${rule}`]: JSON.stringify({ ...record, since: '2026-01-01T00:00:00.000Z' }),
      [`release.finalizer-bridge.dev/${rule}`]: uid,
    });
    await things.delete(backup);
    await things.says(backup, rule, 'NoRule');

    await rules.apply(rule, rules.spec(rule));

    for (const thing of [backup, stray]) {
      await hands.finish(thing);
      await things.gone(thing);
    }
  });
});
