/*
 * The installation of a world in which the bridges serve some namespaces, or do so for a time: the values that the chart is given,
 * the RoleBinding by which the bridges have their rights in each of them, and what the API server lets them do there. Made by
 * site.ts; acts change it (served-acts.ts, mode-acts.ts). Somebody applies the chart again every few minutes, as GitOps does.
 */
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import type { ObjectPath, Watched } from '../../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING } from '../../../bridge/rights-binding.ts';
import { ANYWHERE, knownNamespaces } from '../../../bridge/rule-namespaces.ts';
import { EVERYWHERE, lookedInto, type Served } from '../../../bridge/served.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { ApiServer } from '../api-server.ts';
import type { VirtualTime } from '../clock.ts';
import type { Binder } from './plan.ts';

const APPLIED_EVERY_MS = 5 * 60_000;
/** A bridge that stands still, or whose calls are long on the wire, acts this long after an upgrade by the values before it. */
const STALE_MS = 15 * 60_000;

/** What a chart works with. Times in ms. */
export interface ChartOptions {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  /** How late the admission policy learns what is served. */
  readonly admissionLagMs: number;
  /** Those that are served first; all of the cluster where there are none. */
  readonly namespaces: readonly string[] | undefined;
  /** Every namespace that a cluster can have. */
  readonly all: readonly string[];
  readonly boundBy: Binder | undefined;
}

/** The chart's values and what it has made of them. */
export class Chart {
  readonly #options: ChartOptions;
  /** Every namespace that was ever served; '' for what is in none. */
  readonly everServed = new Set<string>();
  /** Those of them in which something may still carry an entry, as far as whoever upgrades knows. */
  readonly #touched = new Set<string>();
  /** Where somebody has given the rights in the whole cluster, as in a namespace that is being deleted nobody can. */
  readonly #rescued = new Set<string>();
  readonly #forbidden = new Map<string, number>();
  /** When a namespace was last among those that are being left. */
  readonly #leftAt = new Map<string, number>();
  /** The whole cluster is served beside it, as scripts of agreement begin. */
  isWide = false;
  /** The faults are over, and nobody changes the values any more. */
  isMended = false;
  #served: Served = { namespaces: [], leaving: [] };
  /** Where the admission policy is bound; undefined: everywhere. */
  #injected: readonly string[] | undefined;
  /** Until when no binding may be read or changed. */
  #bindingsClosedUntil = 0;

  constructor(options: ChartOptions) {
    this.#options = options;
    this.#injected = options.namespaces;
    this.upgrade({ namespaces: options.namespaces, leaving: [] });
    this.#applyAgain();
  }

  /** What a bridge that starts now is told. */
  get served(): Served {
    return this.#served;
  }

