/*
 * Does something to each of many things, a few at once. Used where namespaces are gone over (noted-namespaces.ts,
 * kept-rights.ts), and by a drain for rules (run.ts), kinds (sweep.ts) and objects (rule-drain.ts, holding.ts).
 */

/** Resolves when all are done; a throw ends the one that threw it and is thrown in the end. */
export async function atOnce<T>(count: number, things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
  const next = things.values();
  const work = async () => {
    for (const thing of next) await act(thing);
  };
  await Promise.all(Array.from({ length: count }, work));
}
