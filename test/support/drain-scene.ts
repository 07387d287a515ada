/*
 * A drain over fakes and virtual time: a tiny API server, its discovery and deletes, the lease of a bridge, and a drain that
 * runs while a test lets time pass. Tests speak of rules, objects and bridges; what came of it is read from the API server.
 */
import type { ServedKind } from '../../bridge/cli/catalogue.ts';
import type { DrainApi, DrainWorld } from '../../bridge/cli/drain/api.ts';
import { type BridgeSaid, BridgeSight } from '../../bridge/cli/drain/bridge-sight.ts';
import { type DrainOptions, runDrain } from '../../bridge/cli/drain/run.ts';
import type { Blocker, DrainEnd } from '../../bridge/cli/drain/step.ts';
import { LEASE_PLACE } from '../../bridge/leader-state.ts';
import type { Clock, KindRef, KubeObject } from '../../bridge/ports.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE, type SpecChanges } from './bridge-builders.ts';
import { FakeCluster, type NewObject } from './fake-cluster.ts';
import { CONFIG_MAPS, FakeKinds, VOLUMES } from './fake-kinds.ts';
import { ManualClock, stamp } from './manual-clock.ts';
import { ruleSpec } from './rule-objects.ts';

const names = (kind: string, namespaced = true) => ({
  ...{ kind, singular: kind.toLowerCase(), namespaced },
  ...{ shortNames: [], holdable: true },
});
/** What the fake API server serves. */
const SERVED: readonly ServedKind[] = [
  { ...CONFIG_MAPS, ...names('ConfigMap') },
  { ...BUCKETS, ...names('Bucket') },
  { ...VOLUMES, ...names('Volume', false) },
  { ...TEARDOWN_RULES, ...names('TeardownRule', false) },
  { group: '', version: 'v1', resource: 'secrets', ...names('Secret') },
];

/** Deletes, discovery and time of a fake API server. */
export function fakeDrainApi(cluster: FakeCluster, clock: Clock, served: () => readonly ServedKind[]): DrainApi {
  return {
    discover: async () => ({ kinds: served(), unreachable: [] }),
    remove: async ({ name, ...kind }, uid) => {
      const found = cluster.peek(name, kind);
      if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return;
      cluster.delete(name, {}, kind);
    },
    serverTime: async () => clock.now(),
  };
}

/** The world that something else has made. */
export type SharedWorld = Pick<DrainScene, 'clock' | 'cluster' | 'kinds'>;

/** A running drain. */
export interface Running {
  readonly lines: readonly string[];
  /** undefined while it runs. */
  readonly end: DrainEnd | undefined;
}

/** One cluster with what a drain may find there. */
export class DrainScene {
  readonly clock: ManualClock;
  readonly cluster: FakeCluster;
  readonly kinds: FakeKinds;
  served = SERVED;
  unreachable: readonly string[] = [];
  /** What others may not list, the drain may. */
  asAdmin = false;
  /** How far the API server's clock is ahead of the one that drains. */
  serverAhead = 0;

  constructor(world?: SharedWorld) {
    this.clock = world?.clock ?? new ManualClock();
    this.cluster = world?.cluster ?? new FakeCluster(() => this.clock.now());
    this.kinds = world?.kinds ?? new FakeKinds();
    this.kinds.served.set('finalizer-bridge.dev/v1alpha1/teardownrules', { kind: 'TeardownRule', namespaced: false });
  }

  /** A rule without a bridge, and three objects that carry its entry. */
  static withRule(): DrainScene {
    const begun = new DrainScene();
    begun.rule();
    for (const name of ['a', 'b', 'c']) begun.object(name);
    return begun;
  }

  /** A rule as a bridge that ran once has left it. */
  rule(name = RULE, changes: SpecChanges = {}, finalizers: readonly string[] = [WITHDRAWAL_FINALIZER]): void {
    this.cluster.create({ name, uid: `uid-of-${name}`, kind: TEARDOWN_RULES, spec: ruleSpec(changes), finalizers });
  }

  /** A live object with the entry. */
  object(name: string, object: Partial<NewObject> = {}): void {
    this.cluster.create({ name, finalizers: [ENTRY], spec: { bucket: `team-a-${name}` }, ...object });
  }

  /** One that is being deleted. */
  deleting(name: string, object: Partial<NewObject> = {}): void {
    this.object(name, object);
    this.cluster.delete(name, {}, object.kind);
  }

