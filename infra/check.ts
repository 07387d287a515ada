/*
 * Entry of `npm run check`: what is known within a minute and without servers: format, lint, types, and the unit
 * tests but for those named `*.slow.test.ts`. For use between two edits; `npm test` (test.ts) is the whole.
 */
import { runEntry } from './tool.ts';
import { staticChecks, unitTests, verify } from './verify.ts';

await runEntry(() => verify([...staticChecks, unitTests]));
