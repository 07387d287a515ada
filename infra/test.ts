/*
 * Entry of `npm test`: everything that can be proven on this machine: format, lint, types, unit tests (JSON Schemas,
 * golden samples and the rules of the house are among them), then what takes long: end-to-end tests on real servers, builds,
 * sweeps of the simulation, edits of the pure modules that have changed.
 * Its last line on stdout is `N passed, N failed`. `npm run check` (check.ts) is the quick part of it.
 */
import { mutationTests } from './mutation.ts';
import { runEntry } from './tool.ts';
import { longTests, programs, staticChecks, unitTests, verify } from './verify.ts';

await runEntry(() => verify([...staticChecks, unitTests, programs, longTests, mutationTests]));
