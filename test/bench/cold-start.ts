/*
 * Entry of `npm run bench:cold-start`: of each function the size of its bundle, with and without the AWS SDK, and how long a
 * fresh Node.js takes to import it and make its handler, which is what Lambda bills as its init. Fails where a size is above
 * its budget; times depend on the machine and are only printed. `-- <runs>` says of how many starts the median is taken.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';
import { runEntry } from '../../infra/tool.ts';
import { type ColdStart, coldStartOf, faultsOf, tableOf } from './cold-starts.ts';

const RUNS = 11;

async function main([runs = String(RUNS)]: readonly string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-cold-start-'));
  try {
    const { bundles } = await buildFunctions(folder);
    const starts: ColdStart[] = [];
    for (const bundle of bundles) starts.push(coldStartOf(bundle, Number(runs)));
    console.log(tableOf(starts));
    const faults = starts.flatMap(faultsOf);
    for (const fault of faults) console.error(fault);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await runEntry(() => main(process.argv.slice(2)));
