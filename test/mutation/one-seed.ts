/*
 * Properties draw the same values for every edit and in every run, so that a module's score is the same as long as neither it nor
 * its tests change. Loaded before the tests by vitest.config.ts beside it; the ordinary run draws others each time.
 */
import * as fc from 'fast-check';

fc.configureGlobal({ seed: 1 });