  /** Every namespace that is served or being left. */
  get lookedInto(): readonly string[] {
    return lookedInto(this.#served) ?? [];
  }

  /** Whether the whole cluster is served. */
  get servesAll(): boolean {
    return this.#served.namespaces === undefined;
  }

  /** Whether objects in a namespace are to have their entries. */
  serves(namespace: string | undefined): boolean {
    return isAmong(this.#served.namespaces, namespace);
  }

  /** Whether bridges that are told the values as they are look there. */
  looksInto(namespace: string | undefined): boolean {
    return isAmong(lookedInto(this.#served), namespace);
  }

  /** Whether the admission policy is bound there, as far as the API server has learnt. */
  injectsIn(namespace: string | undefined): boolean {
    return this.isWide || isAmong(this.#injected, namespace);
  }

  /** Whether a bridge may still take a namespace for one that is being left. */
  wasLeft(namespace: string | undefined): boolean {
    if (namespace === undefined) return false;
    if (this.#served.leaving.includes(namespace)) return true;
    return this.#options.time.now() - (this.#leftAt.get(namespace) ?? Number.NEGATIVE_INFINITY) < STALE_MS;
  }

  /** `helm upgrade` with other values; the bridges are started again by whoever upgrades. */
  upgrade(to: Served): void {
    const { server, time, admissionLagMs } = this.#options;
    const before = this.lookedInto;
    for (const namespace of this.#served.leaving) this.#leftAt.set(namespace, time.now());
    this.#served = to;
    for (const namespace of to.namespaces ?? ['', ...this.#options.all]) {
      this.everServed.add(namespace);
      this.#touched.add(namespace);
    }
    for (const namespace of before)
      if (!this.lookedInto.includes(namespace)) server.delete(this.#bindingIn(namespace), 'helm');
    this.apply();
    time.after(admissionLagMs, () => {
      this.#injected = to.namespaces;
    });
  }

  /** No rule is there, so nothing carries an entry: from now on only what is served again has to be left in order. */
  drained(): void {
    this.#touched.clear();
  }

  /** Makes the bindings that are not there, in namespaces that are: in one that is being deleted nothing can be made. */
  apply(): void {
    const { server } = this.#options;
    for (const namespace of this.lookedInto) {
      const path = this.#bindingIn(namespace);
      if (!this.isStaying(namespace) || server.get(path) !== undefined) continue;
      this.#rescued.delete(namespace);
      server.create({ path, apiVersion: `${path.group}/${path.version}`, kind: 'RoleBinding', fields: {} }, 'helm');
    }
  }

  /** Whether the rights are in force: as long as the binding is there, being deleted or not, or somebody has come to help. */
  isBound(namespace: string): boolean {
    if (this.isWide || this.servesAll || this.#rescued.has(namespace)) return true;
    const { server, boundBy } = this.#options;
    return boundBy === 'cluster' || server.get(this.#bindingIn(namespace)) !== undefined;
  }

  /** Namespaces that are being deleted and whose rights have gone first. */
  get rightless(): readonly string[] {
    return this.ending.filter((namespace) => !this.isBound(namespace));
  }

  #bindingIn(namespace: string): ObjectPath {
    const path = bindingIn(namespace);
    return this.#options.boundBy === undefined ? path : { ...path, name: 'somebody-elses' };
  }

  /** Whether a namespace is there, and is not being deleted. */
  isStaying(name: string): boolean {
    const there = this.#options.server.get({ ...NAMESPACES, name });
    return there !== undefined && there.metadata.deletionTimestamp === undefined;
  }

  /** Namespaces that were served once, are being deleted, and are still there. */
  get ending(): readonly string[] {
    const { server } = this.#options;
    const isThere = (name: string) => server.get({ ...NAMESPACES, name }) !== undefined;
    return [...this.everServed].filter((name) => isThere(name) && !this.isStaying(name));
  }

  /** Somebody deletes the binding. */
  unbind(namespace: string, by: string): void {
    this.#options.server.delete(this.#bindingIn(namespace), by);
  }

  /** Who has read the manual lets a binding go that is being deleted where the namespace is not, and applies the chart at once. */
  bindAgain(namespace: string): void {
    if (!this.isStaying(namespace) || !this.lookedInto.includes(namespace)) return;
    this.#options.server.update(this.#bindingIn(namespace), 'person', ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: [] },
    }));
    this.apply();
  }

  /** Takes the rights on all kinds away in one namespace, for a while. */
  forbid(namespace: string, ms: number): void {
    this.#forbidden.set(namespace, this.#options.time.now() + ms);
  }

  /** The same for the bindings from before where the whole cluster is served, as under a ClusterRole of an earlier chart. */
  forbidBindings(ms: number): void {
    this.#bindingsClosedUntil = this.#options.time.now() + ms;
  }

  /**
   * Ends what goes wrong by chance: rights are back, where a namespace is being deleted by a ClusterRoleBinding, and wherever an entry
   * may be is looked into. True: by other values.
   */
  mend(): boolean {
    this.#forbidden.clear();
    this.#bindingsClosedUntil = 0;
    this.isMended = true;
    for (const namespace of this.#touched) {
      if (namespace !== '' && !this.isStaying(namespace) && !this.isBound(namespace)) this.#rescued.add(namespace);
    }
    const to = this.#mended();
    if (to === undefined) this.apply();
    else this.upgrade(to);
    return to !== undefined;
  }

  /** Whoever is told that entries may be anywhere serves the whole cluster again; else what was forgotten is left in order. */
  #mended(): Served | undefined {
    const { namespaces, leaving } = this.#served;
    if (namespaces === undefined) return undefined;
    const named = this.#options.server.all(TEARDOWN_RULES).flatMap(knownNamespaces);
    if (named.includes(ANYWHERE)) return EVERYWHERE;
    const forgotten = [...this.#touched].filter((namespace) => namespace !== '' && !this.looksInto(namespace));
    return forgotten.length === 0 ? undefined : { namespaces, leaving: [...leaving, ...forgotten] };
  }

  /** What a bridge may not do, as the chart gives rights (docs/rights.md). */
  refuses(verb: string, { group, resource, namespace, name }: Watched): boolean {
    if (this.isWide) return false;
    if (group === TEARDOWN_RULES.group && resource === TEARDOWN_RULES.resource) return false;
    if (group === NAMESPACES.group && resource === NAMESPACES.resource) {
      if (this.servesAll) return verb === 'get';
      if (name === undefined) return true;
      return !(verb === 'get' ? this.lookedInto : (this.#served.namespaces ?? [])).includes(name);
    }
    const now = this.#options.time.now();
    if (!this.servesAll && (namespace === undefined || !this.isBound(namespace))) return true;
    if (group === RIGHTS_BINDING.group) {
      const isClosed = this.#options.boundBy === 'anotherAlone' && !this.isMended;
      return (
        isClosed ||
        (this.servesAll && now < this.#bindingsClosedUntil) ||
        name !== RIGHTS_BINDING.name ||
        !['get', 'patch'].includes(verb)
      );
    }
    return !this.servesAll && now < (this.#forbidden.get(namespace ?? '') ?? 0);
  }

  #applyAgain(): void {
    this.#options.time.after(APPLIED_EVERY_MS, () => {
      this.apply();
      this.#applyAgain();
    });
  }
}

/** Whether a place is one of some namespaces, or of the whole cluster where there are none. */
function isAmong(namespaces: readonly string[] | undefined, namespace: string | undefined): boolean {
  return namespaces === undefined || (namespace !== undefined && namespaces.includes(namespace));
}
