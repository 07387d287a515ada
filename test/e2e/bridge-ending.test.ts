/*
 * How the shipped bridge ends, and what it says of itself until then: in time whoever is silent, at once when it is told
 * twice, loudly when something happened that nobody foresaw. /readyz names what is missing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { LEASE_PATH, logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { readinessOf } from '../support/site-leader.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';

/** Loaded before the bundle: what a fault in it would do, without a fault in it. */
const FAULTS = `data:text/javascript,${encodeURIComponent(`
  process.on('SIGUSR2', () => void Promise.reject(new Error('a promise that nobody waits for')));
  process.on('SIGWINCH', () => { throw new Error('an exception that nobody catches'); });
`)}`;
const RULES = { byhand: { handler: 'by-hand' } };
/** What is said when something does not end in time, and is not waited for: a call that is waited for to its end takes 15 s. */
const LEFT = 'ending what runs: left to whoever leads next';

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;

const running: BridgeProcess[] = [];
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({
    ...{
      name: 'ending',
      handlers: ['by-hand'],
      tripwires: true,
      bundled: true,
      resultVisibility: 5,
      endsForGood: true,
    },
    nodeArgs: ['--import', FAULTS],
  });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
});
afterAll(() => site?.stop());
// What a test that failed has left would lead in the next one.
afterEach(async () => {
  await Promise.all(running.splice(0).map((bridge) => bridge.stop()));
});

async function startBridge(until?: 'started'): Promise<BridgeProcess> {
  const bridge = await site.startBridge(RULES, 'started');
  running.push(bridge);
  if (until === undefined) await bridge.ready();
  return bridge;
}

/** What the bridges have asked the API server to write into the lease when they left; it has a second to answer. */
const givenBack = () =>
  site
    .wires()
    .api.passed.filter(
      ({ phase, method, path }) => phase === 'asked' && method === 'PUT' && path.startsWith(LEASE_PATH),
    )
    .map(({ body }) => body)
    .filter((body) => body.includes('"holderIdentity":""'));
const timesSaid = async (text: string) => (await site.log()).split(text).length - 1;

const silence = async (): Promise<'cut'> => await new Promise(() => {});

describe('SIGTERM', () => {
  it.each([
    { who: 'sqs', calls: 'sends', operation: 'SendMessageBatch' },
    { who: 'sqs', calls: 'deletions', operation: 'DeleteMessageBatch' },
    { who: 'api', calls: 'patches of objects', operation: 'PATCH' },
  ] as const)(
    'ends within seconds with 0 while $who swallows $calls, and the next bridge finishes',
    async ({ who, operation }) => {
      const name = `swallowed-${operation.toLowerCase()}`;
      const bridge = await startBridge();
      await buckets.create(name, { rule: 'byhand', versions: 'none' });
      let swallowed = 0;
      const unwatch = site.wires()[who].watch(async ({ phase, method, path, operation: asked }) => {
        const isOne = asked === operation || (method === operation && path.includes('/buckets/'));
        if (phase !== 'asked' || !isOne) return 'pass';
        swallowed += 1;
        return await silence();
      });
      await buckets.delete(name);
      if (operation !== 'SendMessageBatch') {
        const taken = await queues.take('by-hand', name);
        await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });
        await queues.done(taken);
      }
      await eventually(`${operation} is swallowed`, () => swallowed > 0);
      const [before, given] = [await timesSaid(LEFT), givenBack().length];

      bridge.signal('SIGTERM');

      expect(await bridge.exited).toBe(0);
      expect(await timesSaid(LEFT)).toBe(before + 1);
      expect(JSON.parse(givenBack().at(-1) ?? '{}')).toMatchObject({
        spec: { holderIdentity: '', leaseDurationSeconds: 1 },
      });
      // Twice where a renewal was under way, of which nobody heard whether it was taken.
      expect(givenBack().length).toBeGreaterThan(given);
      unwatch();
      const next = await startBridge();
      if (operation === 'SendMessageBatch') {
        const taken = await queues.take('by-hand', name);
        await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });
        await queues.done(taken);
      }
      await buckets.gone(name);
      for (let copy = await queues.receive('by-hand'); copy !== undefined; copy = await queues.receive('by-hand')) {
        await queues.done(copy);
      }
      await queues.drained();
      await next.stop();
    },
  );

  it('a second one ends at once, and says so', async () => {
    const bridge = await startBridge();
    let swallowed = 0;
    const unwatch = site.wires().sqs.watch(async ({ phase, operation }) => {
      if (phase !== 'asked' || operation !== 'SendMessageBatch') return 'pass';
      swallowed += 1;
      return await silence();
    });
    await buckets.create('twice-told', { rule: 'byhand', versions: 'none' });
    await buckets.delete('twice-told');
    await eventually('a send is swallowed', () => swallowed > 0);
    // Both are there before it can have ended by the first; which it hears first is the system's to say.
    bridge.signal('SIGTERM');
    bridge.signal('SIGINT');

    const second = { 130: 'SIGINT', 143: 'SIGTERM' }[await bridge.exited];

    expect(second).toBeDefined();
    expect(await site.log()).toContain(`"signal":"${second}","msg":"ending at once: a second signal"`);
    unwatch();
    await site.freeLease();
    const next = await startBridge();
    const taken = await queues.take('by-hand', 'twice-told');
    await queues.answer(taken, { outcome: 'gone', evidence: 'deleted' });
    await buckets.gone('twice-told');
    await queues.done(taken);
    await next.stop();
  });
});

