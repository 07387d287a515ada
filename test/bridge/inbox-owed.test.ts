/*
 * What the inbox leaves to do before a result may go: a record that is owed, a look at the object, a settlement that does not hang;
 * and what it tells of results that stay. Whom it believes is in inbox.test.ts, what a result means in inbox-outcomes.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS, type Outcome, type Request } from '../../bridge/contract.ts';
import type { Pending, SentRequest } from '../../bridge/pending.ts';
import { counts, ENTRY, HANDLER, resultBody, ruleOf } from '../support/bridge-builders.ts';
import { InboxBench, messageOf, recorded, requestOf } from '../support/inbox-bench.ts';
import { START, settled } from '../support/manual-clock.ts';

const request = requestOf();
const { targetDigest: target, ruleDigest: rule } = request.data;
const expires = Date.parse(request.data.expires);
const sent: SentRequest = { target, rule, attempt: 0, retry: 0, confirmed: true, at: START, expires };
const deleted: Outcome = { outcome: 'gone', evidence: 'deleted' };
const absent: Outcome = { outcome: 'gone', evidence: 'absent' };
const begun: Outcome = { outcome: 'pending', reason: 'InProgress', progress: '1 of 2' };
const waiting: Outcome = { outcome: 'pending', reason: 'Slow' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };

/** An inbox under a rule for which a person has to look at what was not found. */
function holding(changes: Partial<Pending> = {}): InboxBench {
  const bench = new InboxBench(changes);
  bench.rules = [ruleOf({ whenAbsent: 'Hold' })];
  return bench;
}

describe('a record', () => {
  it('is owed of a refusal, and of nothing else that was answered (P5)', async () => {
    const owed = async (outcome: Outcome, changes: Partial<Pending> = {}) => {
      const bench = new InboxBench(changes);
      await bench.settle(true, messageOf(request, outcome));
      return bench.pending.owesRefusal;
    };
    expect([await owed(refused), await owed(waiting), await owed(deleted)]).toEqual([true, false, false]);
    expect(await owed(waiting, { owesRefusal: true })).toBe(true);
  });

  it.each([
    ['progress', begun, true],
    ['a gone of what was deleted', deleted, true],
    ['a gone of what was absent', absent, false],
    ['no progress', waiting, false],
  ])(
    'is owed of the first sign that a teardown had begun, where a person looks at an absence: %s (V16)',
    async (_what, outcome, owes) => {
      const bench = holding();
      await bench.settle(true, messageOf(request, outcome));
      expect(bench.pending.owesRecord).toBe(owes);
    },
  );

  it('is not owed of the next sign, nor where an absence is nothing to look at', async () => {
    const started = holding({ seen: [{ target, rule, requested: true, started: true }] });
    await started.settle(true, messageOf(request, begun));
    const released = new InboxBench();
    await released.settle(true, messageOf(request, begun));
    expect([started.pending.owesRecord, released.pending.owesRecord]).toEqual([false, false]);
    const another = holding({ seen: [{ target: 'a'.repeat(64), rule, requested: false, started: false }] });
    await another.settle(true, messageOf(request, begun));
    expect(another.pending.owesRecord).toBe(true);
  });

  it('that is owed of an answer that counts no more is waited for all the same (P5)', async () => {
    const late = async (bench: InboxBench) => {
      await bench.clock.advance(expires + CLOCK_SKEW_MS - START + 1);
      return await bench.settle(false, messageOf(request, deleted));
    };
    const bench = holding(recorded(request));
    expect([await late(bench), bench.added, bench.pending.gones]).toEqual([[], [bench.pending.key], []]);
    const refusal = new InboxBench({ ...recorded(request), owesRefusal: true });
    expect([await late(refusal), refusal.added]).toEqual([[], [refusal.pending.key]]);
    const plain = new InboxBench(recorded(request));
    expect([await late(plain), plain.added]).toEqual([['m-1'], []]);
  });
});

