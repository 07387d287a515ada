/*
 * A bridge on a cluster that is older than the admission policies that it would have entries put on by: the real API server,
 * behaving as its predecessor does. Rules say so and work all the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures } from '../support/site.ts';

const RULE = 'older-server';
/** The last minor version that does not serve MutatingAdmissionPolicy v1. */
const OLDER = '1.35';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies';

let kube: Kube;
let on: RuleSite;
logFailures(() => on.site);

beforeAll(async () => {
  kube = await startKube({ say: () => undefined, emulatedVersion: OLDER });
  on = await startRuleSite({ name: 'older', kube });
  const bridge = await on.site.startBridgeOverApi();
  await bridge.ready();
});
afterAll(async () => {
  await on?.stop();
  await kube?.stop();
});

it('a rule says NotServed, is ready, and has its entry put on by the bridge; a deletion ends as anywhere', async () => {
  const { site, rules, things, hands } = on;
  expect((await site.admin.request('GET', POLICIES)).status).toBe(404);
  await rules.apply(RULE, rules.spec(RULE));

  await rules.says(RULE, 'FinalizerAtAdmission', { status: 'False', reason: 'NotServed' });

  await rules.ready(RULE);
  const thing = await things.bucket('born-bare', { labels: { rule: RULE } });
  await things.claimed(thing, RULE);
  await things.delete(thing);
  await hands.finish(thing);
  await things.gone(thing);
});
