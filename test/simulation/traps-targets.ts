/*
 * Traps about targets that change or vanish while a deletion is under way, and about what is remembered of them.
 * Ids are those of the protocol's list of traps. Run by traps.test.ts and mutants.slow.test.ts.
 */
import { decodeRequest } from '../../bridge/contract.ts';
import {
  annotate,
  createWorld,
  deleteAndPublish,
  finish,
  HOUR,
  MACHINE,
  MINUTE,
  moveToOther,
  OTHER,
  RESOURCE,
  retarget,
  uidOf,
} from './deletion.ts';
import { hasOurEntry, OWNER_TAG, RECORD, RELEASE, RETRY, RULE_UID, recordOn, ruleText } from './installation.ts';
import { CRASHES, sweepSingles } from './sweep.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';

const reasonOf = (world: World) => recordOn(world.server.get(MACHINE))?.reason;

/** Notes every request for a target. */
function forbidRequests(world: World, id: string, target: string): void {
  world.requests.onSend(({ body }) => {
    const decoded = decodeRequest(body);
    const isFor = decoded.ok && decoded.message.data.target.name === target;
    if (isFor) world.promises.note(id, `a request for ${target} was sent`);
  });
}

/** Runs until the record gives a reason. */
async function untilReason(world: World, reason: string): Promise<void> {
  const isThere = await world.run(2 * HOUR, () => reasonOf(world) === reason);
  if (!isThere) world.promises.note('P7', `expected the record to say ${reason}, not ${String(reasonOf(world))}`);
}

/** Every bridge dies; the next one starts some time later, with these rules. */
function crashAll(world: World, rules?: string): void {
  for (const process of world.processes.filter(({ isAlive }) => isAlive)) {
    world.crash(process, rules === undefined ? undefined : { rules });
  }
}

/** The first request is lost, and who sent it dies at once. */
async function loseFirst(world: World, begin = () => world.server.delete(MACHINE, 'owner')): Promise<void> {
  let isSent = false;
  world.requests.keepOnly(() => false);
  world.requests.onSend(() => {
    isSent = true;
  });
  begin();
  await world.run(HOUR, () => isSent);
  world.requests.keepOnly(() => true);
  crashAll(world);
}

const releaseNow = (world: World) => annotate(world, { [RELEASE]: `${uidOf(world)}/now` });

/** The target changes unseen while the gone of the first is on its way; a crash at every call after it was written down. */
const v8: Trap = {
  id: 'V8',
  title: 'a target that changed is written down before its gone is acknowledged, and no crash afterwards publishes it',
  async run(product) {
    const { broken } = await sweepSingles(async (faults) => {
      const world = await createWorld({
        ...{ seed: 8, faults, watchLag: () => 20_000 },
        ...(product === undefined ? {} : { product }),
      });
      let isMoved = false;
      world.results.onSend(() => {
        if (!isMoved) moveToOther(world);
        isMoved = true;
      });
      world.server.onWrite(({ after }) => {
        if (recordOn(after)?.reason === 'TargetChanged') forbidRequests(world, 'V8', OTHER);
      });
      world.server.delete(MACHINE, 'owner');
      await world.run(2 * HOUR, () => reasonOf(world) === 'TargetChanged' || !hasOurEntry(world.server.get(MACHINE)));
      await world.settle(3 * HOUR);
      const isHeld = reasonOf(world) === 'TargetChanged';
      expectIn(world, 'V8', 'TargetChanged to be recorded', faults.length > 0 || isHeld);
      return world;
    }, CRASHES);
    return broken;
  },
};

