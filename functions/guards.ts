/*
 * What is decided about a request before anything outside is even looked at. Pure, total, first objection wins.
 * Called by dispatch.ts for every decoded record. Who sent it is asked first: an unknown sender gets no answer at all.
 */
import { CLOCK_SKEW_MS, EXPIRED, isExpired, isSender, type Outcome, type Request } from '../bridge/contract.ts';
import type { Allow, ClusterConfig, Config } from './config.ts';
import type { Handler, Identity, PreparedTeardown } from './handler.ts';
import { pending, refused } from './outcomes.ts';

/** Why a request is not even answered: it stays failed and ends as a dead letter. */
export type Ignored = 'UnknownCluster' | 'UnknownSender' | 'WrongHandler';

/** What to do with a request. */
export type Verdict =
  | { readonly verdict: 'ignore'; readonly reason: Ignored }
  | { readonly verdict: 'answer'; readonly outcome: Outcome; readonly cluster: ClusterConfig }
  | {
      readonly verdict: 'run';
      readonly teardown: PreparedTeardown;
      readonly cluster: ClusterConfig;
      readonly account: string;
      readonly region: string;
    };

/** What the guards look at. */
export interface GuardInput {
  readonly request: Request;
  /** SenderId that the queue itself attached. */
  readonly senderId: string;
  readonly handler: Handler;
  readonly config: Config;
  /** The function's own account. */
  readonly ownAccount: string;
  /** ms since the epoch. */
  readonly now: number;
}

type Refusal = { readonly reason: string; readonly message: string } | undefined;

/** Judges one request. */
export function judgeRequest({ request, senderId, handler, config, ownAccount, now }: GuardInput): Verdict {
  const { data } = request;
  const cluster = config.clusters.find(({ uid }) => uid === data.cluster.uid);
  if (cluster === undefined) return { verdict: 'ignore', reason: 'UnknownCluster' };
  if (!isSender(senderId, cluster.sender)) return { verdict: 'ignore', reason: 'UnknownSender' };
  if (data.handler !== handler.name) return { verdict: 'ignore', reason: 'WrongHandler' };

  const late = lateness(Date.parse(data.expires), now, handler.limits.timeBudgetSeconds * 1000);
  if (late !== undefined) {
    return { verdict: 'answer', cluster, outcome: pending({ reason: EXPIRED, message: late }) };
  }
  const refuse = ({ reason, message }: NonNullable<Refusal>): Verdict => ({
    verdict: 'answer',
    cluster,
    outcome: refused({ reason, message }),
  });
  const teardown = handler.prepare(data.target, data.options);
  if (!teardown.ok) return refuse(teardown);
  const { identity, dangers } = teardown;
  const objection =
    refusePlace(identity, config.allow, handler.crossAccount ? undefined : ownAccount) ??
    refuseNames(identity.names, config.allow, data.object.namespace ?? '') ??
    refuseOptions(dangers, config.allow) ??
    ('none' in data.ownership && !config.ownershipNone ? OWNERSHIP_NEEDED : undefined);
  if (objection !== undefined) return refuse(objection);
  const { account, region } =
    identity.place === 'outside' ? { account: ownAccount, region: config.region } : identity.place;
  return { verdict: 'run', teardown, cluster, account, region };
}

const OWNERSHIP_NEEDED = {
  reason: 'OwnershipNoneNotAllowed',
  message: 'the rule asks for no ownership proof, and the configuration of this function does not allow that',
};

/** Too late to act, or too little life left to start: an overloaded queue would only ever start and abort. */
function lateness(expires: number, now: number, budget: number): string | undefined {
  if (isExpired(expires, now)) return `the request expired at ${new Date(expires).toISOString()}`;
  const left = expires - now;
  if (left >= budget + CLOCK_SKEW_MS) return undefined;
  return `only ${Math.floor(left / 1000)} s were left before the request expires, too few to start`;
}

function refusePlace({ place }: Identity, allow: Allow, onlyAccount: string | undefined): Refusal {
  if (place === 'outside') return undefined;
  const { account, region } = place;
  if (!allow.accounts.includes(account)) {
    return { reason: 'AccountNotAllowed', message: `account ${account} is not in the allow-list of this function` };
  }
  if (onlyAccount !== undefined && account !== onlyAccount) {
    // From here a target of another account looks exactly like one that does not exist.
    return { reason: 'AccountMismatch', message: `account ${account} is not this function's own, ${onlyAccount}` };
  }
  if (!allow.regions.includes(region)) {
    return { reason: 'RegionNotAllowed', message: `region ${region} is not in the allow-list of this function` };
  }
  return undefined;
}

/** Whether objects of a namespace (empty for those that have none) may have a thing of this name touched. */
export function isNameAllowed(name: string, allow: Allow, namespace: string): boolean {
  return refuseNames([name], allow, namespace) === undefined;
}

function refuseOptions(dangers: readonly string[], { options = [] }: Allow): Refusal {
  const denied = dangers.find((option) => !options.includes(option));
  if (denied === undefined) return undefined;
  return { reason: 'OptionNotAllowed', message: `the configuration of this function does not allow option ${denied}` };
}

function refuseNames(names: readonly string[], allow: Allow, namespace: string): Refusal {
  if (names.length === 0) return { reason: 'NameNotAllowed', message: 'the target has no name to compare' };
  const inner = allow.namespaces;
  if (inner !== undefined && !Object.hasOwn(inner, namespace)) {
    const from = namespace === '' ? 'cluster-scoped objects' : `namespace ${namespace}`;
    return { reason: 'NamespaceNotAllowed', message: `${from} may not use this function` };
  }
  const walls = [allow.names, ...(inner?.[namespace] === undefined ? [] : [inner[namespace].names])];
  const outside = names.find((name) => !walls.every((patterns) => patterns.some((one) => matchesPattern(one, name))));
  if (outside === undefined) return undefined;
  return { reason: 'NameNotAllowed', message: `${outside} matches no name that this function may touch` };
}

/** Whether a pattern, in which `*` stands for any text, covers all of a name. Linear in pattern times name, no RegExp. */
export function matchesPattern(pattern: string, name: string): boolean {
  const first = pattern.indexOf('*');
  if (first < 0) return pattern === name;
  const last = pattern.lastIndexOf('*');
  const tail = pattern.slice(last + 1);
  if (!name.startsWith(pattern.slice(0, first))) return false;
  let from = first;
  for (const part of pattern.slice(first, last).split('*')) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - tail.length >= from && name.endsWith(tail);
}
