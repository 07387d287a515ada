/*
 * Does something to each of many things, a few at once.
 * Used where a drain goes over rules (run.ts), over kinds (sweep.ts) and over objects (rule-drain.ts, holding.ts).
 */

/** Resolves when all are done; a throw ends the one that threw it and is thrown in the end. */
export async function atOnce<T>(count: number, things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
  const next = things.values();
  const work = async () => {
    for (const thing of next) await act(thing);
  };
  await Promise.all(Array.from({ length: count }, work));
}
