/*
 * A model of the outside: resources with tags, taken down at once or slowly, in an account and a region.
 * Made by world.ts; functions reach it through the client of cloud-handler.ts. Every deletion that begins is told to
 * `onDelete`, where promises.ts asks whether it was allowed.
 */
import type { VirtualTime } from './clock.ts';

/**
 * An outside resource. `owner` is the truth: the uid of the object it was made for, which no handler can see.
 * `endsAt` (ms since the epoch) is set while it is being taken down.
 */
export interface Resource {
  readonly name: string;
  readonly owner: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly endsAt: number | undefined;
  /** How long this one takes to go, in ms; as all others unless told. */
  readonly deletionMs?: number | undefined;
}

/** A deletion that began, and the process that began it. */
export interface CloudDeletion {
  readonly resource: Resource;
  readonly by: string;
}

/** The cloud. */
export class Cloud {
  readonly #time: VirtualTime;
  readonly #resources = new Map<string, Resource>();
  readonly #listeners = new Set<(deletion: CloudDeletion) => void>();
  /** How long a deletion takes, in ms; 0 is at once. */
  deletionMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Told when a deletion begins, before it takes effect. */
  onDelete(listener: (deletion: CloudDeletion) => void): void {
    this.#listeners.add(listener);
  }

  /** False: the name is taken. */
  create(
    name: string,
    owner: string,
    tags: Readonly<Record<string, string>>,
    ...[deletionMs]: readonly [number?]
  ): boolean {
    if (this.find(name) !== undefined) return false;
    this.#resources.set(name, { name, owner, tags: new Map(Object.entries(tags)), endsAt: undefined, deletionMs });
    return true;
  }

  /** Gives what is there other tags, and with them, it may be, another owner. False: there is none. */
  tag(name: string, owner: string, tags: Readonly<Record<string, string>>): boolean {
    const resource = this.find(name);
    if (resource === undefined) return false;
    this.#resources.set(name, { ...resource, owner, tags: new Map(Object.entries(tags)) });
    return true;
  }

  /** The resource as it is now; undefined when there is none, or none any more. */
  find(name: string): Resource | undefined {
    const resource = this.#resources.get(name);
    if (resource?.endsAt === undefined || resource.endsAt > this.#time.now()) return resource;
    this.#resources.delete(name);
    return undefined;
  }

  /** All there are. */
  all(): readonly Resource[] {
    return [...this.#resources.keys()].flatMap((name) => this.find(name) ?? []);
  }

  /** Begins to take a resource down. False: there is none. */
  delete(name: string, by: string): boolean {
    const resource = this.find(name);
    if (resource === undefined) return false;
    if (resource.endsAt !== undefined) return true;
    for (const listener of this.#listeners) listener({ resource, by });
    const { deletionMs = this.deletionMs } = resource;
    if (deletionMs === 0) this.#resources.delete(name);
    else this.#resources.set(name, { ...resource, endsAt: this.#time.now() + deletionMs });
    return true;
  }
}
