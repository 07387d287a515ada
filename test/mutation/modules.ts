/*
 * The modules on which the promises rest and that act only through what they are given, and the tests that have to notice any
 * edit of them that matters.
 * Read by infra/mutate.ts, which makes the edits (npm run mutate), and by vitest.config.ts beside this file.
 */

/** What is edited, by which tests it has to be noticed, and how many of the edits at least, in per cent. */
export interface Mutated {
  readonly file: string;
  readonly tests: readonly string[];
  readonly atLeast: number;
}

const bridgeTest = (name: string) => `test/bridge/${name}.test.ts`;
const functionTest = (name: string) => `test/functions/${name}.test.ts`;
const contractTests = ['decode', 'envelope', 'golden', 'results', 'schemas', 'terms'].map(
  (name) => `test/bridge/contract-${name}.test.ts`,
);
// The whole table (decide.test.ts) takes seconds for each of hundreds of edits: one combination in a hundred has to be enough.
const decideTests = ['decide-traps', 'decide-edges', 'decide-sampled', 'decide-properties'].map(bridgeTest);

/** From the most dangerous on: what lets go, what is believed, what is asked for, who may. */
export const MUTATED: readonly Mutated[] = [
  { file: 'bridge/decide.ts', tests: decideTests, atLeast: 95 },
  {
    file: 'bridge/observe.ts',
    tests: ['observe', 'observe-others', 'unknown-target', 'record-overwritten'].map(bridgeTest),
    atLeast: 95,
  },
  { file: 'bridge/removal.ts', tests: ['removal', 'removal-end'].map(bridgeTest), atLeast: 95 },
  { file: 'bridge/pending.ts', tests: ['test/bridge/pending.test.ts'], atLeast: 95 },
  { file: 'bridge/finalizer.ts', tests: ['test/bridge/finalizer.test.ts'], atLeast: 95 },
  {
    file: 'bridge/words.ts',
    tests: ['words', 'words-fuzz', 'person', 'telling', 'stray-acts'].map(bridgeTest),
    atLeast: 95,
  },
  {
    file: 'bridge/record.ts',
    tests: ['record', 'record-names', 'record-of-later', 'record-damaged'].map(bridgeTest),
    atLeast: 95,
  },
  { file: 'bridge/carried-record.ts', tests: ['test/bridge/carried-record.test.ts'], atLeast: 95 },
  { file: 'bridge/target.ts', tests: ['target', 'ownership'].map(bridgeTest), atLeast: 95 },
  { file: 'bridge/settling.ts', tests: ['test/bridge/settling.test.ts'], atLeast: 95 },
  { file: 'bridge/withdrawal-count.ts', tests: ['test/bridge/withdrawal-count.test.ts'], atLeast: 95 },
  { file: 'bridge/label-selector.ts', tests: ['test/bridge/label-selector.test.ts'], atLeast: 95 },
  { file: 'bridge/served.ts', tests: ['test/bridge/served.test.ts'], atLeast: 95 },
  { file: 'bridge/rule-namespaces.ts', tests: ['test/bridge/rule-namespaces.test.ts'], atLeast: 95 },
  { file: 'bridge/budget-blocks.ts', tests: ['test/bridge/budget-blocks.test.ts'], atLeast: 95 },
  {
    file: 'bridge/leader-state.ts',
    tests: ['leader-state', 'leader-change', 'leader'].map(bridgeTest),
    atLeast: 95,
  },
  { file: 'bridge/contests.ts', tests: ['test/bridge/contests-waits.test.ts'], atLeast: 95 },
  { file: 'bridge/doubling.ts', tests: ['test/bridge/doubling.test.ts'], atLeast: 95 },
  { file: 'bridge/granted-rights.ts', tests: ['test/bridge/granted-rights.test.ts'], atLeast: 95 },
  { file: 'bridge/slowness.ts', tests: ['test/bridge/slowness.test.ts'], atLeast: 95 },
  { file: 'bridge/contract/envelope.ts', tests: contractTests, atLeast: 95 },
  { file: 'bridge/contract/request.ts', tests: contractTests, atLeast: 95 },
  { file: 'bridge/contract/result.ts', tests: contractTests, atLeast: 95 },
  { file: 'bridge/contract/terms.ts', tests: ['test/bridge/contract-terms.test.ts'], atLeast: 95 },
  {
    file: 'bridge/contract/canonical.ts',
    tests: ['contract-canonical', 'contract-golden'].map(bridgeTest),
    atLeast: 95,
  },
  { file: 'bridge/contract/sender.ts', tests: ['test/bridge/contract-sender.test.ts'], atLeast: 95 },
  {
    file: 'bridge/inbox.ts',
    tests: ['inbox', 'inbox-elsewhere', 'inbox-outcomes', 'inbox-owed'].map(bridgeTest),
    atLeast: 95,
  },
  {
    file: 'functions/dispatch.ts',
    tests: ['dispatch-batch', 'dispatch-record', 'dispatch-timers', 'dispatch-told'].map(functionTest),
    atLeast: 95,
  },
  { file: 'functions/report.ts', tests: ['test/functions/report.test.ts'], atLeast: 95 },
  { file: 'functions/calls.ts', tests: ['calls', 'run'].map(functionTest), atLeast: 95 },
  { file: 'functions/run.ts', tests: ['run', 'run-ends'].map(functionTest), atLeast: 95 },
  { file: 'functions/guards.ts', tests: ['guards', 'guards-refusals', 'proof-fuzz'].map(functionTest), atLeast: 95 },
  { file: 'functions/ownership.ts', tests: ['ownership', 'proof-fuzz'].map(functionTest), atLeast: 95 },
  { file: 'functions/not-found-yet.ts', tests: ['test/functions/not-found-yet.test.ts'], atLeast: 95 },
  { file: 'functions/handlers/webhook/answer.ts', tests: ['test/functions/webhook-answers.test.ts'], atLeast: 94 },
  { file: 'functions/handlers/s3-bucket/policy-text.ts', tests: ['policy-text'].map(functionTest), atLeast: 95 },
  { file: 'functions/visibility.ts', tests: ['test/functions/visibility.test.ts'], atLeast: 95 },
  {
    file: 'functions/aws-errors.ts',
    tests: ['aws-errors', 'aws-errors-reading'].map(functionTest),
    atLeast: 95,
  },
];
