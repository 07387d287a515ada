/*
 * Entries whose rule is not there any more, on a real API server: rules are taken away by force while the bridge is down,
 * and no rule names the kinds any longer. Found after the restart because the configuration lists the kinds, shown, let go
 * on a person's word, and claimed again when the rule comes back.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { definitionOf } from '../support/site-kind.ts';
import { queuesOf } from '../support/site-queues.ts';
import { type Rights, rightsOf } from '../support/site-rights.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

/** What keeps is readable within a minute (P7); a busy machine is slower than the bridge. */
const TOLD_WITHIN = 90_000;
/** A kind that is not there is asked for again after a minute at most. */
const FOUND_WITHIN = 120_000;

let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let rights: Rights;
let bridge: BridgeProcess;
logFailures(() => site);

const RULE = 'strays-buckets';
const GADGETS = 'strays-gadgets';
let kept: Thing;
let released: Thing;
let returning: Thing;
let gadget: Thing;
let odd: Thing;

beforeAll(async () => {
  site = await startSite({ name: 'strays', handlers: ['by-hand'] });
  [rules, things, rights] = [siteRulesOf(site), thingsOf(site), rightsOf(site)];
  hands = handsOf(site, queuesOf(site), 'by-hand');
  await rules.install();
  await site.admin.apply([definitionOf(site.group, { plural: 'gadgets', kind: 'Gadget', scope: 'Cluster' })]);
  await start();
  await rules.apply(RULE, rules.spec(RULE));
  await rules.apply(GADGETS, rules.spec(GADGETS, { match: { group: site.group, version: 'v1', resource: 'gadgets' } }));
  await Promise.all([RULE, GADGETS].map((name) => rules.ready(name)));
  const labels = { rule: RULE };
  [kept, released, returning] = await Promise.all([
    things.bucket('kept', { labels }),
    things.bucket('released', { labels }),
    things.bucket('returning', { labels }),
  ]);
  gadget = await things.create(`/apis/${site.group}/v1/gadgets`, {
    apiVersion: `${site.group}/v1`,
    kind: 'Gadget',
    metadata: { name: 'strays-gadget' },
  });
  await Promise.all([kept, released, returning].map((thing) => things.claimed(thing, RULE)));
  await things.claimed(gadget, GADGETS);

  await bridge.stop();
  await rules.force(RULE);
  await rules.force(GADGETS);
  odd = await things.bucket('odd', { finalizers: [entryOf('Not_A_Rule')] });
  await start();
  await bridge.ready();
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.stop();
});

/** With rights on what the configuration lists, as the chart gives them, but for the vaults. */
async function start(): Promise<void> {
  const { group } = site;
  const gadgets = { group, resource: 'gadgets' };
  bridge = await site.startBridgeOverApi({
    kinds: [gadgets, { group, resource: 'latecomers' }],
    listedKinds: [
      { group, resource: 'latecomers' },
      { group, resource: 'vaults', version: 'v1' },
      { group, resource: 'buckets' },
      gadgets,
    ],
  });
}

/** How many live objects the bridge counts as strays. */
const strays = async (rule: string, resource = 'buckets') =>
  sumOf(await bridge.metrics(), 'finalizer_bridge_strays', { rule, group: site.group, resource });
const counts = (many: number, rule = RULE, resource = 'buckets') =>
  eventually(`${many} strays of ${rule}`, async () => (await strays(rule, resource)) === many);
const watching = async (resource: string) =>
  sumOf(await bridge.metrics(), 'finalizer_bridge_watching', { group: site.group, resource });

describe('after a restart, the live objects of rules that are gone', () => {
  it(
    'K20 are found in kinds that no rule names, and said in metric, log and one Event (P7)',
    async () => {
      await counts(3);
      await counts(1, GADGETS, 'gadgets');

      const all = [kept, released, returning];
      const told = await eventually(
        'an Event says NoRule',
        async () => {
          const events = (await Promise.all(all.map((thing) => things.events(thing)))).flat();
          return events.length > 0 ? events : undefined;
        },
        TOLD_WITHIN,
      );
      expect(told).toMatchObject([
        { reason: 'NoRule', note: expect.stringContaining('3 live buckets carry the entry') },
      ]);
      expect(told[0]?.note).toContain('kubectl finalizer-bridge release buckets.');
      await expect.poll(() => things.events(gadget)).toMatchObject([{ reason: 'NoRule' }]);
      // The log is written a little behind.
      await expect.poll(() => site.log()).toContain(`"rule":"${GADGETS}"`);
      for (const thing of all) {
        const { finalizers, annotations } = (await things.found(thing)).metadata;
        expect({ finalizers, annotations }).toEqual({ finalizers: [entryOf(RULE)], annotations: {} });
      }
    },
    2 * TOLD_WITHIN,
  );

  it('whose entry has a name that no rule can have are shown as well, and can be released', async () => {
    await counts(1, 'Not_A_Rule');
    const nameless = things.bucket('nameless', { finalizers: ['finalizer-bridge.dev/'] });
    await expect(nameless).rejects.toThrow('422');

    await things.release(odd, 'Not_A_Rule');

    await things.unclaimed(odd, 'Not_A_Rule');
    await counts(0, 'Not_A_Rule');
  });

  it('P9 K33 lose the entry on a word for this very object, and no other', async () => {
    await things.release(kept, RULE, released.uid);
    await things.release(released, RULE);

    await things.unclaimed(released, RULE);
    await counts(2);
    expect(await things.finalizers(kept)).toEqual([entryOf(RULE)]);
    await expect.poll(async () => (await things.events(released)).map(({ reason }) => reason)).toContain('Released');
    await things.delete(released);
    await things.gone(released);
  });

  it('are held as NoRule once they are deleted, and finish when the rule is back (K33)', async () => {
    await things.delete(gadget);
    await things.says(gadget, GADGETS, 'NoRule');
    await counts(0, GADGETS, 'gadgets');

    await rules.apply(RULE, rules.spec(RULE));
    await rules.apply(
      GADGETS,
      rules.spec(GADGETS, { match: { group: site.group, version: 'v1', resource: 'gadgets' } }),
    );

    await rules.ready(RULE);
    await counts(0);
    await things.delete(returning);
    for (const thing of [gadget, returning]) {
      await hands.finish(thing);
      await things.gone(thing);
    }
    expect(await things.finalizers(kept)).toEqual([entryOf(RULE)]);
  });
});

describe('a kind that the configuration lists', () => {
  it(
    'P10 and that is not there, or may not be watched, is said and stops nobody; it is watched when that changes',
    async () => {
      await expect.poll(() => watching('buckets')).toBe(1);
      await expect.poll(() => watching('latecomers')).toBe(0);
      await expect
        .poll(() => site.log(), { timeout: 60_000 })
        .toContain(`the API server does not serve latecomers.${site.group}`);

      await site.admin.apply([
        definitionOf(site.group, { plural: 'latecomers', kind: 'Latecomer' }),
        definitionOf(site.group, { plural: 'vaults', kind: 'Vault' }),
      ]);
      await eventually('the latecomers are watched', async () => (await watching('latecomers')) === 1, FOUND_WITHIN);
      const forbidden = async () => (await site.log()).includes('"resource":"vaults","cause":"Http403"');
      await eventually('the bridge says that it may not watch the vaults', forbidden, FOUND_WITHIN);
      await rights.grant('vaults');
      await eventually('the vaults are watched', async () => (await watching('vaults')) === 1, FOUND_WITHIN);
      await bridge.ready();
    },
    3 * FOUND_WITHIN,
  );
});
