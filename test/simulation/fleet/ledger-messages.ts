/*
 * The promises that messages and deletions outside are asked for: P2 (nothing but what is ours, in time), P5 (acknowledged
 * last, budgets kept), P6 (a request is the same bytes whoever sends it). Listens to queues and cloud; part of ledger.ts.
 */
import { EXPIRED, type Request, type Result } from '../../../bridge/contract.ts';
import type { CloudDeletion } from '../cloud.ts';
import { BRIDGE_ROLE, FUNCTION_ROLE } from '../function-host.ts';
import type { StoredMessage } from '../queue.ts';
import { Firsts } from './firsts.ts';
import type { Hold, Ledger } from './ledger.ts';
import { RECORD, rulesOn } from './ledger.ts';
import { ANYBODY, noteAsked, noteRead } from './ledger-unseen.ts';
import { at } from './selection.ts';

const KEEP_TAG = 'finalizer-bridge.dev/keep';
/** A run may outlive the expiry of its request by its last call. */
const LAST_CALL_MS = 30_000;
/** What was read this long ago may still be acted on, the slowest wire included. */
const STALE_MS = 150_000;
/** Begins the owner of what was made for nobody here. */
export const STRANGER = 'stranger of ';

/** Begins to look at messages and deletions. */
export function watchMessages(ledger: Ledger): void {
  const { requests, results, cloud } = ledger.world;
  for (const queue of requests) {
    queue.onSend((message) => onRequest(ledger, message));
    queue.onDelete((message, by) => onRequestDone(ledger, message, by));
  }
  results.onSend((message) => onResult(ledger, message));
  results.onRead((message, by) => onRead(ledger, message, by));
  results.onDelete((message, by) => onAcknowledged(ledger, message, by));
  cloud.onDelete((deletion) => onDelete(ledger, deletion));
}

const isOf = ({ sender }: StoredMessage, role: string) => sender.startsWith(`${role}:`);

/** What our own sides send is a request; what strangers send never gets here. */
function requestIn(ledger: Ledger, body: string): Request {
  const known = ledger.requests.get(body);
  if (known !== undefined) return known;
  const request: Request = JSON.parse(body);
  ledger.requests.set(body, request);
  return request;
}

/** What our functions send is a result. */
function resultIn(ledger: Ledger, body: string): Result {
  const known = ledger.results.get(body);
  if (known !== undefined) return known;
  const result: Result = JSON.parse(body);
  ledger.results.set(body, result);
  return result;
}

function onRequest(ledger: Ledger, message: StoredMessage): void {
  if (!isOf(message, BRIDGE_ROLE)) return;
  const { sender, body } = message;
  const { id, data } = requestIn(ledger, body);
  const { uid } = data.object;
  const same = ledger.bodies.get(id);
  if (same !== undefined && same !== body) ledger.note('P6', uid, `${sender} sent ${id} with other bytes than before`);
  ledger.bodies.set(id, body);
  const hold = ledger.hold(uid, data.rule.name);
  if (hold === undefined) {
    ledger.note('P2', uid, `${sender} asked for the teardown of what is not being deleted: ${id}`);
    return;
  }
  const now = ledger.now();
  if (hold.off !== undefined && hold.off.how !== 'bypassed' && now > hold.off.at + STALE_MS) {
    ledger.note('P2', uid, `${sender} asked for ${id} after the entry came off`);
  }
  if (hold.retainedSince !== undefined && now > hold.retainedSince + STALE_MS) {
    ledger.note('P2', uid, `${sender} published ${id} although it is to be retained`);
  }
  if (hold.requested.size === 0) onFirst(ledger, hold, message.handedOverAt);
  const name = String(data.target.name);
  const record = ledger.objects.get(uid)?.metadata.annotations?.[RECORD + data.rule.name];
  noteAsked(hold, { name, digest: data.targetDigest, by: sender.slice(BRIDGE_ROLE.length + 1), record });
  hold.requested.set(name, Math.max(hold.requested.get(name) ?? 0, Date.parse(data.expires)));
}

/**
 * P5: a brake that is forgotten lets more deletions go than the budget has. A budget counts what is sent, as the bridge can;
 * what a slow wire brings together later than that was apart when it was sent.
 */
function onFirst(ledger: Ledger, { uid, rule, isApproved }: Hold, sentAt: number): void {
  const budget = at(ledger.rules.get(rule)?.object.spec, 'budget');
  if (budget === undefined || isApproved) return;
  const window = at(budget, 'window') === '1m' ? 60_000 : 600_000;
  const firsts = ledger.firsts.get(rule) ?? new Firsts();
  ledger.firsts.set(rule, firsts);
  const limit = ledger.rules.get(rule)?.limit ?? 0;
  const most = firsts.add(sentAt, window);
  if (most > limit) {
    ledger.note('P5', uid, `${most} deletions of ${rule} within ${window} ms, the budget is ${limit}`);
  }
}

