/*
 * A record that a later version has written, and that this one comes to read after a rollback: it may say less than it said, and
 * never that less was requested (P1, P5).
 */
import { describe, expect, it } from 'vitest';
import { type Record, readRecord, recordKey } from '../../bridge/record.ts';
import { RETRY_PREFIX } from '../../bridge/words.ts';
import { deletingMeta, metaOf, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

const rule = { name: RULE, uid: 'rule-uid' };
const KEY = recordKey(RULE);
const plain: Record = {
  ...{ uid: 'uid-logs', ruleUid: 'rule-uid', phase: 'Held', reason: 'NotOwned', message: 'another owner' },
  ...{ since: '2026-03-02T09:30:00.000Z', targets: [] },
};

describe('a record', () => {
  const known = { target: 'a'.repeat(64), rule: 'b'.repeat(64), requested: true, started: false };
  const unread = { target: '0'.repeat(64), rule: '0'.repeat(64), requested: true, started: false };
  const refused = {
    ...{ target: 'a'.repeat(64), rule: 'b'.repeat(64), attempt: 1, retry: 0 },
    ...{ reason: 'NotOwned', message: 'no', due: '2026-03-03T10:00:00.000Z' },
  };
  const rest = { firstPublished: '2026-03-02T10:00:00.000Z', retry: 'uid-logs/1', retries: 1, refused };
  const more = { unknownTarget: true, ...rest };

  it.each([
    ['a phase of its own', { phase: 'Gone' }, { targets: [known], unknownTarget: undefined, ...rest }],
    ['a time that is none', { since: 'yesterday' }, { targets: [known], ...rest }],
    ['more words than there are', { heard: ['a', 'b', 'c', 'd', 'e'] }, { targets: [known], ...rest }],
    ['another form of what it only tells', { retries: 'two', refused: {} }, { targets: [known], retries: undefined }],
    ['a target of another form', { targets: [known, { target: 'x' }] }, { targets: [known, unread], ...more }],
    ['no list of targets', { targets: { a: known } }, { targets: [unread], ...more }],
    ['a target that nobody knows in another form', { unknownTarget: { since: 1 } }, { targets: [known], ...more }],
    ['nothing of all that', { targets: undefined, firstPublished: 1 }, { targets: [unread] }],
  ])(
    'of a later version, with %s, says all that can be read, and that more was requested (P1)',
    (_what, other, says) => {
      const text = JSON.stringify({ ...plain, targets: [known], ...rest, form: 2, ...other });
      const meta = deletingMeta({ annotations: { [KEY]: text } });
      expect(readRecord(meta, rule)).toMatchObject({ phase: 'Pending', reason: 'Requested', ...says });
      expect(readRecord({ ...meta, uid: 'uid-2' }, rule)).toBeUndefined();
      expect(readRecord(meta, { ...rule, uid: 'younger-rule' })).toBeUndefined();
    },
  );

  it('of later, with another form of the last retry, takes the one that stands there for handled: it said nothing of this', () => {
    const text = JSON.stringify({ ...plain, targets: [known], retry: { word: '1' } });
    const meta = deletingMeta({ annotations: { [KEY]: text, [RETRY_PREFIX + RULE]: 'uid-logs/1' } });
    expect(readRecord(meta, rule)).toMatchObject({ retry: '1', targets: [known] });
    const unsaid = deletingMeta({ annotations: { [KEY]: text } });
    expect(readRecord(unsaid, rule)?.retry).toBeUndefined();
  });

  it('with fields that this version does not know is read like any other', () => {
    const later = { ...plain, targets: [{ ...known, place: 'there' }], form: 2 };
    expect(readRecord(metaOf({ annotations: { [KEY]: JSON.stringify(later) } }), rule)).toEqual({
      ...plain,
      targets: [known],
    });
  });
});

describe('a bridge that is rolled back to', () => {
  /** A bridge of a later version asks for a target and writes that down; then it ends, and the object names another one. */
  async function rolledBack(other: (record: object) => object, said?: string): Promise<Scene> {
    const first = await Scene.start();
    await first.deleted();
    if (said !== undefined) first.cluster.annotate('logs', RETRY_PREFIX + RULE, said);
    await first.clock.advance(31_000);
    expect(first.record()?.targets).toMatchObject([{ requested: true }]);
    await first.bridge.stop();
    first.cluster.change('logs', ({ metadata, ...rest }) => {
      const written = JSON.stringify({ ...first.record(), form: 2, ...other({ ...first.record() }) });
      const annotations = { ...metadata.annotations, [recordKey(RULE)]: written };
      return { ...rest, metadata: { ...metadata, annotations }, spec: { bucket: 'another-bucket' } };
    });
    return await Scene.start({ after: first });
  }

  it('takes no retry of before for a word about a target that came after it, nor for one that nobody knows (P1, V10)', async () => {
    const second = await rolledBack(() => ({ retry: { word: '1' } }), 'uid-logs/1');
    const asked = second.requests.length;
    await second.clock.advance(3 * 3_600_000);
    expect([second.standing(), second.requests.length]).toEqual(['Held TargetChanged', asked]);
    second.cluster.annotate('logs', RETRY_PREFIX + RULE, 'uid-logs/2');
    await second.clock.advance(60_000);
    expect(second.requests.length).toBe(asked + 1);
    await second.bridge.stop();

    const unknown = await rolledBack(() => ({ targets: [], unknownTarget: { since: 1 } }));
    await unknown.clock.advance(3 * 3_600_000);
    expect(unknown.standing()).toBe('Held TargetChanged');
    expect(unknown.requests).toHaveLength(1);
  });

  it.each([
    ['words that it does not know', () => ({ phase: 'Waiting' })],
    ['targets of another form', () => ({ targets: { first: 'in another form' } })],
  ])(
    'asks for no other target beside one that a record with %s names, until a person says so (P1)',
    async (_what, other) => {
      const second = await rolledBack(other);
      await second.clock.advance(3 * 3_600_000);
      expect(second.standing()).toBe('Held TargetChanged');
      expect(second.requests).toHaveLength(1);
      expect(second.finalizers()).not.toEqual([]);

      second.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
      await second.clock.advance(24 * 3_600_000);
      expect(second.cluster.peek('logs')).toBeUndefined();
    },
  );
});
