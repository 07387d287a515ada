/*
 * Held objects as a rule's status names them: the one place, beside metrics and Events, where the bridge can say why an object
 * is held that the API server lets nobody write (P7). Read by rule-counts.ts and entry-facts.ts, which begin with the record.
 */
import * as z from 'zod/mini';
import type { KubeObject } from '../ports.ts';
import type { Record } from '../record.ts';

/** A held object, as its record or the rule's status says. */
export interface HeldObject {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly since: string;
  readonly message?: string | undefined;
}

const heldObjects = z.array(
  z.object({
    namespace: z.optional(z.string()),
    name: z.string(),
    uid: z.string(),
    reason: z.string(),
    since: z.string(),
    message: z.optional(z.string()),
  }),
);
const written = z.looseObject({ status: z.optional(z.looseObject({ heldObjects: z.optional(heldObjects) })) });

/** Those that the bridge named when it last wrote the status: the first few, with what is said of those that say nothing themselves. */
export function heldInStatus(rule: KubeObject): readonly HeldObject[] {
  return written.safeParse(rule).data?.status?.heldObjects ?? [];
}

/** What the status says of an object and its record does not, or not yet; undefined where the record says as much. */
export function toldByStatus(
  held: readonly HeldObject[],
  uid: string,
  record: Pick<Record, 'phase' | 'reason' | 'since'> | undefined,
): HeldObject | undefined {
  const told = held.find((one) => one.uid === uid);
  if (told === undefined || record === undefined) return told;
  const isSame = record.phase === 'Held' && record.reason === told.reason;
  return !isSame && Date.parse(told.since) > Date.parse(record.since) ? told : undefined;
}
