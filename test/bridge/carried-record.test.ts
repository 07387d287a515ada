/*
 * What is written on an object where the rule is not there, or was not looked under: nothing that matters when it is back is lost,
 * and what was requested counts under whichever rule of the name comes next (P1, V10). A record of somebody else is left out (V14).
 */
import { describe, expect, it } from 'vitest';
import { carriedOver } from '../../bridge/carried-record.ts';
import { type Record, readRecord } from '../../bridge/record.ts';
import { deletingMeta, RULE } from '../support/bridge-builders.ts';
import { asked, KEY, plain, text, UNREAD } from '../support/written-records.ts';

const blank = { uid: 'uid-logs', ruleUid: '', targets: [] };

/** What is written without a rule over such an annotation. */
function carried(written: string | undefined, of: { knowsAllSent: boolean; seen?: Record['targets'] }) {
  const meta = deletingMeta(written === undefined ? {} : { annotations: { [KEY]: written } });
  return carriedOver(meta, { rule: RULE, seen: [], ...of });
}

describe('what is written without the rule', () => {
  it('is what stood there, with the uid of its object, if it counts', () => {
    expect(carried(undefined, { knowsAllSent: false })).toEqual(blank);
    expect(carried('{', { knowsAllSent: true })).toEqual(blank);
    expect(carried('{', { knowsAllSent: false })).toMatchObject({ ...blank, targets: [UNREAD], unknownTarget: true });
    expect(carried(text, { knowsAllSent: true })).toEqual(plain);
  });

  it('names what was requested meanwhile as well, each target once (V10)', () => {
    const other = { ...asked, target: 'c'.repeat(64) };
    const met = { ...asked, requested: false, started: true };
    expect(carried(text, { knowsAllSent: true, seen: [met, other] }).targets).toEqual([
      { ...asked, started: true },
      other,
    ]);
    expect(carried(text, { knowsAllSent: true, seen: [{ ...asked, rule: 'd'.repeat(64) }] }).targets).toHaveLength(2);
    expect(carried(undefined, { knowsAllSent: true, seen: [met] })).toEqual({ ...blank, targets: [met] });
    const onlyMet = { ...met, started: false };
    expect(carried(undefined, { knowsAllSent: true, seen: [onlyMet, onlyMet] }).targets).toEqual([onlyMet]);
  });

  it.each([
    ['of another target', { ...asked, target: 'c'.repeat(64) }, ''],
    ['of the same one, under another rule', { ...asked, rule: 'd'.repeat(64) }, ''],
    ['that stood there already', asked, 'rule-uid'],
    ['that was only met', { ...asked, target: 'c'.repeat(64), requested: false }, 'rule-uid'],
  ])('counts under any rule of the name where it tells of a request, %s (V10, V14)', (_what, seen, ruleUid) => {
    const written = { ...plain, ...carried(text, { knowsAllSent: true, seen: [seen] }) };
    expect(written.ruleUid).toBe(ruleUid);
    const meta = deletingMeta({ annotations: { [KEY]: JSON.stringify(written) } });
    const isRead = readRecord(meta, { name: RULE, uid: 'younger' }) !== undefined;
    expect(isRead).toBe(ruleUid === '');
  });

  it.each([
    ['twice the same', [asked, asked]],
    ['two in a form that cannot be read', [{ place: 'here' }, { place: 'there' }]],
  ])('counts under any rule of the name as well where it stood over %s (P1, V10)', (_what, targets) => {
    const seen = { ...asked, target: 'c'.repeat(64) };
    expect(carried(JSON.stringify({ ...plain, targets }), { knowsAllSent: true, seen: [seen] }).ruleUid).toBe('');
  });

  it('counts under any rule of the name where it tells of a request under a rule that could not be told (P1, V10)', () => {
    const unproven = { ...asked, rule: '0'.repeat(64) };
    const over = JSON.stringify({ ...plain, targets: [unproven] });
    expect(carried(over, { knowsAllSent: false, seen: [unproven] }).ruleUid).toBe('');
    expect(carried(over, { knowsAllSent: false, seen: [{ ...unproven, requested: false }] }).ruleUid).toBe('rule-uid');
    expect(carried(over, { knowsAllSent: false }).ruleUid).toBe('rule-uid');
  });
});
