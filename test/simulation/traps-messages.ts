/*
 * Traps about what a message or a record is worth: an answer that is none, an answer to an earlier form of the rule, a record that
 * does not say whose it is. Ids are those of the protocol's lists. Run by traps.test.ts and mutants.slow.test.ts.
 */
import { decodeRequest, encodeResult, makeResult } from '../../bridge/contract.ts';
import { HANDLER } from './cloud-handler.ts';
import {
  annotate,
  deleteAndPublish,
  deleteAndWithhold,
  finish,
  HOUR,
  MACHINE,
  MINUTE,
  moveToOther,
  OTHER,
  uidOf,
} from './deletion.ts';
import { FUNCTION_ROLE } from './function-host.ts';
import { hasOurEntry, OWNER_TAG, RECORD, RELEASE, recordOn, ruleText } from './installation.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';

/** The answer of a dry run to the machine's request: as a result, but for its type. */
function previewOf(world: World, body: string): string {
  const decoded = decodeRequest(body);
  if (!decoded.ok) throw new Error('previewing: there is no request');
  const handler = { name: HANDLER, version: '1.0.0' };
  const outcome = { outcome: 'gone', evidence: 'deleted' } as const;
  const how = { handler, nonce: 'preview', now: world.time.now(), durationMs: 1 };
  return encodeResult(makeResult({ request: decoded.message, outcome, ...how })).replace(
    'teardown.result.v1',
    'teardown.preview.v1',
  );
}

/** The traps. */
export const messageTraps: readonly Trap[] = [
  trap('Q12', 'the answer of a dry run, sent by the function itself, frees nothing and stays in its queue', {
    options: { queue: { maxReceiveCount: 3 } },
    async act(world) {
      const request = await deleteAndWithhold(world);
      world.results.send(previewOf(world, request), `${FUNCTION_ROLE}:one`);
      await world.run(MINUTE);
      expectIn(world, 'Q12', 'the entry to stay', hasOurEntry(world.server.get(MACHINE)));
      await finish(world, 1);
      expectIn(world, 'Q12', 'the object to be gone by the true result', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V10', 'a target whose slow deletion was answered once is waited for by whoever leads next', {
    async act(world) {
      world.cloud.deletionMs = 10 * MINUTE;
      let isAnswered = false;
      world.results.onDelete(() => {
        isAnswered = true;
      });
      await deleteAndPublish(world);
      await world.run(MINUTE, () => isAnswered);
      for (const process of world.processes.filter(({ isAlive }) => isAlive)) world.crash(process);
      moveToOther(world, 0);
      await world.run(5 * MINUTE);
      expectIn(world, 'V10', 'the entry to stay', hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'V10', 'the second target to stay', world.cloud.find(OTHER) !== undefined);
      await finish(world);
    },
  }),
  trap('V10', 'what follows a target whose record does not say any more whose it is waits for a release', {
    async act(world) {
      world.requests.keepOnly(() => false);
      await deleteAndPublish(world);
      await world.run(5 * MINUTE, () => recordOn(world.server.get(MACHINE)) !== undefined);
      for (const process of world.processes.filter(({ isAlive }) => isAlive)) world.crash(process);
      world.requests.keepOnly(() => true);
      const { uid, ...rest } = recordOn(world.server.get(MACHINE)) ?? {};
      expectIn(world, 'V10', 'a record of the object', uid === uidOf(world));
      annotate(world, { [RECORD]: JSON.stringify(rest) });
      moveToOther(world, 0);
      await finish(world);
      expectIn(world, 'V10', 'the entry to stay', hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'V10', 'the second target to stay', world.cloud.find(OTHER) !== undefined);
      annotate(world, { [RELEASE]: uidOf(world) });
      await world.run(24 * HOUR, () => world.server.get(MACHINE) === undefined);
      expectIn(world, 'V7', 'a release to end it', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V10', 'a gone under an earlier form of the rule does not free an object under a later one', {
    async act(world) {
      world.requests.hold(5 * MINUTE);
      await deleteAndPublish(world);
      // What the later form asks for is lost until its next term.
      world.requests.keepOnly(({ body }) => !body.includes('"later"'));
      const [first] = world.processes;
      if (first === undefined) throw new Error('there is no bridge');
      const later = { tags: { [OWNER_TAG]: 'object.metadata.uid', later: 'object.metadata.uid' } };
      world.crash(first, { rules: ruleText({ ownership: later }) });
      await world.run(20 * MINUTE);
      expectIn(world, 'V10', 'the entry to stay', hasOurEntry(world.server.get(MACHINE)));
      world.requests.keepOnly(() => true);
      await world.run(3 * HOUR);
      await finish(world);
      expectIn(world, 'V10', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
];
