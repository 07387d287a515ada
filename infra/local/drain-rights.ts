/*
 * The rights that `drain` needs in a cluster, for an account that has no others (infra/rights): what the chart gives the hook
 * that runs before an uninstallation. Used by the local system, so that tests run under the very rights that
 * docs/leaving.md promises.
 */
import { drainNeeds, type Kind } from '../rights/rights.ts';
import { type Account, given } from './bridge-rights.ts';
import type { Manifest } from './kube-apply.ts';

/** Roles and bindings. `release`: it may also give held objects up. */
export function drainRights(
  kinds: readonly Kind[],
  account: Account,
  options: { readonly release?: boolean } = {},
): readonly Manifest[] {
  return given(`finalizer-bridge-drain-${account.namespace}-${account.name}`, account, drainNeeds(kinds, options));
}
