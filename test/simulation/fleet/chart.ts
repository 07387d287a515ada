/*
 * The installation of a world in which the bridges serve some namespaces: the values that the chart is given, the RoleBinding by
 * which the bridges have their rights in each of them, and what the API server lets them do there. Made by site.ts; acts change it
 * (served-acts.ts). Somebody applies the chart again every few minutes, as GitOps does.
 */
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import type { Watched } from '../../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING } from '../../../bridge/rights-binding.ts';
import { lookedInto, type Served } from '../../../bridge/served.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { ApiServer } from '../api-server.ts';
import type { VirtualTime } from '../clock.ts';

const APPLIED_EVERY_MS = 5 * 60_000;
/** A bridge that stands still, or whose calls are long on the wire, acts this long after an upgrade by the values before it. */
const STALE_MS = 15 * 60_000;

/** What a chart works with. Times in ms. */
export interface ChartOptions {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  /** How late the admission policy learns what is served. */
  readonly admissionLagMs: number;
  readonly namespaces: readonly string[];
}

/** The chart's values and what it has made of them. */
export class Chart {
  readonly #options: ChartOptions;
  /** Every namespace that was ever served. */
  readonly everServed = new Set<string>();
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
  #injected: readonly string[];

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

  /** Whether objects in a namespace are to have their entries. */
  serves(namespace: string | undefined): boolean {
    return namespace !== undefined && this.#served.namespaces?.includes(namespace) === true;
  }

  /** Whether the admission policy is bound there, as far as the API server has learnt. */
  injectsIn(namespace: string | undefined): boolean {
    return this.isWide || (namespace !== undefined && this.#injected.includes(namespace));
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
    for (const namespace of to.namespaces ?? []) this.everServed.add(namespace);
    for (const namespace of before)
      if (!this.lookedInto.includes(namespace)) server.delete(bindingIn(namespace), 'helm');
    this.apply();
    time.after(admissionLagMs, () => {
      this.#injected = to.namespaces ?? [];
    });
  }

  /** Makes the bindings that are not there, in namespaces that are: in one that is being deleted nothing can be made. */
  apply(): void {
    const { server } = this.#options;
    for (const namespace of this.lookedInto) {
      const path = bindingIn(namespace);
      if (!this.isStaying(namespace) || server.get(path) !== undefined) continue;
      this.#rescued.delete(namespace);
      server.create({ path, apiVersion: `${path.group}/${path.version}`, kind: 'RoleBinding', fields: {} }, 'helm');
    }
  }

  /** Whether the rights are in force: as long as the binding is there, being deleted or not, or somebody has come to help. */
  isBound(namespace: string): boolean {
    return this.isWide || this.#options.server.get(bindingIn(namespace)) !== undefined || this.#rescued.has(namespace);
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
    this.#options.server.delete(bindingIn(namespace), by);
  }

  /** Who has read the manual lets a binding go that is being deleted where the namespace is not, and applies the chart at once. */
  bindAgain(namespace: string): void {
    if (!this.isStaying(namespace)) return;
    this.#options.server.update(bindingIn(namespace), 'person', ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: [] },
    }));
    this.apply();
  }

  /** Takes the rights on all kinds away in one namespace, for a while. */
  forbid(namespace: string, ms: number): void {
    this.#forbidden.set(namespace, this.#options.time.now() + ms);
  }

  /**
   * Ends what goes wrong by chance: rights are back, where a namespace is being deleted by a ClusterRoleBinding, and whatever was ever
   * served is looked into. True: by other values.
   */
  mend(): boolean {
    this.#forbidden.clear();
    this.isMended = true;
    for (const namespace of this.everServed) {
      if (!this.isStaying(namespace) && !this.isBound(namespace)) this.#rescued.add(namespace);
    }
    const forgotten = [...this.everServed].filter((namespace) => !this.lookedInto.includes(namespace));
    const { namespaces, leaving } = this.#served;
    if (forgotten.length > 0) this.upgrade({ namespaces, leaving: [...leaving, ...forgotten] });
    else this.apply();
    return forgotten.length > 0;
  }

  /** What a bridge may not do, as the chart gives rights (docs/rights.md). */
  refuses(verb: string, { group, resource, namespace, name }: Watched): boolean {
    if (this.isWide) return false;
    if (group === TEARDOWN_RULES.group && resource === TEARDOWN_RULES.resource) return false;
    if (group === NAMESPACES.group && resource === NAMESPACES.resource) {
      if (name === undefined) return true;
      return !(verb === 'get' ? this.lookedInto : (this.#served.namespaces ?? [])).includes(name);
    }
    if (namespace === undefined || !this.isBound(namespace)) return true;
    if (group === RIGHTS_BINDING.group) return name !== RIGHTS_BINDING.name || !['get', 'patch'].includes(verb);
    return this.#options.time.now() < (this.#forbidden.get(namespace) ?? 0);
  }

  #applyAgain(): void {
    this.#options.time.after(APPLIED_EVERY_MS, () => {
      this.apply();
      this.#applyAgain();
    });
  }
}
