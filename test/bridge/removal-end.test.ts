/*
 * How a deletion ends for people: what is told, logged and counted when an entry is off, by us or without us. A leak that is not told
 * is found by nobody (P7), and one told too many makes people deaf.
 */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../bridge/pending.ts';
import { finish, type Removing, remove } from '../../bridge/removal.ts';
import { counts, deletingMeta, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { factsWith, GONE, objectOf, prepare } from '../support/removal-scene.ts';

const digestOf = ({ evaluation }: Facts) => (evaluation?.target.kind === 'found' ? evaluation.target.digest : '');

const facts = factsWith('found');
const answer = { uid: 'uid-logs', target: digestOf(facts), rule: 'r', expires: 0, evidence: 'deleted' } as const;

describe('the end of a deletion', () => {
  it('that we brought about is counted with how long it took, and a happy one tells nobody (P8)', async () => {
    const { clock, reach, pending, told, kept } = prepare({ pending: { facts, gones: [answer] } });
    await clock.advance(2_500);
    await remove({ reach, pending }, GONE);
    const label = `${RULE} of buckets`;
    expect(await counts(reach.metrics.removed)).toEqual({ [`${label}/Gone`]: 1 });
    expect(await counts(reach.metrics.bypassed)).toEqual({});
    const sums = (await reach.metrics.duration.get()).values.filter(({ metricName }) => metricName?.endsWith('_sum'));
    expect(sums).toMatchObject([{ value: 2.5, labels: { rule: label, reason: 'Gone' } }]);
    expect([told, kept.lines]).toMatchObject([
      [],
      [
        {
          level: 'debug',
          fields: { rule: RULE, uid: 'uid-logs', seconds: 2.5 },
          message: 'removing finalizer from buckets/team-a/logs: done',
        },
      ],
    ]);
  });

  it('before it began, by a clock that was set back, took no time', async () => {
    const { clock, reach, pending } = prepare();
    clock.step(-60_000);
    await remove({ reach, pending }, GONE);
    const sums = (await reach.metrics.duration.get()).values.filter(({ metricName }) => metricName?.endsWith('_sum'));
    expect(sums).toMatchObject([{ value: 0 }]);
  });

  it.each([
    [{ ...GONE, evidence: 'absent' }, 'Warning', 'FoundNothing', 'the first look found nothing to delete'],
    [{ act: 'remove', reason: 'Released' }, 'Warning', 'Released', "released on a person's word, without teardown"],
    [{ act: 'remove', reason: 'Retained' }, 'Normal', 'Retained', 'the outside resource is kept, as the policy says'],
    [
      { act: 'remove', reason: 'TargetMissing' },
      ...['Warning', 'TargetMissing', 'released, the object never got an outside resource'],
    ],
  ] as const)('by %j is told (P7)', async (decision, type, reason, words) => {
    const { reach, pending, told } = prepare();
    await remove({ reach, pending }, decision);
    expect(told).toEqual([{ type, reason, action: 'Teardown', message: `${RULE}: ${words}` }]);
    expect(await counts(reach.metrics.removed)).toEqual({ [`${RULE} of buckets/${decision.reason}`]: 1 });
  });

  it("on a person's word is told with the reason that the person gave", async () => {
    const annotations = { [`reason.finalizer-bridge.dev/${RULE}`]: 'uid-logs/kept for the audit' };
    const meta = deletingMeta({ finalizers: [ENTRY], annotations });
    const { reach, pending, told } = prepare({ pending: { meta } });
    await remove({ reach, pending }, { act: 'remove', reason: 'Released' });
    expect(told[0]?.message).toBe(`${RULE}: released on a person's word, without teardown: kept for the audit`);
  });

  it('is told once: an old list that shows the object again tells nothing more', async () => {
    const { reach, pending, told, kept } = prepare({ pending: { wasOver: true } });
    await remove({ reach, pending }, { act: 'remove', reason: 'Released' });
    expect([told, kept.lines, await counts(reach.metrics.removed)]).toEqual([[], [], {}]);
  });

  it('that the watch has shown already is not waited for, and is known for what comes late', async () => {
    const isWaitedFor = ({ reach, pending }: ReturnType<typeof prepare>) => {
      finish(reach, pending, 'object');
      const asked: unknown[] = [];
      reach.finished.seenAll((over) => asked.push(over) > 0);
      return [asked.length, reach.finished.has(pending.key)];
    };
    expect(isWaitedFor(prepare({ pending: { doubted: true } }))).toEqual([0, true]);
    expect(isWaitedFor(prepare())).toEqual([1, true]);
  });
});

describe('an entry that is off without us', () => {
  it.each([
    ['object', 'the object is gone'],
    ['entry', 'the entry is gone from the object'],
  ] as const)('with the %s is told as a leak, with the target (K27, P1)', async (what, words) => {
    const { reach, pending, told, settled } = prepare({ pending: { facts } });
    finish(reach, pending, what);
    const target = '{"bucket":"team-a-logs","region":"eu-central-1","account":"111122223333"}';
    const message = `${RULE}: ${words} before a result came; the outside resource may have leaked: ${target}`;
    expect(told).toEqual([{ type: 'Warning', reason: 'Bypassed', action: 'Teardown', message }]);
    expect(await counts(reach.metrics.bypassed)).toEqual({ [`${RULE} of buckets`]: 1 });
    expect([await counts(reach.metrics.removed), settled]).toEqual([{}, [true, true]]);
  });

  it.each([
    ['was never read', {}],
    ['was never read, though one is gone', { gones: [answer] }],
    ['could not be computed without a rule', { facts: { ...facts, rule: undefined, evaluation: undefined } }],
    ['has none', { facts: factsWith('missing') }],
    ['has another than the one that is gone', { facts, gones: [{ ...answer, target: 'another' }] }],
    ['is another object than the one of the result', { facts, gones: [{ ...answer, uid: 'uid-2' }] }],
  ])('is told as a leak too when its target %s', async (_what, changes) => {
    const { reach, pending, told } = prepare({ pending: changes });
    finish(reach, pending, 'object');
    expect(told.map(({ reason }) => reason)).toEqual(['Bypassed']);
    expect(told[0]?.message.endsWith('may have leaked')).toBe(!('gones' in changes && 'facts' in changes));
  });

  it('after its target was said to be gone has leaked nothing: somebody else was faster', async () => {
    const { reach, pending, told, kept } = prepare({
      pending: { facts, gones: [{ ...answer, target: 'another' }, answer] },
    });
    finish(reach, pending, 'entry');
    expect(told).toEqual([]);
    expect(await counts(reach.metrics.removed)).toEqual({ [`${RULE} of buckets/Elsewhere`]: 1 });
    expect(await counts(reach.metrics.bypassed)).toEqual({});
    expect(kept.lines).toEqual([
      {
        level: 'info',
        fields: { rule: RULE, uid: 'uid-logs', seconds: 0 },
        message: 'removing finalizer from buckets/team-a/logs: somebody else was faster',
      },
    ]);
  });

  it('names as much of a long target as people need', () => {
    const { reach, pending, told } = prepare({ pending: { facts } });
    const long = { ...objectOf(), spec: { bucket: 'b'.repeat(1_000) } };
    pending.facts = { ...facts, object: long, evaluation: ruleOf().evaluate(long) };
    finish(reach, pending, 'object');
    expect(told[0]?.message.split('leaked: ')[1]).toHaveLength(512);
  });
});

it('an entry is seen to be ours by the removal that was sent, also when its answer was lost', async () => {
  const { reach, pending, told } = prepare();
  const failing: Removing = {
    ...reach,
    cluster: {
      ...reach.cluster,
      patch: async () => {
        throw new Error('the answer was lost');
      },
    },
  };
  await expect(remove({ reach: failing, pending }, GONE)).rejects.toThrow('the answer was lost');
  finish(reach, pending, 'entry');
  expect(told).toEqual([]);
  expect(await counts(reach.metrics.removed)).toEqual({ [`${RULE} of buckets/Gone`]: 1 });
});
