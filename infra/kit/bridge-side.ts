/*
 * What somebody's own deployed functions are to a bridge: registry, values and outputs of the stack, of one cluster. Called by
 * bridge-values.ts and bridge-policy.ts beside it, which make papers of it.
 */
import { resolve } from 'node:path';
import type { KnownSide } from '../functions/bridge-papers.ts';
import { loadService } from '../functions/service.ts';
import { bridgeSide, clusterOf, readOutputs } from '../functions/stack-outputs.ts';
import { readValues } from '../functions/values.ts';
import { askForOutputs } from './ask-outputs.ts';
import { loadRegistry } from './registry.ts';

/** Which project, and which cluster of its values. Files are relative to the folder. */
export interface BridgeSideOptions {
  readonly folder: string;
  /** `registry.ts` unless told. */
  readonly registry?: string | undefined;
  /** `functions.values.yml` unless told; a stage has its own. */
  readonly values?: string | undefined;
  /** Name or uid of a cluster of the values; needed when there are several. */
  readonly cluster?: string | undefined;
  /** A file with the outputs of the stack; CloudFormation is asked unless told. */
  readonly outputs?: string | undefined;
}

/** @throws KitError, ValuesError with every fault, and Error naming the outputs that are missing */
export async function loadBridgeSide(options: BridgeSideOptions): Promise<KnownSide> {
  const folder = resolve(options.folder);
  const inFolder = (file: string | undefined) => (file === undefined ? undefined : resolve(folder, file));
  const { handlers } = await loadRegistry({ folder, file: options.registry });
  const example = 'the template of "finalizer-bridge init"';
  const where = { file: inFolder(options.values), folder, exampleAllowed: false, example };
  // Composed for its faults: those of the values, and of what would be made of them and the registry.
  loadService({ ...where, handlers });
  const { values } = readValues(
    where,
    handlers.map(({ name }) => name),
  );
  const cluster = clusterOf(values, options.cluster, '--for');
  const file = inFolder(options.outputs);
  const outputs = file === undefined ? await askForOutputs(folder, values) : readOutputs(file);
  return { side: bridgeSide(outputs, values, cluster), values, cluster };
}
