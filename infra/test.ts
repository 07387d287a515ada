/*
 * Entry of `npm test`: everything that can be proven on this machine: format, lint, types, unit tests (JSON Schemas,
 * golden samples and the rules of the house are among them), then the end-to-end tests on real servers.
 * Its last line on stdout is `N passed, N failed`. `npm run check` (check.ts) is the quick part of it.
 */
import { runEntry } from './tool.ts';
import { endToEndTests, staticChecks, unitTests, verify } from './verify.ts';

await runEntry(() => verify([...staticChecks, unitTests, endToEndTests]));
