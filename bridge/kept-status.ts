/*
 * What of a rule's status a later process goes by, and whether the API server has kept it: a definition of TeardownRule that
 * lacks a field drops it without a word. Only what the answer to a write shows is believed (P5). Pure; used by brake.ts before
 * anything is sent under a budget, and by rule-status.ts and rule-conditions.ts, which say it on the rule.
 */

/** The fields without which a later process would be less careful; whatever else is dropped is missed by people only. */
const RELIED_ON = ['observedGeneration', 'namespaces', 'lastAccepted', 'budget'] as const;
type ReliedOn = (typeof RELIED_ON)[number];

/** What is not safe any more without each. */
const LOST: Readonly<Record<ReliedOn, string>> = {
  observedGeneration: 'nobody could tell later that a bridge has begun with the rule',
  namespaces: 'nobody could tell later where its entries are',
  lastAccepted: 'after a restart no new object would get the entry while the latest generation is not accepted',
  budget: 'nothing new is sent, as what is taken from the budget could not be counted',
};

/** What is to be done about it. */
const REMEDY = 'apply the definition of TeardownRule that belongs to this release';

/** Whether all that was written is stored; the API server may have added to it. */
export function isKept(written: unknown, stored: unknown): boolean {
  if (written === stored) return true;
  if (typeof written !== 'object' || typeof stored !== 'object' || written === null || stored === null) return false;
  if (Array.isArray(written) || Array.isArray(stored)) {
    if (!Array.isArray(written) || !Array.isArray(stored) || written.length !== stored.length) return false;
    return written.every((member, index) => isKept(member, stored[index]));
  }
  const [mine, theirs]: [object, object] = [written, stored];
  return Object.entries(mine).every(([key, value]) => value === undefined || isKept(value, Reflect.get(theirs, key)));
}

/** What was written of the fields that a later process goes by, and is not stored as it was written. */
export function lostOf(written: object, stored: unknown): readonly ReliedOn[] {
  const kept = typeof stored === 'object' && stored !== null ? stored : {};
  return RELIED_ON.filter((field) => {
    const value: unknown = Reflect.get(written, field);
    return value !== undefined && !isKept(value, Reflect.get(kept, field));
  });
}

/** What is said of a rule whose status is not kept whole: cause, consequence, remedy. */
export function lostWords(lost: readonly ReliedOn[]): string {
  const fields = lost.map((field) => `status.${field} (${LOST[field]})`).join(', ');
  return `the API server does not keep ${fields}: ${REMEDY}`;
}

/** What is said of a deletion whose rule has a budget that cannot be counted. */
export const BUDGET_NOT_KEPT = `the budget cannot be counted, as the API server does not keep status.budget of the rule: ${REMEDY}; goes on by itself then, or when a person approves`;

/** Fields as `lostOf` names them. */
export type Lost = ReturnType<typeof lostOf>;
