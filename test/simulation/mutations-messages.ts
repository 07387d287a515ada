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
    what: 'forgets that a target may have been asked for that nobody knows',
    file: 'bridge/observe.ts',
    from: 'mayBeAsked && target === undefined',
    to: 'false',
    caughtBy: 'V10',
  },
  {
    what: 'keeps in memory only that a target may have been asked for that nobody knows',
    file: 'bridge/recording.ts',
    from: '...(unknownTarget === true ? { unknownTarget } : {}),',
    to: '',
    caughtBy: 'V10',
  },
  {
    what: 'takes whatever stands in a record for its own',
    file: 'bridge/observe.ts',
    from: 'else recallOthers(pending, record, now);',
    to: '',
    caughtBy: 'V10',
  },
  {
    what: 'frees by the gone of what followed a target that nobody knows',
    file: 'bridge/decide.ts',
    from: 'if (see.unknownTarget) return undefined;',
    to: '',
    caughtBy: 'V10',
  },
  {
    what: 'asks for a target that follows one that nobody knows',
    file: 'bridge/decide.ts',
    from: "if (see.unknownTarget) return hold('TargetChanged', unknown);",
    to: "if (see.unknownTarget && isKnown) return hold('TargetChanged', unknown);",
    caughtBy: 'V10',
  },
  {
    what: 'takes a record that does not say whose it is for none',
    file: 'bridge/record.ts',
    from: 'whole.uid === meta.uid || whole.uid === NONE_NAMED ? whole : undefined;',
    to: 'whole.uid === meta.uid ? whole : undefined;',
    caughtBy: 'V10',
  },
  {
    what: 'sends what a record that stands does not name',
    file: 'bridge/publishing.ts',
    from: '(isSecond && !isKnown) || isUnnamed;',
    to: '(isSecond && !isKnown);',
    caughtBy: 'V10',
  },
  {
    what: 'lets a result go before anything on the object names what it was about',
    file: 'bridge/standing.ts',
    from: 'run.hasResults ? pending.seen.filter((one) => !namesRequested(written, [one])) : []',
    to: '[]',
    caughtBy: 'V10',
  },
  {
    what: 'keeps a changed target in memory only',
    file: 'bridge/standing.ts',
    from: "const mustBeWritten = isOwed || (decision.reason === 'TargetChanged' && written?.reason !== 'TargetChanged');",
    to: 'const mustBeWritten = false;',
    also: [{ file: 'bridge/standing.ts', from: 'unnamed.length > 0', to: 'false' }],
    caughtBy: 'V8',
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
