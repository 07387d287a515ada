/*
 * Others write the object between the bridge's look and its PATCH, and PATCHes that fail in every way, at the exact moment
 * by a tripwire in front of the real API server. The bridge's writes may touch nothing but its own entry, and a result is
 * in its queue until the API server has confirmed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { claim, operationsOf, removal } from '../support/bridge-calls.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';
import type { Passing, Point, Tripwire, Verdict } from '../support/tripwire.ts';

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
let bridge: BridgeProcess;
let api: Tripwire;
logFailures(() => site);

beforeAll(async () => {
  // A result that was not acknowledged comes again after two seconds, so that its way can be seen to its end.
  site = await startSite({ name: 'races', tripwires: true, resultVisibility: 2 });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  [bridge] = await Promise.all([site.startBridge(), site.startFunction()]);
  ({ api } = site.wires());
});
afterAll(() => site?.stop());

const passed = ({ phase, matches }: Point) => api.passed.filter((one) => one.phase === phase && matches(one));
/** What was answered so far; others may see what a PATCH has done before its answer comes. */
const statuses = (point: Point) => passed(point).map(({ status }) => status);

describe('somebody else writes between the look and the PATCH', () => {
  it('K1 the list shifts: the API server refuses, the bridge looks again, and only its own entry goes', async () => {
    const finalizers = ['example.com/first', 'example.com/second'];
    const { name, bucket } = await buckets.create('shifted', { finalizers });
    await buckets.edit(name, [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/last' }]);
    const path = buckets.path(name);
    const shift = api.once(removal(path, 'asked'), async () => {
      await buckets.edit(name, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
      return 'pass';
    });
    await buckets.delete(name);

    expect(operationsOf(await shift)).toContainEqual({ op: 'remove', path: '/metadata/finalizers/2' });

    await eventually('ours is off', async () => !(await buckets.finalizers(name)).includes(buckets.entry()));
    expect(await buckets.finalizers(name)).toEqual(['example.com/second', 'example.com/last']);
    await expect.poll(() => statuses(removal(path, 'answered'))).toEqual([422, 200]);
    expect(await buckets.versions(bucket)).toBeUndefined();
    await buckets.edit(name, [{ op: 'remove', path: '/metadata/finalizers' }]);
    await buckets.gone(name);
  });

  it('K2 another entry that is removed meanwhile does not come back', async () => {
    const { name } = await buckets.create('emptied', { finalizers: ['example.com/first'] });
    const path = buckets.path(name);
    const removed = api.once(removal(path, 'asked'), async () => {
      await buckets.edit(name, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
      return 'pass';
    });
    const seen = api.once(removal(path, 'answered'), async () => {
      expect(await buckets.finalizers(name)).toEqual([buckets.entry()]);
      return 'pass';
    });
    await buckets.delete(name);

    await removed;
    await seen;

    await buckets.gone(name);
  });

  it('K2 an entry that another puts on a new object meanwhile stays on', async () => {
    const path = buckets.path('both');
    const added = api.once(claim(path, 'asked'), async () => {
      await buckets.edit('both', [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/other'] }]);
      return 'pass';
    });
    await buckets.create('both');

    await added;

    expect(await buckets.finalizers('both')).toEqual(['example.com/other', buckets.entry()]);
    await expect.poll(() => statuses(claim(path, 'answered'))).toEqual([422, 200]);
    await buckets.edit('both', [{ op: 'remove', path: '/metadata/finalizers/0' }]);
    await buckets.delete('both');
    await buckets.gone('both');
  });
});

describe('a removal that fails', () => {
  /** What the queue holds of results, wherever they are. */
  const held = async () => {
    const { ready, delayed, inFlight } = await queues.inspect(site.results.url);
    return ready.length + delayed.length + inFlight.length;
  };
  const refusal = (code: number): Verdict => ({
    answer: { status: code, body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code }) },
  });

  it.each<[string, string, Passing['phase'], Verdict]>([
    ['a conflict', 'conflict', 'asked', refusal(409)],
    ['an error of the API server', 'error', 'asked', refusal(500)],
    ['a connection cut before the PATCH arrived', 'cut-before', 'asked', 'cut'],
    ['a connection cut after the PATCH took effect', 'cut-after', 'answered', 'cut'],
  ])('K5 by %s: the result stays in its queue until the end is confirmed', async (_how, name, phase, verdict) => {
    const { bucket } = await buckets.create(name);
    const path = buckets.path(name);
    // One of before may not be acknowledged yet.
    await queues.drained();
    const before = await bridge.metrics();
    const found: number[] = [];
    const failed = api.once(removal(path, phase), async () => {
      found.push(await held());
      return verdict;
    });
    await buckets.delete(name);

    await failed;

    await buckets.gone(name);
    expect(found).toEqual([1]);
    await queues.drained();
    expect(await buckets.versions(bucket)).toBeUndefined();
    const after = await bridge.metrics();
    const grown = (metric: string, labels: Readonly<Record<string, string>>) =>
      sumOf(after, `finalizer_bridge_${metric}`, labels) - sumOf(before, `finalizer_bridge_${metric}`, labels);
    expect(grown('entries_removed_total', { rule: 'team', reason: 'Gone' })).toBe(1);
    expect(grown('bypassed_total', { rule: 'team' })).toBe(0);
  });

  it('K5 again and again: the result is in its queue at each try, and the entry on', async () => {
    const { name } = await buckets.create('stubborn');
    const path = buckets.path(name);
    const found: number[] = [];
    const unwatch = api.watch(async (passing) => {
      if (!removal(path, 'asked').matches(passing) || passing.phase !== 'asked') return 'pass';
      found.push(await held());
      return refusal(500);
    });
    await buckets.delete(name);

    await eventually('four tries have failed', () => found.length >= 4);
    const failing = async () =>
      sumOf(await bridge.metrics(), 'finalizer_bridge_held', { rule: 'team', reason: 'Failing' });
    await expect.poll(failing).toBe(1);

    expect(new Set(found)).toEqual(new Set([1]));
    expect(await buckets.finalizers(name)).toEqual([buckets.entry()]);
    unwatch();
    await buckets.gone(name);
    await queues.drained();
  });
});

describe('what the bridge writes', () => {
  /** All that it writes about one new object: its entry is put on, and taken off at the deletion. */
  async function writesAbout(name: string, finalizers: readonly string[] = []): Promise<readonly Passing[]> {
    await buckets.create(name, finalizers.length === 0 ? {} : { finalizers });
    await buckets.delete(name);
    if (finalizers.length > 0) {
      await eventually('ours is off', async () => !(await buckets.finalizers(name)).includes(buckets.entry()));
      await buckets.edit(name, [{ op: 'remove', path: '/metadata/finalizers' }]);
    }
    await buckets.gone(name);
    const path = buckets.path(name);
    const writes = passed({ phase: 'asked', matches: (one) => one.method === 'PATCH' && one.path.startsWith(path) });
    const kinds = writes.flatMap(operationsOf).filter((one) => one.path.startsWith('/metadata/finalizers'));
    expect(kinds.map(({ op }) => op)).toEqual(expect.arrayContaining(['add', 'remove']));
    return writes;
  }

  it('K15 is sent as application/json-patch+json, which the API server takes, and as nothing else', async () => {
    const sent = await writesAbout('typed-by-bridge');
    expect(new Set(sent.map(({ contentType }) => contentType))).toEqual(new Set(['application/json-patch+json']));

    const { name } = await buckets.create('typed');
    const patch = [{ op: 'test', path: '/metadata/name', value: name }];
    const answered = async (contentType: string) =>
      (await site.admin.request('PATCH', buckets.path(name), patch, { contentType })).status;
    expect(await answered('application/json-patch+json')).toBe(200);
    expect(await answered('application/json')).toBe(415);
    await buckets.delete(name);
    await buckets.gone(name);
  });

  it('K2 is never a list: one entry is added, or removed by its index after a test, on a tested version', async () => {
    const alone = await writesAbout('alone');
    const beside = await writesAbout('beside', ['example.com/first']);
    const writes = [...alone, ...beside].map(operationsOf);
    for (const operations of writes) {
      expect(operations.slice(0, 2)).toMatchObject([
        { op: 'test', path: '/metadata/uid' },
        { op: 'test', path: '/metadata/resourceVersion' },
      ]);
      for (const [index, { op, path, value }] of operations.entries()) {
        if (!path.startsWith('/metadata/finalizers') || op === 'test') continue;
        if (op === 'remove') {
          expect(operations[index - 1]).toEqual({ op: 'test', path, value: buckets.entry() });
        } else {
          // Where there is no list yet, one has to be made: the tested version says that there is none.
          expect([
            ['add', '/metadata/finalizers/-', buckets.entry()],
            ['add', '/metadata/finalizers', [buckets.entry()]],
          ]).toContainEqual([op, path, value]);
        }
      }
    }
  });
});
