/*
 * Entry of `npm run lint` and, with --write, of `npm run format`: Biome over the whole tree or over the paths given.
 * `npm run check` (check.ts) does the same check among others.
 */
import { parseArgs } from 'node:util';
import { runEntry, runTool } from './tool.ts';

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean' } }, allowPositionals: true });
const mode = values.write === true ? '--write' : '--error-on-warnings';
await runEntry(() => runTool('biome', ['check', mode, ...(positionals.length > 0 ? positionals : ['.'])]));
