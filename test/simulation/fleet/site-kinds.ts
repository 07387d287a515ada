/*
 * The Kinds port of one bridge over the site: what is served and which rights there are, each answer on its way as long as any
 * call. Made by fleet-bridges.ts.
 */
import { kindKey } from '../../../bridge/kind-key.ts';
import type { KindSchema } from '../../../bridge/kind-schema.ts';
import { ApiError, type KindRef, type Kinds } from '../../../bridge/ports.ts';
import type { SimulatedProcess } from '../process.ts';
import { FLEET_KINDS } from './plan.ts';
import type { Site } from './site.ts';

const OPEN: KindSchema = { root: { is: 'anything' }, place: () => ({ is: 'anything' }) };
const POLICY_KIND = 'mutatingadmissionpolicies';

/** Makes the port. */
export function createSiteKinds(site: Site, process: SimulatedProcess, hasPolicies: boolean): Kinds {
  const call = <T>(point: string, effect: () => T) =>
    process.call({
      ...{ point, effect },
      lost: ({ status, retryAfter } = { status: 0 }) => new ApiError(point, status, { retryAfter }),
    });
  const factsOf = (kind: KindRef) => {
    if (kind.resource === POLICY_KIND) return hasPolicies ? { kind: POLICY_KIND, namespaced: false } : undefined;
    if (!site.isServed(kind)) return undefined;
    return { kind: kind.resource, namespaced: kindKey(kind) !== kindKey(FLEET_KINDS.volumes) };
  };
  return {
    describe: (kind) => call(`discover ${kind.resource}`, () => factsOf(kind)),
    find: (kind) => call(`find ${kind.resource}`, () => ({ ...kind, version: kind.version ?? 'v1' })),
    schemaOf: async () => ({ known: true, schema: OPEN }),
    isServed: (kind) => call(`discover ${kind.resource}`, () => factsOf({ ...kind, version: 'v1' }) !== undefined),
    lacking: (watched, verbs) => call(`review ${watched.resource}`, () => site.lacking(watched, verbs)),
  };
}
