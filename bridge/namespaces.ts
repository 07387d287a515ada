/*
 * The labels of namespaces, for rules with a namespaceSelector. Watched only while such a rule exists; called by bridge.ts.
 * Until a namespace's labels are known nobody says that an object is unmatched, so that no entry comes off by mistake.
 * Where the bridge serves some namespaces only, each of them is watched by its name, which rights on the names allow.
 */
import type { KindRef, ObjectMeta, Watched } from './ports.ts';
import type { Rule } from './rule.ts';
import { isLeaving, type Served } from './served.ts';
import { Watcher, type WatcherOptions } from './watch.ts';

/** The kind itself. */
export const NAMESPACES: KindRef = { group: '', version: 'v1', resource: 'namespaces' };

/** Of its metric. */
const METRIC = { group: NAMESPACES.group, resource: NAMESPACES.resource };

type Labels = Readonly<Record<string, string>>;

type NamespacesOptions = Omit<WatcherOptions, 'kind' | 'sink'> & { readonly served: Served };

/** Labels of namespaces, kept while needed. */
export class Namespaces {
  readonly #options: NamespacesOptions;
  readonly #onChange: () => void;
  readonly #labels = new Map<string, Labels>();
  /** Namespaces that somebody asked for before they were known. */
  readonly #missed = new Set<string>();
  #watchers: readonly Watcher[] = [];
  /** Something has changed, or was learnt, inside a list. */
  #isNews = false;

  /** `onChange` is told after labels changed, or were learnt that had been asked for: what rules select may be different. */
  constructor(options: NamespacesOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  /** Watches while some rule asks for it. */
  need(isNeeded: boolean): void {
    if (isNeeded && this.#watchers.length === 0) {
      const { namespaces } = this.#options.served;
      const all = namespaces?.map((name): Watched => ({ ...NAMESPACES, name })) ?? [NAMESPACES];
      this.#watchers = all.map((kind) => new Watcher({ ...this.#options, kind, sink: this.#sink() }));
      for (const watcher of this.#watchers) watcher.start();
    } else if (!isNeeded && this.#watchers.length > 0) {
      void this.stop();
    }
  }

  /** Whether labels can be told as they are now, if anybody needs them. */
  get isReady(): boolean {
    return this.#watchers.every(({ isWatching }) => isWatching);
  }

  /** Whether the labels of one namespace are those of now; one that nobody can see keeps no other from being known (P10). */
  #isSeen(namespace: string): boolean {
    return this.#watchers.every(({ kind, isWatching }) => isWatching || (kind.name ?? namespace) !== namespace);
  }

  /** Whether a rule selects a live object; undefined when its namespace's labels are not known. */
  isMatched(rule: Rule, { labels = {}, namespace }: Pick<ObjectMeta, 'labels' | 'namespace'>): boolean | undefined {
    if (!rule.matches(labels) || isLeaving(this.#options.served, { namespace })) return false;
    if (rule.matchesNamespace === undefined) return true;
    // As everywhere in Kubernetes: a Namespace is selected by its own labels, other cluster-scoped objects always.
    if (namespace === undefined) return isNamespaces(rule.match) ? rule.matchesNamespace(labels) : true;
    const known = this.#labels.get(namespace);
    const isMatched = known !== undefined && rule.matchesNamespace(known);
    // Where nobody looks the labels may have come to match since: an entry that a new object was born with must not come off (P1).
    if (known !== undefined && (isMatched || this.#isSeen(namespace))) return isMatched;
    this.#missed.add(namespace);
    return undefined;
  }

  async stop(): Promise<void> {
    const watchers = this.#watchers;
    this.#watchers = [];
    this.#labels.clear();
    this.#missed.clear();
    // What nobody needs is not what the bridge is blind to.
    if (watchers.length > 0) this.#options.metrics.watching.remove(METRIC);
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  }

  #sink(): WatcherOptions['sink'] {
    let shown: Set<string> | undefined;
    return {
      listing: () => {
        shown = new Set();
      },
      present: (_kind, { name, labels = {} }) => {
        shown?.add(name);
        const known = this.#labels.get(name);
        this.#labels.set(name, labels);
        // Most namespaces are known before there is anything in them; a list of all objects is not cheap.
        const wasMissed = this.#missed.delete(name);
        this.#isNews ||= wasMissed || (known !== undefined && JSON.stringify(known) !== JSON.stringify(labels));
        if (shown === undefined) this.#tell();
      },
      deleted: (_kind, { name }) => void this.#labels.delete(name),
      synced: (watched) => {
        const isListed = (name: string) => watched.name === undefined || watched.name === name;
        for (const name of this.#labels.keys())
          if (isListed(name) && shown?.has(name) === false) this.#labels.delete(name);
        shown = undefined;
        this.#measure();
        this.#tell();
      },
      blind: () => this.#measure(),
      resumed: () => {
        this.#measure();
        // A watch that goes on from where it ended shows nothing that has not changed.
        for (const name of this.#missed)
          if (this.#labels.has(name) && this.#isSeen(name)) this.#isNews = this.#missed.delete(name);
        this.#tell();
      },
    };
  }

  #measure(): void {
    if (this.#watchers.length > 0) this.#options.metrics.watching.set(METRIC, this.isReady ? 1 : 0);
  }

  #tell(): void {
    if (!this.#isNews) return;
    this.#isNews = false;
    this.#onChange();
  }
}

function isNamespaces({ group, resource }: Pick<KindRef, 'group' | 'resource'>): boolean {
  return group === '' && resource === NAMESPACES.resource;
}
