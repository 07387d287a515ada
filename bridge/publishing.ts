/*
 * Publishes the request of the current term. Called by reconcile.ts with facts that hold, and has old ones read again.
 * What the next process must know is written down first: a person's retry, a second pair of digests in one deletion (trap
 * V8), and what a record that stands does not name (trap V10); then the request is remembered as possibly sent, and only then
 * handed to the outbox.
 */
import {
  DEAD_LETTERED,
  encodeRequest,
  expiresAt,
  MESSAGE_MAX_BYTES,
  makeRequest,
  type Request,
  utf8Bytes,
} from './contract.ts';
import type { Decision } from './decide.ts';
import { beganAt, type Pending, remember, type SentRequest } from './pending.ts';
import { readRecord } from './record.ts';
import { record } from './recording.ts';
import type { Rule } from './rule.ts';
import { FRESH_MS, nameOf, pathOf, type Run, type Step } from './run.ts';
import { stand } from './standing.ts';
import { apiPath } from './wire.ts';
import { isApproved, retryWord } from './words.ts';

type Publish = Extract<Decision, { act: 'publish' }>;

/** Publishes what was read lately, or writes down first what has to be written down. */
export async function publish(run: Run, decision: Publish): Promise<Step> {
  const { reach, pending, facts, rule } = run;
  const target = facts.evaluation?.target;
  if (rule === undefined || target?.kind !== 'found' || facts.ruleDigest === undefined) {
    throw new Error(`publishing for ${nameOf(pending)}: nothing to publish`);
  }
  // Asked first: many may wait for a token, and one that gets none needs no fresh read for that.
  if (!(await mayBeRequested(run, rule))) return { kind: 'again' };
  if (!isFresh(run)) {
    pending.facts = undefined;
    return { kind: 'again' };
  }
  const pair = { target: target.digest, rule: facts.ruleDigest };
  const isSecond = pending.seen.some((seen) => seen.requested && !isPair(seen, pair));
  const isKnown = pending.seen.some((seen) => seen.requested && isPair(seen, pair));
  const isRetry = takeRetry(pending, pair.target);
  remember(pending, { ...pair, requested: true, started: false });
  // A record names every target that was requested, whoever reads it next (trap V10).
  const written = readRecord(pending.meta, rule);
  const isUnnamed = written?.targets.some((seen) => seen.requested && isPair(seen, pair)) === false;
  // Kept until it is written: a record that fails is tried again, and nothing is sent meanwhile.
  pending.owesRecord ||= isRetry || (isSecond && !isKnown) || isUnnamed;
  if (pending.owesRecord) {
    await record(run, {
      phase: 'Pending',
      reason: 'Requested',
      message: 'sending a request',
      since: reach.clock.now(),
    });
    return { kind: 'again' };
  }
  const request = requestFor(run, rule, decision);
  const body = encodeRequest(request);
  if (utf8Bytes(body) > MESSAGE_MAX_BYTES) {
    const message = `the request has ${utf8Bytes(body)} bytes, at most ${MESSAGE_MAX_BYTES} can be sent`;
    return await stand(run, { act: 'hold', reason: 'RequestTooLarge', message });
  }
  return await send(run, { body, decision, pair });
}

/** A deletion that was never requested takes a token first; one that a person approved needs none. */
async function mayBeRequested(run: Run, rule: Rule): Promise<boolean> {
  if (!needsToken(run)) return true;
  const { reach, pending } = run;
  const grant = await reach.brakes.take(rule);
  pending.tokenLapsesAt = grant.ok ? grant.lapsesAt : undefined;
  pending.heldBack = grant.ok ? undefined : grant;
  return grant.ok;
}

/** A token that was not used in time counts for nothing: its block may count no more when the request goes (trap V21). */
function needsToken({ reach, pending, rule }: Run): boolean {
  if (rule?.budget === undefined || pending.firstPublished !== undefined) return false;
  if (isApproved(pending.meta, pending.rule)) return false;
  return pending.tokenLapsesAt === undefined || reach.clock.monotonic() >= pending.tokenLapsesAt;
}

