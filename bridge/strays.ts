/*
 * Strays: live objects that carry an entry of ours that no rule has the name of (K33). Counted at each list and on change,
 * told as NoRule, and taken off only on a person's word (stray-acts.ts). Called by intake.ts for what the watches see.
 * Nothing is written on them: nothing keeps a live object from finishing, thousands may be strays at once, and the rule may
 * be back in a moment. Once one is deleted it is pending like any other, and says so on itself.
 */
import type { Clock, KindRef, ObjectMeta, Watched } from './ports.ts';
import { ENTRY_PREFIX } from './rule-facts.ts';
import { watchedKey } from './served.ts';
import { releaseWord, unreadWords } from './words.ts';

/** A rule of which nothing is seen may be about to be read: strays are told when they have been some for so long. */
export const TELL_AFTER_MS = 30_000;
const TELL_EVERY_MS = 60 * 60_000;
/** Names that are told apart within one kind: whoever may write an object may give its entries any name. */
const NAMES_MAX = 20;
/** Of one object so many are followed, those that a word speaks of first; the next ones when these are off. */
const NAMES_ON_ONE_MAX = 20;
const EXAMPLES_MAX = 3;
/** No rule can have these names. */
const NAMELESS = '(no name)';
const OTHERS = '(others)';

/** Where a stray stands, by its uid. */
export interface StrayObject extends Pick<ObjectMeta, 'name' | 'namespace' | 'uid'> {
  readonly kind: KindRef;
}

/** Strays of one kind, or of what of it is in one namespace, whose entry has one name. */
export interface StrayCount {
  readonly kind: Watched;
  /** For metrics and people: the name of the rule that is not there, or a word for what is none. */
  readonly rule: string;
  /** The name in the entry; undefined for all those that are too many to tell apart. */
  readonly name: string | undefined;
  readonly count: number;
  readonly examples: readonly StrayObject[];
}

/** What strays need. */
export interface StraysOptions {
  readonly clock: Clock;
  /** Whether the rules are known: before that nobody can say that one is not there. */
  areRulesKnown(): boolean;
  /** Whether some rule, accepted or not, has that name and is for that kind. */
  hasRule(name: string, kind: KindRef): boolean;
  /** A person's word to take the entry off stands on the object. */
  release(object: StrayObject, rule: string): void;
  /** A word stands on the object that says nothing there; `faults` say what was expected. */
  misread(object: StrayObject, rule: string, faults: readonly string[]): void;
  tell(strays: StrayCount): void;
  /** Whether what a watch has shown is the present. */
  isWatching(watched: Watched): boolean;
}

/** The objects of a name; only their uids are kept, and where a few of them are. */
interface Carriers {
  readonly rule: string;
  readonly uids: Set<string>;
  readonly examples: Map<string, StrayObject>;
}

interface KindState {
  readonly kind: Watched;
  known: Map<string, Carriers>;
  /** During a list: those that it has shown. */
  shown: Map<string, Carriers> | undefined;
  readonly timers: Map<string, () => void>;
  /** Entries were seen before the rules were known. */
  isUnjudged: boolean;
}

/** The strays of all kinds that are watched. */
export class Strays {
  readonly #options: StraysOptions;
  readonly #kinds = new Map<string, KindState>();
  #isStopped = false;

  constructor(options: StraysOptions) {
    this.#options = options;
  }

