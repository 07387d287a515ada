/*
 * A record that cannot be read, cut off by an editor or without whose it is: it is never taken for none, since it said what was
 * requested (P1). One that names another object, or that was there before the deletion began, holds nothing (V14).
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { countsFor, type Record, readRecord, readRecordOfAnyRule } from '../../bridge/record.ts';
import { RETRY_PREFIX } from '../../bridge/words.ts';
import { deletingMeta, metaOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { asked, KEY, plain, text, UNREAD } from '../support/written-records.ts';

const rule = { name: RULE, uid: 'rule-uid' };
const HOUR = 3_600_000;

describe('a record', () => {
  it.each([
    ['cut off at its end', text.slice(0, -1), 'uid-logs'],
    ['cut off after its uid', text.slice(0, text.indexOf(',"ruleUid"')), 'uid-logs'],
    ['cut off in its uid', text.slice(0, text.indexOf('-logs')), ''],
    ['empty', '', ''],
    ['no JSON', '{', ''],
    ['a list', '[]', ''],
    ['a text', '"gone"', ''],
    ['null', 'null', ''],
    ['without a uid', JSON.stringify({ ...plain, uid: undefined }), ''],
    ['of an empty uid', JSON.stringify({ ...plain, uid: '' }), ''],
    ['of a uid that is a number', JSON.stringify({ ...plain, uid: 7 }), ''],
    ['without the uid of a rule', JSON.stringify({ ...plain, ruleUid: 7 }), 'uid-logs'],
    ['spelt with room and cut off', '{ "uid" : "uid-logs", ', 'uid-logs'],
  ])('that is %s says that nobody knows what was requested, under whichever rule (P1)', (_what, damaged, named) => {
    const meta = deletingMeta({ annotations: { [KEY]: damaged, [`${RETRY_PREFIX}${RULE}`]: 'uid-logs/1' } });
    const read = readRecord(meta, rule);
    expect(read).toEqual({
      ...{ phase: 'Pending', reason: 'Requested', since: meta.deletionTimestamp },
      message: 'a record was written here that this version cannot read whole',
      ...{ uid: named, ruleUid: '', retry: '1', targets: [UNREAD], unknownTarget: true },
    });
    expect(readRecord(meta, { ...rule, uid: 'younger-rule' })).toBe(read);
    expect(readRecord(meta, { ...rule, name: 'other-rule' })).toBeUndefined();
  });

  it.each([
    ['whole', text],
    ['cut off', text.slice(0, -1)],
    ['of no rule', JSON.stringify({ ...plain, ruleUid: 7 })],
  ])('of another object, %s, counts for nothing (V14)', (_what, written) => {
    const meta = deletingMeta({ uid: 'uid-2', annotations: { [KEY]: written } });
    expect(readRecordOfAnyRule(meta, RULE)).toBeUndefined();
  });

  it('that is damaged is of the time of the object, as long as that is not deleted', () => {
    const meta = metaOf({ annotations: { [KEY]: '{' } });
    expect(readRecord(meta, rule)?.since).toBe(meta.creationTimestamp);
  });

  it('that names nobody counts for who does not know what was sent, and one that names its object for everybody', () => {
    const [nobodys, own] = [{ ...plain, uid: '' }, plain];
    const counts = (record: Record) => [true, false].map((knowsAllSent) => countsFor(record, { knowsAllSent }));
    expect(counts(nobodys)).toEqual([false, true]);
    expect(counts(own)).toEqual([true, true]);
  });

  it('that was written without a rule counts under any where it names what was requested (V10)', () => {
    const under = (...targets: Record['targets']) => read({ targets });
    const read = (changes: Partial<Record>) => {
      const annotations = { [KEY]: JSON.stringify({ ...plain, ruleUid: '', ...changes }) };
      return readRecord(deletingMeta({ annotations }), rule)?.targets;
    };
    const met = { ...asked, requested: false };
    expect(under(met, asked)).toEqual([met, asked]);
    expect(under(met)).toBeUndefined();
    expect(read({ targets: [], unknownTarget: true })).toEqual([]);
  });

  it('of no rule, which says that nothing is unknown, is of none that comes later', () => {
    const empty = { ...plain, ruleUid: '', targets: [] };
    const meta = deletingMeta({ annotations: { [KEY]: JSON.stringify(empty) } });
    expect(readRecordOfAnyRule(meta, RULE)).toEqual(empty);
    expect(readRecord(meta, rule)).toBeUndefined();
  });
});

/** Writes over the record of an object, as somebody with an editor does. */
function damage(scene: Scene, damaged: (written: string) => string, bucket = 'another-bucket'): void {
  scene.cluster.change('logs', ({ metadata, ...rest }) => {
    const annotations = { ...metadata.annotations, [KEY]: damaged(metadata.annotations?.[KEY] ?? '') };
    return { ...rest, metadata: { ...metadata, annotations }, spec: { bucket } };
  });
}

