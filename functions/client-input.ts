/*
 * What a function gives to the clients of the AWS SDK that its handlers make. Called by entry.ts, and by tests and trials.
 * One attempt: what is repeated is decided by calls.ts, and how long a call may take by its time-outs.
 */
import type { AwsClientInput } from './handler.ts';

/** How long a client waits, in ms. */
export interface ClientPatience {
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
}

/** A function's own: below the 30 s that the protocol reckons with for one call. */
export const FUNCTION_PATIENCE: ClientPatience = { connectionTimeout: 3_000, requestTimeout: 25_000 };

/** For a region, at an endpoint where one is named. */
export function clientInput(region: string, endpoint: string | undefined, patience: ClientPatience): AwsClientInput {
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 1,
    requestHandler: { ...patience, throwOnRequestTimeout: true },
  };
}
