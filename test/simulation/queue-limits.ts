/*
 * What SQS refuses of a batch of messages: the whole of it, or single entries. Called by queue-port.ts for every send. Each was
 * seen on a server (test/e2e/agreement-queue.test.ts).
 */

const ENTRIES_MAX = 10;
/** All bodies of a call together. */
const BATCH_MAX_BYTES = 1_048_576;
const ENTRY_ID = /^[\w-]{1,80}$/;
/** What XML 1.0 has no place for. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** One entry. */
interface Entry {
  readonly id: string;
  readonly body: string;
}

/**
 * The ids of the entries that cannot be messages.
 * @throws Error whose name is the code with which the whole call is refused.
 */
export function refusedOf(entries: readonly Entry[]): ReadonlySet<string> {
  const code = codeOf(entries);
  if (code !== undefined) throw Object.assign(new Error(`sending ${entries.length} messages: ${code}`), { name: code });
  return new Set(entries.filter(({ body }) => FORBIDDEN.test(body)).map(({ id }) => id));
}

function codeOf(entries: readonly Entry[]): string | undefined {
  if (entries.length === 0) return 'EmptyBatchRequest';
  if (entries.length > ENTRIES_MAX) return 'TooManyEntriesInBatchRequest';
  if (entries.some(({ id }) => !ENTRY_ID.test(id))) return 'InvalidBatchEntryId';
  if (new Set(entries.map(({ id }) => id)).size < entries.length) return 'BatchEntryIdsNotDistinct';
  const bytes = entries.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  return bytes > BATCH_MAX_BYTES ? 'BatchRequestTooLong' : undefined;
}
