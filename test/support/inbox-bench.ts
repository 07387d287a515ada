/*
 * The inbox over fakes: one pending deletion in memory, a tiny API server, and results made from real requests.
 * Whether reconcile settles is up to the test, since acknowledging is what is looked at.
 */
import { makeRequest, type Outcome, type Request, type RequestInput } from '../../bridge/contract.ts';
import { handleResults, type InboxOptions } from '../../bridge/inbox.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { type Pending, pendingKey } from '../../bridge/pending.ts';
import type { IncomingMessage } from '../../bridge/ports.ts';
import { type Record, recordKey } from '../../bridge/record.ts';
import type { Rule } from '../../bridge/rule.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import {
  CLUSTER_UID,
  DEAD_LETTER_SENDER,
  deletingMeta,
  HANDLER,
  keptLog,
  pendingOf,
  RULE,
  resultBody,
  ruleOf,
  SENDER,
} from './bridge-builders.ts';
import { FakeCluster } from './fake-cluster.ts';
import { plainInput } from './golden.ts';
import { ManualClock, START, settled, stamp } from './manual-clock.ts';

/** A request for the object `logs`, as the bridge would have made it. */
export function requestOf(changes: Partial<RequestInput> = {}): Request {
  const object = { ...plainInput.object, uid: 'uid-logs', deletionTimestamp: stamp(START) };
  const ownership = { tags: { 'finalizer-bridge.dev/owner-uid': 'uid-logs' } };
  return makeRequest({ ...plainInput, rule: { name: RULE, uid: 'uid-of-rule' }, object, ownership, ...changes });
}

/** The result of a request as a message. */
export function messageOf(request: Request, outcome: Outcome, changes: Partial<IncomingMessage> = {}): IncomingMessage {
  return { messageId: 'm-1', body: resultBody(request, outcome), sender: `${SENDER}:run`, receiveCount: 1, ...changes };
}

/** So many times everything goes on that can: a test settles long before, or never. */
const TURNS = 30;

/** A deletion whose object names what a request asks for. */
export function recorded({ data }: Request): Pick<Pending, 'meta'> {
  const target = { target: data.targetDigest, rule: data.ruleDigest, requested: true, started: false };
  const record: Record = {
    ...{ phase: 'Pending', reason: 'Requested', message: 'waiting for the result', since: stamp(START) },
    ...{ uid: data.object.uid, ruleUid: ruleOf().uid, targets: [target] },
  };
  return { meta: deletingMeta({ annotations: { [recordKey(RULE)]: JSON.stringify(record) } }) };
}

/** An inbox and its world. */
export class InboxBench {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster(() => this.clock.now());
  readonly metrics = createMetrics();
  readonly kept = keptLog();
  readonly pending: Pending;
  readonly pendings: Map<string, Pending>;
  readonly added: string[] = [];
  readonly admitted: string[] = [];
  isStopping = false;
  /** Deletions that ended lately. */
  readonly over = new Set<string>();
  rules: readonly Rule[] = [ruleOf()];
  served: Served = EVERYWHERE;

  constructor(changes: Partial<Pending> = {}) {
    this.pending = pendingOf(changes);
    this.pendings = new Map([[this.pending.key, this.pending]]);
  }

  /** Hands a batch over; resolves to the ids that may be deleted, as a sorted list. Fails where nobody settles it. */
  async handle(...batch: readonly IncomingMessage[]): Promise<readonly string[]> {
    let isHandled = false;
    const handling = handleResults(this.#options, batch).finally(() => {
      isHandled = true;
    });
    for (let turn = 0; turn < TURNS && !isHandled; turn += 1) await settled();
    if (!isHandled) throw new Error('handling results: they wait for a settlement that does not come');
    return [...(await handling)].sort();
  }

  /** Hands a batch over and settles what waits the way reconcile would. */
  async settle(acknowledge: boolean, ...batch: readonly IncomingMessage[]): Promise<readonly string[]> {
    const done = this.handle(...batch);
    await settled();
    for (const settle of this.pending.settles.splice(0)) settle(acknowledge);
    return await done;
  }

  get #options(): InboxOptions {
    const { clock, cluster, pendings, metrics, served } = this;
    return {
      ...{ clock, cluster, pendings, metrics, served, log: this.kept.log, clusterUid: CLUSTER_UID },
      deadLetterSender: DEAD_LETTER_SENDER,
      senderOf: (handler) => (handler === HANDLER ? SENDER : handler === 'ec2-instance' ? 'AROAEC2' : undefined),
      ruleOf: (name) => this.rules.find((rule) => rule.name === name),
      admit: (kind, meta, rule) => {
        this.admitted.push(pendingKey(meta.uid, rule));
        const admitted = pendingOf({ kind, meta, rule, key: pendingKey(meta.uid, rule), knowsAllSent: false });
        pendings.set(admitted.key, admitted);
        return admitted;
      },
      isOver: (key) => this.over.has(key),
      add: (key) => void this.added.push(key),
      isStopping: () => this.isStopping,
    };
  }

  /** A deleting object in the API server. */
  live(uid: string, finalizers: readonly string[]): void {
    this.cluster.create({ name: 'logs', uid, finalizers });
    if (finalizers.length > 0) this.cluster.delete('logs');
  }
}
