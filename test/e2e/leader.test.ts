/*
 * Two bridges as they are shipped, on a real API server: one leads, the other stands by and follows when the first leaves, is
 * killed, stands still or is robbed of its lease. Deletions that are under way meanwhile come to their end once.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { LEASE_MS } from '../../bridge/leader-state.ts';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { operationsOf, removal } from '../support/bridge-calls.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { LEASE_PATH, logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { leads, leaseOf, readinessOf } from '../support/site-leader.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';

const RULES = { byhand: { handler: 'by-hand' } };
const GONE = { outcome: 'gone', evidence: 'deleted' } as const;
/** One that stands by looks every second: who finds a lease given back takes it, who waits until it has run out looks ten times. */
const LOOKS_MAX = 4;

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let leader: BridgeProcess;
let standby: BridgeProcess;
let removals: string[];
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({
    ...{ name: 'leader', handlers: ['by-hand'], tripwires: true, bundled: true, endsForGood: true },
    // What a process takes along when it ends comes again in seconds instead of a minute: time is shortened, nothing else.
    resultVisibility: 5,
  });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  site.wires().api.watch(async (passing) => {
    const isRemoval = passing.phase === 'asked' && passing.method === 'PATCH' && passing.path.includes('/buckets/');
    if (isRemoval && operationsOf(passing).some(({ op }) => op === 'remove')) removals.push(passing.path);
    return 'pass';
  });
});
afterAll(() => site?.stop());

beforeEach(async () => {
  removals = [];
  leader = await site.startBridge(RULES);
  standby = await site.startBridge(RULES, 'started');
  await standby.ready(undefined, 'standby');
});
afterEach(async () => {
  await Promise.all([leader, standby].map((bridge) => bridge?.stop()));
});

/** An object whose request is in the hands of the test. */
async function underWay(name: string) {
  const made = await buckets.create(name, { rule: 'byhand', versions: 'none' });
  await buckets.delete(name);
  const taken = await queues.take('by-hand', name);
  expect(taken.request.data.object.uid).toBe(made.uid);
  return { name, taken };
}

/** Answers, and expects one removal, one deletion and nothing left. */
async function expectEnd({ name, taken }: Awaited<ReturnType<typeof underWay>>, most = 1): Promise<void> {
  await queues.answer(taken, GONE);
  await buckets.gone(name);
  await queues.done(taken);
  // A new leader sends the request of the same term again, with the same bytes.
  for (let copy = await queues.receive('by-hand'); copy !== undefined; copy = await queues.receive('by-hand')) {
    expect(copy.body).toBe(taken.body);
    await queues.done(copy);
  }
  await queues.drained();
  expect(removals.filter((path) => path.includes(`/${name}?`)).length).toBeLessThanOrEqual(most);
}

it('one leads; the other is ready as one that stands by, watches nothing and tells of nothing (K18)', async () => {
  expect([await leads(leader), await leads(standby)]).toEqual([true, false]);
  expect(await readinessOf(standby)).toEqual({ status: 200, ready: true, role: 'standby', reasons: [] });
  const stripped = await buckets.create('stripped', { rule: 'byhand', versions: 'none' });
  await buckets.delete('stripped');
  await queues.done(await queues.take('by-hand', 'stripped'));

  await buckets.replaceWithout('stripped');

  const bypassed = async () => (await buckets.events(stripped)).filter(({ reason }) => reason === 'Bypassed').length;
  await expect.poll(bypassed).toBe(1);
  await expectEnd(await underWay('plain'));
  const page = await standby.metrics();
  expect(page).not.toContain('finalizer_bridge_watching{');
  expect(sumOf(page, 'finalizer_bridge_api_calls_total', { verb: 'PATCH' })).toBe(0);
  expect(sumOf(await leader.metrics(), 'finalizer_bridge_bypassed_total', {})).toBe(1);
  expect(await bypassed()).toBe(1);
});