  /** How many there are, by kind and name. */
  counts(): readonly StrayCount[] {
    const states = [...this.#kinds.values()].filter((state) => state.known.size > 0 && !this.#isShownBefore(state));
    return states.flatMap(({ kind, known }) => [...known.values()].map((of) => countOf(kind, of)));
  }

  /** Kinds with entries that were seen before the rules were known; they have to be listed again, and are told once. */
  takeUnjudged(): readonly Watched[] {
    const unjudged = [...this.#kinds.values()].filter(({ isUnjudged }) => isUnjudged);
    for (const state of unjudged) state.isUnjudged = false;
    return unjudged.map(({ kind }) => kind);
  }

  listing(kind: Watched): void {
    this.#stateOf(kind).shown = new Map();
  }

  synced(kind: Watched): void {
    const state = this.#stateOf(kind);
    if (state.shown === undefined) return;
    state.known = state.shown;
    state.shown = undefined;
    for (const name of state.timers.keys()) if (!state.known.has(name)) cancel(state, name);
    for (const name of state.known.keys()) this.#tellLater(state, name, TELL_AFTER_MS);
  }

  /** A live object as it is now. */
  see(kind: Watched, meta: ObjectMeta): void {
    const names = this.#namesOn(kind, meta);
    const state = names.length === 0 ? this.#kinds.get(watchedKey(kind)) : this.#stateOf(kind);
    if (state === undefined) return;
    if (names.length === 0 && (state.shown ?? state.known).size === 0) return;
    if (names.length > 0 && !this.#options.areRulesKnown()) {
      state.isUnjudged = true;
      return;
    }
    const { name, namespace, uid } = meta;
    const object = { kind, name, namespace, uid };
    this.#put(state, object, names);
    for (const one of names) {
      if (releaseWord(meta, one) !== 'none') this.#options.release(object, one);
      const faults = unreadWords(meta, one);
      if (faults.length > 0) this.#options.misread(object, one, faults);
    }
  }

  /** An object that is not live any more. */
  off(kind: Watched, { uid }: Pick<ObjectMeta, 'uid'>): void {
    const state = this.#kinds.get(watchedKey(kind));
    if (state !== undefined) this.#drop(state, uid, new Set());
  }

  /** A rule has come: what carries its entry is no stray. */
  reconsider(rule: string): void {
    const label = labelOf(rule);
    for (const state of this.#kinds.values()) {
      if (!this.#options.hasRule(rule, state.kind)) continue;
      state.shown?.delete(label);
      this.#clear(state, label);
    }
  }

  /** The kind is not watched any more: nobody knows. */
  forget(kind: Watched): void {
    const state = this.#kinds.get(watchedKey(kind));
    if (state === undefined) return;
    for (const name of state.timers.keys()) cancel(state, name);
    this.#kinds.delete(watchedKey(kind));
  }

  stop(): void {
    this.#isStopped = true;
    for (const { kind } of [...this.#kinds.values()]) this.forget(kind);
  }

  /** Asked for every live object that a watch shows; one may have tens of thousands of entries. */
  #namesOn(kind: KindRef, meta: ObjectMeta): readonly string[] {
    const names = new Set<string>();
    for (const entry of meta.finalizers ?? []) {
      if (!entry.startsWith(ENTRY_PREFIX)) continue;
      const name = entry.slice(ENTRY_PREFIX.length);
      if (!names.has(name) && !this.#options.hasRule(name, kind)) names.add(name);
    }
    if (names.size <= NAMES_ON_ONE_MAX) return [...names];
    const spoken = [...names].filter((name) => releaseWord(meta, name) !== 'none');
    return [...new Set([...spoken, ...names])].slice(0, NAMES_ON_ONE_MAX);
  }

  #put(state: KindState, object: StrayObject, names: readonly string[]): void {
    const into = state.shown ?? state.known;
    const labels = new Set(names.map((name) => labelWithin(into, name)));
    this.#drop(state, object.uid, labels);
    if (labels.size === 0) return;
    for (const label of labels) {
      const carriers = into.get(label) ?? { rule: label, uids: new Set(), examples: new Map() };
      into.set(label, carriers);
      carriers.uids.add(object.uid);
      if (carriers.examples.size < EXAMPLES_MAX) carriers.examples.set(object.uid, object);
    }
    if (state.shown !== undefined) return;
    for (const label of labels) this.#tellLater(state, label, TELL_AFTER_MS);
  }

  /** Takes an object out of all names but these. */
  #drop(state: KindState, uid: string, but: ReadonlySet<string>): void {
    for (const [label, { uids, examples }] of state.shown ?? state.known) {
      if (but.has(label) || !uids.delete(uid)) continue;
      examples.delete(uid);
      if (uids.size === 0 && state.shown === undefined) this.#clear(state, label);
    }
  }

  /** Another watch shows the same objects, in another version of the kind; one that is blind shows nothing. */
  #isShownBefore({ kind }: KindState): boolean {
    const { group, resource, namespace } = kind;
    const isSame = (one: Watched) => one.resource === resource && one.group === group && one.namespace === namespace;
    const same = [...this.#kinds.values()].filter(({ kind: one }) => isSame(one));
    const shown = same.find(({ kind: one }) => this.#options.isWatching(one)) ?? same[0];
    return shown !== undefined && shown.kind.version !== kind.version;
  }

  #clear(state: KindState, label: string): void {
    state.known.delete(label);
    cancel(state, label);
  }

  #tellLater(state: KindState, label: string, after: number): void {
    if (this.#isStopped || state.timers.has(label)) return;
    const tell = () => {
      state.timers.delete(label);
      const carriers = state.known.get(label);
      if (carriers === undefined || carriers.uids.size === 0) return;
      if (!this.#isShownBefore(state)) this.#options.tell(countOf(state.kind, carriers));
      this.#tellLater(state, label, TELL_EVERY_MS);
    };
    state.timers.set(label, this.#options.clock.after(after, tell));
  }

  #stateOf(kind: Watched): KindState {
    const key = watchedKey(kind);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const state: KindState = { kind, known: new Map(), shown: undefined, timers: new Map(), isUnjudged: false };
    this.#kinds.set(key, state);
    return state;
  }
}

function countOf(kind: KindRef, { rule, uids, examples }: Carriers): StrayCount {
  const name = rule === OTHERS ? undefined : rule === NAMELESS ? '' : rule;
  return { kind, rule, name, count: uids.size, examples: [...examples.values()] };
}

function labelOf(name: string): string {
  return name === '' ? NAMELESS : name;
}

function labelWithin(names: ReadonlyMap<string, unknown>, name: string): string {
  const label = labelOf(name);
  return names.has(label) || names.size < NAMES_MAX ? label : OTHERS;
}

function cancel(state: KindState, label: string): void {
  state.timers.get(label)?.();
  state.timers.delete(label);
}
