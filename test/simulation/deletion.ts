/*
 * The scenario everything else varies: one machine with its outside resource is created, gets the entry from the bridge,
 * and is deleted by a person. Called by the tests; every act is also there alone, for scenarios of their own.
 */
import type { KubeObject } from '../../bridge/ports.ts';
import { hasOurEntry, OWNER_TAG, pathOf } from './installation.ts';
import { World } from './world.ts';
import type { WorldOptions } from './world-options.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** The machine, and its resource outside. */
export const MACHINE = pathOf('logs');
export const RESOURCE = 'vm-logs';
/** Another one of the same owner. */
export const OTHER = 'vm-other';
/** A day is enough for any pair of faults. */
const PATIENCE_MS = 24 * HOUR;

/** A world, and how its resource is. */
export interface DeletionOptions extends WorldOptions {
  /** How long the resource takes to go away, in ms. */
  readonly deletionMs?: number;
  /** Tags of the resource instead of the ownership proof. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Finalizers of others on the machine. */
  readonly finalizers?: readonly string[];
}

/** A world whose machine has its entry and its resource; nothing is deleted yet. */
export async function createWorld(options: DeletionOptions): Promise<World> {
  const world = new World(options);
  world.cloud.deletionMs = options.deletionMs ?? 0;
  world.startBridge();
  await world.run(1_000);
  createMachine(world, options);
  await world.run(HOUR, () => hasOurEntry(world.server.get(MACHINE)));
  await world.run(1_000);
  return world;
}

/** Creates the machine and its resource, as their owner does. */
export function createMachine(world: World, { tags, finalizers = [] }: Partial<DeletionOptions> = {}): KubeObject {
  const object = world.server.create(
    {
      path: MACHINE,
      apiVersion: 'example.com/v1',
      kind: 'Machine',
      ...(finalizers.length === 0 ? {} : { finalizers }),
      fields: { spec: {}, status: { machine: RESOURCE } },
    },
    'owner',
  );
  world.cloud.create(RESOURCE, object.metadata.uid, tags ?? { [OWNER_TAG]: object.metadata.uid });
  return object;
}

/** The whole scenario until all is quiet; what was broken is noted in the world's promises. */
export async function deleteOne(options: DeletionOptions): Promise<World> {
  const world = await createWorld(options);
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  return world;
}

/** Lets a world come to its end and asks what has to be true then. */
export async function finish(world: World, deadLetters = 0): Promise<void> {
  world.promises.atEnd(await world.settle(PATIENCE_MS), deadLetters);
}

/** Deletes the machine and waits until the bridge has sent so many requests in all. */
export async function deleteAndPublish(world: World, requests = 1): Promise<void> {
  let sent = 0;
  world.requests.onSend(() => {
    sent += 1;
  });
  world.server.delete(MACHINE, 'owner');
  await world.run(HOUR, () => sent >= requests);
}

/** The same with the request kept from the functions for half an hour; resolves with its body. */
export async function deleteAndWithhold(world: World): Promise<string> {
  let request = '';
  world.requests.onSend(({ body }) => {
    request = body;
  });
  world.requests.hold(30 * MINUTE);
  await deleteAndPublish(world);
  return request;
}

/** The machine's uid; empty when it is gone. */
export function uidOf(world: World): string {
  return world.server.get(MACHINE)?.metadata.uid ?? '';
}

/** A person's or a controller's edit of the machine's annotations. */
export function annotate(world: World, annotations: Readonly<Record<string, string>>): void {
  world.server.update(MACHINE, 'person', (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
  }));
}

/** The owner writes another target, or none, into the machine's status. */
export function retarget(world: World, machine: string | undefined): void {
  world.server.update(MACHINE, 'owner', (object) => ({ ...object, status: machine === undefined ? {} : { machine } }));
}

/** Makes another resource of the same owner, which takes so many ms to go away, and has the machine point at it. */
export function moveToOther(world: World, deletionMs?: number): void {
  world.cloud.create(OTHER, uidOf(world), { [OWNER_TAG]: uidOf(world) }, deletionMs);
  retarget(world, OTHER);
}
