/*
 * Who leads on a site: the lease as the API server has it, and a person who takes it or deletes it. Used by end-to-end tests
 * with two bridges.
 */
import { request } from 'undici';
import { z } from 'zod/mini';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { sumOf } from './metrics-page.ts';
import { LEASE_PATH, type TestSite } from './site.ts';

const leaseSchema = z.looseObject({
  metadata: z.looseObject({ uid: z.string() }),
  spec: z.looseObject({ holderIdentity: z.string(), leaseDurationSeconds: z.number(), leaseTransitions: z.number() }),
});
const readiness = z.object({ ready: z.boolean(), role: z.string(), reasons: z.array(z.string()) });

/** What /readyz says, with its status. */
export async function readinessOf({
  url,
}: BridgeProcess): Promise<z.output<typeof readiness> & { readonly status: number }> {
  const { statusCode, body } = await request(`${url}/readyz`, { reset: true });
  return { ...z.parse(readiness, await body.json()), status: statusCode };
}

/** Whether a bridge says that it leads. */
export async function leads(bridge: BridgeProcess): Promise<boolean> {
  return sumOf(await bridge.metrics(), 'finalizer_bridge_leader', {}) === 1;
}

/** The verbs over the lease. */
export function leaseOf({ admin }: Pick<TestSite, 'admin'>) {
  const read = async () => z.parse(leaseSchema, (await admin.request('GET', LEASE_PATH)).body);
  return {
    read,
    /** Writes another holder over whoever has it, as a person with kubectl does. */
    steal: async (holderIdentity: string) => {
      const patch = { spec: { holderIdentity } };
      const contentType = 'application/merge-patch+json';
      const { status } = await admin.request('PATCH', LEASE_PATH, patch, { contentType });
      if (status !== 200) throw new Error(`stealing the lease: status ${status}`);
    },
  };
}
