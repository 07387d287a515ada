/*
 * Cases from the field, and traps about held states, as scenarios. Ids are those of the lists of cases and of traps.
 * Run by traps.test.ts and mutants.slow.test.ts.
 */
import { decodeRequest, encodeRequest, encodeResult, makeRequest, makeResult } from '../../bridge/contract.ts';
import { strays } from './cases-strays.ts';
import { lateCalls } from './cases-uid.ts';
import { HANDLER } from './cloud-handler.ts';
import {
  annotate,
  createWorld,
  type DeletionOptions,
  deleteAndPublish,
  deleteAndWithhold,
  finish,
  HOUR,
  MACHINE,
  MINUTE,
  RESOURCE,
  retarget,
  uidOf,
} from './deletion.ts';
import { ACCOUNT, CLUSTER_UID, REGION } from './function-host.ts';
import { ENTRY, hasOurEntry, ON_DELETE, OWNER_TAG, RELEASE, RULE, RULE_UID, recordOn } from './installation.ts';
import { sweepSingles } from './sweep.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';

const STRANGER = 'AROASTRANGER:somebody';
const isGone = (world: World) => world.server.get(MACHINE) === undefined;

interface HeldState {
  readonly reason: string;
  readonly options?: Partial<DeletionOptions>;
  readonly before?: (world: World) => void;
}

/** Every reason to be held that can be had here, and how. */
const heldStates: readonly HeldState[] = [
  { reason: 'NotOwned', options: { tags: { [OWNER_TAG]: 'somebody else' } } },
  { reason: 'Kept', options: { tags: { 'finalizer-bridge.dev/keep': '' } } },
  { reason: 'TargetMissing', before: (world) => retarget(world, undefined) },
  { reason: 'TargetInvalid', before: (world) => retarget(world, '') },
  { reason: 'PolicyInvalid', before: (world) => annotate(world, { [ON_DELETE]: 'Perhaps' }) },
  {
    reason: 'FoundNothing',
    options: { rule: { whenAbsent: 'Hold' } },
    before: (world) => void world.cloud.delete(RESOURCE, 'owner'),
  },
  {
    reason: 'WaitForTimedOut',
    options: {
      finalizers: ['example.com/other'],
      rule: { waitFor: { finalizers: ['example.com/other'], atMost: '10m' } },
    },
  },
];

function release(world: World): void {
  annotate(world, { [RELEASE]: uidOf(world) });
}

/** V7: out of every held state a release leads; what is freed so keeps its resource. */
const leaving = heldStates.map(({ reason, options, before }) =>
  trap('V7', `an object held as ${reason} says so on itself and can be released`, {
    ...(options === undefined ? {} : { options }),
    async act(world) {
      before?.(world);
      const hadResource = world.cloud.find(RESOURCE) !== undefined;
      await world.run(MINUTE);
      world.server.delete(MACHINE, 'owner');
      await world.run(HOUR, () => recordOn(world.server.get(MACHINE))?.reason === reason);
      expectIn(world, 'P7', `the record to say ${reason}`, recordOn(world.server.get(MACHINE))?.reason === reason);
      release(world);
      await finish(world);
      expectIn(world, 'V7', 'the entry to be off', !hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'P2', 'the resource to be kept', (world.cloud.find(RESOURCE) !== undefined) === hadResource);
    },
  }),
);

/** A result for the machine's request that nobody of ours has sent. */
function forgeGone(world: World, body: string): string {
  const decoded = decodeRequest(body);
  if (!decoded.ok) throw new Error('forging a result: there is no request');
  const handler = { name: HANDLER, version: '1.0.0' };
  const now = world.time.now();
  const outcome = { outcome: 'gone', evidence: 'deleted' } as const;
  return encodeResult(makeResult({ request: decoded.message, outcome, handler, nonce: 'forged', now, durationMs: 1 }));
}

