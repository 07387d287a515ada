/*
 * Who leads, by one look at the lease of the bridges. Called by status-report.ts. One look cannot see a lease move, so its
 * age by the caller's own clock decides, generously; `drain`, which acts on it, looks longer (drain/bridge-sight.ts).
 */
import * as z from 'zod/mini';
import { LEASE_MS, LEASE_PLACE } from '../leader-state.ts';
import type { Context } from './command.ts';

/** Clocks differ by as much, and a new leader takes a moment. */
const SILENT_MS = LEASE_MS + 60_000;

/** What of a lease is read; people and other tools can leave out any of it. */
export const leaseSchema = z.looseObject({
  spec: z.object({
    holderIdentity: z.nullish(z.string()),
    leaseDurationSeconds: z.nullish(z.int()),
    renewTime: z.nullish(z.string()),
  }),
});

/** Who leads, and when the lease was renewed last. Times are RFC 3339, UTC. */
export interface LeaderSeen {
  /** Identity of the bridge that leads; undefined when none does. */
  readonly leader?: string;
  readonly renewedAt?: string;
}

/** Looks; undefined where there is no lease or the caller may not read it. */
export async function leaderSeen({ cluster, clock }: Context): Promise<LeaderSeen | undefined> {
  const object = await cluster.get(LEASE_PLACE).catch(() => undefined);
  const parsed = leaseSchema.safeParse(object);
  if (!parsed.success) return undefined;
  const { holderIdentity, renewTime } = parsed.data.spec;
  const renewed = renewTime ? Date.parse(renewTime) : Number.NaN;
  const seen = Number.isNaN(renewed) ? {} : { renewedAt: new Date(renewed).toISOString() };
  const leads = holderIdentity && clock.now() - renewed <= SILENT_MS;
  return leads ? { leader: holderIdentity, ...seen } : seen;
}