describe('what nobody foresaw', () => {
  it.each([
    ['an unhandled rejection', 'SIGUSR2', 'a promise that nobody waits for'],
    ['an uncaught exception', 'SIGWINCH', 'an exception that nobody catches'],
  ] as const)('%s ends the process with 1 and is logged with its place', async (what, signal, message) => {
    const bridge = await startBridge();

    bridge.signal(signal);

    expect(await bridge.exited).toBe(1);
    const line = (await site.log()).split('\n').find((text) => text.includes(`ending: ${what}`));
    expect(line).toContain(message);
    expect(line).toMatch(/"level":"error".*"stack":"Error/);
    await site.freeLease();
  });
});

describe('/readyz', () => {
  it('names a kind that is not being watched (K10)', async () => {
    const bridge = await startBridge();
    const unwatch = site
      .wires()
      .api.watch(async ({ phase, path }) =>
        phase === 'asked' && path.includes('watch=1') ? { answer: { status: 503, body: '{}' } } : 'pass',
      );
    const cut = await startBridge('started');
    await cut.ready(undefined, 'standby');
    bridge.signal('SIGTERM');
    await bridge.exited;

    await expect
      .poll(() => readinessOf(cut))
      .toEqual({
        ...{ status: 503, ready: false, role: 'leader' },
        reasons: ['rule byhand: buckets.ending.e2e.example.com is not being watched'],
      });

    unwatch();
    await cut.ready();
    await cut.stop();
  });

  it('names a queue that refuses its polls', async () => {
    const body = JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', message: 'no' });
    const unwatch = site
      .wires()
      .sqs.watch(async ({ phase, operation }) =>
        phase === 'asked' && operation === 'ReceiveMessage' ? { answer: { status: 403, body } } : 'pass',
      );
    const bridge = await startBridge('started');

    const said = await eventually('it says so', async () => {
      // Its server may not be up yet.
      const now = await readinessOf(bridge).catch(() => undefined);
      return now?.reasons[0]?.startsWith('the result queue') ? now : undefined;
    });

    expect(said).toMatchObject({ status: 503, role: 'leader' });
    expect(said.reasons).toEqual([expect.stringMatching(/^the result queue cannot be polled for \d+ s: /)]);
    unwatch();
    // The consumer's pause after a refusal, and a long poll of an empty queue.
    await bridge.ready(240_000);
    await bridge.stop();
  });
});
