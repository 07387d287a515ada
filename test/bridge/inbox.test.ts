/*
 * Receiving results: whom the bridge believes, what it acknowledges and when, and that one message never disturbs
 * another. What a result means to its deletion is in inbox-outcomes.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { counts, DEAD_LETTER_SENDER, ENTRY, RULE, resultBody, SENDER } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { InboxBench, messageOf, requestOf } from '../support/inbox-bench.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const request = requestOf();

describe('a result', () => {
  it('wakes its deletion, and is acknowledged only when that has come to its end (K5)', async () => {
    const bench = new InboxBench();
    let done: readonly string[] | undefined;
    const handled = bench.handle(messageOf(request, gone)).then((ids) => {
      done = ids;
    });
    await settled();
    expect(bench.added).toEqual([bench.pending.key]);
    expect(done).toBeUndefined();
    for (const settle of bench.pending.settles.splice(0)) settle(true);
    await handled;
    expect(done).toEqual(['m-1']);
  });

  it('stays in the queue when its deletion could not be brought to its end (K5)', async () => {
    const bench = new InboxBench();
    expect(await bench.settle(false, messageOf(request, gone))).toEqual([]);
  });

  it('that comes twice is settled twice, and changes nothing the second time (Q5)', async () => {
    const bench = new InboxBench();
    const twice = [messageOf(request, gone), messageOf(request, gone, { messageId: 'm-2' })];
    expect(await bench.settle(true, ...twice)).toEqual(['m-1', 'm-2']);
    expect(bench.pending.gones).toHaveLength(1);
    expect(await bench.settle(true, messageOf(request, gone, { messageId: 'm-3' }))).toEqual(['m-3']);
    expect(bench.pending.gones).toHaveLength(1);
  });

  it('whose object is gone is acknowledged after a look (Q5)', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    expect(await bench.handle(messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.cluster.calls).toMatchObject([{ verb: 'get', name: 'logs' }]);
    expect(await counts(bench.metrics.results)).toEqual({ UnknownObject: 1 });
  });

  it('whose deletion has just ended is acknowledged without a look (Q5, P8)', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.over.add(bench.pending.key);
    expect(await bench.handle(messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.cluster.calls).toEqual([]);
    expect(await counts(bench.metrics.results)).toEqual({ UnknownObject: 1 });
  });

  it('whose deletion is shown again after its end counts as any other (Q5)', async () => {
    const bench = new InboxBench();
    bench.over.add(bench.pending.key);
    expect(await bench.settle(true, messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.pending.gones).toHaveLength(1);
  });

  it('of an object of that name with another uid is dropped and counted (K3)', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.live('uid-of-the-successor', [ENTRY]);
    expect(await bench.handle(messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.admitted).toEqual([]);
    expect(await counts(bench.metrics.results)).toEqual({ UnknownObject: 1 });
  });

  it('never acts on an object that is not being deleted', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.cluster.create({ name: 'logs', uid: 'uid-logs', finalizers: [ENTRY] });
    expect(await bench.handle(messageOf(request, gone))).toEqual(['m-1']);
    expect(bench.admitted).toEqual([]);
  });

  it('of a deletion that no watch has shown yet takes it in', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.live('uid-logs', [ENTRY]);
    const handled = bench.handle(messageOf(request, gone));
    await settled();
    expect(bench.admitted).toEqual([bench.pending.key]);
    for (const { settles } of bench.pendings.values()) for (const settle of settles.splice(0)) settle(true);
    expect(await handled).toEqual(['m-1']);
  });

  it('stays in the queue while the API server cannot be asked, and the others of its batch go on (P10)', async () => {
    const bench = new InboxBench();
    bench.cluster.before = () => {
      throw new Error('no answer');
    };
    const stranger = requestOf({ object: { ...request.data.object, uid: 'uid-2' } });
    const batch = [messageOf(stranger, gone), messageOf(request, gone, { messageId: 'm-2' })];
    expect(await bench.settle(true, ...batch)).toEqual(['m-2']);
  });

  it('that comes while the bridge stops stays in the queue', async () => {
    const bench = new InboxBench();
    bench.isStopping = true;
    expect(await bench.handle(messageOf(request, gone))).toEqual([]);
    expect(bench.pending.gones).toEqual([]);
  });
});

describe('a message that is not to be believed', () => {
  const other = requestOf({ cluster: { uid: 'another-cluster' } });
  const other2 = requestOf({ handler: 'ec2-instance' });
  const progress = 'never to be believed';
  const deadLettered: Outcome = { outcome: 'pending', reason: 'DeadLettered', message: 'given up', progress };

  it.each([
    ['sent by somebody else (Q11)', messageOf(request, gone, { sender: 'AIDASOMEBODY' }), 'WrongSender'],
    ['sent by nobody (Q11)', messageOf(request, gone, { sender: '' }), 'WrongSender'],
    [
      "of another handler, sent by this one's function (Q11)",
      messageOf(other2, gone, { body: resultBody(other2, gone, { handler: 'ec2-instance' }) }),
      'WrongSender',
    ],
    [
      'of a handler that is not configured (Q11)',
      messageOf(request, gone, { body: resultBody(request, gone, { handler: 'webhook' }) }),
      'WrongSender',
    ],
    [
      "of another handler's function, under its own name and key (Q11)",
      messageOf(request, gone, {
        body: resultBody(request, gone, { handler: 'ec2-instance' }),
        sender: 'AROAEC2:run',
      }),
      'WrongHandler',
    ],
    ['a dead letter, as the handler says itself', messageOf(request, deadLettered), 'WrongSender'],
    [
      'a refusal, said by the dead-letter function, in the words of a dead letter',
      messageOf(
        request,
        { outcome: 'refused', reason: 'DeadLettered', message: 'given up' },
        { sender: DEAD_LETTER_SENDER },
      ),
      'WrongSender',
    ],
    [
      'a gone, said by the dead-letter function (P1)',
      messageOf(request, gone, { sender: `${DEAD_LETTER_SENDER}:x` }),
      'WrongSender',
    ],
    ['of another cluster', messageOf(other, gone), 'OtherCluster'],
    ['not JSON', messageOf(request, gone, { body: '{' }), 'NotJson'],
    ['no event', messageOf(request, gone, { body: '[]' }), 'NotCloudEvent'],
    [
      'of a newer kind (Q12)',
      messageOf(request, gone, { body: resultBody(request, gone).replace('result.v1', 'result.v2') }),
      'UnknownType',
    ],
    [
      'about another request than it says',
      messageOf(request, gone, { body: resultBody(request, gone).replace('"attempt":0', '"attempt":1') }),
      'Invalid',
    ],
  ])('because it is %s is not acted on, not acknowledged, and counted', async (_why, message, disposition) => {
    const bench = new InboxBench();
    expect(await bench.handle(message)).toEqual([]);
    expect(bench.added).toEqual([]);
    expect(bench.pending).toMatchObject({ gones: [], seen: [], settles: [] });
    expect(bench.cluster.calls).toEqual([]);
    expect(await counts(bench.metrics.results)).toEqual({ [disposition]: 1 });
    expect(bench.kept.lines).toMatchObject([{ level: 'error', fields: { messageId: 'm-1', disposition } }]);
  });

  it('does not disturb its batch (P10)', async () => {
    const bench = new InboxBench();
    const batch = [
      messageOf(request, gone, { messageId: 'junk', body: 'junk' }),
      messageOf(request, gone, { messageId: 'good' }),
      messageOf(request, gone, { messageId: 'forged', sender: 'AIDASOMEBODY' }),
      messageOf(other, gone, { messageId: 'foreign' }),
    ];
    expect(await bench.settle(true, ...batch)).toEqual(['good']);
  });

  it('that is a dead letter is believed from the dead-letter function, shown and counted', async () => {
    const bench = new InboxBench();
    const letter = messageOf(request, deadLettered, { sender: `${DEAD_LETTER_SENDER}:dead-letters` });
    expect(await bench.settle(true, letter)).toEqual(['m-1']);
    expect(bench.pending.progress).toEqual({ reason: 'DeadLettered', message: `given up; ${progress}` });
    expect(await counts(bench.metrics.deadLetters)).toEqual({ [RULE]: 1 });
    expect(bench.pending.seen).toMatchObject([{ requested: true, started: false }]);
  });

  it('would have been believed from the right function', async () => {
    const bench = new InboxBench();
    expect(await bench.settle(true, messageOf(request, gone, { sender: SENDER }))).toEqual(['m-1']);
  });
});

describe('a result in a backlog', () => {
  it('ends its deletion before the deletions behind it have begun (P4)', async () => {
    const scene = await Scene.start();
    const gates: (() => void)[] = [];
    scene.queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    const names = Array.from({ length: 80 }, (_, index) => `object-${index}`);
    for (const name of names) await scene.deleted({ name });
    gates.shift()?.();
    await settled();
    const [first] = scene.requests;
    const answered = scene.answer(gone, first);
    await settled();
    // The next place that is free is the result's, though most of the others still wait for their first look.
    gates.shift()?.();
    await settled();
    expect(scene.cluster.peek('object-0')).toBeUndefined();
    expect(await answered).toBe(true);
    const looked = new Set(scene.cluster.calls.filter(({ verb }) => verb === 'get').map(({ name }) => name));
    expect(looked.size).toBeLessThan(names.length);
  });
});
