/*
 * Lists of names for people: some of them, and how many more there are. One object can carry thousands of entries, all of
 * which somebody has made up. Used wherever names that come from objects are put into words.
 */

const NAMED_MAX = 20;

/** `a, b, c`, or the first of them `and 7 more`. */
export function fewOf(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return more > 0 ? `${names.slice(0, NAMED_MAX).join(', ')} and ${more} more` : names.join(', ');
}
