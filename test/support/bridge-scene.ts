/*
 * The real bridge over fakes: a tiny API server, a queue and a clock that a test moves. Tests speak of deletions,
 * answers and time; what the bridge did is read from the fakes.
 */
import { type Bridge, startBridge } from '../../bridge/bridge.ts';
import { decodeRequest, type Outcome, type Request } from '../../bridge/contract.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Record } from '../../bridge/record.ts';
import { readRecord } from '../../bridge/record.ts';
import type { Rule } from '../../bridge/rule.ts';
import { RuleBook } from '../../bridge/rule-book.ts';
import {
  CLUSTER_UID,
  DEAD_LETTER_SENDER,
  ENTRY,
  HANDLER,
  keptLog,
  RULE,
  resultBody,
  ruleOf,
  SENDER,
} from './bridge-builders.ts';
import { FakeCluster, type NewObject } from './fake-cluster.ts';
import { FakeQueue } from './fake-queue.ts';
import { ManualClock, settled } from './manual-clock.ts';

/** What a scene begins with. */
export interface SceneOptions {
  readonly rules?: readonly Rule[];
  /** Before the bridge starts. */
  readonly prepare?: (scene: Scene) => void;
  /** The world of a bridge that went before. */
  readonly after?: Scene;
}

/** One bridge and its world. */
export class Scene {
  readonly clock: ManualClock;
  readonly cluster: FakeCluster;
  readonly queue: FakeQueue;
  readonly metrics = createMetrics();
  readonly kept = keptLog();
  readonly rules: readonly Rule[];
  holdsLease = true;
  #bridge: Bridge | undefined;

  private constructor({ rules = [ruleOf()], after }: SceneOptions) {
    this.rules = rules;
    this.clock = after?.clock ?? new ManualClock();
    this.cluster = after?.cluster ?? new FakeCluster(() => this.clock.now());
    this.queue = after?.queue ?? new FakeQueue();
  }

  /** Starts a bridge and waits until it watches. */
  static async start(options: SceneOptions = {}): Promise<Scene> {
    const scene = new Scene(options);
    options.prepare?.(scene);
    scene.#bridge = startBridge({
      ...{ clock: scene.clock, cluster: scene.cluster, queue: scene.queue, metrics: scene.metrics },
      random: () => 0.5,
      lease: { holds: () => scene.holdsLease },
      rules: new RuleBook(scene.rules),
      clusterId: { uid: CLUSTER_UID },
      handlers: { [HANDLER]: { queueUrl: `https://queues/${HANDLER}`, sender: SENDER } },
      resultQueueUrl: 'https://queues/results',
      deadLetterSender: DEAD_LETTER_SENDER,
      log: scene.kept.log,
    });
    await scene.clock.advance(200);
    return scene;
  }

  get bridge(): Bridge {
    if (this.#bridge === undefined) throw new Error('the scene has not begun');
    return this.#bridge;
  }

  /** Creates an object that has our entry, and deletes it. */
  async deleted(object: Partial<NewObject> = {}): Promise<void> {
    const { name = 'logs' } = object;
    this.cluster.create({ name, spec: { bucket: 'team-a-logs' }, finalizers: [ENTRY], ...object });
    await settled();
    this.cluster.delete(name);
    await settled();
  }

  /** An edit by which the object points at another bucket, or at none. */
  retarget(bucket: string | undefined): void {
    this.cluster.change('logs', (object) => ({ ...object, spec: bucket === undefined ? {} : { bucket } }));
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
  get request(): Request {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('nothing was sent');
    return request;
  }

  /** Answers a request, the newest by default; resolves to whether the result may be deleted from its queue. */
  async answer(outcome: Outcome, request: Request = this.request, sender = `${SENDER}:run`): Promise<boolean> {
    return await this.queue.deliver(resultBody(request, outcome, { now: this.clock.now() }), sender);
  }

  /** The record on an object. */
  record(name = 'logs'): Record | undefined {
    const object = this.cluster.peek(name);
    const [rule] = this.rules;
    return object === undefined || rule === undefined ? undefined : readRecord(object.metadata, rule);
  }

  /** The entries of an object. */
  finalizers(name = 'logs'): readonly string[] {
    return this.cluster.peek(name)?.metadata.finalizers ?? [];
  }

  /** Where the deletion of an object stands, as metrics and people see it. */
  standing(name = 'logs'): string | undefined {
    const pending = this.bridge.pendings().find(({ meta, rule }) => meta.name === name && rule === RULE);
    return pending?.standing === undefined ? undefined : `${pending.standing.phase} ${pending.standing.reason}`;
  }

  /** Reasons of the Events recorded. */
  get events(): readonly string[] {
    return this.cluster.events.map(({ reason }) => reason);
  }
}
