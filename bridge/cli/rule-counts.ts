/*
 * What is pending and held under one rule: counted from the objects that carry its entry and the bridge's record on each,
 * or read from what the bridge last wrote into the rule's status. Called by status-report.ts.
 */
import * as z from 'zod/mini';
import { managersOf } from '../managed-fields.ts';
import type { KubeObject } from '../ports.ts';
import { readRecordOfAnyRule } from '../record.ts';
import type { Carriers } from './carriers.ts';
import { SILENT_MS } from './entry-facts.ts';
import { type HeldObject, heldInStatus, toldByStatus } from './held-objects.ts';
import { beganOf } from './subject.ts';
import { timeOf } from './times.ts';

/** Counts of one rule; undefined where nobody knows. */
export interface Counted {
  /** Live objects that carry the entry. */
  readonly live?: number | undefined;
  readonly pending?: number | undefined;
  readonly held?: number | undefined;
  readonly oldestPendingTime?: string | undefined;
  readonly heldObjects: readonly HeldObject[];
  /** Pending objects about which the bridge should have said something by now, and has not. */
  readonly silent: number;
  readonly counted:
    | { readonly from: 'objects'; readonly namespace?: string }
    | { readonly from: 'status'; readonly asOf?: string | undefined; readonly why: string };
}

/** Counts objects. `now` in ms since the epoch. */
export function countedFrom({ carried, scope }: Carriers, rule: KubeObject, now: number): Counted {
  const { name: called } = rule.metadata;
  const metas = carried.filter(({ rules }) => rules.includes(called)).map(({ meta }) => meta);
  const held = heldInStatus(rule);
  const pending = metas.flatMap((meta) => {
    const began = beganOf(meta);
    if (began === undefined) return [];
    const record = readRecordOfAnyRule(meta, called);
    return [{ meta, began, record, told: toldByStatus(held, meta.uid, record) }];
  });
  const heldObjects = pending.flatMap(({ meta: { namespace, name, uid }, record, told }): HeldObject[] => {
    if (told !== undefined) return [told];
    if (record?.phase !== 'Held') return [];
    const { reason, since, message } = record;
    return [{ namespace, name, uid, reason, since, message }];
  });
  const oldest = pending.reduce((first, { began }) => Math.min(first, began), Number.POSITIVE_INFINITY);
  return {
    ...{ live: metas.length - pending.length, pending: pending.length, held: heldObjects.length },
    oldestPendingTime: Number.isFinite(oldest) ? timeOf(oldest) : undefined,
    heldObjects: heldObjects.sort((left, right) => left.since.localeCompare(right.since)),
    silent: pending.filter(({ began, record, told }) => (record ?? told) === undefined && now - began > SILENT_MS)
      .length,
    counted: { from: 'objects', ...(scope.kind === 'namespace' ? { namespace: scope.namespace } : {}) },
  };
}

const written = z.looseObject({
  status: z.optional(
    z.looseObject({
      pending: z.optional(z.int()),
      held: z.optional(z.int()),
      oldestPendingTime: z.optional(z.string()),
    }),
  ),
});

/** What the bridge last wrote, and when, by managedFields. */
export function countedStatus(rule: KubeObject, why: string): Counted {
  const { status } = written.safeParse(rule).data ?? {};
  const times = managersOf(rule.metadata.managedFields).flatMap(({ subresource, time }) =>
    subresource === 'status' && time !== undefined ? [time] : [],
  );
  const { pending, held, oldestPendingTime } = status ?? {};
  return {
    ...{ pending, held, oldestPendingTime, heldObjects: heldInStatus(rule), silent: 0 },
    counted: { from: 'status', asOf: times.sort().at(-1), why },
  };
}
