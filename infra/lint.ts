/*
 * Entry of `npm run lint` and, with --write, of `npm run format`: Biome over the whole tree or over the paths given.
 * `npm run check` (check.ts) does the same check among others.
 */
import { parseArgs } from 'node:util';
import { runCommand } from './command.ts';
import { runTool } from './tool.ts';

const USAGE = `usage: npm run lint [-- PATHS]      format and lint of the whole tree, or of these paths
       npm run format [-- PATHS]    the same, mended where a tool can do it (--write)`;

await runCommand({
  usage: USAGE,
  read: (args) => parseArgs({ args: [...args], options: { write: { type: 'boolean' } }, allowPositionals: true }),
  run: ({ values, positionals }) => {
    const mode = values.write === true ? '--write' : '--error-on-warnings';
    return runTool('biome', ['check', mode, ...(positionals.length > 0 ? positionals : ['.'])]);
  },
});
