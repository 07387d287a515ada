/*
 * What the bridge's chart has to be told of somebody's own functions: their registry and values, and the outputs of the stack
 * that was deployed of them. Called by the command line (`finalizer-bridge bridge-values`) through ../kit.ts; for the
 * handlers of this package alone ../bridge-values.ts does the same.
 */
import { chartValues } from '../functions/bridge-papers.ts';
import { type BridgeSideOptions, loadBridgeSide } from './bridge-side.ts';

/** Which stack, and how its bridge finds its role. */
export interface BridgeValuesOptions extends BridgeSideOptions {
  /** Whether to name the bridge's role as well, for IRSA. */
  readonly withRole?: boolean | undefined;
}

/**
 * The chart's `cluster`, `queues`, `handlers` and `deadLetters`, as YAML.
 * @throws KitError, ValuesError with every fault, and Error naming the outputs that are missing
 */
export async function makeBridgeValues(options: BridgeValuesOptions): Promise<string> {
  const known = await loadBridgeSide(options);
  return chartValues({ ...known, withRole: options.withRole ?? false });
}
