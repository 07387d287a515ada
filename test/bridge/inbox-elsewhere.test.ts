/*
 * Results of objects where a bridge that serves some namespaces does not look: after a rollback they come in all the same, and it may
 * have rights there for a time. Other results are in inbox.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS, type Outcome } from '../../bridge/contract.ts';
import { counts, ENTRY } from '../support/bridge-builders.ts';
import { InboxBench, messageOf, requestOf } from '../support/inbox-bench.ts';
import { START, settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const request = requestOf();

describe('a result of an object in a namespace that the bridge does not serve', () => {
  const elsewhere = (leaving: readonly string[] = []) => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.served = { namespaces: ['other'], leaving };
    bench.live('uid-logs', [ENTRY]);
    return bench;
  };

  it('stays in the queue while it may count, and the object is not asked for, whatever rights there are (P3)', async () => {
    const bench = elsewhere();
    expect(await bench.handle(messageOf(request, gone))).toEqual([]);
    expect(bench.cluster.calls).toEqual([]);
    expect(bench.admitted).toEqual([]);
    expect(await counts(bench.metrics.results)).toEqual({ NotServed: 1 });
  });

  it('is dropped when it counts no more', async () => {
    const bench = elsewhere();
    await bench.clock.advance(Date.parse(request.data.expires) + CLOCK_SKEW_MS - START + 1);
    expect(await bench.handle(messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.cluster.calls).toEqual([]);
    expect(await counts(bench.metrics.results)).toEqual({ Stale: 1 });
  });

  it('counts while the namespace is being left', async () => {
    const bench = elsewhere([request.data.object.namespace ?? '']);
    const handled = bench.handle(messageOf(request, gone));
    await settled();
    expect(bench.admitted).toEqual([bench.pending.key]);
    for (const { settles } of bench.pendings.values()) for (const settle of settles.splice(0)) settle(true);
    expect(await handled).toEqual(['m-1']);
  });
});
