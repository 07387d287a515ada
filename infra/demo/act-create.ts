/*
 * Act 1: objects, their finalizers, and what they stand for. Called by story.ts; with --keep once more, for something to
 * play with. The things in the cloud are made while the servers start; here they are given to their objects.
 */
import type { Manifest } from '../local/kube-apply.ts';
import { writeStatus } from './api.ts';
import { entriesOf } from './narrator.ts';
import { type Holding, inWords, type Thing } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** What each thing held before anything was deleted, by object. */
export type Holdings = ReadonlyMap<string, Holding>;

/** Creates the objects of these things and waits until the bridge holds every one. */
export async function createObjects(stage: Stage, things: readonly Thing[]): Promise<void> {
  const { system, manifests, objects } = stage;
  const wanted = manifests.objects.filter((one) => things.some(({ object }) => object === objectOf(one)));
  await system.kube.apply(wanted);
  const isHeld = ({ object }: Thing) => entriesOf(objects.get(object)).length > 0 && objects.get(object)?.isPresent;
  await objects.until('the finalizers of the bridge', () => things.every(isHeld));
}

/** Tags the things and writes them into their objects' status; tells and returns what they hold. */
export async function giveThings(stage: Stage, timeline: Timeline, things: readonly Thing[]): Promise<Holdings> {
  const given = things.map(async (thing) => {
    const { object, isOwned } = thing;
    const uid = stage.objects.get(object)?.uid;
    if (uid === undefined) throw new Error(`tagging ${thing.name()}: ${object} was never seen`);
    if (isOwned) await thing.prove(uid);
    await writeStatus(stage, object, thing.status());
    const holding = await thing.look();
    const proof = isOwned ? 'carries its uid' : 'does NOT carry its uid';
    timeline.line(
      object,
      `stands for ${thing.name()} (${inWords(holding)}), which ${proof}`,
      isOwned ? 'plain' : 'held',
    );
    return [object, holding] as const;
  });
  return new Map(await Promise.all(given));
}

function objectOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}
