/*
 * The demo's story in three acts: objects come to be, all are deleted, and one that was refused is released. Called by
 * run.ts on an open stage; what it returns is judged by verdict.ts. Everything is done as a person would do it, through
 * the API; what is told comes from the watch, the bridge's metrics and the cloud.
 */
import { createObjects, giveThings, type Holdings } from './act-create.ts';
import { deleteObjects } from './act-delete.ts';
import { type Held, release, showHeld } from './act-release.ts';
import { OWNER_TAG } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** What happened, as far as the story itself knows. */
export interface Told {
  /** What the cloud held before anything was deleted, by object. */
  readonly before: Holdings;
  /** Deletions that the API server accepted. */
  readonly deleted: number;
  readonly held: readonly Held[];
}

/** Tells the story. @throws when something does not happen in time, or a call is refused. */
export async function tellStory(stage: Stage, timeline: Timeline): Promise<Told> {
  const { things, made } = stage;
  timeline.act(
    '1. Objects, and what they stand for',
    'The bridge puts a finalizer on each object, so that it cannot vanish before its thing in the cloud has.',
    `The thing carries the uid of its object in the tag ${OWNER_TAG}: the proof that it may go.`,
  );
  timeline.command('kubectl apply -f infra/demo/manifests/objects.yaml');
  await createObjects(stage, things);
  await made;
  const before = await giveThings(stage, timeline, things);

  timeline.act(
    '2. All are deleted',
    'The bridge sends a request per object to a queue; a function takes the thing down and answers over another queue.',
    'Only when the answer is "gone" does the bridge take its finalizer off, and Kubernetes removes the object.',
  );
  const deleted = await deleteObjects(stage, timeline);

  timeline.act(
    '3. One is held, because nothing proves that its bucket may go',
    'The function refused. The object stays and says why, until somebody tags the bucket or releases the object.',
  );
  const held: Held[] = [];
  for (const thing of things.filter(({ isOwned }) => !isOwned)) {
    held.push(await showHeld(stage, timeline, thing));
    await release(stage, timeline, thing);
  }
  return { before, deleted, held };
}
