/*
 * What people who keep handlers in a repository of their own import, as `finalizer-bridge/infra`: for their serverless.yml
 * `serverless`, for the command line `init`, `dev`, `bridgeValues` and `bridgePolicy`. What is heavy is loaded when it is used.
 */
import type { BridgePolicyOptions } from './kit/bridge-policy.ts';
import type { BridgeValuesOptions } from './kit/bridge-values.ts';
import type { DevOptions, DevReport } from './kit/dev-report.ts';

export type { BridgePolicyOptions } from './kit/bridge-policy.ts';
export type { BridgeValuesOptions } from './kit/bridge-values.ts';
export type { DevOptions, DevReport } from './kit/dev-report.ts';
export { KitError } from './kit/error.ts';
export { type InitOptions, init } from './kit/init.ts';
export { type ServiceOptions, serverless } from './kit/serverless.ts';

/**
 * What the bridge's chart has to be told of the functions that were deployed of a project, as YAML.
 * @throws KitError for what is missing, ValuesError with every fault of the values.
 */
export async function bridgeValues(options: BridgeValuesOptions): Promise<string> {
  const { makeBridgeValues } = await import('./kit/bridge-values.ts');
  return await makeBridgeValues(options);
}

/**
 * What the role of a bridge may do with the functions that were deployed of a project, and how it trusts the bridge, as JSON.
 * @throws KitError for what is missing, ValuesError with every fault of the values.
 */
export async function bridgePolicy(options: BridgePolicyOptions): Promise<string> {
  const { makeBridgePolicy } = await import('./kit/bridge-policy.ts');
  return await makeBridgePolicy(options);
}

/** Sends one request to a handler and waits for its answer. @throws KitError for what is missing, and when no answer comes. */
export async function dev(options: DevOptions): Promise<DevReport> {
  const { runDev } = await import('./kit/dev.ts');
  return await runDev(options);
}
