/*
 * What an endpoint's answer means. Pure. Called by the handler in webhook.ts.
 * A body is believed only if it repeats the digest of the target that it was asked about: a page of a proxy, a cached
 * answer or one about another target says nothing. A status alone never means gone: a wrong path answers 404 as well.
 */
import * as z from 'zod/mini';
import { digest, type Outcome, outcomeSchema } from '../../../bridge/contract.ts';
import { pending, refused } from '../../outcomes.ts';

/** An endpoint's answer, and what it was asked. */
export interface Answer {
  readonly webhook: string;
  readonly targetDigest: string;
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** Shortest and longest wait that an endpoint may ask for. */
const RETRY_MIN_MS = 10_000;
const RETRY_MAX_MS = 60 * 60_000;

const repeated = z.object({ targetDigest: digest });
type Said = Outcome | 'another target' | 'nothing';

/** Reads an answer. */
export function outcomeOf(answer: Answer): Outcome {
  const { status } = answer;
  const said = read(answer);
  if (status >= 300 && status < 400) return pending({ reason: 'Redirected', ...again(answer) });
  if (status === 429) return pending({ reason: 'Throttled', ...again(answer) });
  if (status >= 500 || status < 200) return pending({ reason: 'ServiceError', ...again(answer) });
  if (isOutcome(said, 'pending')) return waiting(answer, said);
  if (status === 202) return pending({ reason: 'Accepted', ...again(answer) });
  if (isOutcome(said, 'refused')) return said;
  const mayBeGone = status < 300 || status === 404 || status === 410;
  if (isOutcome(said, 'gone') && mayBeGone) return said;
  if (status === 401 || status === 403) {
    const message = `${answer.webhook} answered ${status}: it takes no request of this function`;
    return refused({ reason: 'EndpointDenied', message });
  }
  if (said === 'another target') return pending({ reason: 'WrongDigest', ...again(answer) });
  if (status < 300) return pending({ reason: 'InvalidAnswer', ...again(answer) });
  return pending({ reason: 'UnexpectedStatus', ...again(answer) });
}

function isOutcome<K extends Outcome['outcome']>(said: Said, kind: K): said is Extract<Outcome, { outcome: K }> {
  return typeof said === 'object' && said.outcome === kind;
}

/** What the body says, if it says it about this target. */
function read({ body, targetDigest }: Answer): Said {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return 'nothing';
  }
  const outcome = outcomeSchema.safeParse(json);
  const about = repeated.safeParse(json);
  if (!outcome.success || !about.success) return 'nothing';
  return about.data.targetDigest === targetDigest ? outcome.data : 'another target';
}

/** The header wins over the body: it is what whatever stands before the endpoint can say, too. */
function waiting(answer: Answer, said: Extract<Outcome, { outcome: 'pending' }>): Outcome {
  const retryAt =
    retryTime(answer) ?? (said.retryAt === undefined ? undefined : bounded(Date.parse(said.retryAt), answer));
  return retryAt === undefined ? said : { ...said, retryAt };
}

function again(answer: Answer): { readonly message: string; readonly retryAt?: string } {
  const retryAt = retryTime(answer);
  const message = `${answer.webhook} answered ${answer.status}`;
  return retryAt === undefined ? { message } : { message, retryAt };
}

/** Retry-After is seconds or an HTTP date; anything else counts as not there. */
function retryTime(answer: Answer): string | undefined {
  const { retryAfter = '', now } = answer;
  if (/^\d{1,9}$/.test(retryAfter)) return bounded(now + Number(retryAfter) * 1000, answer);
  const time = / GMT$/.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(time) ? undefined : bounded(time, answer);
}

function bounded(time: number, { now }: Answer): string {
  return new Date(Math.min(Math.max(time, now + RETRY_MIN_MS), now + RETRY_MAX_MS)).toISOString();
}
