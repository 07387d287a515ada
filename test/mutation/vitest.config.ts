/*
 * How vitest runs the tests over edited modules: those of modules.ts, in one process, without a report of its own.
 * Used by the mutation tester that infra/mutate.ts starts; the settings of the ordinary run are in vitest.config.ts above.
 */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { MUTATED } from './modules.ts';

export default defineConfig({
  test: {
    include: [...new Set(MUTATED.flatMap(({ tests }) => tests))],
    setupFiles: [join(import.meta.dirname, 'one-seed.ts')],
    pool: 'forks',
    testTimeout: 60_000,
    restoreMocks: true,
  },
});
