/*
 * Known-bad edits of what guards a function, and of how rules and their budgets are read; the scenario of traps-functions.ts or
 * traps-rules.ts that must catch each. Read by mutants.slow.test.ts beside those of mutations.ts.
 */
import type { Mutation } from './mutant.ts';

/** The edits. */
export const functionMutations: readonly Mutation[] = [
  {
    what: 'lets a proof of ownership count however old it is',
    file: 'functions/calls.ts',
    from: 'if (age > PROOF_MAX_AGE_MS) {',
    to: 'if (age === Number.POSITIVE_INFINITY) {',
    caughtBy: 'V13',
  },
  {
    what: 'starts what it cannot finish before the request expires',
    file: 'functions/guards.ts',
    from: 'if (left >= budget + CLOCK_SKEW_MS) return undefined;',
    to: 'if (left > 0) return undefined;',
    caughtBy: 'V17',
  },
  {
    what: 'is as lenient about clocks as the bridge',
    file: 'functions/guards.ts',
    from: 'if (left >= budget + CLOCK_SKEW_MS) return undefined;',
    to: 'if (left >= -CLOCK_SKEW_MS) return undefined;',
    also: [
      {
        file: 'bridge/contract/terms.ts',
        from: 'return now >= expires - CLOCK_SKEW_MS;',
        to: 'return now >= expires + CLOCK_SKEW_MS;',
      },
      {
        file: 'functions/run.ts',
        from: 'Date.parse(request.data.expires) - CLOCK_SKEW_MS,',
        to: 'Date.parse(request.data.expires) + CLOCK_SKEW_MS,',
      },
    ],
    caughtBy: 'V18',
  },
  {
    what: 'counts attempts from before the first',
    file: 'bridge/contract/terms.ts',
    from: 'return Math.max(0, Math.floor((now - began) / term));',
    to: 'return Math.floor((now - began) / term);',
    also: [
      {
        file: 'bridge/decide.ts',
        from: 'const attempt = Math.max(attemptAt(rule.terms, now), last?.attempt ?? 0);',
        to: 'const attempt = attemptAt(rule.terms, now);',
      },
      // By a clock that is behind the deletion has not begun yet, so that it is waited for as a grace period is.
      { file: 'bridge/decide.ts', from: 'if (now < see.graceEnds) return', to: 'if (now < 0) return' },
    ],
    caughtBy: 'V19',
  },
  {
    what: 'relies on the first of the requests that may still run',
    file: 'bridge/observe.ts',
    from: 'return ends.length === 0 ? undefined : Math.max(...ends);',
    to: 'return ends.length === 0 ? undefined : Math.min(...ends);',
    caughtBy: 'V20',
  },
  {
    what: 'uses tokens of a budget however long ago they were taken',
    file: 'bridge/brake.ts',
    from: 'const lapsesAt = block.takenAt + TOKEN_LIVES_MS;\n    if',
    to: 'const lapsesAt = Number.POSITIVE_INFINITY;\n    if',
    caughtBy: 'V21',
  },
  {
    what: 'acts on what it evaluated under the rule as it was before an edit',
    file: 'bridge/reconcile.ts',
    from: 'facts === undefined || doubted || facts.rule !== rule',
    to: 'facts === undefined || doubted || (facts.rule === undefined) !== (rule === undefined)',
    caughtBy: 'V23',
  },
];
