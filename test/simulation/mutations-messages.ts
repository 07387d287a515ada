/*
 * Known-bad edits of what messages say and are worth, and of the terms they are reckoned by; the scenario that must catch each.
 * Read by mutants.slow.test.ts beside those of mutations.ts.
 */
import type { Mutation } from './mutant.ts';

/** The edits. */
export const messageMutations: readonly Mutation[] = [
  {
    what: 'acts on a preview',
    file: 'bridge/contract/envelope.ts',
    from: 'parsed = JSON.parse(body);',
    to: "parsed = JSON.parse(body.replace('teardown.preview', 'teardown.result'));",
    caughtBy: 'Q12',
  },
  {
    what: 'counts a gone of any form of the rule',
    file: 'bridge/decide.ts',
    from: 'gone.uid !== see.uid || gone.rule !== rule.digest',
    to: 'gone.uid !== see.uid',
    caughtBy: 'V10',
  },
  {
    what: 'publishes requests that do not expire',
    file: 'bridge/contract/request.ts',
    from: 'expires: new Date(expiresAt(terms, number)).toISOString(),',
    to: 'expires: new Date(expiresAt(terms, number + 1_000)).toISOString(),',
    caughtBy: 'Q9',
  },
  {
    what: 'lets a release overtake a request',
    file: 'bridge/decide.ts',
    from: "if (see.release === 'now' || !mayStillRun(see, now))",
    to: "if (see.release !== 'none')",
    caughtBy: 'V1',
  },
];
