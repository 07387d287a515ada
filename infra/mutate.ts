/*
 * Entry of `npm run mutate`: edits all modules of test/mutation/modules.ts and says which edits no test notices; ends with 1
 * where a module's tests notice fewer than it demands. `-- --changed` takes those that the last commit or the working tree
 * has changed, `-- bridge/words.ts` those named. The work is done by mutation.ts.
 */
import { parseArgs } from 'node:util';
import { MUTATED, type Mutated } from '../test/mutation/modules.ts';
import { runCommand } from './command.ts';
import { changedModules, mutate } from './mutation.ts';

const USAGE = `usage: npm run mutate [-- OPTIONS] [FILES]
  --changed   only the modules that the last commit or the working tree has changed
  FILES       only these, as test/mutation/modules.ts names them`;

/** @throws TypeError, RangeError for what is no option, and no module */
function wanted(args: readonly string[]): readonly Mutated[] {
  const options = { changed: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const unknown = positionals.filter((path) => !MUTATED.some(({ file }) => file === path));
  if (unknown.length > 0) throw new RangeError(`${unknown.join(', ')}: not in test/mutation/modules.ts`);
  if (values.changed === true) return changedModules();
  return positionals.length > 0 ? MUTATED.filter(({ file }) => positionals.includes(file)) : MUTATED;
}

async function main(modules: readonly Mutated[]): Promise<number> {
  if (modules.length === 0) {
    console.log('no module of test/mutation/modules.ts has changed');
    return 0;
  }
  const scores = await mutate(modules);
  return scores.every(({ isEnough }) => isEnough) ? 0 : 1;
}

await runCommand({ usage: USAGE, read: wanted, run: main });
