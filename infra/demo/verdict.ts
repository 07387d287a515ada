/*
 * What is left in the end, asked of the API server, the cloud and the bridge, and whether it is what it should be.
 * Called by run.ts after the story; the judgement is pure, so that a demo that went wrong can be shown to say so.
 */
import type { Holdings } from './act-create.ts';
import { listObjects } from './api.ts';
import { counter, REMOVED } from './bridge-metrics.ts';
import { inWords, type Thing, versionsIn } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Told } from './story.ts';

/** All that a judgement rests on. */
export interface Facts extends Told {
  readonly things: readonly Pick<Thing, 'object' | 'isOwned'>[];
  /** What the cloud holds now, by object. */
  readonly after: Holdings;
  /** Objects that the API server still lists. */
  readonly objectsLeft: readonly string[];
  /** Finalizers that the bridge took off, by why. */
  readonly removed: { readonly gone: number; readonly released: number; readonly all: number };
}

/** The line of --json, without the time. */
export interface Counts {
  readonly deleted: number;
  readonly gone: number;
  readonly held: number;
  readonly released: number;
  readonly finalizersRemoved: number;
  readonly objectsLeft: number;
  readonly bucketVersionsDeleted: number;
}

/** Asks everybody once more. */
export async function gatherFacts({ things, bridge, ...stage }: Stage, told: Told): Promise<Facts> {
  const looks = things.map(async (thing) => [thing.object, await thing.look()] as const);
  const after = new Map(await Promise.all(looks));
  const page = await bridge.metrics();
  const removed = {
    gone: counter(page, REMOVED, { reason: 'Gone' }),
    released: counter(page, REMOVED, { reason: 'Released' }),
    all: counter(page, REMOVED),
  };
  return { ...told, things, after, removed, objectsLeft: await listObjects({ things, bridge, ...stage }) };
}

/** Counts: `gone` are things that the cloud held and holds no more, the versions are those it held less those it holds. */
export function countFacts(facts: Facts): Counts {
  const { before, after, deleted, held, removed, objectsLeft } = facts;
  const versions = (holdings: Holdings) => holdings.values().reduce((sum, one) => sum + versionsIn(one), 0);
  return {
    deleted,
    gone: [...before].filter(([object, was]) => was.kind !== 'absent' && after.get(object)?.kind === 'absent').length,
    held: held.length,
    released: removed.released,
    finalizersRemoved: removed.all,
    objectsLeft: objectsLeft.length,
    bucketVersionsDeleted: versions(before) - versions(after),
  };
}

/** What is not as it should be, a line each; nothing if all is well. */
export function judge(facts: Facts): readonly string[] {
  const { things, before, after, deleted, held, removed, objectsLeft } = facts;
  const owned = things.filter(({ isOwned }) => isOwned);
  const foreign = things.filter(({ isOwned }) => !isOwned);
  const said = (holdings: Holdings, object: string) => {
    const holding = holdings.get(object);
    return holding === undefined ? 'never looked at' : inWords(holding);
  };
  const differs = (what: string, found: number, expected: number) =>
    found === expected ? [] : [`${what}: ${found}, expected ${expected}`];
  return [
    ...differs('objects deleted', deleted, things.length),
    ...differs('objects left', objectsLeft.length, 0).map((fault) => `${fault} (${objectsLeft.join(', ')})`),
    ...differs('objects held', held.length, foreign.length),
    ...differs('finalizers taken off after "gone"', removed.gone, owned.length),
    ...differs('finalizers taken off on a release', removed.released, foreign.length),
    ...differs('finalizers taken off', removed.all, things.length),
    ...held.filter(({ reason }) => reason !== 'NotOwned').map(({ object, reason }) => `${object} held for ${reason}`),
    ...owned
      .filter(({ object }) => before.get(object)?.kind === 'absent' || after.get(object)?.kind !== 'absent')
      .map(({ object }) => `${object}: before ${said(before, object)}, now ${said(after, object)}, expected gone`),
    ...foreign
      .filter(({ object }) => after.get(object)?.kind !== 'bucket' || said(before, object) !== said(after, object))
      .map(({ object }) => `${object}: before ${said(before, object)}, now ${said(after, object)}, expected untouched`),
  ];
}
