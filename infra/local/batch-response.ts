/*
 * What a function's answer means for its batch when partial batch responses are on (ReportBatchItemFailures). Pure.
 * By the Lambda developer guide, "Implementing partial batch responses", success and failure conditions. Used by event-source.
 */
import { z } from 'zod/mini';

export type BatchVerdict =
  /** Everything but `failed` (message ids) succeeded. */
  | { readonly kind: 'answered'; readonly failed: ReadonlySet<string> }
  /** The answer is not one that Lambda takes: the whole batch failed. */
  | { readonly kind: 'invalid'; readonly reason: string };

const nothing = z.nullable(z.object({ batchItemFailures: z.optional(z.null()) }));
const listed = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().check(z.minLength(1)) })) });

/** An absent, null or empty list means that all succeeded; anything that is not understood means that all failed. */
export function verdictOf(response: unknown, messageIds: readonly string[]): BatchVerdict {
  const wire = overTheWire(response);
  if (wire === unreadable) return { kind: 'invalid', reason: 'the answer is not JSON' };
  if (z.safeParse(nothing, wire).success) return { kind: 'answered', failed: new Set() };
  const parsed = z.safeParse(listed, wire);
  if (!parsed.success) return { kind: 'invalid', reason: 'batchItemFailures is not a list of itemIdentifiers' };
  const failed = new Set(parsed.data.batchItemFailures.map((one) => one.itemIdentifier));
  const stranger = [...failed].find((id) => !messageIds.includes(id));
  return stranger === undefined
    ? { kind: 'answered', failed }
    : { kind: 'invalid', reason: `itemIdentifier ${stranger} is not in the batch` };
}

const unreadable = Symbol('unreadable');

/** The runtime serialises the answer; no answer at all arrives as null. */
function overTheWire(response: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(response) ?? 'null');
  } catch {
    return unreadable;
  }
}
