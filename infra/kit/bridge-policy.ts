/*
 * What the role of a bridge may do with somebody's own functions, and how it trusts the bridge's ServiceAccount. Called by the
 * command line (`finalizer-bridge bridge-policy`) through ../kit.ts; for the handlers of this package alone ../bridge-policy.ts
 * does the same.
 */
import { type BridgeAccount, bridgePapers } from '../functions/bridge-papers.ts';
import { type BridgeSideOptions, loadBridgeSide } from './bridge-side.ts';

/** Which stack, and where its bridge runs. */
export interface BridgePolicyOptions extends BridgeSideOptions {
  /** `finalizer-bridge` in namespace `finalizer-bridge` unless told. */
  readonly bridge?: Partial<BridgeAccount> | undefined;
  /** The cluster's OIDC issuer, for IRSA; without it that trust is left out. */
  readonly oidcProvider?: string | undefined;
}

/**
 * The policy of the bridge's role and its possible trust policies, as one JSON object.
 * @throws KitError, ValuesError with every fault, and Error naming the outputs that are missing
 */
export async function makeBridgePolicy({ bridge, oidcProvider, ...options }: BridgePolicyOptions): Promise<string> {
  const papers = bridgePapers(await loadBridgeSide(options), { bridge, oidcProvider });
  return `${JSON.stringify(papers, null, 2)}\n`;
}
