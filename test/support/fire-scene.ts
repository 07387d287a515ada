/*
 * A bridge under fire: the shipped bundle over a fault proxy, with a rule in the API for each of a site's kinds, and a test
 * in the place of the functions. Used by the end-to-end tests fire-*. Kinds are many, so that tests can run side by side,
 * each with a watch of its own that has not failed yet.
 */
import { request } from 'undici';
import { expect } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { sumOf } from './metrics-page.ts';
import { startSite, type TestSite } from './site.ts';
import type { Faults } from './site-faults.ts';
import { type Hands, handsOf } from './site-hands.ts';
import { definitionOf } from './site-kind.ts';
import { queuesOf } from './site-queues.ts';
import { type SiteRules, siteRulesOf } from './site-rules.ts';
import { type Thing, type Things, thingsOf } from './site-things.ts';

/** The words of the tests. */
export interface FireScene {
  readonly site: TestSite;
  readonly kinds: readonly string[];
  readonly rules: SiteRules;
  readonly things: Things;
  readonly hands: Hands;
  /** The bridge that runs now. */
  bridge(): BridgeProcess;
  /** Starts another one, as the kubelet does when one has ended; ready when this resolves. */
  startAgain(): Promise<void>;
  readonly proxy: FaultProxy;
  readonly faults: Faults;
  /** The rule of a kind. */
  ruleOf(kind: string): string;
  /** An object that has its entry. */
  make(kind: string, name: string): Promise<Thing>;
  /** Answers its request, and waits until it is gone. */
  settle(thing: Thing, within?: number): Promise<void>;
  /** The status of the bridge's readiness. */
  readiness(): Promise<number>;
  /** No deletion was reported as bypassed, and as many entries came off as objects were settled. */
  tally(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, with a rule for each of the kinds; resolves when all are ready. Kinds are lower-case plurals. */
export async function startFireScene(name: string, kinds: readonly string[]): Promise<FireScene> {
  const site = await startSite({ name, handlers: ['by-hand'], faults: true, bundled: true });
  const [rules, things, hands] = [siteRulesOf(site), thingsOf(site), handsOf(site, queuesOf(site), 'by-hand')];
  const faults = site.faults();
  let settled = 0;
  await rules.install();
  await Promise.all(
    kinds.map((plural) => site.admin.apply([definitionOf(site.group, { plural, kind: kindOf(plural) })])),
  );
  const start = async () => {
    const started = await site.startBridgeOverApi({
      kinds: kinds.map((resource) => ({ group: site.group, resource })),
    });
    await started.ready();
    return started;
  };
  let bridge = await start();
  const ruleOf = (kind: string) => `${name}-${kind}`;
  await Promise.all(
    kinds.map(async (resource) => {
      const match = { group: site.group, version: 'v1', resource };
      await rules.apply(ruleOf(resource), rules.spec(ruleOf(resource), { match }));
      await rules.ready(ruleOf(resource));
    }),
  );
  return {
    ...{ site, kinds, rules, things, hands, proxy: faults.proxy, faults, ruleOf },
    bridge: () => bridge,
    startAgain: async () => {
      bridge = await start();
    },
    make: async (kind, thingName) => {
      const collection = `/apis/${site.group}/v1/namespaces/${site.namespace}/${kind}`;
      const manifest = { apiVersion: `${site.group}/v1`, kind: kindOf(kind), metadata: { name: thingName } };
      const thing = await things.create(collection, manifest);
      await things.claimed(thing, ruleOf(kind));
      return thing;
    },
    settle: async (thing, within) => {
      await hands.finish(thing, within);
      await things.gone(thing, within);
      settled += 1;
    },
    readiness: async () => {
      const { statusCode, body } = await request(`${bridge.url}/readyz`, { reset: true });
      await body.dump();
      return statusCode;
    },
    tally: async () => {
      const said = async () => {
        const page = await bridge.metrics();
        const removed = sumOf(page, 'finalizer_bridge_entries_removed_total', { reason: 'Gone' });
        return { bypassed: sumOf(page, 'finalizer_bridge_bypassed_total'), removed };
      };
      // An object is gone before the bridge has heard so.
      await expect.poll(said, { message: 'what the bridge says it did' }).toEqual({ bypassed: 0, removed: settled });
    },
    stop: async () => {
      await rules.removeAll();
      await site.stop();
    },
  };
}

function kindOf(plural: string): string {
  return plural.slice(0, 1).toUpperCase() + plural.slice(1);
}
