/*
 * The real bridge and the real rule keeper over fakes: rules are TeardownRules of a tiny API server, as kubectl would
 * apply them. Tests speak of rules, objects and time; what came of it is read from the API server and the queue.
 */
import { type Bridge, startBridge } from '../../bridge/bridge.ts';
import { createCensus } from '../../bridge/census.ts';
import { decodeRequest, type Outcome, type Request } from '../../bridge/contract.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import type { KindRef, KubeObject, Lease, ListedKind } from '../../bridge/ports.ts';
import { RuleBook } from '../../bridge/rule-book.ts';
import { type RuleKeeper, startRuleKeeper } from '../../bridge/rule-keeper.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { SERVED_MS } from '../../bridge/serving.ts';
import { statusOf, TEARDOWN_RULES, type WrittenCondition } from '../../bridge/teardown-rules.ts';
import { CLUSTER_UID, HANDLER, keptLog, RULE, resultBody, SENDER, type SpecChanges } from './bridge-builders.ts';
import { FakeCluster, type NewObject } from './fake-cluster.ts';
import { FakeKinds } from './fake-kinds.ts';
import { FakeQueue } from './fake-queue.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { ruleSpec } from './rule-objects.ts';

/** What a scene begins with. */
export interface RuleSceneOptions {
  /** The world that another bridge has left, or shares. */
  readonly world?: Pick<RuleScene, 'clock' | 'cluster' | 'queue' | 'kinds'>;
  /** The namespaces that are served; all of them unless told. */
  readonly served?: Served;
  /** The kinds that the configuration lists. */
  readonly listed?: readonly ListedKind[];
  /** Before the bridge starts. */
  readonly prepare?: (scene: RuleScene) => void;
}

/** One bridge with its keeper, and its world. */
export class RuleScene {
  readonly clock: ManualClock;
  readonly cluster: FakeCluster;
  readonly queue: FakeQueue;
  readonly kinds: FakeKinds;
  readonly metrics = createMetrics();
  readonly kept = keptLog();
  readonly book = new RuleBook();
  readonly handlers = new Set([HANDLER]);
  readonly lease: Lease = { holds: () => this.holdsLease };
  holdsLease = true;
  #cancel = () => {};
  #running: { readonly bridge: Bridge; readonly keeper: RuleKeeper } | undefined;

  private constructor({ world }: RuleSceneOptions) {
    this.clock = world?.clock ?? new ManualClock();
    this.cluster = world?.cluster ?? new FakeCluster(() => this.clock.now());
    this.queue = world?.queue ?? new FakeQueue();
    this.kinds = world?.kinds ?? new FakeKinds();
  }

  /** Starts a bridge and its keeper, and waits until they watch. */
  static async start(options: RuleSceneOptions = {}): Promise<RuleScene> {
    const scene = new RuleScene(options);
    options.prepare?.(scene);
    const { clock, cluster, queue, kinds, metrics, lease, book } = scene;
    const { served = EVERYWHERE } = options;
    const shared = { clock, cluster, metrics, lease, log: scene.kept.log, random: () => 0.5, served };
    let keeper: RuleKeeper | undefined;
    const bridge = startBridge({
      ...{ ...shared, queue, rules: book, areRulesKnown: () => keeper?.isReady() === true },
      rulesTrouble: () => keeper?.trouble,
      isPermitted: (name) => keeper?.isPermitted(name) !== false,
      clusterId: { uid: CLUSTER_UID },
      handlers: { [HANDLER]: { queueUrl: `https://queues/${HANDLER}`, sender: SENDER } },
      resultQueueUrl: 'https://queues/results',
      listed: { kinds: options.listed ?? [], port: kinds },
    });
    keeper = startRuleKeeper({
      ...{ ...shared, kinds, book, census: createCensus(cluster, served) },
      ...{ hasHandler: (name: string) => scene.handlers.has(name), blindIn: bridge.blindIn },
      ...{ isWatching: bridge.isWatching, pendings: bridge.pendings, release: bridge.release },
      ...{ births: bridge.births, serving: bridge.serving },
    });
    scene.#running = { bridge, keeper };
    scene.#bookmark();
    await clock.advance(200);
    return scene;
  }

  get bridge(): Bridge {
    return this.#parts.bridge;
  }

  get keeper(): RuleKeeper {
    return this.#parts.keeper;
  }

  /** Ends this process; its world goes on. */
  async stop(): Promise<void> {
    const { bridge, keeper } = this.#parts;
    this.#cancel();
    await keeper.stop();
    await bridge.stop();
  }

