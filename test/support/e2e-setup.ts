/*
 * Set-up of the lanes whose files share one API server and one cloud emulator. Named in vitest.config.ts; the files follow
 * one after the other.
 */
import { sharedServers } from './e2e-servers.ts';

export const { setup, teardown } = sharedServers({ withKube: true });
