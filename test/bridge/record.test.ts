/*
 * The record on an object: what is written is read back, only by the deletion and the rule it is of. What a damaged one says is
 * in record-damaged.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectMeta, PatchOperation } from '../../bridge/ports.ts';
import {
  clipUtf8,
  RECORD_MESSAGE_MAX_BYTES,
  type Record,
  readRecord,
  readRecordUnder,
  recordKey,
  saysTheSame,
  writeRecord,
} from '../../bridge/record.ts';
import { applyPatch, PatchFailed } from '../simulation/json-patch.ts';
import { deletingMeta, metaOf, RULE } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';

const rule = { name: RULE, uid: 'rule-uid' };
const KEY = recordKey(RULE);
const digest = fc.stringMatching(/^[0-9a-f]{64}$/);
const time = fc
  .date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString());
const record: fc.Arbitrary<Record> = fc
  .record(
    {
      uid: fc.constant('uid-logs'),
      ruleUid: fc.constant('rule-uid'),
      phase: fc.constantFrom('Pending' as const, 'Held' as const),
      reason: fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,20}$/),
      message: fc.string({ unit: 'binary', maxLength: 100 }),
      since: time,
      firstPublished: time,
      next: time,
      retry: fc.string(),
      retries: fc.nat(1_000_000),
      unknownTarget: fc.boolean(),
      heard: fc.array(fc.string({ maxLength: 16 }), { maxLength: 4 }),
      targets: fc.array(fc.record({ target: digest, rule: digest, requested: fc.boolean(), started: fc.boolean() }), {
        maxLength: 3,
      }),
      refused: fc.record({
        ...{ target: digest, rule: digest, attempt: fc.nat(), retry: fc.nat(), due: time },
        reason: fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,20}$/),
        message: fc.string({ maxLength: 100 }),
      }),
    },
    { requiredKeys: ['uid', 'ruleUid', 'phase', 'reason', 'message', 'since', 'targets'] },
  )
  .map((value) => ({ ...value, message: value.message.replaceAll(/\p{Surrogate}/gu, '') }));

const plain: Record = {
  ...{ uid: 'uid-logs', ruleUid: 'rule-uid', phase: 'Held', reason: 'NotOwned', message: 'another owner' },
  ...{ since: '2026-03-02T09:30:00.000Z', targets: [] },
};

function written(meta: ObjectMeta, operations: readonly PatchOperation[]): ObjectMeta | undefined {
  try {
    return applyPatch({ metadata: meta }, operations).metadata;
  } catch (error) {
    if (error instanceof PatchFailed) return undefined;
    throw error;
  }
}

const annotations = fc.option(fc.dictionary(fc.constantFrom('a', 'b/c', KEY), fc.string(), { maxKeys: 3 }), {
  nil: undefined,
});

describe('a record', () => {
  it('is none where there are no annotations', () => {
    expect(
      readRecord({ name: 'logs', uid: 'uid-logs', resourceVersion: '1', creationTimestamp: '' }, rule),
    ).toBeUndefined();
  });

  it('is written under whatever name a rule has, as a path takes it', () => {
    const meta = { name: 'logs', uid: 'uid-logs', resourceVersion: '1', creationTimestamp: '', annotations: {} };
    const after = written(meta, writeRecord(meta, 'a~1b/c', plain));
    expect(Object.keys(after?.annotations ?? {})).toEqual([recordKey('a~1b/c')]);
  });

  it('cuts what a refusal said as it cuts its own message, and keeps the rest of the refusal', () => {
    const meta = { name: 'logs', uid: 'uid-logs', resourceVersion: '1', creationTimestamp: '', annotations: {} };
    const refused = {
      target: 'a'.repeat(64),
      rule: 'b'.repeat(64),
      attempt: 1,
      retry: 0,
      reason: 'NotOwned',
      due: plain.since,
    };
    const told = { ...plain, refused: { ...refused, message: 'x'.repeat(2_000) } };
    const after = written(meta, writeRecord(meta, RULE, told));
    expect(after && readRecord(after, rule)?.refused).toEqual({ ...refused, message: `${'x'.repeat(509)}…` });
  });

  it('is read back as it was written, over whatever annotations there were', () => {
    holds(
      fc.property(record, annotations, (told, before) => {
        const meta = deletingMeta({ annotations: before });
        const after = written(meta, writeRecord(meta, RULE, told));
        expect(after).toBeDefined();
        if (after === undefined) return;
        expect(readRecord(after, rule)).toEqual(told);
        const { [KEY]: _ours, ...others } = after.annotations ?? {};
        const { [KEY]: _old, ...untouched } = before ?? {};
        expect(others).toEqual(untouched);
        expect(saysTheSame(readRecord(after, rule), told)).toBe(true);
      }),
    );
  });

  it('of one sight is read once, however often a look asks for it (P8)', () => {
    const meta = deletingMeta({ annotations: { [KEY]: JSON.stringify(plain) } });
    const first = readRecord(meta, { ...rule, uid: plain.ruleUid });
    expect(first).toEqual(plain);
    expect(readRecord(meta, { ...rule, uid: plain.ruleUid })).toBe(first);
  });

  it('is written only over what was read, on the very object that was read', () => {
    const meta = deletingMeta({ annotations: { [KEY]: 'old' } });
    const operations = writeRecord(meta, RULE, plain);
    expect(written(meta, operations)).toBeDefined();
    expect(written({ ...meta, uid: 'uid-2' }, operations)).toBeUndefined();
    expect(written({ ...meta, annotations: { [KEY]: 'newer' } }, operations)).toBeUndefined();
    expect(written({ ...meta, annotations: {} }, operations)).toBeUndefined();
    expect(operations.map(({ op }) => op)).toEqual(['test', 'test', 'test', 'replace']);
  });

  it("takes nobody else's annotations away where it was seen without any, as another version of the kind may show it (P3)", () => {
    const meta = deletingMeta({ annotations: undefined });
    const operations = writeRecord(meta, RULE, plain);
    expect(written(meta, operations)?.annotations).toHaveProperty([KEY]);
    expect(written({ ...meta, annotations: { 'cluster.x-k8s.io/conversion-data': '{}' } }, operations)).toBeUndefined();
  });

  it('of another object or another rule of that name says nothing: annotations travel with copies (V14)', () => {
    const meta = deletingMeta({ annotations: { [KEY]: JSON.stringify(plain) } });
    expect(readRecord(meta, rule)).toEqual(plain);
    expect(readRecord({ ...meta, uid: 'uid-2' }, rule)).toBeUndefined();
    expect(readRecord(meta, { ...rule, uid: 'younger-rule' })).toBeUndefined();
    expect(readRecord(meta, { ...rule, name: 'other-rule' })).toBeUndefined();
  });

  it.each([
    ['as many words as there are', ['release wait', 'approve', 'a', 'b'], true],
    ['the longest that a word may be', ['x'.repeat(16)], true],
    ['more words than there are', ['a', 'b', 'c', 'd', 'e'], false],
    ['a longer one', ['x'.repeat(17)], false],
  ])('is none of ours where it says to have heard %s: %s', (_what, heard, isOurs) => {
    const written = { uid: 'uid-logs', ruleUid: 'rule-uid', phase: 'Held', reason: 'NotOwned', message: 'no' };
    const text = JSON.stringify({ ...written, since: '2026-01-01T00:00:00Z', targets: [], heard });
    expect(readRecord(metaOf({ uid: 'uid-logs', annotations: { [KEY]: text } }), rule)?.heard).toEqual(
      isOurs ? heard : undefined,
    );
  });

  it('is read under the rule that there is, and whichever it was of where there is none (V14)', () => {
    const of = { meta: deletingMeta({ annotations: { [KEY]: JSON.stringify(plain) } }), rule: RULE };
    expect(readRecordUnder(rule, of)).toEqual(plain);
    expect(readRecordUnder({ ...rule, uid: 'younger-rule' }, of)).toBeUndefined();
    expect(readRecordUnder(undefined, of)).toEqual(plain);
  });

  it('that somebody scribbled on never breaks reading', () => {
    const scribbled = fc.oneof(
      fc.string(),
      fc.json(),
      fc.tuple(fc.nat({ max: 200 }), fc.string({ maxLength: 3 })).map(([at, text]) => {
        const whole = JSON.stringify(plain);
        return whole.slice(0, at) + text + whole.slice(at + 1);
      }),
    );
    holds(
      fc.property(scribbled, (text) => {
        const read = readRecord(metaOf({ annotations: { [KEY]: text } }), rule);
        // Scribbled over, it is of another object or rule, or says that nobody knows what was requested.
        if (read === undefined) return;
        expect(['uid-logs', '']).toContain(read.uid);
        if (read.ruleUid !== 'rule-uid') expect(read).toMatchObject({ ruleUid: '', unknownTarget: true });
      }),
      { numRuns: 1_000 },
    );
  });

  it('says the same when only the next look moved, and something else when anything else did', () => {
    const target = { target: 'a'.repeat(64), rule: 'b'.repeat(64), requested: true, started: false };
    const told: Record = { ...plain, targets: [target], next: '2026-03-02T10:00:00.000Z' };
    expect(saysTheSame(told, { ...told, next: '2026-03-02T11:00:00.000Z' })).toBe(true);
    expect(saysTheSame(told, { ...told, targets: [{ ...target, started: true }] })).toBe(false);
    expect(saysTheSame(told, { ...told, message: 'other' })).toBe(false);
    expect(saysTheSame(undefined, told)).toBe(false);
  });

  it('keeps its message to 512 bytes, and says the same as the longer one it was cut from', () => {
    const meta = deletingMeta();
    const long = { ...plain, message: 'é'.repeat(1_000) };
    const after = written(meta, writeRecord(meta, RULE, long));
    const read = after === undefined ? undefined : readRecord(after, rule);
    expect(Buffer.byteLength(read?.message ?? '')).toBeLessThanOrEqual(RECORD_MESSAGE_MAX_BYTES);
    expect(read?.message.endsWith('é…')).toBe(true);
    expect(saysTheSame(read, long)).toBe(true);
  });
});

describe('cutting a text', () => {
  it('takes no character out of what it keeps, not even one that stands for another that could not be read', () => {
    expect(clipUtf8(`a\ufffdb${'x'.repeat(20)}`, 10)).toBe('a\ufffdbxx…');
    expect(clipUtf8('xxxx😀😀', 10)).toBe('xxxx…');
  });

  it('keeps to the bytes, never inside a character, and leaves short texts alone', () => {
    holds(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 3, max: 80 }), (raw, max) => {
        const text = raw.replaceAll(/\p{Surrogate}|\ufffd/gu, '');
        const cut = clipUtf8(text, max);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
        expect(cut).not.toContain('\ufffd');
        if (Buffer.byteLength(text) <= max) expect(cut).toBe(text);
        else {
          expect(cut.endsWith('…')).toBe(true);
          expect(text.startsWith(cut.slice(0, -1))).toBe(true);
          expect(Buffer.byteLength(cut)).toBeGreaterThan(max - 4);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
