/*
 * What a rule says of entries at birth, and when it has its label, on a real API server: without a policy, with one that
 * has no binding for the kind, with one that has; and while a kind goes and comes again. One bridge under its own few
 * rights, none of them on policies. The tests run side by side, as waiting for a label takes half a minute.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { SERVED_MS } from '../../bridge/serving.ts';
import { admissionManifests } from '../../infra/admission/manifests.ts';
import { eventually } from '../support/eventually.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { definitionOf } from '../support/site-kind.ts';
import { queuesOf } from '../support/site-queues.ts';
import { type SiteRules, siteRulesOf, type Wanted } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

const SITE = 'atbirth';
/** Two rules whose kinds have a binding, and one whose kind has none. */
const BUCKETS = `${SITE}-buckets`;
const LOCKERS = `${SITE}-lockers`;
const MAPS = `${SITE}-maps`;
const SAID = 'FinalizerAtAdmission';
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const RULES = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules';

let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let made = 0;
logFailures(() => site);

const own = (resource: string) => ({ group: site.group, resource });
const lockers = () => definitionOf(site.group, { plural: 'lockers', kind: 'Locker' });
const policy = () => admissionManifests([own('buckets'), own('lockers')], { prefix: SITE });

beforeAll(async () => {
  site = await startSite({ name: SITE, handlers: ['by-hand'] });
  [rules, things] = [siteRulesOf(site), thingsOf(site)];
  hands = handsOf(site, queuesOf(site), 'by-hand');
  await rules.install();
  await site.admin.apply([lockers()]);
  const kinds = { [BUCKETS]: own('buckets'), [LOCKERS]: own('lockers'), [MAPS]: CONFIG_MAPS };
  for (const [name, kind] of Object.entries(kinds)) {
    const match = { ...kind, version: 'v1', labelSelector: { matchLabels: { rule: name } } };
    await rules.apply(name, rules.spec(name, { match }));
    if (name === MAPS) continue;
    // As an earlier bridge has left it.
    const labelled = { metadata: { labels: { [INJECTS_LABEL]: injectsLabel(kind) } } };
    await things.ask('PATCH', `${RULES}/${name}`, labelled, 'application/merge-patch+json');
  }
  const bridge = await site.startBridgeOverApi({ kinds: [CONFIG_MAPS, own('lockers')] });
  await bridge.ready();
});
afterAll(async () => {
  for (const { kind, metadata } of site === undefined ? [] : policy()) {
    const resource =
      kind === 'MutatingAdmissionPolicy' ? 'mutatingadmissionpolicies' : 'mutatingadmissionpolicybindings';
    await site.admin.request('DELETE', `${REGISTRATION}/${resource}/${metadata.name}`);
  }
  await rules?.removeAll();
  await site?.stop();
});

const labelOf = async (rule: string) => (await rules.found(rule)).metadata.labels[INJECTS_LABEL];

/** Something new that the rule selects; it carries the entry in the end, however that came. */
async function creates(rule: string): Promise<Thing> {
  made += 1;
  const metadata = { name: `new-${made}`, labels: { rule } };
  const thing =
    rule === BUCKETS
      ? await things.bucket(metadata.name, metadata)
      : rule === MAPS
        ? await things.create(`/api/v1/namespaces/${site.namespace}/configmaps`, { metadata })
        : await things.create(`/apis/${site.group}/v1/namespaces/${site.namespace}/lockers`, {
            ...{ apiVersion: `${site.group}/v1`, kind: 'Locker', metadata },
          });
  await things.claimed(thing, rule);
  return thing;
}

/** Creates one object after the other until the rule says so; resolves with the last of them. */
function createsUntil(rule: string, wanted: Wanted): Promise<Thing> {
  const probe = async () => {
    const thing = await creates(rule);
    const isSo = rules.says(rule, SAID, wanted, 1_000);
    return await isSo.then(
      () => thing,
      () => undefined,
    );
  };
  return eventually(`${rule} says ${wanted.reason}`, probe, 60_000);
}

async function goes(thing: Thing): Promise<void> {
  await things.delete(thing);
  await hands.finish(thing);
  await things.gone(thing);
}

describe.concurrent('a rule', () => {
  it('says by its newest object whether entries come at birth, or why not, and is ready all along', async ({
    expect,
  }) => {
    await rules.says(BUCKETS, SAID, { status: 'Unknown', reason: 'NothingCreatedYet' });
    await rules.says(MAPS, SAID, { status: 'False', reason: 'NotLabelled' });

    // No policy: the entry comes by patch, and the object goes through teardown.
    const neither = `no admission policy, or it has no binding for buckets.${site.group}`;
    const patched = await createsUntil(BUCKETS, { status: 'False', reason: 'NotInjected', message: neither });
    await goes(patched);

    await site.admin.apply(policy());
    const born = await createsUntil(BUCKETS, { status: 'True', reason: 'Observed' });
    const { managedFields, finalizers } = (await things.found(born)).metadata;
    expect(finalizers).toEqual([entryOf(BUCKETS)]);
    expect(JSON.stringify(managedFields)).not.toContain('finalizer-bridge');
    await goes(born);

    await rules.says(MAPS, SAID, { status: 'Unknown', reason: 'NothingCreatedYet' }, 45_000);
    expect(await labelOf(MAPS)).toBe(injectsLabel(CONFIG_MAPS));
    const unbound = 'the policy seems to have no binding for configmaps (infra/admission/print.ts makes one)';
    await goes(await createsUntil(MAPS, { status: 'False', reason: 'NotInjected', message: unbound }));

    for (const name of [BUCKETS, MAPS]) await rules.says(name, 'Ready', { status: 'True' });
  });

  it('keeps its label when a bridge starts, loses it with its kind, and has it again half a minute after the kind (K8)', async ({
    expect,
  }) => {
    await rules.says(LOCKERS, 'Ready', { status: 'True' });
    expect(await labelOf(LOCKERS)).toBe(injectsLabel(own('lockers')));

    await things.ask('DELETE', `${DEFINITIONS}/lockers.${site.group}`);
    await eventually('the label is off', async () => (await labelOf(LOCKERS)) === undefined, 40_000);
    await rules.says(LOCKERS, SAID, { status: 'False', reason: 'NotLabelled' });

    const back = performance.now();
    await site.admin.apply([lockers()]);
    await eventually('the label is on again', async () => (await labelOf(LOCKERS)) !== undefined, 75_000);
    expect(performance.now() - back).toBeGreaterThan(SERVED_MS);
    const born = await createsUntil(LOCKERS, { status: 'True', reason: 'Observed' });
    await goes(born);
  });
});
