/*
 * The two writes of a drain on objects: an entry off, and a person's release on. Each is tried on the object as it was
 * listed, and after a conflict on the object as it is; whether it is still wanted is judged each time. Called by run.ts.
 */
import { entryOf, removeEntry } from '../../finalizer.ts';
import type { ObjectMeta, PatchOperation } from '../../ports.ts';
import { REASON_PREFIX, RELEASE_PREFIX, releaseWord } from '../../words.ts';
import { refused } from '../failure-words.ts';
import { annotate } from '../say.ts';
import type { DrainWorld } from './api.ts';
import { type Carrier, nameOfCarrier, pathOf } from './sweep.ts';

const ROUNDS_MAX = 5;

/** `settled`: nothing to be done any more, because somebody else did it or it is not wanted now. */
export type Written = 'written' | 'settled';

/** Takes an entry off a live object; one that is being deleted meanwhile keeps it. */
export async function freeLive(world: DrainWorld, carrier: Carrier, rule: string): Promise<Written> {
  const wanted = (meta: ObjectMeta) =>
    meta.deletionTimestamp === undefined ? removeEntry(meta, entryOf(rule)) : undefined;
  return await write(world, carrier, { doing: `taking the entry of ${rule} off`, wanted });
}

/** Takes an entry off an object that is being deleted, without teardown: on a person's word only. */
export async function freeDeleting(world: DrainWorld, carrier: Carrier, rule: string): Promise<Written> {
  const wanted = (meta: ObjectMeta) =>
    meta.deletionTimestamp === undefined ? undefined : removeEntry(meta, entryOf(rule));
  return await write(world, carrier, { doing: `releasing the entry of ${rule} from`, wanted });
}

/** Writes a person's release for this deletion, unless as strong a one is there. */
export async function sayRelease(
  world: DrainWorld,
  carrier: Carrier,
  { rule, release }: { readonly rule: string; readonly release: 'wait' | 'now' },
): Promise<Written> {
  const wanted = (meta: ObjectMeta) => {
    const said = releaseWord(meta, rule);
    if (said === 'now' || said === release) return undefined;
    return annotate(meta, {
      [RELEASE_PREFIX + rule]: release === 'now' ? `${meta.uid}/now` : meta.uid,
      [REASON_PREFIX + rule]: `${meta.uid}/drain --release-held`,
    });
  };
  return await write(world, carrier, { doing: `writing the release of ${rule} on`, wanted });
}

interface Writing {
  readonly doing: string;
  /** What is to be done to the object as it is; undefined when nothing is. */
  readonly wanted: (meta: ObjectMeta) => readonly PatchOperation[] | undefined;
}

/** Throws ApiError, and where the API server refuses although nothing has moved. */
async function write({ cluster }: DrainWorld, carrier: Carrier, { doing, wanted }: Writing): Promise<Written> {
  const path = pathOf(carrier);
  let { meta } = carrier;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const operations = wanted(meta);
    if (operations === undefined) return 'settled';
    const outcome = await cluster.patch(path, operations);
    if (outcome.kind === 'patched') return 'written';
    if (outcome.kind === 'missing') return 'settled';
    const object = await cluster.get(path);
    if (object === undefined || object.metadata.uid !== meta.uid) return 'settled';
    if (object.metadata.resourceVersion === meta.resourceVersion) {
      throw refused(`${doing} ${nameOfCarrier(carrier)}`, outcome.said);
    }
    meta = object.metadata;
  }
  throw new Error(`${doing} ${nameOfCarrier(carrier)}: it keeps changing under ${ROUNDS_MAX} looks`);
}
