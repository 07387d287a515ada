/*
 * An error for a person: it and its causes on one line.
 * Used by demo.ts for what ends a run, and by local/binaries.ts for why one way to the servers after the other failed.
 */

/** An error and its causes in one line; of a message of many lines (a compiler's) the first, unless `whole`. */
export function explain(error: unknown, { whole = false } = {}): string {
  if (!(error instanceof Error)) return String(error);
  const said = whole ? error.message : (error.message.split('\n', 1)[0] ?? '');
  return error.cause === undefined ? said : `${said}: ${explain(error.cause, { whole })}`;
}
