/*
 * Reads single counters from the bridge's metrics page, in the text format of Prometheus. Called by the acts and by
 * verdict.ts: what the bridge says it has done is held against what API server and cloud say.
 */

/** The sum of a counter over all its label sets that carry the given ones; 0 if there are none. */
export function counter(page: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const values = page.split('\n').flatMap((line) => {
    const [, found, given = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return found === name && wanted.every((label) => given.split(',').includes(label)) ? [Number(value)] : [];
  });
  return values.reduce((sum, value) => sum + value, 0);
}

/** Entries that the bridge took off, by why: Gone, Released, Retained, TargetMissing. */
export const REMOVED = 'finalizer_bridge_entries_removed_total';
/** Results that the bridge received, by what was done with them: Gone, Pending, Refused and others. */
export const RESULTS = 'finalizer_bridge_results_total';
