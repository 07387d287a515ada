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

const endToEnd = (names: readonly string[]) => names.map((name) => `test/e2e/${name}.test.ts`);

/** End-to-end tests that mostly wait: for leases, for the half minute before a label, for terms, for a rule to be withdrawn. */
const WAITING = endToEnd(['admission-condition', 'leader', 'rules-withdrawal', 'strays', 'terms']);

/** End-to-end tests on API servers of their own: most of them wait for all rules to be taken away. */
const LEAVING = endToEnd([
  ...['chart-install', 'chart-namespaces', 'docs-{first-day,on-call}', 'drain', 'drain-orders', 'guard-life'],
  ...['admission-leaving', 'demo', 'fire-restart', 'older-server'],
]);
/** Of these at a time: three wait while one works. */
const LEAVING_AT_ONCE = 4;

/** End-to-end tests of bridge and functions at work, and under fire. */
const TEARDOWN = endToEnd(['{bridge,fire,kill-points,handler,handlers}-*', 'dead-letters', 'local-stop']);

/** A condition that comes true costs no more time than it takes, on a busy machine as well. */
const expect = { poll: { timeout: 60_000, interval: 25 } } as const;

const onServers = {
  globalSetup: 'test/support/e2e-setup.ts',
  pool: 'forks',
  fileParallelism: false,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  restoreMocks: true,
  expect,
} as const;

const withoutServers = {
  pool: 'forks',
  testTimeout: 120_000,
  hookTimeout: 120_000,
  restoreMocks: true,
  expect,
} as const;

const SLOW = 'test/**/*.slow.test.ts';

const tallyFile = process.env.FINALIZER_BRIDGE_TALLY;

export default defineConfig({
  test: {
    teardownTimeout: 30_000,
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
          maxWorkers: 1,
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
      { test: { ...onServers, name: 'teardown', include: TEARDOWN, exclude: LEAVING, sequence: { groupOrder: 4 } } },
      { test: { ...onServers, name: 'waiting', include: WAITING, sequence: { groupOrder: 2 } } },
      {
        test: {
          ...onServers,
          name: 'leaving',
          globalSetup: 'test/support/e2e-setup-apart.ts',
          include: LEAVING,
          fileParallelism: true,
          maxWorkers: LEAVING_AT_ONCE,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
