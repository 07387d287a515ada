/*
 * Names of rules, and whether a rule may be called that: its entry must be a valid finalizer (K16, K24).
 * Held against the bridge's own schema and against the API server.
 */

/** The name and whether it is taken. */
export const ruleNameSamples: readonly (readonly [name: string, accepted: boolean])[] = [
  ['a', true],
  ['a'.repeat(63), true],
  ['team.buckets-1', true],
  ['1', true],
  ['a'.repeat(64), false],
  ['a'.repeat(253), false],
  ['Team', false],
  ['-a', false],
  ['a-', false],
  ['a..b', false],
  ['a_b', false],
  ['a/b', false],
];
