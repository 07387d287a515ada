/*
 * The part of the npm package for people who write handlers, as far as commands use it: loaded when one of them runs, so that
 * the command line stays one small file that works alone. Used by bridge-values.ts, bridge-policy.ts, dev.ts and init.ts.
 */
import * as z from 'zod/mini';
import { Failure } from './command.ts';

/** By name, so that no bundle takes it in. */
const KIT = 'finalizer-bridge/infra';
/** The name is nobody's at the registry yet: what would be installed by it is a stranger's. */
const ALONE =
  'this command comes with the npm package, and this file stands alone: "npm pack" in a checkout makes the package, ' +
  'and "node dist/cli/main.mjs" there has it';
/** What the kit throws for what a person can mend; its message says how. */
const EXPECTED = new Set(['KitError', 'ValuesError', 'ConfigError']);

const isFunction = (value: unknown) => typeof value === 'function';
const kitSchema = z.object({
  bridgePolicy: z.custom<(options: object) => Promise<unknown>>(isFunction),
  bridgeValues: z.custom<(options: object) => Promise<unknown>>(isFunction),
  dev: z.custom<(options: object) => Promise<unknown>>(isFunction),
  init: z.custom<(options: object) => Promise<unknown>>(isFunction),
});
export type Kit = z.output<typeof kitSchema>;

/** Uses the kit. Throws a Failure where it is not there, and for what it expects to go wrong. */
export async function withKit<T>(use: (kit: Kit) => Promise<T>): Promise<T> {
  try {
    return await use(kitSchema.parse(await import(KIT)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (EXPECTED.has(error.name)) throw new Failure(error.message, { cause: error });
    if (
      'code' in error &&
      error.code === 'ERR_MODULE_NOT_FOUND' &&
      error.message.includes(KIT.split('/', 1)[0] ?? '')
    ) {
      throw new Failure(ALONE, { cause: error });
    }
    throw error;
  }
}
