/*
 * Act 2: everything is deleted at once. What is owned goes; the instance takes its time, and a person who does not want to
 * wait for the next look asks for one. Called by story.ts; what is refused is left for act 3.
 */
import { deleteObject, giveWord, kubectlName } from './api.ts';
import { counter, RESULTS } from './bridge-metrics.ts';
import { inWords, type Thing } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';
import { poll } from './waiting.ts';

/** Deletes all objects; resolves with how many deletions the API server accepted, when all owned things are gone. */
export async function deleteObjects(stage: Stage, timeline: Timeline): Promise<number> {
  const { things, objects, namespace, narrator } = stage;
  const names = things.map(({ object }) => kubectlName(stage, object));
  timeline.command(`kubectl -n ${namespace} delete --wait=false ${names.join(' ')}`);
  await Promise.all(things.map(({ object }) => deleteObject(stage, object)));
  const slow = things.filter(({ object }) => object.startsWith('VirtualMachine/'));
  const owned = things.filter(({ isOwned }) => isOwned);
  const isGone = ({ object }: Thing) => objects.get(object)?.isPresent === false;
  await Promise.all([
    objects.until('the objects whose things are owned to be gone', () => owned.every(isGone)),
    ...slow.map((thing) => hurry(stage, timeline, thing)),
  ]);
  await narrator.settled();
  return things.length;
}

/** Follows a slow deletion: shutting down, terminated, and the next look, which a person asks for. */
async function hurry(stage: Stage, timeline: Timeline, thing: Thing): Promise<void> {
  const { bridge, objects } = stage;
  const { object } = thing;
  const isGone = () => objects.get(object)?.isPresent === false;
  const answered = await poll(`a first result for ${object}`, async () => {
    const pending = counter(await bridge.metrics(), RESULTS, { disposition: 'Pending' });
    return pending > 0 || isGone() ? { pending } : undefined;
  });
  if (answered.pending > 0) {
    const state = inWords(await thing.look());
    timeline.line(object, [
      `${thing.name()} is ${state}; the function answered: pending.`,
      'Its request stays in the queue, so it will look again; until then the finalizer stays.',
    ]);
  }
  const ended = await poll(`${thing.name()} to be terminated`, async () => {
    const holding = await thing.look();
    return holding.kind === 'absent' ? holding : undefined;
  });
  const last = objects.get(object);
  if (isGone() || last === undefined) return;
  timeline.line(object, [
    `${thing.name()} is ${ended.answer}. The function will find out by itself;`,
    'a person in a hurry asks for another look now, by an annotation for this very deletion:',
  ]);
  await giveWord(stage, timeline, { object, key: 'retry.finalizer-bridge.dev/', value: `${last.uid}/1` });
}
