/*
 * The cluster around the objects of a world: which kinds are served, who may do what, namespaces that end, and the admission
 * policy that puts entries on at birth, a little behind the rules. Made by fleet-world.ts; the bridges' ports ask it at every
 * call (cluster-port.ts), people's acts go through it.
 */
import { INJECTS_LABEL } from '../../../bridge/injects.ts';
import { kindKey } from '../../../bridge/kind-key.ts';
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import type { KindRef, KubeObject, Watched } from '../../../bridge/ports.ts';
import { RIGHTS_BINDING } from '../../../bridge/rights-binding.ts';
import { ENTRY_PREFIX, RULE_API_VERSION, RULE_KIND } from '../../../bridge/rule-facts.ts';
import { rulePath, TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { ApiServer, NewObject, Write } from '../api-server.ts';
import type { VirtualTime } from '../clock.ts';
import type { Access } from '../cluster-port.ts';
import { ACCOUNT, REGION } from '../function-host.ts';
import { ON_DELETE, OWNER_TAG } from '../installation.ts';
import { Chart } from './chart.ts';
import {
  type Binder,
  FLEET_KINDS,
  FLEET_NAMESPACES,
  type FleetKind,
  type FleetNamespace,
  type RulePlan,
} from './plan.ts';
import { namesPlace, selects } from './selection.ts';

/** What `name` of a rule's proof is computed as, for an object. */
export const NAME_TAG = 'owner';

/** How a site is. Times in ms. */
export interface SiteOptions {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  readonly admission: boolean;
  readonly admissionLagMs: number;
  /** The namespaces that are served first; the whole cluster, and nothing else at any time, unless told. */
  readonly served?: readonly string[] | 'all' | undefined;
  readonly boundBy?: Binder | undefined;
}

/** The cluster. */
export class Site implements Access {
  readonly #options: SiteOptions;
  /** Where some namespaces are served. */
  readonly chart: Chart | undefined;
  readonly #unserved = new Set<string>();
  /** Kinds and namespaces in which nothing can be created any more. */
  readonly #ending = new Set<string>();
  readonly #forbidden = new Map<string, number>();
  readonly #watches = new Map<string, Set<() => void>>();
  /** The rules as the admission policy knows them. */
  readonly #injecting = new Map<string, KubeObject>();
  #mutedUntil = 0;
  #isLeaving = false;

  constructor(options: SiteOptions) {
    this.#options = options;
    const { server, time, admission, admissionLagMs, served, boundBy } = options;
    const all = Object.keys(FLEET_NAMESPACES);
    for (const name of all) this.#createNamespace(name);
    const namespaces = served === 'all' ? undefined : served;
    this.chart = served && new Chart({ time, server, admissionLagMs, namespaces, all, boundBy });
    if (admission) {
      server.onWrite((write) => void time.after(admissionLagMs, () => this.#learn(write)), TEARDOWN_RULES);
    }
  }

  isServed({ namespace, ...kind }: Watched): boolean {
    const key = kindKey(kind);
    if (namespace !== undefined && key === IN_NO_NAMESPACE) return false;
    return OURS.has(key) ? !this.#unserved.has(key) : ALWAYS.has(key);
  }

  refusal(verb: string, place: Watched): number | undefined {
    const now = this.#options.time.now();
    if (now < this.#mutedUntil) return 500;
    if (now < (this.#forbidden.get(kindKey(place)) ?? 0)) return 403;
    return this.chart?.refuses(verb, place) === true ? 403 : undefined;
  }

  isClosed(namespace: string): boolean {
    return this.#ending.has(namespace) || this.chart?.isBound(namespace) === false;
  }

  onEnd(kind: KindRef, end: () => void): () => void {
    const watches = this.#watches.get(kindKey(kind)) ?? new Set();
    this.#watches.set(kindKey(kind), watches.add(end));
    return () => void watches.delete(end);
  }

  /** Those of these verbs that may not be done with a kind, or with a part of it, now. */
  lacking(place: Watched, verbs: readonly string[]): readonly string[] {
    const isForbidden = this.#options.time.now() < (this.#forbidden.get(kindKey(place)) ?? 0);
    return verbs.filter((verb) => isForbidden || this.chart?.refuses(verb, place) === true);
  }

  /** Takes the bridges' rights on a kind away for a while; their watches go on until they end. */
  forbid(kind: KindRef, ms: number): void {
    this.#forbidden.set(kindKey(kind), this.#options.time.now() + ms);
  }

  /** Answers 500 to every call for a while. */
  mute(ms: number): void {
    this.#mutedUntil = this.#options.time.now() + ms;
  }

  /** Ends what `forbid` and `mute` have begun. */
  calm(): void {
    this.#forbidden.clear();
    this.#mutedUntil = 0;
  }

  /** Creates an object, through admission; undefined where nothing can be created. */
  create(object: NewObject, by: string): KubeObject | undefined {
    const { path } = object;
    const isClosed = this.#ending.has(path.namespace ?? '') || this.#ending.has(kindKey(path)) || !this.isServed(path);
    if (isClosed || this.#options.server.get(path) !== undefined) return undefined;
    const entries = [...this.#injecting.values()].filter((rule) => this.#injects(rule, object)).map(entryOf);
    const { finalizers: own = [] } = object;
    const finalizers = [...own, ...entries.filter((entry) => !own.includes(entry))];
    return this.#options.server.create({ ...object, ...(finalizers.length === 0 ? {} : { finalizers }) }, by);
  }

  /** From now on nobody writes a rule any more. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Creates a rule as its author writes it. */
  createRule({ name, kind, handler, field, binding, labels, tier, spec }: RulePlan): void {
    const match = {
      ...(kind === 'gadgets' ? { ...FLEET_KINDS.machines, resource: kind } : FLEET_KINDS[kind]),
      ...(labels === undefined ? {} : { labelSelector: { matchLabels: labels } }),
      ...(tier === undefined ? {} : { namespaceSelector: { matchLabels: { tier } } }),
    };
    const byName = { tags: { [NAME_TAG]: "object.metadata.namespace + '/' + object.metadata.name" } };
    const byUid = { tags: { [OWNER_TAG]: 'object.metadata.uid' } };
    if (this.#isLeaving || this.#options.server.get(rulePath(name)) !== undefined) return;
    this.#options.server.create(
      {
        ...{ path: rulePath(name), apiVersion: RULE_API_VERSION, kind: RULE_KIND },
        fields: {
          spec: {
            ...{ match, handler, ownership: { uid: byUid, name: byName, none: { none: true } }[binding] },
            target: { name: `object.status.${field}`, region: `'${REGION}'`, account: `'${ACCOUNT}'` },
            policy: `object.metadata.annotations[?'${ON_DELETE}'].orValue('Delete')`,
            ...spec,
          },
        },
      },
      'author',
    );
  }

  /** Deletes a namespace with all that is in it; once it is empty it goes, and comes back as a new one after a while. */
  endNamespace(name: FleetNamespace, ms: number): void {
    const { server } = this.#options;
    if (this.#ending.has(name)) return;
    this.#ending.add(name);
    server.delete({ ...NAMESPACES, name }, 'person');
    // In any order: the worst is that the rights go first.
    this.chart?.unbind(name, 'namespace controller');
    const inside = (object: KubeObject) => object.metadata.namespace === name;
    for (const kind of Object.values(FLEET_KINDS)) this.#deleteAll(kind, inside);
    const kinds = [...Object.values(FLEET_KINDS), RIGHTS_BINDING];
    const isEmpty = () => kinds.every((kind) => !server.has(kind, inside));
    this.#once(isEmpty, () => {
      server.update({ ...NAMESPACES, name }, 'namespace controller', (object) => {
        return { ...object, metadata: { ...object.metadata, finalizers: [] } };
      });
      this.#options.time.after(ms, () => {
        this.#createNamespace(name);
        this.#ending.delete(name);
      });
    });
  }

  /** Deletes the definition of a kind with all its objects; once they are gone it is not served, for a while. */
  endKind(kind: FleetKind, ms: number): void {
    const ref = FLEET_KINDS[kind];
    const key = kindKey(ref);
    if (this.#ending.has(key)) return;
    this.#ending.add(key);
    this.#deleteAll(ref, () => true);
    this.#once(
      () => !this.#options.server.has(ref, () => true),
      () => {
        this.#unserved.add(key);
        for (const end of [...(this.#watches.get(key) ?? [])]) end();
        this.#options.time.after(ms, () => {
          this.#unserved.delete(key);
          this.#ending.delete(key);
        });
      },
    );
  }

  #deleteAll(kind: KindRef, isMeant: (object: KubeObject) => boolean): void {
    const { server } = this.#options;
    for (const { metadata, ...object } of server.all(kind)) {
      const { name, namespace } = metadata;
      if (isMeant({ metadata, ...object })) server.delete({ ...kind, namespace, name }, 'garbage collector');
    }
  }

  /** Waits, looking every few seconds as such controllers do. */
  #once(isSo: () => boolean, then: () => void): void {
    if (isSo()) then();
    else this.#options.time.after(LOOK_EVERY_MS, () => this.#once(isSo, then));
  }

  #createNamespace(name: string): void {
    const tier = Object.entries(FLEET_NAMESPACES).find(([known]) => known === name)?.[1] ?? '';
    this.#options.server.create(
      {
        ...{ path: { ...NAMESPACES, name }, apiVersion: 'v1', kind: 'Namespace' },
        ...{ finalizers: ['kubernetes'], labels: { tier }, fields: {} },
      },
      'person',
    );
  }

  #learn({ path, after }: Write): void {
    if (after === undefined || after.metadata.deletionTimestamp !== undefined) this.#injecting.delete(path.name);
    else this.#injecting.set(path.name, after);
  }

  #injects(rule: KubeObject, { path, labels = {} }: NewObject): boolean {
    const isLabelled = rule.metadata.labels?.[INJECTS_LABEL] !== undefined;
    const isPlace = this.chart === undefined || this.chart.injectsIn(path.namespace);
    return (
      isLabelled &&
      isPlace &&
      namesPlace(rule, path) &&
      selects(rule, { kind: path, labels, namespace: path.namespace })
    );
  }
}

const LOOK_EVERY_MS = 5_000;
const OURS = new Set(Object.values(FLEET_KINDS).map(kindKey));
const IN_NO_NAMESPACE = kindKey(FLEET_KINDS.volumes);
const ALWAYS = new Set([TEARDOWN_RULES, NAMESPACES, RIGHTS_BINDING].map(kindKey));

function entryOf(rule: KubeObject): string {
  return `${ENTRY_PREFIX}${rule.metadata.name}`;
}
