/*
 * Turns what the watches see into work: pending deletions to reconcile, live objects to claim. Keeps nothing for live
 * objects that have what they need (P8). Called by watch.ts; fills the pendings and the work queue of bridge.ts.
 */
import type { Claims } from './claims.ts';
import { entryOf, hasEntry, rulesHolding } from './finalizer.ts';
import type { Metrics } from './metrics.ts';
import { advance, type Finished, newPending, type Pending, pendingKey } from './pending.ts';
import type { Clock, KindRef, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { Sink } from './watch.ts';
import { trimmed } from './wire.ts';

/** What intake needs. */
export interface IntakeOptions {
  readonly clock: Clock;
  readonly pendings: Map<string, Pending>;
  readonly finished: Finished;
  readonly claims: Claims;
  readonly metrics: Metrics;
  rulesOf(kind: KindRef): readonly Rule[];
  /** Puts a key in the work queue. */
  add(key: string): void;
}

interface KindState {
  /** A first complete list was seen: what begins to be deleted from now on, only we can have sent anything for. */
  everSynced: boolean;
  isWatching: boolean;
  /** During a list: the keys of pending deletions that it has shown. */
  shown: Set<string> | undefined;
}

/** The sink of all watches. */
export class Intake implements Sink {
  readonly #options: IntakeOptions;
  readonly #kinds = new Map<string, KindState>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Whether every one of these kinds is being watched and was listed completely once. */
  isReady(kinds: readonly KindRef[]): boolean {
    return kinds.every((kind) => {
      const state = this.#stateOf(kind);
      return state.everSynced && state.isWatching;
    });
  }

  listing(kind: KindRef): void {
    this.#stateOf(kind).shown = new Set();
  }

  present(kind: KindRef, meta: ObjectMeta): void {
    if (meta.deletionTimestamp === undefined) this.#live(kind, meta);
    else this.#deleting(kind, meta);
  }

  deleted(kind: KindRef, meta: ObjectMeta): void {
    for (const rule of this.#rulesWithMemory(kind, meta)) this.#off(pendingKey(meta.uid, rule));
  }

  synced(kind: KindRef): void {
    const state = this.#stateOf(kind);
    const shown = state.shown;
    state.everSynced = true;
    state.shown = undefined;
    this.resumed(kind);
    this.#options.finished.seenAll((other) => kindKey(other) === kindKey(kind));
    if (shown === undefined) return;
    for (const [key, pending] of this.#options.pendings) {
      if (kindKey(pending.kind) === kindKey(kind) && !shown.has(key)) this.#doubt(key);
    }
  }

  blind(kind: KindRef): void {
    this.#stateOf(kind).isWatching = false;
    this.#options.metrics.watching.set({ resource: kind.resource }, 0);
  }

  resumed(kind: KindRef): void {
    this.#stateOf(kind).isWatching = true;
    this.#options.metrics.watching.set({ resource: kind.resource }, 1);
  }

  /** Takes a deleting object in, however it was met; `knowsAllSent` only ever for one met by the watch. */
  admit(kind: KindRef, meta: ObjectMeta, rule: string): Pending {
    return this.#track({ kind, meta, rule, knowsAllSent: false });
  }

  #live(kind: KindRef, meta: ObjectMeta): void {
    for (const rule of this.#options.rulesOf(kind)) {
      const isMatched = rule.matches(meta.labels ?? {});
      const isHeld = hasEntry(meta, rule.entry);
      if (isMatched && !isHeld) this.#options.claims.want({ kind, meta, rule, change: 'add' });
      if (!isMatched && isHeld && rule.unmatched === 'Release') {
        this.#options.claims.want({ kind, meta, rule, change: 'remove' });
      }
    }
  }

  #deleting(kind: KindRef, meta: ObjectMeta): void {
    const state = this.#stateOf(kind);
    const holding = rulesHolding(meta);
    for (const rule of holding) {
      if (this.#options.finished.has(pendingKey(meta.uid, rule))) continue;
      this.#track({ kind, meta, rule, knowsAllSent: state.everSynced });
      state.shown?.add(pendingKey(meta.uid, rule));
    }
    for (const rule of this.#rulesWithMemory(kind, meta)) {
      if (!hasEntry(meta, entryOf(rule))) this.#off(pendingKey(meta.uid, rule));
    }
  }

  #track(from: Pick<Pending, 'kind' | 'meta' | 'rule' | 'knowsAllSent'>): Pending {
    const { pendings, clock, add } = this.#options;
    const known = pendings.get(pendingKey(from.meta.uid, from.rule));
    const meta = trimmed(from.meta);
    if (known !== undefined) {
      if (advance(known, meta)) add(known.key);
      return known;
    }
    const pending = newPending({ ...from, meta, firstLooked: clock.now() });
    pendings.set(pending.key, pending);
    add(pending.key);
    return pending;
  }

  /** The watch shows the object gone, or without the entry. */
  #off(key: string): void {
    this.#options.finished.seenOff(key);
    this.#doubt(key);
  }

  #doubt(key: string): void {
    const pending = this.#options.pendings.get(key);
    if (pending === undefined) return;
    pending.doubted = true;
    this.#options.add(key);
  }

  /** Rules by whose name this object may be in memory: those of its kind, and those whose entries it carries. */
  #rulesWithMemory(kind: KindRef, meta: ObjectMeta): ReadonlySet<string> {
    return new Set([...this.#options.rulesOf(kind).map(({ name }) => name), ...rulesHolding(meta)]);
  }

  #stateOf(kind: KindRef): KindState {
    const key = kindKey(kind);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const state = { everSynced: false, isWatching: false, shown: undefined };
    this.#kinds.set(key, state);
    return state;
  }
}

/** One string per kind. */
export function kindKey({ group, version, resource }: KindRef): string {
  return `${group}/${version}/${resource}`;
}
