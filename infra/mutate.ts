/*
 * Entry of `npm run mutate`: edits all modules of test/mutation/modules.ts and says which edits no test notices; ends with 1
 * where a module's tests notice fewer than it demands. `-- --changed` takes those that the last commit or the working tree
 * has changed, `-- bridge/words.ts` those named. The work is done by mutation.ts.
 */
import { parseArgs } from 'node:util';
import { MUTATED, type Mutated } from '../test/mutation/modules.ts';
import { changedModules, mutate } from './mutation.ts';
import { linesOf } from './mutation-report.ts';
import { runEntry } from './tool.ts';

function wanted(): readonly Mutated[] {
  const { values, positionals } = parseArgs({ options: { changed: { type: 'boolean' } }, allowPositionals: true });
  const unknown = positionals.filter((path) => !MUTATED.some(({ file }) => file === path));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: not in test/mutation/modules.ts`);
  if (values.changed === true) return changedModules();
  return positionals.length > 0 ? MUTATED.filter(({ file }) => positionals.includes(file)) : MUTATED;
}

await runEntry(async () => {
  const modules = wanted();
  if (modules.length === 0) {
    console.log('no module of test/mutation/modules.ts has changed');
    return 0;
  }
  const scores = await mutate(modules);
  for (const line of linesOf(scores)) console.log(line);
  return scores.every(({ isEnough }) => isEnough) ? 0 : 1;
});
