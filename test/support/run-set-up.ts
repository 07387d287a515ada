/*
 * Set-up of every project of vitest.config.ts, before any other: what the run makes lies in a folder of its own, which goes
 * when vitest ends, whatever its tests forgot. `npm test` (infra/verify.ts) has made one already.
 */
import { makeRunFolder, RUN_FOLDER } from '../../infra/run-folder.ts';

/** Called by vitest in its own process; the processes of the tests come after it, and inherit the variables. */
export function setup(): void {
  if (process.env[RUN_FOLDER] !== undefined) return;
  const place = makeRunFolder();
  Object.assign(process.env, place.environment('tests'));
  process.once('exit', place.remove);
}
