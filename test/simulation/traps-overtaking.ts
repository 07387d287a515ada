/*
 * Traps about time: who may still be running when an entry comes off without a teardown, or on an old answer.
 * Ids are those of the protocol's list of traps. Run by traps.test.ts and mutants.slow.test.ts.
 */
import { annotate, deleteAndPublish, finish, HOUR, MACHINE, MINUTE, RESOURCE, retarget, uidOf } from './deletion.ts';
import { hasOurEntry, ON_DELETE, OWNER_TAG, RELEASE, ruleText } from './installation.ts';
import type { SimulatedProcess } from './process.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';
import type { BridgeStart } from './world-options.ts';

const release = (world: World) => annotate(world, { [RELEASE]: uidOf(world) });
const retain = (world: World) => annotate(world, { [ON_DELETE]: 'Retain' });

/** The bridge that has sent dies, and another one that knows nothing of it takes over. */
async function takeOver(world: World, start: BridgeStart): Promise<void> {
  world.crash(leader(world), start);
  await world.run(MINUTE);
}

function leader(world: World): SimulatedProcess {
  const process = world.processes.findLast(({ isAlive }) => isAlive);
  if (process === undefined) throw new Error('looking for the leader: there is none');
  return process;
}

const TERM_6H = { term: '6h' };

/** Words and edits that would let the object go, each after a request is on its way. */
const lettingGo = [
  { what: 'a release', rule: {}, act: release },
  { what: 'Retain', rule: {}, act: retain },
  {
    what: 'a cleared target under whenTargetMissing: Release',
    rule: { whenTargetMissing: 'Release' },
    act: (world: World) => retarget(world, undefined),
  },
] as const;

/** The traps. */
export const overtakingTraps: readonly Trap[] = [
  ...lettingGo.map(({ what, rule, act }) =>
    trap('V1', `${what} under a new leader does not overtake a request that the old one sent`, {
      options: { rule },
      async act(world) {
        world.requests.hold(20 * MINUTE);
        await deleteAndPublish(world);
        world.crash(leader(world));
        act(world);
        await finish(world);
      },
    }),
  ),
  ...[
    { how: 'was lost', arrive: undefined },
    { how: 'comes after the entry is off', arrive: 3 * HOUR },
  ].map(({ how, arrive }) =>
    trap('V2', `Retain set after a request that ${how} publishes nothing more and keeps the resource`, {
      async act(world) {
        if (arrive === undefined) world.requests.keepOnly(() => false);
        else world.requests.hold(arrive);
        let sent = 0;
        world.requests.onSend(() => {
          sent += 1;
        });
        await deleteAndPublish(world);
        world.requests.keepOnly(() => true);
        await world.run(5 * MINUTE);
        retain(world);
        await finish(world);
        expectIn(world, 'V2', `1 request, not ${sent}`, sent === 1);
        expectIn(world, 'V2', 'the resource to be kept', world.cloud.find(RESOURCE) !== undefined);
        expectIn(world, 'V2', 'the object to be gone', world.server.get(MACHINE) === undefined);
      },
    }),
  ),
  trap('V4', 'a takeover by a clock two minutes behind still waits for what a fast clock may have sent', {
    options: { termHeldSince: 0 },
    async act(world) {
      // The first request is lost; the second leaves when the fast clock is already in the next term.
      world.requests.keepOnly(({ body }) => !body.includes('"attempt":0'));
      world.crash(leader(world), { skew: MINUTE });
      await world.run(MINUTE);
      await deleteAndPublish(world);
      world.requests.hold(2 * HOUR + 30 * MINUTE);
      await world.run(2 * HOUR, () => world.requests.size > 0);
      world.crash(leader(world), { skew: -MINUTE });
      await world.run(10_000);
      release(world);
      await finish(world);
    },
  }),
  trap('V5', 'a release after an edit of the term waits for requests of the old term', {
    options: { rule: TERM_6H },
    async act(world) {
      world.requests.hold(5 * HOUR);
      await deleteAndPublish(world);
      await takeOver(world, { rules: ruleText({ term: '30m' }) });
      release(world);
      await finish(world);
    },
  }),
  trap('V6', 'a release without a rule waits for requests of the longest term', {
    options: { rule: TERM_6H },
    async act(world) {
      world.requests.hold(5 * HOUR);
      // What the function finds is of no matter here.
      world.results.keepOnly(() => false);
      await deleteAndPublish(world);
      await takeOver(world, { rules: ruleText({}, 'another') });
      release(world);
      await finish(world);
    },
  }),
  trap('V12', 'under ownership by name a late copy of a request does not delete the resource of a successor', {
    options: {
      rule: { ownership: { tags: { owner: 'object.metadata.namespace + "/" + object.metadata.name' } } },
      tags: { owner: 'team-a/logs' },
    },
    async act(world) {
      world.requests.onSend((message) => world.requests.put(message, HOUR + 30 * MINUTE));
      await deleteAndPublish(world);
      const isGone = () => world.server.get(MACHINE) === undefined;
      await world.run(6 * HOUR, isGone);
      world.cloud.create(RESOURCE, 'successor', { owner: 'team-a/logs' });
      await finish(world);
      expectIn(world, 'V12', 'the successor to keep its resource', world.cloud.find(RESOURCE) !== undefined);
      world.cloud.delete(RESOURCE, 'successor');
    },
  }),
  trap('V19', 'a bridge whose clock is behind sends the first attempt, never one before it', {
    async act(world) {
      world.crash(leader(world), { skew: -MINUTE });
      await world.run(MINUTE);
      await deleteAndPublish(world);
      await finish(world);
      expectIn(world, 'V19', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V22', 'a gone that comes after its time does not free an object that has its resource again', {
    options: { restartMs: 3 * HOUR },
    async act(world) {
      await deleteAndPublish(world);
      world.crash(leader(world));
      await world.run(2 * HOUR);
      world.cloud.create(RESOURCE, uidOf(world), { [OWNER_TAG]: uidOf(world) });
      await finish(world);
      expectIn(world, 'V22', 'the entry to be off', !hasOurEntry(world.server.get(MACHINE)));
    },
  }),
];
