/*
 * The function as it is deployed, with the handler of benchmarks in place of a real one: `node infra/boot.mjs
 * test/bench/no-op-function.ts FILE` writes its bundle, so that functions of two trees can be compared (`npm run bench --
 * --function`). Used by stage.ts.
 */
import { resolve } from 'node:path';
import { bundle } from '../../infra/bundle.ts';

/** What the function is called. */
export const HANDLER = 'no-op';

const TEXT = `import { createEntry } from './functions/entry.ts';
import { noOp } from './test/bench/no-op.ts';
export const handler = createEntry(noOp);`;

/** Bundles it into a file; resolves to its absolute path. */
export async function bundleNoOp(outfile: string): Promise<string> {
  return (await bundle({ name: HANDLER, entry: { text: TEXT }, outfile: resolve(outfile) })).file;
}

if (import.meta.main) {
  const [, , outfile] = process.argv;
  if (outfile === undefined) throw new Error('bundling the function of benchmarks: into which file?');
  console.log(await bundleNoOp(outfile));
}