function onResult(ledger: Ledger, message: StoredMessage): void {
  if (!isOf(message, FUNCTION_ROLE)) return;
  const { object, rule, result, requestId, expires } = resultIn(ledger, message.body).data;
  if (result.outcome !== 'pending' || result.reason === EXPIRED) ledger.answered.add(requestId);
  const request = ledger.bodies.get(requestId);
  const hold = ledger.hold(object.uid, rule.name);
  if (request === undefined || hold === undefined || result.outcome !== 'gone') return;
  const name = String(requestIn(ledger, request).data.target.name);
  const { gones } = hold;
  gones.set(name, Math.max(gones.get(name) ?? 0, Date.parse(expires)));
}

/** Whoever has read an answer knows what it was about as long as it lives. */
function onRead(ledger: Ledger, message: StoredMessage, by: string): void {
  if (!isOf(message, FUNCTION_ROLE)) return;
  const { object, rule, targetDigest } = resultIn(ledger, message.body).data;
  const hold = ledger.hold(object.uid, rule.name);
  if (hold !== undefined && hold.unseen.size > 0) noteRead(hold, targetDigest, by);
}

/** P5: a request is deleted only when its answer is in the queue, and a "not yet" is no answer to end on. */
function onRequestDone(ledger: Ledger, message: StoredMessage, by: string): void {
  if (!isOf(message, BRIDGE_ROLE)) {
    ledger.note('P2', '', `${by} deleted a request that a stranger sent`);
    return;
  }
  const { id, data } = requestIn(ledger, message.body);
  if (!ledger.answered.has(id))
    ledger.note('P5', data.object.uid, `${by} deleted ${id} without an answer that ends it`);
}

/** P5: a gone is acknowledged only when the entry is off, or the record says what holds it. */
function onAcknowledged(ledger: Ledger, message: StoredMessage, by: string): void {
  if (!isOf(message, FUNCTION_ROLE)) {
    ledger.note('P6', '', `${by} deleted a result that nobody of ours has sent`);
    return;
  }
  const { object, rule, result, requestId, expires, targetDigest } = resultIn(ledger, message.body).data;
  ledger.results.delete(message.body);
  const hold = ledger.hold(object.uid, rule.name);
  if (hold !== undefined && hold.unseen.size > 0) noteRead(hold, targetDigest, ANYBODY);
  const live = ledger.objects.get(object.uid);
  if (result.outcome !== 'gone' || live === undefined || !rulesOn(live).includes(rule.name)) return;
  if (ledger.now() > Date.parse(expires)) return;
  const record = live.metadata.annotations?.[RECORD + rule.name] ?? '';
  if (!record.includes(targetDigest)) {
    ledger.note('P5', object.uid, `${by} acknowledged the gone of ${requestId} before the entry was off`);
  }
}

/** P2: only while the owner is being deleted and still held by us, in time, and never what is to be kept. */
function onDelete(ledger: Ledger, { resource, by }: CloudDeletion): void {
  const batch = ledger.world.batchOf(by);
  // What people and others take down themselves is theirs.
  if (batch === undefined) return;
  const { name, owner, tags } = resource;
  const ours = batch.filter((message) => isOf(message, BRIDGE_ROLE)).map(({ body }) => requestIn(ledger, body).data);
  const meant = ours.filter(({ target }) => target.name === name);
  if (tags.has(KEEP_TAG)) ledger.note('P2', owner, `${by} deletes ${name}, which is to be kept`);
  if (meant.length === 0) ledger.note('P2', owner, `${by} deletes ${name}, for which nobody of ours has asked`);
  const last = Math.max(...meant.map(({ expires }) => Date.parse(expires)), 0);
  if (ledger.now() > last + LAST_CALL_MS) ledger.note('P2', owner, `${by} deletes ${name} on an expired request`);
  if (!meant.some(({ object, rule }) => mayDelete(ledger, { object, rule: rule.name, owner }))) {
    ledger.note('P2', owner, `${by} deletes ${name} of ${owner}, which is not being deleted, free, or another's`);
  }
}

function mayDelete(
  ledger: Ledger,
  { object, rule, owner }: { readonly object: { readonly uid: string }; readonly rule: string; readonly owner: string },
): boolean {
  const asked = ledger.hold(object.uid, rule)?.off?.how;
  // Who frees without waiting was told that a teardown may still happen.
  if (asked === 'now' || asked === 'bypassed') return true;
  const { binding } = ledger.plans.get(rule) ?? {};
  if (object.uid !== owner && binding === 'uid') return false;
  if (binding === 'none' && ledger.world.plan.allowsNone !== true) return false;
  // What one of its name has left behind is its own, and without a proof so is whatever it names. Never what a successor has.
  const isLeft = owner.startsWith(STRANGER) ? binding === 'none' : !ledger.objects.has(owner);
  const hold = ledger.hold(isLeft ? object.uid : owner, rule);
  return hold !== undefined && hold.off === undefined;
}