/** A request for the live machine that nobody of ours has sent. */
function forgeRequest(world: World): string {
  const at = new Date(world.time.now()).toISOString();
  const object = { apiVersion: 'example.com/v1', kind: 'Machine', resource: 'machines', namespace: 'team-a' };
  return encodeRequest(
    makeRequest({
      ...{ cluster: { uid: CLUSTER_UID }, rule: { name: RULE, uid: RULE_UID }, handler: HANDLER, path: '/' },
      object: { ...object, name: 'logs', uid: uidOf(world), creationTimestamp: at, deletionTimestamp: at },
      ...{ gracePeriodSeconds: 0, attempt: 0, term: HOUR, options: {} },
      target: { name: RESOURCE, region: REGION, account: ACCOUNT },
      ownership: { tags: { [OWNER_TAG]: uidOf(world) } },
    }),
  );
}

/** V3: stalls at every call, while nothing is answered and while all goes on. */
const stalls = [0, 10 * MINUTE].map(
  (holdMs): Trap => ({
    id: 'V3',
    title: `a leader that lost its lease standing still neither sends nor patches (requests held for ${holdMs} ms)`,
    async run(product) {
      const kinds = [{ kind: 'stall', side: 'after' } as const];
      const { broken } = await sweepSingles(async (faults) => {
        const world = await createWorld({ seed: 3, faults, ...(product === undefined ? {} : { product }) });
        world.requests.hold(holdMs);
        world.server.delete(MACHINE, 'owner');
        await finish(world);
        return world;
      }, kinds);
      return broken;
    },
  }),
);

/** The cases. */
export const fieldCases: readonly Trap[] = [
  ...leaving,
  ...stalls,
  lateCalls,
  strays,
  trap('K30', 'all copies of our entry come off, and nothing else', {
    options: { finalizers: ['example.com/a', ENTRY, 'example.com/b', ENTRY] },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      const left = world.server.get(MACHINE)?.metadata.finalizers?.join(' ');
      expectIn(world, 'K30', 'the others to stay', left === 'example.com/a example.com/b');
    },
  }),
  trap('Q11', 'a gone that somebody else sent is not acted on', {
    options: { queue: { maxReceiveCount: 3 } },
    async act(world) {
      const request = await deleteAndWithhold(world);
      world.results.send(forgeGone(world, request), STRANGER);
      await finish(world, 1);
      expectIn(world, 'Q11', 'the object to be gone by the true result', isGone(world));
    },
  }),
  trap('P2', 'a request that somebody else sent is not acted on', {
    options: { queue: { maxReceiveCount: 3 } },
    async act(world) {
      world.requests.send(forgeRequest(world), STRANGER);
      await finish(world, 1);
      expectIn(world, 'P2', 'the resource to be there', world.cloud.find(RESOURCE) !== undefined);
    },
  }),
  trap('V16', 'a slow deletion that was seen to begin frees its object under whenAbsent: Hold', {
    options: { rule: { whenAbsent: 'Hold' }, deletionMs: 50_000 },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      expectIn(world, 'V16', 'the object to be gone', isGone(world));
      // To find nothing after a deletion that was seen to begin is no news for anybody.
      expectIn(world, 'P8', 'no Event', world.events.length === 0);
    },
  }),
  trap('F4', 'a function whose result no queue takes leaves its request in the queue', {
    options: {
      strike: (point, times) => (point === 'send results' && times < 3 ? { kind: 'error', side: 'before' } : undefined),
    },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      expectIn(world, 'F4', 'the object to be gone', isGone(world));
    },
  }),
  trap('Q9', 'a request that comes after its time deletes nothing', {
    async act(world) {
      let request = '';
      world.requests.onSend(({ body }) => {
        request = body;
      });
      world.requests.keepOnly(() => false);
      await deleteAndPublish(world);
      annotate(world, { [RELEASE]: uidOf(world) });
      await world.run(4 * HOUR, () => isGone(world));
      world.requests.keepOnly(() => true);
      world.requests.send(request, world.processes[0]?.identity.sender ?? '');
      await finish(world);
      expectIn(world, 'Q9', 'the resource to be kept', world.cloud.find(RESOURCE) !== undefined);
    },
  }),
];
