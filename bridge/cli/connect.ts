/*
 * The cluster that global flags choose, as kubectl chooses it, through the project's own HTTP. Called by program.ts once a
 * command is to run; nothing is sent before the command asks for something.
 */

import { createCluster } from '../cluster.ts';
import { createCredentials, loadKubeConfig, withHeaders } from '../cluster-credentials.ts';
import { createHttp } from '../cluster-http.ts';
import { createKinds } from '../cluster-kinds.ts';
import type { Clock } from '../ports.ts';
import { createCatalogue } from './catalogue.ts';
import { misused, type World } from './command.ts';
import { createDrainApi } from './drain/http.ts';
import type { Flags } from './program.ts';

/** How writes of the command line are signed in managedFields, and its Events. */
export const FIELD_MANAGER = 'finalizer-bridge-cli';

/** Counts nothing: a command is over before anybody would look. */
const uncounted = { apiCalls: { inc: () => {} } };

/** Connects. Throws a Failure when the kubeconfig does not have what the flags name. */
export function connect(flags: Flags, clock: Clock): World {
  const config = chosenConfig(flags);
  const { requestTimeout: timeout, namespace } = flags;
  const credentials = withHeaders(
    // A person may be logging in meanwhile, and says how long that may take.
    createCredentials(() => config, clock, timeout ?? 0),
    impersonation(flags),
  );
  const http = createHttp({ credentials, metrics: uncounted, clock, ...(timeout === undefined ? {} : { timeout }) });
  return {
    cluster: createCluster({ http, clock, identity: FIELD_MANAGER, fieldManager: FIELD_MANAGER }),
    kinds: createKinds(http),
    catalogue: createCatalogue(http),
    drainApi: createDrainApi(http),
    namespace: namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    isNamespaceGiven: namespace !== undefined,
  };
}

function chosenConfig({ kubeconfig, context, cluster, user }: Flags) {
  try {
    return loadKubeConfig(kubeconfig, { context, cluster, user });
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error));
  }
}

function impersonation({ as, asGroup = [] }: Flags): Readonly<Record<string, string | string[]>> {
  if (as === undefined && asGroup.length > 0) throw misused('--as-group needs --as');
  return {
    ...(as === undefined ? {} : { 'Impersonate-User': as }),
    ...(asGroup.length === 0 ? {} : { 'Impersonate-Group': asGroup }),
  };
}
