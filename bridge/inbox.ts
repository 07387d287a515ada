/*
 * Receives results: decodes, checks cluster and sender, hands each to its pending deletion, and acknowledges only what
 * has come to its end (K5, Q5). Called by bridge.ts with batches from the queue port; reconcile settles each result.
 * What cannot be understood or is not ours is never acted on and never deleted: the queue's dead-letter policy has it.
 */
import { DEAD_LETTERED, type Decoded, decodeResult, isGoneInTime, isSender, type Result } from './contract.ts';
import { entryOf, hasEntry } from './finalizer.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Gone } from './observation.ts';
import { noteAnswer } from './observe.ts';
import { learn, type Pending, pendingKey, remember } from './pending.ts';
import type { Clock, Cluster, IncomingMessage, KindRef, ObjectMeta } from './ports.ts';
import { namesRequested, readRecord } from './record.ts';
import type { Rule } from './rule.ts';
import { isLookedInto, type Served } from './served.ts';
import { isTooSlow, withAnswer } from './slowness.ts';

/** A refusal rests a day at most, and a minute at least: a `retryAt` in the past must not become a storm. */
const REFUSAL_RESTS_MS = 24 * 60 * 60_000;
const REFUSAL_RESTS_LEAST_MS = 60_000;
const SETTLE_WITHIN_MS = 5_000;

/** What the inbox needs. */
export interface InboxOptions {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly clusterUid: string;
  readonly pendings: ReadonlyMap<string, Pending>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly served: Served;
  /** The sender configured for a handler's function. */
  senderOf(handler: string): string | undefined;
  /** The sender of the dead-letter function, which says `pending/DeadLettered` in the handlers' place, and only that. */
  readonly deadLetterSender: string | undefined;
  /** The rule of that name, if it is one for that kind. */
  ruleOf(name: string, kind: KindRef): Rule | undefined;
  /** Takes a deleting object in that a result names and no watch has shown. */
  admit(kind: KindRef, meta: ObjectMeta, rule: string): Pending;
  /** Whether a deletion ended lately, as the API server has confirmed: a copy of its result needs no look at the object. */
  isOver(key: string): boolean;
  add(key: string): void;
  /** Nothing new is begun: what comes in stays in its queue. */
  isStopping(): boolean;
}

/** Why a result ends where it does; the label of the results metric. */
type Disposition =
  | DecodeFailureName
  | 'OtherCluster'
  | 'WrongSender'
  | 'WrongHandler'
  | 'NoRule'
  | 'NotServed'
  | 'UnknownObject'
  | 'Stale'
  | 'Gone'
  | 'Pending'
  | 'Refused';
type DecodeFailureName = Extract<Decoded<Result>, { ok: false }>['failure'];

/** Handles a batch; resolves to the ids of the messages that may be deleted. One message never disturbs another (P10). */
export async function handleResults(
  options: InboxOptions,
  batch: readonly IncomingMessage[],
): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  await Promise.all(
    batch.map(async (message) => {
      try {
        if (await handleOne(options, message)) done.add(message.messageId);
      } catch (error) {
        options.log.warn(
          { messageId: message.messageId, err: explain(error) },
          'handling a result: it stays in the queue',
        );
      }
    }),
  );
  return done;
}

async function handleOne(options: InboxOptions, message: IncomingMessage): Promise<boolean> {
  const decoded = decodeResult(message.body);
  if (!decoded.ok) return leave(options, { message, disposition: decoded.failure, detail: decoded.detail });
  const result = decoded.message;
  const { cluster, handler, object, rule } = result.data;
  if (cluster.uid !== options.clusterUid) {
    return leave(options, { message, disposition: 'OtherCluster', detail: `of cluster ${cluster.uid}` });
  }
  const sender = isDeadLetter(result) ? options.deadLetterSender : options.senderOf(handler.name);
  if (sender === undefined || !isSender(message.sender, sender)) {
    const detail = `${handler.name} answered by ${message.sender}`;
    return leave(options, { message, disposition: 'WrongSender', detail });
  }
  if (!isLookedInto(options.served, object)) return elsewhere(options, result);
  const key = pendingKey(object.uid, rule.name);
  const pending = options.pendings.get(key) ?? (options.isOver(key) ? undefined : await lookUp(options, result));
  if (pending === undefined) return count(options, 'UnknownObject', true);
  const known = options.ruleOf(rule.name, pending.kind);
  // What it is worth nobody can tell before the rule is back: it stays in its queue until then, or until it is stale.
  if (known === undefined) return count(options, 'NoRule', false);
  if (known.handler !== handler.name) {
    const detail = `answered by ${handler.name}, the rule's handler is ${known.handler}`;
    return leave(options, { message, disposition: 'WrongHandler', detail });
  }
  return await deliver(options, { pending, rule: known }, result);
}

/**
 * About an object where this bridge does not look, whatever rights it has there: the namespace may be served again while the answer
 * counts, and somebody has to be told until then.
 */
function elsewhere(options: InboxOptions, { data: { expires } }: Result): boolean {
  const mayCount = isGoneInTime(Date.parse(expires), options.clock.now());
  return count(options, mayCount ? 'NotServed' : 'Stale', !mayCount);
}

function isDeadLetter({ data: { result } }: Result): boolean {
  return result.outcome === 'pending' && result.reason === DEAD_LETTERED;
}

/** Never acted on, never deleted by us: counted, logged, left to the dead-letter queue. */
function leave(
  options: InboxOptions,
  { message, disposition, detail }: { message: IncomingMessage; disposition: Disposition; detail: string },
): false {
  count(options, disposition, false);
  const { messageId, sender, receiveCount } = message;
  options.log.error({ messageId, sender, receiveCount, disposition, detail }, 'refusing a result: not acted on');
  return false;
}

