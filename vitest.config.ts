/*
 * How vitest finds and runs the tests. Without servers: `unit`, and `slow` for files named `*.slow.test.ts`, which take more
 * than a few seconds (builds, sweeps of the simulation, mutants) and which only `npm test` runs. On servers, four lanes, each
 * file by file over one API server of its own (test/support/e2e-setup.ts starts it before the first file and stops it after the
 * last): `teardown` for bridge and functions at work, `waiting` for files whose time goes by in the product's own waits, `e2e`
 * for all others; `leaving` for those that take all rules away or want a server of their own, some of them side by side.
 * Used by infra/test.ts and infra/check.ts, and directly by `vitest run <path>`.
 */
import { defineConfig } from 'vitest/config';
import { TallyReporter } from './infra/tally-reporter.ts';
import { longestFirst } from './test/support/longest-first.ts';

const endToEnd = (names: readonly string[]) => names.map((name) => `test/e2e/${name}.test.ts`);

/** End-to-end tests that mostly wait: for leases, for the half minute before a label, for terms, for a rule to be withdrawn. */
const WAITING = endToEnd(['admission-condition', 'kept-status', 'leader', 'rules-withdrawal', 'strays', 'terms']);

/** End-to-end tests on API servers of their own, the longest first: most of them wait for all rules to be taken away. */
const LEAVING = endToEnd([
  ...['chart-namespace-deleted', 'chart-install', 'chart-namespaces', 'docs-on-call', 'chart-widened'],
  ...['docs-first-day', 'guard-life', 'drain-orders', 'drain', 'demo'],
  ...['fire-restart', 'docs-deploy', 'admission-leaving', 'older-server'],
]);
/** Of these at a time: six wait while one works. */
const LEAVING_AT_ONCE = 7;

/** End-to-end tests of bridge and functions at work, and under fire. */
const TEARDOWN = endToEnd(['{bridge,fire,kill-points,handler,handlers}-*', 'dead-letters', 'local-stop']);

/** A condition that comes true costs little more time than it takes, and may take its time on a busy machine. */
const expect = { poll: { timeout: 60_000, interval: 50 } } as const;

/** Gives every run a folder for what it makes, which goes with it. */
const setUp = (...others: string[]) => ['test/support/run-set-up.ts', ...others];

const onServers = {
  globalSetup: setUp('test/support/e2e-setup.ts'),
  pool: 'forks',
  fileParallelism: false,
  // Files that follow one another share a process and the modules that it has loaded, as unit tests do.
  isolate: false,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  restoreMocks: true,
  expect,
} as const;

const withoutServers = {
  globalSetup: setUp(),
  pool: 'forks',
  testTimeout: 120_000,
  hookTimeout: 120_000,
  restoreMocks: true,
  expect,
} as const;

const SLOW = 'test/**/*.slow.test.ts';

/** What is begun first of the slow tests: each takes a quarter of a minute or more of a processor. */
const SLOWEST = [
  ...['simulation/fleet', 'infra/dockerfile', 'infra/pack', 'functions/s3-bucket-scale', 'infra/write-a-handler'],
  ...['infra/deploy', 'infra/kit-dev', 'infra/build', 'simulation/one-deletion', 'infra/kit-bridge-values'],
].map((name) => `test/${name}.slow.test.ts`);

const tallyFile = process.env.FINALIZER_BRIDGE_TALLY;

export default defineConfig({
  test: {
    teardownTimeout: 30_000,
    sequence: { sequencer: longestFirst([...LEAVING, ...SLOWEST]) },
    reporters: ['default', ...(tallyFile === undefined ? [] : [new TallyReporter(tallyFile)])],
    projects: [
      {
        test: {
          ...withoutServers,
          name: 'unit',
          // Half of the time went by in loading the same modules for each file; what a test changes it puts back.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', SLOW],
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...withoutServers,
          name: 'slow',
          include: [SLOW],
          exclude: ['test/e2e/**'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          globalSetup: setUp('test/support/behind-others.ts'),
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...onServers,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...TEARDOWN, ...WAITING, ...LEAVING],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...onServers,
          name: 'teardown',
          include: TEARDOWN,
          exclude: [...WAITING, ...LEAVING],
          sequence: { groupOrder: 4 },
        },
      },
      { test: { ...onServers, name: 'waiting', include: WAITING, sequence: { groupOrder: 2 } } },
      {
        test: {
          ...onServers,
          name: 'leaving',
          globalSetup: setUp('test/support/e2e-setup-apart.ts'),
          include: LEAVING,
          fileParallelism: true,
          maxWorkers: LEAVING_AT_ONCE,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