it('on SIGTERM the leader gives the lease back and ends with 0; the other leads before it would have run out', async () => {
  const going = await underWay('term');
  const ofLease: ('look' | 'give back' | 'take')[] = [];
  site.wires().api.watch(async ({ phase, method, path, body, status }) => {
    if (!path.startsWith(LEASE_PATH)) return 'pass';
    if (phase === 'asked' && body.includes('"holderIdentity":""')) {
      // It is given back whether or not the API server answers in the second that the leader has for this.
      const given = await site.admin.request(method, path, JSON.parse(body));
      if (given.status === 200) ofLease.push('give back');
      return { answer: { status: given.status, body: JSON.stringify(given.body) } };
    }
    if (phase === 'answered' && status === 200) ofLease.push(method === 'GET' ? 'look' : 'take');
    return 'pass';
  });
  leader.signal('SIGTERM');
  await standby.ready();

  // By looks, not by time: how long either process takes for other things does not count.
  const given = ofLease.indexOf('give back');
  const looks = ofLease.slice(given + 1).indexOf('take');
  expect([given >= 0, looks >= 0], ofLease.join()).toEqual([true, true]);
  expect(looks, ofLease.join()).toBeLessThanOrEqual(LOOKS_MAX);
  expect(await leader.exited).toBe(0);
  await expectEnd(going);
});

it('after SIGKILL the other leads when the lease has run out', async () => {
  const going = await underWay('kill');

  leader.signal('SIGKILL');
  await standby.ready();

  expect(await leader.exited).toBe(137);
  await expectEnd(going);
});

it('V3 a leader that stood still with an answer in its hands does nothing with it when it goes on, and ends with 3', async () => {
  const going = await underWay('still');
  const { sqs, api } = site.wires();
  const over = Promise.withResolvers<void>();
  let unwatch = () => {};
  const goOn = () => {
    unwatch();
    over.resolve();
  };
  onTestFinished(goOn);
  const received = sqs.once(
    {
      phase: 'answered',
      matches: ({ operation, answer }) => operation === 'ReceiveMessage' && answer.includes('gone'),
    },
    async () => {
      leader.signal('SIGSTOP');
      // The answer comes again in seconds, and the other may not have it before all is over.
      unwatch = sqs.watch(async ({ phase, operation }) => {
        if (phase === 'asked' && operation === 'ReceiveMessage') await over.promise;
        return 'pass';
      });
      return 'pass';
    },
  );
  await queues.answer(going.taken, GONE);
  await received;
  await standby.ready();
  leader.signal('SIGCONT');
  expect(await leader.exited).toBe(3);
  const point = removal(buckets.path('still'), 'asked');
  expect(api.passed.filter((passing) => passing.phase === point.phase && point.matches(passing))).toEqual([]);

  goOn();

  await expectEnd(going);
});

it('K18 a leader whose lease somebody takes ends with 3 when it renews it; the other waits its time, then leads', async () => {
  const going = await underWay('stolen');
  const from = performance.now();
  await leaseOf(site).steal('somebody');
  expect(await leader.exited).toBe(3);
  expect(await site.log()).toContain('somebody has it');

  await standby.ready();

  expect(performance.now() - from).toBeGreaterThan(LEASE_MS);
  await expectEnd(going);
});

it('a lease that somebody deletes is written anew by the leader, which goes on', async () => {
  const { metadata, spec } = await leaseOf(site).read();

  await site.freeLease();

  const anew = await eventually('there is another lease', async () => {
    const { status } = await site.admin.request('GET', LEASE_PATH);
    return status === 200 ? leaseOf(site).read() : undefined;
  });
  expect(anew.metadata.uid).not.toBe(metadata.uid);
  expect(anew.spec.holderIdentity).toBe(spec.holderIdentity);
  await expectEnd(await underWay('deleted-lease'));
  expect([await leads(leader), await leads(standby)]).toEqual([true, false]);
});

it.each([
  { how: 'answers 500', verdict: { answer: { status: 500, body: '{}' } }, calls: 2 },
  { how: 'answers 401', verdict: { answer: { status: 401, body: '{}' } }, calls: 2 },
  { how: 'does not answer', verdict: undefined, calls: 1 },
])('goes on leading when the API server $how for a while', async ({ how, verdict, calls }) => {
  let renewals = 0;
  site.wires().api.watch(async ({ phase, path, method }) => {
    if (phase !== 'asked' || !path.includes('/leases/') || method !== 'PUT') return 'pass';
    renewals += 1;
    // So many and no more, however soon this test hears of them.
    return renewals > calls ? 'pass' : (verdict ?? (await new Promise(() => {})));
  });
  await eventually('renewals have failed, and one has not', () => renewals > calls);
  await expectEnd(await underWay(how.replaceAll(' ', '-')));
  expect([await leads(leader), await leads(standby)]).toEqual([true, false]);
});
