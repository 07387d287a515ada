/*
 * All named scenarios, and all known-bad edits of the product with the scenario that has to catch each. Read by traps.test.ts,
 * which runs the scenarios against the product, and mutants.slow.test.ts, which runs them against the edits; the table of both in
 * docs/simulation.md is held against this list.
 */
import { fieldCases } from './cases.ts';
import type { Mutation } from './mutant.ts';
import { mutations } from './mutations.ts';
import { functionMutations } from './mutations-functions.ts';
import { leadingMutations } from './mutations-leading.ts';
import { messageMutations } from './mutations-messages.ts';
import { watchingMutations } from './mutations-watching.ts';
import type { Trap } from './trap.ts';
import { functionTraps } from './traps-functions.ts';
import { leadingTraps } from './traps-leading.ts';
import { messageTraps } from './traps-messages.ts';
import { overtakingTraps } from './traps-overtaking.ts';
import { ruleTraps } from './traps-rules.ts';
import { targetTraps } from './traps-targets.ts';
import { togetherTraps } from './traps-together.ts';
import { watchingTraps } from './traps-watching.ts';

/** The scenarios; several may have the id of one trap. */
export const scenarios: readonly Trap[] = [
  ...overtakingTraps,
  ...targetTraps,
  ...togetherTraps,
  ...watchingTraps,
  ...leadingTraps,
  ...messageTraps,
  ...functionTraps,
  ...ruleTraps,
  ...fieldCases,
];

/** The edits. */
export const knownBad: readonly Mutation[] = [
  ...mutations,
  ...watchingMutations,
  ...leadingMutations,
  ...messageMutations,
  ...functionMutations,
];
