/*
 * A budget where the definition of rules in the cluster loses its `status.budget`, as an older one lacks it: the real API server
 * drops what the bridge writes there and answers with success. Nothing may go uncounted; mended, all goes on by itself.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { committedDefinition } from '../support/rule-api.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures } from '../support/site.ts';
import type { Thing } from '../support/site-things.ts';

const RULE = 'kept-status';
const OBJECTS = 12;
const LIMIT = 3;

let on: RuleSite;
logFailures(() => on.site);

beforeAll(async () => {
  on = await startRuleSite({ name: 'kept' });
  const bridge = await on.site.startBridgeOverApi();
  await bridge.ready();
});
afterAll(async () => {
  // As it is for all other files on this API server, also where the test has failed.
  await on?.rules.install();
  await on?.stop();
});

/** Somebody edits the definition, or keeps an older one: its status has no `budget`. */
async function edit({ site, rules }: RuleSite): Promise<void> {
  const { name } = committedDefinition().metadata;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  const field = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/budget';
  const contentType = 'application/json-patch+json';
  const answer = await site.admin.request('PATCH', path, [{ op: 'remove', path: field }], { contentType });
  expect(answer.status).toBe(200);
  await eventually('the budget that stood in the status is served no more', async () => {
    return (await rules.found(RULE)).status.budget === undefined;
  });
}

it('P5 nothing goes under a budget that cannot be counted, the rule says why, and three of twelve go when it can', async () => {
  const { rules, things, hands } = on;
  await rules.apply(RULE, rules.spec(RULE, { budget: { limit: LIMIT, window: '1h' } }));
  await rules.ready(RULE);
  expect((await rules.found(RULE)).status.budget).toEqual({ reservations: [] });
  const made: Thing[] = [];
  for (let at = 0; at < OBJECTS; at += 1) made.push(await things.bucket(`one-${at}`, { labels: { rule: RULE } }));
  for (const thing of made) await things.claimed(thing, RULE);
  const requested = () => made.filter((thing) => hands.of(thing).length > 0).length;

  await edit(on);
  for (const thing of made) await things.delete(thing);

  for (const thing of made) {
    const { message } = await things.says(thing, RULE, 'BudgetNotKept');
    expect(message).toContain('does not keep status.budget');
  }
  const { message } = await rules.says(RULE, 'Ready', { status: 'False', reason: 'StatusNotKept' });
  expect(message).toContain('apply the definition of TeardownRule');
  expect(requested()).toBe(0);

  await rules.install();

  await rules.ready(RULE);
  await eventually(`${LIMIT} are requested`, () => requested() >= LIMIT);
  const { budget } = (await rules.found(RULE)).status;
  expect(budget?.reservations.map(({ size }) => size)).toEqual([1, 1, 1]);
  for (const thing of made) if (hands.of(thing).length > 0) await hands.finish(thing);
  await eventually('the others stay', async () => (await rules.found(RULE)).status.held === OBJECTS - LIMIT);
  expect(requested()).toBe(LIMIT);
});
