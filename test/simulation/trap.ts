/*
 * What a named scenario is: a trap of the protocol (or a case from the field), walked into on purpose.
 * The lists are in traps-*.ts and cases.ts; traps.test.ts runs them against the product, mutants.slow.test.ts against mutants.
 */
import type { DeletionOptions } from './deletion.ts';
import { createWorld } from './deletion.ts';
import type { World } from './world.ts';
import type { Product } from './world-options.ts';

/** One named scenario. */
export interface Trap {
  /** The trap or case, `V1`. */
  readonly id: string;
  /** A sentence about behaviour. */
  readonly title: string;
  /** Runs it; resolves with what was broken, each replayable. */
  readonly run: (product?: Product) => Promise<readonly string[]>;
}

/** Makes a trap of a script over one world. The script notes what only it can know with `world.promises.note`. */
export function trap(
  id: string,
  title: string,
  script: { readonly options?: Partial<DeletionOptions>; readonly act: (world: World) => Promise<void> },
): Trap {
  return {
    id,
    title,
    async run(product) {
      const world = await createWorld({ seed: 7, ...script.options, ...(product === undefined ? {} : { product }) });
      await script.act(world);
      return world.promises.broken.length === 0 ? [] : [world.report()];
    },
  };
}

/** Notes a broken expectation of a scenario. */
export function expectIn(world: World, id: string, what: string, isTrue: boolean): void {
  if (!isTrue) world.promises.note(id, `expected ${what}`);
}
