/*
 * A kind in two versions, on a real API server: with a rule for each, and with a version that is not served any more while
 * an object is being deleted. Both versions hold the same here; which one an expression sees is told by `object.apiVersion`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import type { Hands } from '../support/site-hands.ts';
import type { SiteRules } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things } from '../support/site-things.ts';

const RULES = { v1: 'versions-first', v2: 'versions-second' } as const;
const MANY = 12;
/** The rule is judged anew, and the kind is then looked at in another version. */
const SEEN_WITHIN = 90_000;

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'versions' });
  ({ site, rules, things, hands } = ruled);
  await define({ v1: true, v2: true });
  const disks = { group: site.group, resource: 'disks' };
  const bridge = await site.startBridgeOverApi({ kinds: [disks], listedKinds: [disks] });
  await bridge.ready();
});
afterAll(() => ruled?.stop());

/** Defines the kind, stored in its second version, with each version served or not. */
async function define(served: Readonly<Record<keyof typeof RULES, boolean>>): Promise<void> {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const versions = (['v1', 'v2'] as const).map((name) => ({
    ...{ name, served: served[name], storage: name === 'v2' },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: open } } },
  }));
  const names = { plural: 'disks', singular: 'disk', kind: 'Disk', listKind: 'DiskList' };
  const spec = { group: site.group, scope: 'Namespaced', names, versions };
  const metadata = { name: `disks.${site.group}` };
  await site.admin.apply([{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec }]);
}

/** A rule for a version, which finds a target in that one only, and lets go what never had one. */
async function rule(version: keyof typeof RULES): Promise<void> {
  const match = { group: site.group, version, resource: 'disks' };
  const bucket = `object.apiVersion == '${site.group}/${version}' ? object.metadata.name : object.spec.absent`;
  await rules.apply(
    RULES[version],
    rules.spec(RULES[version], { match, target: { bucket }, whenTargetMissing: 'Release' }),
  );
  await rules.ready(RULES[version]);
}

async function make(name: string, entries: readonly string[]): Promise<Thing> {
  const apiVersion = `${site.group}/v2`;
  const collection = `/apis/${apiVersion}/namespaces/${site.namespace}/disks`;
  const made = await things.create(collection, { apiVersion, kind: 'Disk', metadata: { name } });
  for (const entry of entries) await things.claimed(made, entry);
  return made;
}

it('P1 with a rule for each version an object is asked for under both, each as its own version shows it', async () => {
  await rule('v1');
  await rule('v2');
  const names = Array.from({ length: MANY }, (_, index) => `both-${index}`);
  const made = await Promise.all(names.map((name) => make(name, Object.values(RULES))));

  await Promise.all(made.map((thing) => things.delete(thing)));

  for (const thing of made) {
    await expect.poll(() => hands.of(thing)).toHaveLength(2);
    const seen = hands.of(thing).map(({ request: { data } }) => [data.rule.name, data.object.apiVersion]);
    expect(seen.sort()).toEqual([
      [RULES.v1, `${site.group}/v1`],
      [RULES.v2, `${site.group}/v2`],
    ]);
    expect([...(await things.finalizers(thing))].sort()).toEqual(Object.values(RULES).map(entryOf));
  }
});

it('P4 a deletion whose version is not served any more says so on the object, and ends by a release', async () => {
  const rule = RULES.v1;
  const thing = await make('dropped', [rule]);
  await things.delete(thing);
  await hands.requested(thing);

  await define({ v1: false, v2: true });
  // As anybody does who writes it in the version that is left.
  await things.annotate(thing, { touched: 'yes' });

  const said = await things.says(thing, rule, 'RuleNotAccepted', SEEN_WITHIN);
  expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining(`disks.v1.${site.group}`) });
  await things.release(thing, rule, `${thing.uid}/now`);
  await things.unclaimed(thing, rule);
});
