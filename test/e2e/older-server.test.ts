/*
 * A bridge on a cluster that is older than the admission policies that it would have entries put on by: the real API server,
 * behaving as its predecessor does. Rules say so and work all the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { handsOf } from '../support/site-hands.ts';
import { queuesOf } from '../support/site-queues.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { thingsOf } from '../support/site-things.ts';

const RULE = 'older-server';
/** The last minor version that does not serve MutatingAdmissionPolicy v1. */
const OLDER = '1.35';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies';

let kube: Kube;
let site: TestSite;
let rules: SiteRules;
logFailures(() => site);

beforeAll(async () => {
  kube = await startKube({ say: () => undefined, emulatedVersion: OLDER });
  site = await startSite({ name: 'older', handlers: ['by-hand'], kube });
  rules = siteRulesOf(site);
  await rules.install();
  const bridge = await site.startBridgeOverApi();
  await bridge.ready();
});
afterAll(async () => {
  await site?.stop();
  await kube?.stop();
});

it('a rule says NotServed, is ready, and has its entry put on by the bridge; a deletion ends as anywhere', async () => {
  expect((await site.admin.request('GET', POLICIES)).status).toBe(404);
  await rules.apply(RULE, rules.spec(RULE));

  await rules.says(RULE, 'FinalizerAtAdmission', { status: 'False', reason: 'NotServed' });

  await rules.ready(RULE);
  const [things, hands] = [thingsOf(site), handsOf(site, queuesOf(site), 'by-hand')];
  const thing = await things.bucket('born-bare', { labels: { rule: RULE } });
  await things.claimed(thing, RULE);
  await things.delete(thing);
  await hands.finish(thing);
  await things.gone(thing);
});