  finalizers(name: string, kind: KindRef = BUCKETS): readonly string[] | undefined {
    const object = this.cluster.peek(name, kind);
    return object && (object.metadata.finalizers ?? []);
  }

  hasRule(name = RULE): boolean {
    return this.cluster.peek(name, TEARDOWN_RULES) !== undefined;
  }

  /** What a bridge says of a withdrawal, in the rule's status. */
  bridgeSays(reason: string, name = RULE): void {
    const said = { type: 'WithdrawalBlocked', status: 'True', reason, message: 'said by a bridge' };
    const conditions = [{ ...said, lastTransitionTime: stamp(this.clock.now()) }];
    this.cluster.change(name, (object) => ({ ...object, status: { conditions } }), TEARDOWN_RULES);
  }

  /** As a bridge that has withdrawn a rule takes its own finalizer off. */
  bridgeLetsGo(name = RULE): void {
    const bare = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, finalizers: [] } });
    this.cluster.change(name, bare, TEARDOWN_RULES);
  }

  /** The lease as its holder wrote it; `renewedAgo` in ms. */
  lease(holderIdentity: string, renewedAgo = 0): void {
    const renewTime = stamp(this.clock.now() - renewedAgo);
    const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime };
    const { name, namespace } = LEASE_PLACE;
    if (this.cluster.peek(name, LEASE_PLACE) === undefined) {
      this.cluster.create({ name, namespace, kind: LEASE_PLACE, spec });
    } else this.cluster.change(name, (object) => ({ ...object, spec }), LEASE_PLACE);
  }

  /** A holder that renews its lease until the returned function is called. */
  leading(holder = 'bridge-0'): () => void {
    let cancel = () => {};
    const renew = () => {
      this.lease(holder);
      cancel = this.clock.after(5_000, renew);
    };
    renew();
    return () => cancel();
  }

  /** Begins to drain; goes on as the clock does. Where no bridge ever kept a lease a person says that none runs. */
  start(options: Partial<DrainOptions> & { readonly said?: BridgeSaid } = {}): Running {
    const hasLease = this.cluster.peek(LEASE_PLACE.name, LEASE_PLACE) !== undefined;
    const { said = hasLease ? { said: 'nothing' } : { said: 'gone', since: undefined }, ...others } = options;
    const running: { lines: string[]; end: DrainEnd | undefined } = { lines: [], end: undefined };
    const sight = new BridgeSight({ cluster: this.cluster, clock: this.clock, said });
    const say = (line: string) => void running.lines.push(line);
    const fixed: DrainOptions = { names: [], namespaces: [], release: 'none', timeout: 15 * 60_000, sight, say };
    runDrain(this.world, { ...fixed, ...others }).then(
      (end) => {
        running.end = end;
      },
      (error: unknown) => {
        throw error;
      },
    );
    return running;
  }

  #unrefused(): DrainWorld['cluster'] {
    const { cluster } = this;
    return {
      get: (path) => cluster.get(path),
      patch: (path, operations) => cluster.patch(path, operations),
      recordEvent: (event) => cluster.recordEvent(event),
      list: (kind, page) => {
        const refused = [...cluster.refused];
        cluster.refused.clear();
        // What is refused is refused before anything is waited for.
        const listed = cluster.list(kind, page);
        for (const [key, status] of refused) cluster.refused.set(key, status);
        return listed;
      },
    };
  }

  /** What a drain is given. */
  get world(): DrainWorld {
    const { clock, cluster, kinds } = this;
    const api = fakeDrainApi(cluster, clock, () => this.served);
    return {
      ...{ ...api, clock, cluster, kinds },
      ...(this.asAdmin ? { cluster: this.#unrefused() } : {}),
      discover: async () => ({ ...(await api.discover()), unreachable: this.unreachable }),
      serverTime: async () => clock.now() + this.serverAhead,
    };
  }
}

/** The objects that block, as `name: reason`. */
export function blocking({ end }: Running): readonly string[] {
  return blockers(end).map(({ carrier, reason }) => `${carrier.meta.name}: ${reason}`);
}

/** The objects that block. */
export function blockers(end: DrainEnd | undefined): readonly Blocker[] {
  return (end?.left ?? []).flatMap(({ step }) => (step.state === 'blocked' ? step.by : []));
}
