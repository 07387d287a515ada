/*
 * Deletions that are over while the watch may still show them: what is kept of them, and until when. Filled by removal.ts,
 * asked by intake.ts and inbox.ts; everything else about a deletion is in pending.ts.
 */
import type { Pending } from './pending.ts';
import type { KindRef, ObjectMeta } from './ports.ts';

/** What is kept of a deletion that is over: where it was. */
export interface Over {
  readonly kind: KindRef;
  readonly meta: Pick<ObjectMeta, 'namespace'>;
}

/** How many deletions are remembered that the watch has shown over. */
const ECHOES_MAX = 1_000;

/**
 * Deletions that are over while the watch may lag behind and still show the entry on: such a sight says nothing, as no
 * finalizer can be added to an object that is being deleted. When the watch has caught up the latest are still known, for
 * what comes twice or out of order around a list.
 */
export class Finished {
  readonly #awaited = new Map<string, Over>();
  readonly #echoes = new Set<string>();

  add({ key, kind, meta: { namespace } }: Over & Pick<Pending, 'key'>): void {
    this.#awaited.set(key, { kind, meta: { namespace } });
  }

  has(key: string): boolean {
    return this.#awaited.has(key) || this.#echoes.has(key);
  }

  /** Whether it was over, forgotten by this: a complete list shows it again, so it has to be looked at. */
  take(key: string): boolean {
    const wasAwaited = this.#awaited.delete(key);
    return this.#echoes.delete(key) || wasAwaited;
  }

  /** The watch has shown the object without the entry, or gone. */
  seenOff(key: string): void {
    if (!this.#awaited.delete(key)) return;
    this.#echoes.add(key);
    const [oldest] = this.#echoes;
    if (oldest !== undefined && this.#echoes.size > ECHOES_MAX) this.#echoes.delete(oldest);
  }

  /** A complete list came, of those of which that is so. */
  seenAll(isListed: (over: Over) => boolean): void {
    for (const [key, over] of this.#awaited) if (isListed(over)) this.seenOff(key);
  }
}
