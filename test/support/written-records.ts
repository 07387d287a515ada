/*
 * A record as it stands on an object, and what stands for targets of one that cannot be read. Used by the tests of damaged records
 * and of those that are written without their rule.
 */
import { type Record, recordKey } from '../../bridge/record.ts';
import { RULE } from './bridge-builders.ts';

/** The annotation. */
export const KEY = recordKey(RULE);
/** A target that was requested. */
export const asked = { target: 'a'.repeat(64), rule: 'b'.repeat(64), requested: true, started: false };
/** It names that target; its message looks like what names the uid. */
export const plain: Record = {
  ...{ phase: 'Held', reason: 'NotOwned', message: 'of "uid":"another"', since: '2026-03-02T09:30:00.000Z' },
  ...{ uid: 'uid-logs', ruleUid: 'rule-uid', targets: [asked] },
};
export const text = JSON.stringify(plain);
/** Any target that a damaged record may have named. */
export const UNREAD = { target: '0'.repeat(64), rule: '0'.repeat(64), requested: true, started: false };
