/*
 * Which services that handlers speak to are AWS's: those with a client of the SDK among the packages.
 * Used where tests derive from the registry what a handler's role and bundle have to hold.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tracked-files.ts';

/** Whether a handler's service is one of AWS. */
export function isAws(service: string): boolean {
  return existsSync(join(root, 'node_modules/@aws-sdk', `client-${service}`));
}
