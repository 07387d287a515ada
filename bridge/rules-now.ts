/*
 * The rules as the API server has them now, whatever this process remembers of them: for what is decided on all of them and cannot be
 * taken back. Another leader may have written one a moment ago, and a watch may be behind. Asked by kept-rights.ts before the rights
 * in a namespace are kept or given up, and by outgrown.ts.
 */
import { listAll } from './listing.ts';
import type { Cluster, KubeObject } from './ports.ts';
import { rulePath, TEARDOWN_RULES } from './teardown-rules.ts';

/** Reading takes a list of names, and a GET of each: a list shows no status. */
type Reading = Pick<Cluster, 'get' | 'list'>;

/**
 * Every rule, one after the other, those of the names in `first` before the others; whoever has seen enough stops. Throws when not
 * all of them can be read.
 */
export async function* rulesNow(cluster: Reading, first: ReadonlySet<string> = new Set()): AsyncGenerator<KubeObject> {
  const names: string[] = [];
  const listed = await listAll(cluster, TEARDOWN_RULES, ({ name }) => void names.push(name));
  if (listed !== 'listed') throw new Error(`reading all rules: ${listed}`);
  for (const name of [...names.filter((one) => first.has(one)), ...names.filter((one) => !first.has(one))]) {
    const rule = await cluster.get(rulePath(name));
    if (rule !== undefined) yield rule;
  }
}
