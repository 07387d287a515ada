/*
 * Turns what the watches see into work: pending deletions to reconcile, live objects to claim. Keeps nothing for live
 * objects that have what they need (P8). Called by watch.ts; fills the pendings and the work queue of bridge.ts.
 */
import type { Births } from './births.ts';
import type { Claims } from './claims.ts';
import { hasEntry, rulesHolding } from './finalizer.ts';
import type { Finished, Over } from './finished.ts';
import { kindKey, kindName } from './kind-key.ts';
import type { Metrics } from './metrics.ts';
import { advance, newPending, type Pending, pendingKey } from './pending.ts';
import type { Clock, KindRef, ObjectMeta, Watched } from './ports.ts';
import type { Rule } from './rule.ts';
import { isLeaving, kindOf, type Served, shows } from './served.ts';
import type { Serving } from './serving.ts';
import { Sights } from './sights.ts';
import type { Strays } from './strays.ts';
import type { Sink } from './watch-sink.ts';
import { UNNEEDED } from './watches.ts';
import { trimmed } from './wire.ts';

/** What intake needs. */
export interface IntakeOptions {
  readonly clock: Clock;
  readonly pendings: Map<string, Pending>;
  readonly finished: Finished;
  readonly claims: Claims;
  readonly strays: Strays;
  readonly metrics: Metrics;
  readonly births: Births;
  readonly serving: Serving;
  readonly served: Served;
  rulesOf(kind: KindRef): readonly Rule[];
  /** Whether a rule selects a live object, by its labels and its namespace's; undefined when those are not known yet. */
  isMatched(rule: Rule, meta: ObjectMeta): boolean | undefined;
  /** Puts a key in the work queue. */
  add(key: string): void;
}

/** Entries of unknown rules that are followed on one object; the next ones when these are off. */
const STRANGERS_MAX = 3;
/** Ends of a watch that are about this kind alone. */
const UNSERVED: ReadonlySet<string> = new Set(['Http404', 'Http405']);
const REFUSED: ReadonlySet<string> = new Set(['Http403', ...UNSERVED]);