/** The traps. */
export const targetTraps: readonly Trap[] = [
  v8,
  trap('V9', 'a target that became another one and was then cleared is not freed by the gone of the first', {
    async act(world) {
      world.requests.hold(30 * MINUTE);
      await deleteAndPublish(world);
      moveToOther(world);
      await untilReason(world, 'TargetChanged');
      retarget(world, undefined);
      await finish(world);
      expectIn(world, 'V9', 'it to be held', hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'V9', 'the first target to be gone', world.cloud.find(RESOURCE) === undefined);
    },
  }),
  trap('V9', 'a cleared target is freed by the gone of what was sent when no other was ever seen', {
    async act(world) {
      world.requests.hold(30 * MINUTE);
      await deleteAndPublish(world);
      retarget(world, undefined);
      await finish(world);
      expectIn(world, 'V9', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V10', 'the gone of a second target does not free an object whose first was requested and never confirmed', {
    async act(world) {
      world.requests.keepOnly(() => false);
      await deleteAndPublish(world);
      world.requests.keepOnly(() => true);
      moveToOther(world);
      await untilReason(world, 'TargetChanged');
      annotate(world, { [RETRY]: `${uidOf(world)}/1` });
      await world.run(HOUR, () => world.cloud.find(OTHER) === undefined);
      await finish(world);
      expectIn(world, 'V10', 'the second target to be gone', world.cloud.find(OTHER) === undefined);
      expectIn(world, 'V10', 'it to be held for the first', hasOurEntry(world.server.get(MACHINE)));
      retarget(world, RESOURCE);
      await finish(world);
      expectIn(world, 'V10', 'the object to be gone in the end', world.server.get(MACHINE) === undefined);
    },
  }),
  trap(
    'V10',
    'what follows a target that was asked for by a bridge that wrote nothing is held over crashes until a release',
    {
      async act(world) {
        await loseFirst(world);
        retarget(world, undefined);
        await untilReason(world, 'TargetMissing');
        crashAll(world);
        await world.run(MINUTE);
        moveToOther(world);
        await untilReason(world, 'TargetChanged');
        await finish(world);
        expectIn(world, 'V10', 'nothing of the second target to be touched', world.cloud.find(OTHER) !== undefined);
        annotate(world, { [RETRY]: `${uidOf(world)}/1` });
        await world.run(HOUR, () => world.cloud.find(OTHER) === undefined);
        crashAll(world);
        await finish(world);
        expectIn(world, 'V10', 'the second target to be gone', world.cloud.find(OTHER) === undefined);
        expectIn(world, 'V10', 'it to be held for the first', hasOurEntry(world.server.get(MACHINE)));
        annotate(world, { [RELEASE]: uidOf(world) });
        await world.run(24 * HOUR, () => world.server.get(MACHINE) === undefined);
        expectIn(world, 'V7', 'a release to end it', world.server.get(MACHINE) === undefined);
      },
    },
  ),
  trap('V10', 'a target that follows a record is named in it before the first request, and what follows that is held', {
    options: { rule: { paused: true } },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await untilReason(world, 'Paused');
      await loseFirst(world, () => crashAll(world, ruleText()));
      retarget(world, undefined);
      await world.run(2 * MINUTE);
      moveToOther(world);
      await untilReason(world, 'TargetChanged');
      await finish(world);
      expectIn(world, 'V10', 'nothing of the second target to be touched', world.cloud.find(OTHER) !== undefined);
      expectIn(world, 'V10', 'it to be held for the first', hasOurEntry(world.server.get(MACHINE)));
    },
  }),
  trap('V11', 'whenTargetMissing: Release holds a target that existed while nothing could be sent', {
    options: { rule: { whenTargetMissing: 'Release', paused: true } },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await world.run(2 * MINUTE);
      retarget(world, undefined);
      await untilReason(world, 'TargetMissing');
      await finish(world);
      expectIn(world, 'V11', 'it to be held', hasOurEntry(world.server.get(MACHINE)));
      releaseNow(world);
      await finish(world);
      expectIn(world, 'V7', 'a release to end it', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V11', 'whenTargetMissing: Release holds a target that is missing in the first look of a new leader', {
    options: { rule: { whenTargetMissing: 'Release' } },
    async act(world) {
      for (const process of world.processes) world.crash(process);
      world.server.delete(MACHINE, 'owner');
      retarget(world, undefined);
      await untilReason(world, 'TargetMissing');
      await finish(world);
      expectIn(world, 'V11', 'it to be held', hasOurEntry(world.server.get(MACHINE)));
    },
  }),
  trap('V11', 'whenTargetMissing: Release frees at once what never had a target', {
    options: { rule: { whenTargetMissing: 'Release' } },
    async act(world) {
      retarget(world, undefined);
      world.cloud.delete(RESOURCE, 'owner');
      await world.run(MINUTE);
      world.server.delete(MACHINE, 'owner');
      await world.run(MINUTE);
      expectIn(world, 'V11', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V14', 'a record that another object has left counts for nothing', {
    async act(world) {
      const since = new Date(world.time.now()).toISOString();
      const next = new Date(world.time.now() + 20 * HOUR).toISOString();
      const digest = 'a'.repeat(64);
      const target = { target: digest, rule: digest, requested: true, started: true };
      annotate(world, {
        [RECORD]: JSON.stringify({
          ...{ uid: 'another', ruleUid: RULE_UID, phase: 'Held', reason: 'NotOwned', message: '', since, next },
          ...{ targets: [target], firstPublished: since },
        }),
      });
      await deleteAndPublish(world);
      await finish(world);
      expectIn(world, 'V14', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V15', 'a refusal that falls due while the rule is paused publishes nothing', {
    options: { tags: { [OWNER_TAG]: 'somebody else' } },
    async act(world) {
      await deleteAndPublish(world);
      await untilReason(world, 'NotOwned');
      crashAll(world, ruleText({ paused: true }));
      await world.run(MINUTE);
      forbidRequests(world, 'V15', RESOURCE);
      await world.run(26 * HOUR);
      releaseNow(world);
      await finish(world);
    },
  }),
];