  /** Makes namespaces. */
  makeNamespaces(...names: readonly string[]): void {
    for (const name of names) this.cluster.create({ name, kind: NAMESPACES, namespace: undefined });
  }

  /** Creates a rule, or replaces the spec of one, and lets the bridge see to it. */
  async apply(changes: SpecChanges = {}, name = RULE, uid = `uid-of-${name}`): Promise<void> {
    const spec = ruleSpec(changes);
    if (this.rule(name) === undefined) this.cluster.create({ name, uid, kind: TEARDOWN_RULES, spec });
    else this.cluster.change(name, (object) => ({ ...object, spec }), TEARDOWN_RULES);
    await this.clock.advance(2_000);
  }

  /** Lets so much time pass that the rules in force have their label, and a condition that nothing new has changed. */
  async labelled(): Promise<void> {
    await this.clock.advance(SERVED_MS + STATUS_EVERY_MS);
  }

  /** Somebody takes all finalizers off a rule, ours too, and deletes it. */
  forceDelete(name = RULE): void {
    const bare = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, finalizers: [] } });
    this.cluster.change(name, bare, TEARDOWN_RULES);
    if (this.rule(name) !== undefined) this.cluster.delete(name, {}, TEARDOWN_RULES);
  }

  /** Deletes a rule. */
  async deleteRule(name = RULE): Promise<void> {
    this.cluster.delete(name, {}, TEARDOWN_RULES);
    await settled();
  }

  rule(name = RULE): KubeObject | undefined {
    return this.cluster.peek(name, TEARDOWN_RULES);
  }

  status(name = RULE): ReturnType<typeof statusOf> {
    const rule = this.rule(name);
    return rule === undefined ? {} : statusOf(rule);
  }

  condition(type: WrittenCondition['type'], name = RULE): WrittenCondition | undefined {
    return this.status(name).conditions?.find((condition) => condition.type === type);
  }

  /** A condition in short: `True Accepted`. */
  said(type: WrittenCondition['type'], name = RULE): string | undefined {
    const condition = this.condition(type, name);
    return condition === undefined ? undefined : `${condition.status} ${condition.reason}`;
  }

  /** Creates a live object and lets the bridge see it. */
  async create(name: string, object: Partial<NewObject> = {}): Promise<void> {
    this.cluster.create({ name, spec: { bucket: `team-a-${name}` }, ...object });
    await settled();
  }

  async delete(name: string, kind?: KindRef): Promise<void> {
    this.cluster.delete(name, {}, kind);
    await settled();
  }

  finalizers(name: string, kind?: KindRef): readonly string[] | undefined {
    const object = this.cluster.peek(name, kind);
    return object && (object.metadata.finalizers ?? []);
  }

  /** The requests that the queue took. */
  get requests(): readonly Request[] {
    return this.queue.taken.map((body) => {
      const decoded = decodeRequest(body);
      if (!decoded.ok) throw new Error(`decoding what was sent: ${decoded.detail}`);
      return decoded.message;
    });
  }

  /** The newest request. */
  get request(): Request | undefined {
    return this.requests.at(-1);
  }

  /** Names of the objects that were requested, in order. */
  get requested(): readonly string[] {
    return this.requests.map(({ data }) => data.object.name);
  }

  /** Answers the newest request for an object. */
  async answer(name: string, outcome: Outcome = { outcome: 'gone', evidence: 'deleted' }): Promise<boolean> {
    const request = this.requests.findLast(({ data }) => data.object.name === name);
    return await this.deliver(request, outcome);
  }

  /** Answers a request. */
  async deliver(
    request: Request | undefined,
    outcome: Outcome = { outcome: 'gone', evidence: 'deleted' },
  ): Promise<boolean> {
    if (request === undefined) throw new Error('answering a request: nothing was sent');
    return await this.queue.deliver(resultBody(request, outcome, { now: this.clock.now() }), `${SENDER}:run`);
  }

  /** Where the deletion of an object stands: `Held RuleNotAccepted`. */
  standing(name: string, rule = RULE): string | undefined {
    const pending = this.bridge.pendings().find((candidate) => candidate.meta.name === name && candidate.rule === rule);
    return pending?.standing === undefined ? undefined : `${pending.standing.phase} ${pending.standing.reason}`;
  }

  #bookmark(): void {
    this.#cancel = this.clock.after(60_000, () => {
      this.cluster.bookmark();
      this.#bookmark();
    });
  }

  get #parts() {
    if (this.#running === undefined) throw new Error('the scene has not begun');
    return this.#running;
  }
}
