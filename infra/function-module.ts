/*
 * The module that Lambda loads for one handler: the entry with that handler and no other; or for dead letters. Bundled by
 * build.ts; run as source by the local system, so that both start the very same thing.
 */
import { join } from 'node:path';
import { registry } from '../functions/registry.ts';
import { DEAD_LETTERS } from './functions/names.ts';

const root = join(import.meta.dirname, '..');

/**
 * The text of a function's entry module. Which export of the handler's file is the handler is asked of the registry, so
 * a handler's file may export more than that. `from` is how the module reaches the project's folder.
 * @throws Error when no such handler is registered, or its file does not export it.
 */
export async function functionModule(name: string, from = root): Promise<string> {
  if (name === DEAD_LETTERS) {
    return [
      `import { createDeadLetterEntry } from '${from}/functions/dead-letter-entry.ts';`,
      'export const handler = createDeadLetterEntry();',
    ].join('\n');
  }
  const handler = registry.find((registered) => registered.name === name);
  const file = `functions/handlers/${name}.ts`;
  if (handler === undefined) throw new Error(`making the module of function ${name}: the registry has no such handler`);
  const exported: Readonly<Record<string, unknown>> = await import(join(root, file));
  const [symbol] = Object.entries(exported).find(([, value]) => value === handler) ?? [];
  if (symbol === undefined) {
    throw new Error(`making the module of function ${name}: ${file} does not export what is registered`);
  }
  return [
    `import { createEntry } from '${from}/functions/entry.ts';`,
    `import { ${symbol} } from '${from}/${file}';`,
    `export const handler = createEntry(${symbol});`,
  ].join('\n');
}