/** The sink of all watches. */
export class Intake implements Sink {
  readonly #options: IntakeOptions;
  readonly #sights: Sights;
  /** By uid, the names of unknown rules under which an object is pending: nothing else leads from the object to them. */
  readonly #strangers = new Map<string, Set<string>>();

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#sights = new Sights(options);
  }

  /** Whether every one of these kinds is being watched and was listed completely once. */
  isReady(kinds: readonly KindRef[]): boolean {
    return this.#sights.isReady(kinds);
  }

  /** Whether every kind is known, or is one that cannot be watched now and must not hold up the others (P10). */
  isSettled(kinds: readonly KindRef[]): boolean {
    return this.#sights.isSettled(kinds);
  }

  /** The namespaces in which a kind is not being watched; none where it is watched as a whole. */
  blindIn(kind: KindRef): readonly string[] {
    return this.#sights.blindIn(kind);
  }

  /** Whether what a watch has shown is the present. */
  isWatching(watched: Watched): boolean {
    const { everSynced, isWatching } = this.#sights.of(watched);
    return everSynced && isWatching;
  }

  listing(watched: Watched): void {
    this.#sights.of(watched).shown = new Set();
    this.#options.strays.listing(watched);
  }

  present(watched: Watched, meta: ObjectMeta, isNew = false): void {
    if (meta.deletionTimestamp === undefined) this.#live(watched, meta, isNew);
    else this.#deleting(watched, meta);
  }

  deleted(watched: Watched, meta: ObjectMeta): void {
    this.#options.strays.off(watched, meta);
    for (const rule of this.#rulesWithMemory(watched, meta)) this.#off(pendingKey(meta.uid, rule));
    this.#strangers.delete(meta.uid);
  }

  synced(watched: Watched): void {
    const sight = this.#sights.of(watched);
    const { shown } = sight;
    sight.everSynced = true;
    sight.shown = undefined;
    this.resumed(watched);
    this.#options.strays.synced(watched);
    this.#options.claims.listed(watched);
    const isSeen = ({ kind, meta }: Over) => kindKey(kind) === kindKey(watched) && shows(watched, meta);
    this.#options.finished.seenAll(isSeen);
    if (shown === undefined) return;
    for (const [uid, names] of this.#strangers) this.#forgetStrangers(uid, names);
    for (const [key, pending] of this.#options.pendings) {
      if (shown.has(key) || !(isSeen(pending) || this.#isSeenHereOnly(pending, watched))) continue;
      noteShownIn(pending, watched.version);
      this.#doubt(key);
    }
  }

  /** Its own version is not served: what becomes of it is seen in another one. */
  #isSeenHereOnly({ kind, meta }: Pending, watched: Watched): boolean {
    return kindName(kind) === kindName(watched) && shows(watched, meta) && this.#options.serving.isDown(kind);
  }

  blind(watched: Watched, cause: string): void {
    const sight = this.#sights.of(watched);
    sight.isWatching = false;
    sight.isRefused ||= REFUSED.has(cause);
    if (UNSERVED.has(cause)) this.#options.serving.down(watched);
    if (cause === UNNEEDED) {
      this.#options.strays.forget(watched);
      this.#options.serving.unseen(watched);
      this.#sights.forgo(watched);
      return;
    }
    this.#sights.measure(watched);
  }

  resumed(watched: Watched): void {
    this.#sights.of(watched).isWatching = true;
    this.#options.serving.up(watched);
    this.#sights.measure(watched);
  }

  /** Takes a deleting object in, however it was met; `knowsAllSent` only ever for one met by the watch. */
  admit(kind: KindRef, meta: ObjectMeta, rule: string): Pending {
    return this.#track({ kind, meta, rule, knowsAllSent: false });
  }

  #live(kind: Watched, meta: ObjectMeta, isNew: boolean): void {
    this.#options.strays.see(kind, meta);
    for (const rule of this.#options.rulesOf(kind)) {
      const isHeld = hasEntry(meta, rule.entry);
      if (isHeld) this.#options.claims.saw(meta, rule.name);
      // A withdrawn rule wants nothing new; its entries come off by the withdrawal's own lists.
      if (rule.isWithdrawn === true) continue;
      const isMatched = this.#options.isMatched(rule, meta);
      if (isMatched === true && isNew) this.#options.births.saw(rule, meta, isHeld);
      if (isMatched === true && !isHeld) this.#options.claims.want({ kind, meta, rule, change: 'add' });
      if (isMatched === false && isHeld && this.#isReleased(rule, meta)) {
        this.#options.claims.want({ kind, meta, rule, change: 'remove' });
      }
    }
  }

  /** Whether an entry comes off a live object that its rule does not select. */
  #isReleased({ unmatched }: Rule, meta: ObjectMeta): boolean {
    return unmatched === 'Release' || isLeaving(this.#options.served, meta);
  }

  #deleting(kind: Watched, meta: ObjectMeta): void {
    this.#options.strays.off(kind, meta);
    const holding = rulesHolding(meta);
    const known = new Set(this.#options.rulesOf(kind).map(({ name }) => name));
    const strangers = holding.filter((rule) => !known.has(rule)).slice(0, STRANGERS_MAX);
    for (const rule of [...holding.filter((name) => known.has(name)), ...strangers]) this.#holding(kind, meta, rule);
    // Of what it carries nothing can be off; there may be tens of thousands of entries.
    const carried = new Set(holding);
    const followed = this.#strangers.get(meta.uid) ?? new Set();
    for (const rule of new Set([...known, ...followed])) if (!carried.has(rule)) this.#off(pendingKey(meta.uid, rule));
    for (const rule of strangers) if (this.#options.pendings.has(pendingKey(meta.uid, rule))) followed.add(rule);
    if (followed.size > 0) this.#strangers.set(meta.uid, followed);
    this.#forgetStrangers(meta.uid, followed);
  }

  #forgetStrangers(uid: string, names: Set<string>): void {
    for (const name of names) if (!this.#options.pendings.has(pendingKey(uid, name))) names.delete(name);
    if (names.size === 0) this.#strangers.delete(uid);
  }

  #holding(kind: Watched, meta: ObjectMeta, rule: string): void {
    const { finished } = this.#options;
    const state = this.#sights.of(kind);
    const key = pendingKey(meta.uid, rule);
    const isListing = state.shown !== undefined;
    if (finished.has(key) && !isListing) return;
    // A complete list shows what was taken for over: it is looked at again, and nothing is known of what was sent.
    const wasOver = finished.take(key);
    this.#options.claims.saw(meta, rule);
    const pending = this.#track({ kind, meta, rule, knowsAllSent: state.everSynced && !wasOver });
    pending.wasOver ||= wasOver;
    state.shown?.add(key);
  }

  #track(from: Pick<Pending, 'kind' | 'meta' | 'rule' | 'knowsAllSent'>): Pending {
    const { pendings, clock, add } = this.#options;
    const known = pendings.get(pendingKey(from.meta.uid, from.rule));
    const meta = trimmed(from.meta);
    if (known !== undefined) {
      const { version } = from.kind;
      noteShownIn(known, version);
      // Another version may show other annotations of the very same state than the one that is written in.
      const isSame = version !== known.kind.version && meta.resourceVersion === known.meta.resourceVersion;
      if (isSame || advance(known, meta)) add(known.key);
      return known;
    }
    const pending = newPending({ ...from, kind: kindOf(from.kind), meta, firstLooked: clock.now() });
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
    const followed = this.#strangers.get(meta.uid) ?? [];
    return new Set([...this.#options.rulesOf(kind).map(({ name }) => name), ...rulesHolding(meta), ...followed]);
  }
}

/** In which version it can be asked for, where the one that its rule names is not served. */
function noteShownIn(pending: Pending, version: string): void {
  if (!pending.shownIn.includes(version)) pending.shownIn = [...pending.shownIn, version];
}
