/*
 * Texts that the API server writes otherwise than JSON.stringify does, in a record that has to be written over: found by the
 * soak, where a failure's message held `<-` and nothing could be recorded on that object any more. Seen in kube-apiserver
 * 1.36: a `test` of a JSON patch compares texts as they are written, not what they mean.
 */
import { afterAll, beforeAll, it } from 'vitest';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Buckets, bucketsOf } from '../support/site-buckets.ts';
import { queuesOf, type SiteQueues } from '../support/site-queues.ts';

const RULES = { byhand: { handler: 'by-hand' } };

let site: TestSite;
let buckets: Buckets;
let queues: SiteQueues;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'texts', handlers: ['by-hand'] });
  [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  await site.startBridge(RULES);
});
afterAll(() => site?.stop());

it.each([
  ['less', 'a <- b'],
  ['more', 'a -> b'],
  ['and', 'a & b'],
  ['lines', 'a\u2028b\u2029c'],
  ['others', '"é" \\ / \u0001 \u007f \t'],
])(
  'a record whose message holds characters of the sort "%s" is written over, and the deletion goes on (P4, P7)',
  async (name, message) => {
    const made = await buckets.create(name, { rule: 'byhand', versions: 'none' });
    await buckets.delete(made.name);
    const first = await queues.take('by-hand', name);
    await queues.done(first);
    await queues.answer(first, { outcome: 'refused', reason: 'First', message });
    await buckets.says(made.name, 'First', { rule: 'byhand' });

    await buckets.retry(made.name, { rule: 'byhand' });
    const second = await queues.take('by-hand', name);
    await queues.done(second);
    await queues.answer(second, { outcome: 'refused', reason: 'Second', message: 'plain' });

    await buckets.says(made.name, 'Second', { rule: 'byhand' });
    await buckets.retry(made.name, { rule: 'byhand', word: 'once more' });
    const third = await queues.take('by-hand', name);
    await queues.done(third);
    await queues.answer(third, { outcome: 'gone', evidence: 'deleted' });
    await buckets.gone(made.name);
  },
);