function count<T extends boolean>({ metrics }: InboxOptions, disposition: Disposition, acknowledge: T): T {
  metrics.results.inc({ disposition });
  return acknowledge;
}

/** A result for what is not in memory: the live object decides whether there is anything left to do (K3). */
async function lookUp(options: InboxOptions, { data: { object, rule } }: Result): Promise<Pending | undefined> {
  const kind = kindOf(object.apiVersion, object.resource);
  const live = await options.cluster.get({ ...kind, namespace: object.namespace, name: object.name });
  if (live === undefined || live.metadata.uid !== object.uid) return undefined;
  const isPending = live.metadata.deletionTimestamp !== undefined && hasEntry(live.metadata, entryOf(rule.name));
  return isPending ? options.admit(kind, live.metadata, rule.name) : undefined;
}

function kindOf(apiVersion: string, resource: string): KindRef {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  return { group: group ?? '', version: version ?? '', resource };
}

/** Hands a result to its deletion; resolves when reconcile has settled it. */
async function deliver(
  options: InboxOptions,
  { pending, rule }: { readonly pending: Pending; readonly rule: Rule },
  result: Result,
): Promise<boolean> {
  if (options.isStopping()) return false;
  const hadBegun = pending.seen.some(({ started }) => started);
  if (isDeadLetter(result)) options.metrics.deadLetters.inc({ rule: pending.rule });
  noteAnswer(pending, rule, { expires: Date.parse(result.data.expires), now: options.clock.now() });
  const disposition = take(options, pending, result);
  count(options, disposition, true);
  // What a later decision depends on has to be on the object before the message is gone (P5).
  const hasBegun = pending.seen.some(({ started }) => started);
  pending.owesRefusal ||= disposition === 'Refused';
  pending.owesRecord ||= rule.whenAbsent === 'Hold' && hasBegun && !hadBegun;
  const isOwed = pending.owesRecord || pending.owesRefusal;
  if (disposition === 'Stale' && !isOwed && namesRequested(readRecord(pending.meta, rule), pending.seen)) {
    // Requests expire when newer ones are out: what such an answer says about the queue has to be told all the same.
    if (isTooSlow(pending.answered)) options.add(pending.key);
    return true;
  }
  return await new Promise<boolean>((resolve) => {
    // What hangs is left to the next delivery, so that it never holds up its batch; what it said is in memory.
    const cancel = options.clock.after(SETTLE_WITHIN_MS, () => resolve(false));
    pending.settles.push((acknowledge) => {
      cancel();
      resolve(acknowledge);
    });
    options.add(pending.key);
  });
}

function take(options: InboxOptions, pending: Pending, { data }: Result): Disposition {
  const now = options.clock.now();
  const { result, targetDigest: target, ruleDigest: rule, attempt, retry = 0, expires } = data;
  // Whatever it says, it was asked for: that target now needs a gone of its own (trap V10), whoever sent the request.
  learn(pending, { target, rule });
  const why = result.outcome === 'pending' ? result.reason : undefined;
  pending.answered = withAnswer(pending.answered, attempt, why);
  switch (result.outcome) {
    case 'gone':
      return takeGone(pending, { uid: data.object.uid, target, rule, expires: Date.parse(expires), ...result }, now);
    case 'pending': {
      if (isSuperseded(pending, data)) return 'Stale';
      // Whoever reports a dead letter has begun nothing.
      if (result.progress !== undefined && result.reason !== DEAD_LETTERED)
        remember(pending, { target, rule, requested: true, started: true });
      const message = [result.message, result.progress].filter((text) => text !== undefined).join('; ');
      pending.progress = { reason: result.reason, message: message || 'in progress' };
      return 'Pending';
    }
    case 'refused': {
      if (isSuperseded(pending, data)) return 'Stale';
      const asked = result.retryAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(result.retryAt);
      const dueAt = Math.max(now + REFUSAL_RESTS_LEAST_MS, Math.min(asked, now + REFUSAL_RESTS_MS));
      pending.refusal = { target, rule, attempt, retry, reason: result.reason, message: result.message, dueAt };
      return 'Refused';
    }
    default:
      return result satisfies never;
  }
}

/** A late `gone` no longer counts, but says that the deletion had started, for a later `absent` (trap V16). */
function takeGone(pending: Pending, gone: Gone, now: number): Disposition {
  const { target, rule } = gone;
  if (!isGoneInTime(gone.expires, now)) {
    if (gone.evidence === 'deleted') remember(pending, { target, rule, requested: true, started: true });
    return 'Stale';
  }
  const isSame = (other: Gone) => other.target === target && other.rule === rule && other.uid === gone.uid;
  const known = pending.gones.find(isSame);
  // Once a copy said `deleted`, a second look that found nothing takes nothing back.
  const evidence = known?.evidence === 'deleted' ? 'deleted' : gone.evidence;
  const expires = Math.max(known?.expires ?? 0, gone.expires);
  const kept = { uid: gone.uid, target, rule, expires, evidence };
  pending.gones = [...pending.gones.filter((other) => !isSame(other)), kept];
  if (gone.evidence === 'deleted') remember(pending, { target, rule, requested: true, started: true });
  return 'Gone';
}

/** Results are ordered by (attempt, retry); one that a newer request has superseded says nothing new. */
function isSuperseded(pending: Pending, data: Result['data']): boolean {
  const { targetDigest, ruleDigest, attempt, retry = 0 } = data;
  return pending.sent.some(
    (sent) =>
      sent.target === targetDigest &&
      sent.rule === ruleDigest &&
      (sent.attempt > attempt || (sent.attempt === attempt && sent.retry > retry)),
  );
}
