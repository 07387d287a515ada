/*
 * Terms that end for real, on a real API server and a real queue: a bridge whose bounds and skew allowance are patched so that
 * a term lasts seconds, and nothing else about it. The test plays the function. All deletions go by side by side.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { committedDefinition } from '../support/rule-api.ts';
import { SHORT_SKEW_MS, shortTermBridge, shortTermDefinition } from '../support/short-terms.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { queuesOf, type SiteQueues, type Taken } from '../support/site-queues.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { type Thing, type Things, thingsOf } from '../support/site-things.ts';

const RULE = 'terms-short';
const LATE = 'terms-late';
const TERM_MS = 12_000;
const TRIES = 4;
/** A run may outlive its request by the skew and by its last call. */
const AFTER_EXPIRY_MS = SHORT_SKEW_MS + 30_000;
/** Half a minute of quiet before anything is written on the object, and what it takes. */
const SAID_WITHIN = 60_000;
const NEXT_WITHIN = 40_000;
const gone = { outcome: 'gone', evidence: 'deleted' } as const;

let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let queues: SiteQueues;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'terms', handlers: ['by-hand'], bridgeEntry: shortTermBridge });
  [rules, things, queues] = [siteRulesOf(site), thingsOf(site), queuesOf(site)];
  hands = handsOf(site, queues, 'by-hand');
  await site.admin.apply([shortTermDefinition()]);
  bridge = await site.startBridgeOverApi();
  await bridge.ready();
  await rules.apply(RULE, rules.spec(RULE, { term: `${TERM_MS}ms` }));
  await rules.apply(LATE, rules.spec(LATE, { term: `${TERM_MS}ms`, deadline: '15s' }));
  await Promise.all([RULE, LATE].map((rule) => rules.ready(rule)));
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.admin.apply([committedDefinition()]);
  await site?.stop();
});

/** An object that is being deleted, and its first request. */
async function deleted(name: string, rule = RULE): Promise<{ readonly thing: Thing; readonly first: Taken }> {
  const thing = await things.bucket(name, { labels: { rule } });
  await things.claimed(thing, rule);
  await things.delete(thing);
  return { thing, first: await hands.requested(thing) };
}

const attemptOf = ({ request }: Taken) => request.data.attempt;
/** The request of an attempt, or of one after it where the bridge stood still for a whole term. */
const attempt = (thing: Thing, number: number) =>
  eventually(
    `attempt ${number} for ${thing.name}`,
    () => hands.of(thing).find((one) => attemptOf(one) >= number),
    NEXT_WITHIN,
  );
/** The gone of a first attempt during the second one; where the machine stood still and it came too late, that of another object. */
async function answeredInTime(): Promise<{ readonly thing: Thing; readonly first: Taken; readonly second: Taken }> {
  for (let tries = 1; ; tries += 1) {
    const { thing, first } = await deleted(`unanswered-${tries}`);
    const second = await attempt(thing, attemptOf(first) + 1);
    await queues.answer(first, gone);
    if (Date.now() < expiryOf(first) - TERM_MS / 4 || tries === TRIES) return { thing, first, second };
    await hands.finish(thing);
    await things.gone(thing);
  }
}
const expiryOf = ({ request }: Taken) => Date.parse(request.data.expires);
const until = (time: number) => eventually(`it is ${new Date(time).toISOString()}`, () => Date.now() >= time, 90_000);

describe.concurrent('a term that ends', () => {
  it('brings the next attempt under another id; a gone of the one before still counts in its time (P6, V20)', async ({
    expect,
  }) => {
    const { thing, first, second } = await answeredInTime();
    const at = attemptOf(first);

    const idOf = ({ request }: Taken) => request.id.split('/');
    expect(idOf(first).at(-1)).toBe(String(at));
    expect(idOf(second)).toEqual([...idOf(first).slice(0, -1), String(attemptOf(second))]);
    expect(expiryOf(second) - expiryOf(first)).toBe((attemptOf(second) - at) * TERM_MS);
    const { attempt: _first, expires: _then, ...same } = first.request.data;
    expect(second.request.data).toMatchObject(same);

    await things.gone(thing);
    // One request in each term, in their order.
    const attempts = hands.of(thing).map(attemptOf);
    expect(attempts).toEqual([...new Set(attempts)].sort((one, other) => one - other));
    expect(attempts.slice(0, 2)).toEqual([at, attemptOf(second)]);
  });

  it('and another one make a gone of the first attempt stale; that of the living one ends it (V22)', async ({
    expect,
  }) => {
    const { thing, first } = await deleted('stale');
    await until(expiryOf(first) + SHORT_SKEW_MS + 1_000);
    const stale = async () => sumOf(await bridge.metrics(), 'finalizer_bridge_results_total', { disposition: 'Stale' });
    const before = await stale();

    await queues.answer(first, gone);

    await eventually('the gone is stale', async () => (await stale()) > before);
    expect(await things.has(thing, RULE)).toBe(true);
    await queues.answer(await attempt(thing, attemptOf(first) + 2), gone);
    await things.gone(thing);
  });

  it('is what a release waits for: the entry comes off when the last request can run no more, not before (Q13)', async ({
    expect,
  }) => {
    const { thing, first } = await deleted('released');
    await things.release(thing, RULE);
    const offAt = expiryOf(first) + AFTER_EXPIRY_MS;

    const said = await things.says(thing, RULE, 'ReleaseWaiting', SAID_WITHIN);
    expect(said).toMatchObject({ phase: 'Pending', next: new Date(offAt).toISOString() });
    await things.gone(thing, 90_000);
    expect(Date.now()).toBeGreaterThanOrEqual(offAt);
    expect(hands.of(thing)).toEqual([first]);
  });

  it('is a deadline that passes: held, told and counted, and it goes on trying (P7)', async ({ expect }) => {
    const { thing, first } = await deleted('late', LATE);

    expect(await things.says(thing, LATE, 'DeadlineExceeded', SAID_WITHIN)).toMatchObject({ phase: 'Held' });

    await attempt(thing, attemptOf(first) + 2);
    expect(sumOf(await bridge.metrics(), 'finalizer_bridge_deadline_exceeded_total', { rule: LATE })).toBe(1);
    const status = await eventually('the rule tells of it', async () => {
      const rule = await rules.found(LATE);
      return rule.status.held === 1 ? rule.status : undefined;
    });
    expect(status.heldObjects).toMatchObject([{ name: 'late', reason: 'DeadlineExceeded' }]);
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('asks nothing anew of what was refused; a retry does, in the same term and under an id of its own', async ({
    expect,
  }) => {
    const { thing, first } = await deleted('refused');
    await queues.answer(first, { outcome: 'refused', reason: 'NotOwned', message: 'another owner' });
    await queues.done(first);
    expect(await things.says(thing, RULE, 'NotOwned')).toMatchObject({ phase: 'Held' });
    await until(expiryOf(first) + 1_000);
    expect(hands.of(thing)).toHaveLength(1);

    await things.retry(thing, RULE);

    const again = await eventually('another request', () => hands.of(thing)[1], NEXT_WITHIN);
    expect(again.request.id.split('/').slice(-2)).toEqual([String(again.request.data.attempt), '1']);
    await queues.answer(again, gone);
    await things.gone(thing);
  });
});
