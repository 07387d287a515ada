/*
 * Set-up of the lane whose files each start an API server of their own, and so can be run side by side: they share the
 * cloud emulator only. Named in vitest.config.ts.
 */
import { sharedServers } from './e2e-servers.ts';

export const { setup, teardown } = sharedServers({ withKube: false });