describe('an answer', () => {
  it.each([
    ['a gone', deleted],
    ['one that is not there yet', waiting],
  ])(
    'that counts is settled also where the object names all that was asked for, and owes nothing: %s (K5)',
    async (_what, outcome) => {
      const bench = new InboxBench(recorded(request));
      expect(await bench.settle(false, messageOf(request, outcome))).toEqual([]);
      expect(bench.added).toEqual([bench.pending.key]);
    },
  );

  it('of another leader, as nobody here has asked, is noted as one (V1, V12)', async () => {
    const bench = new InboxBench();
    await bench.clock.advance(5_000);
    await bench.settle(true, messageOf(request, waiting));
    expect(bench.pending.othersUntil).toBe(START + 5_000);
    const own = new InboxBench({ sent: [sent] });
    await own.settle(true, messageOf(request, waiting));
    expect(own.pending.othersUntil).toBeUndefined();
  });

  it('that its request had expired, twice in a row and too late to count, is still told of the queue (P7)', async () => {
    const bench = new InboxBench({ ...recorded(request), sent: [{ ...sent, attempt: 3 }] });
    const expired = (attempt: number) => messageOf(requestOf({ attempt }), { outcome: 'pending', reason: 'Expired' });
    expect([await bench.handle(expired(1)), bench.added]).toEqual([['m-1'], []]);
    expect([await bench.handle(expired(2)), bench.added]).toEqual([['m-1'], [bench.pending.key]]);
    expect(await counts(bench.metrics.results)).toEqual({ Stale: 2 });
  });

  it('that refuses is no sign of a slow queue, whatever reason it gives', async () => {
    const bench = new InboxBench();
    const outcome: Outcome = { outcome: 'refused', reason: 'Expired', message: 'no' };
    await bench.settle(true, messageOf(requestOf({ attempt: 1 }), outcome));
    expect(bench.pending.answered).toMatchObject({ heard: 1, inRow: 0 });
  });

  it('that is not settled within five seconds is left to the next delivery, and holds nothing up (P10)', async () => {
    const bench = new InboxBench();
    const handled = bench.handle(messageOf(request, deleted));
    await settled();
    expect(bench.clock.due).toEqual([5_000]);
    await bench.clock.advance(5_000);
    expect(await handled).toEqual([]);
    expect(bench.pending.gones).toHaveLength(1);
    await bench.settle(true, messageOf(request, deleted));
    expect(bench.clock.due).toEqual([]);
  });

  it('under another rule digest, or of another target, is a gone of its own', async () => {
    const bench = new InboxBench();
    const otherwise = requestOf({ options: { gently: true } });
    for (const one of [request, otherwise]) await bench.settle(true, messageOf(one, absent));
    expect(bench.pending.gones.map((gone) => gone.rule)).toEqual([rule, otherwise.data.ruleDigest]);
    expect(otherwise.data.targetDigest).toBe(target);
  });

  it.each([
    ['of the same attempt and an earlier retry', { attempt: 1, retry: 1 }, { attempt: 1, retry: 2 }, 'Stale'],
    ['of a later attempt, whatever its retry', { attempt: 2 }, { attempt: 1, retry: 2 }, 'Refused'],
    ['of an earlier attempt, whatever its retry', { attempt: 1, retry: 3 }, { attempt: 2, retry: 0 }, 'Stale'],
    ['of another rule digest', { attempt: 1 }, { attempt: 2, rule: 'f'.repeat(64) }, 'Refused'],
  ])('%s is superseded or not', async (_which, of, newest, disposition) => {
    const bench = new InboxBench({ sent: [{ ...sent, ...newest }] });
    await bench.settle(true, messageOf(requestOf(of), refused));
    expect(await counts(bench.metrics.results)).toEqual({ [disposition]: 1 });
  });

  it('to a retry is remembered as that', async () => {
    const bench = new InboxBench();
    await bench.settle(true, messageOf(requestOf({ attempt: 1, retry: 2 }), refused));
    expect(bench.pending.refusal).toMatchObject({ attempt: 1, retry: 2 });
  });
});

describe('what is not in memory', () => {
  const core = (kind: object): Request =>
    requestOf({ object: { ...request.data.object, ...kind }, path: '/api/v1/namespaces/team-a/configmaps/logs' });

  it('is looked for under its own group and version, also where it has none', async () => {
    const read = async (of: Request) => {
      const bench = new InboxBench();
      bench.pendings.clear();
      await bench.handle(messageOf(of, deleted));
      return bench.cluster.calls;
    };
    const { name } = request.data.object;
    expect(await read(request)).toMatchObject([
      { verb: 'get', kind: { group: 'storage.example.com', version: 'v1', resource: 'buckets' }, name },
    ]);
    expect(await read(core({ apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' }))).toMatchObject([
      { verb: 'get', kind: { group: '', version: 'v1', resource: 'configmaps' } },
    ]);
  });

  it('is nothing to take in where the entry is off already, though others hold the object (K3)', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.live('uid-logs', ['a/b']);
    expect(await bench.handle(messageOf(request, deleted))).toEqual(['m-1']);
    expect(bench.admitted).toEqual([]);
    expect(ENTRY).not.toBe('a/b');
  });
});

describe('a result that stays in its queue', () => {
  it('is one of a rule that is not there: what it is worth nobody can tell before it is back (P1)', async () => {
    const bench = new InboxBench();
    bench.rules = [];
    expect(await bench.handle(messageOf(request, deleted))).toEqual([]);
    expect([bench.pending.gones, bench.added]).toEqual([[], []]);
    expect(await counts(bench.metrics.results)).toEqual({ NoRule: 1 });
    expect(bench.kept.lines).toEqual([]);
  });

  it.each([
    ['another cluster', requestOf({ cluster: { uid: 'another' } }), {}, 'of cluster another'],
    ['another sender', request, { sender: 'AIDA:x' }, `${HANDLER} answered by AIDA:x`],
    [
      'another handler',
      request,
      { body: resultBody(request, deleted, { handler: 'ec2-instance' }), sender: 'AROAEC2:run' },
      `answered by ec2-instance, the rule's handler is ${HANDLER}`,
    ],
    ['nobody, being unreadable', request, { body: '{' }, expect.stringMatching(/./)],
  ])(
    'is told with its sender, how often it came, and what is wrong with it: of %s',
    async (_whom, of, changes, detail) => {
      const bench = new InboxBench();
      const message = messageOf(of, deleted, { receiveCount: 4, ...changes });
      expect(await bench.handle(message)).toEqual([]);
      const { messageId, sender } = message;
      expect(bench.kept.lines).toMatchObject([
        { message: 'refusing a result: not acted on', fields: { messageId, sender, receiveCount: 4, detail } },
      ]);
    },
  );

  it('is told with the error where the API server could not be asked', async () => {
    const bench = new InboxBench();
    bench.pendings.clear();
    bench.cluster.before = () => {
      throw new Error('no answer');
    };
    expect(await bench.handle(messageOf(request, deleted))).toEqual([]);
    expect(bench.kept.lines).toMatchObject([
      {
        level: 'warn',
        message: 'handling a result: it stays in the queue',
        fields: { messageId: 'm-1', err: 'no answer' },
      },
    ]);
  });
});
