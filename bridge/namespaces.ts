/*
 * The labels of namespaces, for rules with a namespaceSelector. Watched only while such a rule exists; called by bridge.ts.
 * Until a namespace's labels are known nobody says that an object is unmatched, so that no entry comes off by mistake.
 */
import type { KindRef, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import { Watcher, type WatcherOptions } from './watch.ts';

/** The kind itself. */
export const NAMESPACES: KindRef = { group: '', version: 'v1', resource: 'namespaces' };

/** Of its metric. */
const METRIC = { group: NAMESPACES.group, resource: NAMESPACES.resource };

type Labels = Readonly<Record<string, string>>;

/** Labels of namespaces, kept while needed. */
export class Namespaces {
  readonly #options: Omit<WatcherOptions, 'kind' | 'sink'>;
  readonly #onChange: () => void;
  readonly #labels = new Map<string, Labels>();
  /** Namespaces that somebody asked for before they were known. */
  readonly #missed = new Set<string>();
  #watcher: Watcher | undefined;
  #shown: Set<string> | undefined;
  /** Something has changed, or was learnt, inside a list. */
  #isNews = false;

  /** `onChange` is told after labels changed, or were learnt that had been asked for: what rules select may be different. */
  constructor(options: Omit<WatcherOptions, 'kind' | 'sink'>, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  /** Watches while some rule asks for it. */
  need(isNeeded: boolean): void {
    if (isNeeded && this.#watcher === undefined) {
      this.#watcher = new Watcher({ ...this.#options, kind: NAMESPACES, sink: this.#sink() });
      this.#watcher.start();
    } else if (!isNeeded && this.#watcher !== undefined) {
      void this.stop();
    }
  }

  /** Whether labels can be told as they are now, if anybody needs them. */
  get isReady(): boolean {
    return this.#watcher === undefined || this.#watcher.isWatching;
  }

  /** Whether a rule selects a live object; undefined when its namespace's labels are not known. */
  isMatched(rule: Rule, { labels = {}, namespace }: Pick<ObjectMeta, 'labels' | 'namespace'>): boolean | undefined {
    if (!rule.matches(labels)) return false;
    if (rule.matchesNamespace === undefined) return true;
    // As everywhere in Kubernetes: a Namespace is selected by its own labels, other cluster-scoped objects always.
    if (namespace === undefined) return isNamespaces(rule.match) ? rule.matchesNamespace(labels) : true;
    const known = this.#labels.get(namespace);
    if (known !== undefined) return rule.matchesNamespace(known);
    this.#missed.add(namespace);
    return undefined;
  }

  async stop(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    this.#labels.clear();
    this.#missed.clear();
    // What nobody needs is not what the bridge is blind to.
    if (watcher !== undefined) this.#options.metrics.watching.remove(METRIC);
    await watcher?.stop();
  }

  #sink(): WatcherOptions['sink'] {
    return {
      listing: () => {
        this.#shown = new Set();
      },
      present: (_kind, { name, labels = {} }) => {
        this.#shown?.add(name);
        const known = this.#labels.get(name);
        this.#labels.set(name, labels);
        // Most namespaces are known before there is anything in them; a list of all objects is not cheap.
        const wasMissed = this.#missed.delete(name);
        this.#isNews ||= known === undefined ? wasMissed : JSON.stringify(known) !== JSON.stringify(labels);
        if (this.#shown === undefined) this.#tell();
      },
      deleted: (_kind, { name }) => void this.#labels.delete(name),
      synced: () => {
        for (const name of this.#labels.keys()) if (this.#shown?.has(name) === false) this.#labels.delete(name);
        this.#shown = undefined;
        this.#watching(1);
        this.#tell();
      },
      blind: () => this.#watching(0),
      resumed: () => this.#watching(1),
    };
  }

  #watching(value: number): void {
    this.#options.metrics.watching.set(METRIC, value);
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