/** Whether nothing is known to have moved since the object was read, as while a token was waited for, and that was lately. */
function isFresh({ reach, pending, facts }: Run): boolean {
  const isNewest = !pending.doubted && facts.object.metadata.resourceVersion === pending.meta.resourceVersion;
  return isNewest && pending.facts === facts && reach.clock.monotonic() - facts.readAt < FRESH_MS;
}

interface Sending {
  readonly body: string;
  readonly decision: Publish;
  readonly pair: { readonly target: string; readonly rule: string };
}

async function send(run: Run, { body, decision, pair }: Sending): Promise<Step> {
  const { reach, pending, rule } = run;
  const queueUrl = rule === undefined ? undefined : reach.queueOf(rule.handler);
  if (rule === undefined || queueUrl === undefined)
    throw new Error(`publishing for ${nameOf(pending)}: no queue for handler ${rule?.handler}`);
  const { attempt, retry } = decision;
  const expires = expiresAt({ began: beganAt(pending), term: rule.term }, attempt);
  const sent = { ...pair, attempt, retry, at: reach.clock.now(), expires };
  const mayGo = () => {
    const goes = reach.lease.holds() && isFresh(run) && !needsToken(run);
    if (goes) begin(pending, { ...sent, confirmed: false });
    return goes;
  };
  const outcome = await reach.outbox.send({ queueUrl, body, mayGo });
  switch (outcome.kind) {
    case 'stale':
      if (!reach.lease.holds()) throw new Error(`publishing for ${nameOf(pending)}: the lease is not held`);
      pending.facts = undefined;
      return { kind: 'again' };
    case 'failed':
      reach.metrics.requestFailures.inc({ rule: pending.rule });
      throw new Error(`publishing for ${nameOf(pending)}: ${outcome.detail}`, { cause: outcome.cause });
    case 'sent':
      note(pending, { ...sent, confirmed: true });
      reach.metrics.requests.inc({ rule: pending.rule });
      pending.firstPublished ??= sent.at;
      // With the request noted the next look decides to wait, and says so where people look.
      return { kind: 'again' };
    default:
      return outcome satisfies never;
  }
}

/** Handles a person's retry that has not been handled: refusals and what was found for this target no longer count. */
function takeRetry(pending: Pending, target: string): boolean {
  const word = retryWord(pending.meta, pending.rule);
  if (word === undefined || word === pending.retryHandled) return false;
  pending.retryHandled = word;
  pending.retries += 1;
  pending.refusal = undefined;
  pending.progress = undefined;
  pending.gones = pending.gones.filter((gone) => gone.target !== target);
  return true;
}

/** Another request goes out: what was said of the one before is over. Its own answer may come before the queue's. */
function begin(pending: Pending, sent: SentRequest): void {
  note(pending, sent);
  pending.refusal = undefined;
  if (pending.progress?.reason === DEAD_LETTERED) pending.progress = undefined;
}

function note(pending: Pending, sent: SentRequest): void {
  pending.sent = [...pending.sent.filter((other) => !isPair(other, sent)), sent];
}

function isPair(
  left: { readonly target: string; readonly rule: string },
  right: { readonly target: string; readonly rule: string },
): boolean {
  return left.target === right.target && left.rule === right.rule;
}

function requestFor({ reach, pending, facts }: Run, rule: Rule, { attempt, retry }: Publish): Request {
  const { evaluation, object } = facts;
  if (evaluation?.target.kind !== 'found' || evaluation.ownership.kind !== 'found') {
    throw new Error(`publishing for ${nameOf(pending)}: nothing to publish`);
  }
  const { name, namespace, uid, creationTimestamp, deletionTimestamp = creationTimestamp } = object.metadata;
  return makeRequest({
    cluster: reach.clusterId,
    rule: { name: rule.name, uid: rule.uid },
    handler: rule.handler,
    path: apiPath(pathOf(pending)),
    object: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      resource: pending.kind.resource,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid,
      creationTimestamp,
      deletionTimestamp,
    },
    gracePeriodSeconds: object.metadata.deletionGracePeriodSeconds ?? 0,
    target: evaluation.target.target,
    options: rule.options,
    ownership: evaluation.ownership.ownership,
    attempt,
    retry,
    term: rule.term,
  });
}