/** A bridge asks for a target and writes that down; then it ends, and the object names another one. */
async function damagedAfter(damaged: (written: string) => string, bucket?: string): Promise<Scene> {
  const first = await Scene.start();
  await first.deleted();
  await first.clock.advance(31_000);
  expect(first.record()?.targets).toMatchObject([{ requested: true }]);
  await first.bridge.stop();
  damage(first, damaged, bucket);
  return first;
}

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const DAMAGES = [
  ['cut off', (written: string) => written.slice(0, -9)],
  ['empty', () => ''],
  ['without a uid', (written: string) => written.replace('"uid":', '"of":')],
] as const;

describe('a deletion whose record was damaged', () => {
  it.each(DAMAGES)('and is %s asks for no other target until a person says so (P1)', async (_what, damaged) => {
    const second = await Scene.start({ after: await damagedAfter(damaged) });
    await second.clock.advance(3 * HOUR);
    expect(second.standing()).toBe('Held TargetChanged');
    expect(second.record()).toMatchObject({ uid: 'uid-logs', ruleUid: `uid-of-${RULE}`, unknownTarget: true });
    expect(second.record()?.message).toContain('its record could not be read whole');
    expect(second.requests).toHaveLength(1);

    second.cluster.annotate('logs', `${RETRY_PREFIX}${RULE}`, 'uid-logs/1');
    await second.clock.advance(60_000);
    expect(second.request.data.target.bucket).toBe('another-bucket');
    await second.answer(gone);
    await second.clock.advance(3 * HOUR);
    expect(second.finalizers()).not.toEqual([]);

    second.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    await second.clock.advance(24 * HOUR);
    expect(second.cluster.peek('logs')).toBeUndefined();
  });

  it('is not let go by the answer about one target either: the record may have named two (P1)', async () => {
    const first = await damagedAfter((written) => written.slice(0, -9), 'team-a-logs');
    const second = await Scene.start({ after: first });
    await second.answer(gone);
    expect(second.standing()).toBe('Held TargetChanged');
    expect(second.finalizers()).not.toEqual([]);
  });

  it('has that kept by a bridge that lacks the rule, for when the rule comes back (P1, P5)', async () => {
    const first = await damagedAfter(() => '{');
    const second = await Scene.start({ after: first, rules: [ruleOf({}, 'another')] });
    await second.clock.advance(120_000);
    await second.bridge.stop();
    const third = await Scene.start({ after: second });
    await third.clock.advance(3 * HOUR);
    expect(third.standing()).toBe('Held TargetChanged');
    expect(third.requests).toHaveLength(1);
  });

  it('goes on by itself where the bridge knows what was sent, and has the record written anew (P4)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.clock.advance(31_000);
    const before = scene.record();
    damage(scene, (written) => written.slice(0, -9), 'team-a-logs');
    await scene.clock.advance(180_000);
    expect(scene.record()).toMatchObject({ targets: before?.targets, reason: before?.reason });
    expect(scene.record()).not.toHaveProperty('unknownTarget');
    await scene.answer(gone);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it.each([
    ['damaged, naming nobody', '{"phase":"Held"'],
    ['whole', text.replace('uid-logs', 'uid-of-another')],
    ['damaged', text.replace('uid-logs', 'uid-of-another').slice(0, -1)],
  ])('before it began, as by a copy that brought the record along %s, is not held (V14)', async (_what, copied) => {
    const scene = await Scene.start();
    await scene.deleted({ annotations: { [KEY]: copied } });
    expect(scene.requests).toHaveLength(1);
    await scene.answer(gone);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('a record in which somebody has written more retries than it can hold', () => {
  it.each([999_999, 1_000_000, 1_000_001, 9e99])(
    'as %d, is no obstacle to the next retry: that is sent, and told of as any (P4)',
    async (retries) => {
      const world = await damagedAfter((written) => JSON.stringify({ ...JSON.parse(written), retries }), 'team-a-logs');
      const scene = await Scene.start({ after: world });
      for (const word of ['1', '2']) {
        const asked = scene.requests.length;
        scene.cluster.annotate('logs', `${RETRY_PREFIX}${RULE}`, `uid-logs/${word}`);
        await scene.clock.advance(120_000);
        expect(scene.requests).toHaveLength(asked + 1);
        expect(scene.record()).toMatchObject({ reason: 'Requested', message: 'waiting for the result', retry: word });
      }
      await scene.answer(gone);
      expect(scene.cluster.peek('logs')).toBeUndefined();
    },
  );
});
