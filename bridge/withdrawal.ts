/*
 * Withdraws a rule that is being deleted (P9): injection has stopped by the rule's deletion itself; a minute later its
 * entry comes off live objects; another minute later a second consistent list must be clean, and only then does the rule
 * go. Pending deletions finish first; held ones are named in WithdrawalBlocked until somebody releases them.
 * Called by rule-keeper.ts; waits are counted from what this process has seen, so a restart waits again.
 */
import type { Census, Count } from './census.ts';
import { entryOf, removeEntry } from './finalizer.ts';
import type { Log } from './log.ts';
import { isUnder, type Pending } from './pending.ts';
import type { Clock, Cluster, KindRef, Kinds, KubeObject, Lease, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { lastAcceptedOf } from './rule-force.ts';
import { type Judgement, whyRefused } from './rule-judge.ts';
import { leftBehind, leftWords } from './rule-namespaces.ts';
import { updateStatus, type Written } from './rule-status.ts';
import { ruleFromObject } from './rules.ts';
import type { Served } from './served.ts';
import { injectsFor, type Settling, sawCarriers, sawNobody } from './settling.ts';
import { standInFor } from './stand-in.ts';
import { type Condition, markRule, matchOf, rulePath, WITHDRAWAL_FINALIZER } from './teardown-rules.ts';

/** How often the kind is listed: often while entries are coming off, seldom while what is pending is known to hold up. */
const LOOK_EVERY_MS = 5_000;
const LOOK_SELDOM_MS = 60_000;

/** Where a withdrawal stands; times are monotonic ms. */
export interface Withdrawal extends Settling {
  readonly uid: string;
  /** The last list, and from when it was. */
  counted: { readonly count: Count; readonly at: number } | undefined;
  /** The accepted generation that was put in force last, if any. */
  accepted: Rule | undefined;
}

/** What withdrawing needs. */
export interface WithdrawalOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly book: RuleBook;
  readonly census: Census;
  readonly kinds: Kinds;
  readonly log: Log;
  readonly running: Map<string, Withdrawal>;
  readonly written: Map<string, Written>;
  readonly served: Served;
  isWatching(rule: string): boolean;
  /** Takes a rule's entry off live objects. */
  release(rule: Rule, carriers: readonly ObjectMeta[]): void;
  pendings(): readonly Pending[];
}

/** Takes one step; resolves to when to look again (ms since the epoch), or undefined when the rule is let go. */
export async function withdraw(
  options: WithdrawalOptions,
  object: KubeObject,
  judgement: Judgement,
): Promise<number | undefined> {
  const { clock, running, lease } = options;
  const { name, uid } = object.metadata;
  const known = running.get(name);
  const withdrawal: Withdrawal =
    known?.uid === uid
      ? known
      : { uid, seenAt: clock.monotonic(), counted: undefined, accepted: undefined, cleanSince: undefined };
  running.set(name, withdrawal);
  const rule = inForce(options.book, object, { judgement, withdrawal });
  if (!lease.holds()) return clock.now() + LOOK_EVERY_MS;
  await unmark(options, object.metadata);
  const settlesIn = injectsFor(withdrawal, clock.monotonic());
  if (settlesIn > 0) {
    await say(options, name, ['Settling', 'waiting until no new object can get the entry']);
    return clock.now() + settlesIn;
  }
  return await sweep(options, rule, { withdrawal, left: leftBehind(object, options.served) });
}

/** Pending deletions go on under the rule if it is accepted; otherwise they say why not, and nothing is sent. */
function inForce(
  book: RuleBook,
  object: KubeObject,
  { judgement, withdrawal }: { readonly judgement: Judgement; readonly withdrawal: Withdrawal },
): Rule {
  const { name, uid } = object.metadata;
  const known = book.named(name);
  const last = known?.uid === uid ? known : undefined;
  const rule = judgement.rule ?? {
    ...(last ?? lastAcceptedOf(object) ?? readable(object, judgement)),
    notAccepted: whyRefused(judgement),
  };
  const isSame = last?.generation === rule.generation && last?.notAccepted === rule.notAccepted;
  const isKnown = isSame && withdrawal.accepted === judgement.rule;
  if (last !== undefined && isKnown && last.isWithdrawn === true) return last;
  const withdrawn = { ...rule, isWithdrawn: true };
  withdrawal.accepted = judgement.rule;
  book.set(withdrawn);
  return withdrawn;
}

function readable(object: KubeObject, judgement: Judgement): Rule {
  const parsed = ruleFromObject(object);
  // What a rule is about stays readable where the rest is not, and cannot be changed.
  return parsed.ok ? parsed.rule : standInFor(object.metadata, matchOf(object), whyRefused(judgement));
}

/** `left`: namespaces that nobody looks into any more, and in which objects may carry the entry. */
async function sweep(
  options: WithdrawalOptions,
  rule: Rule,
  { withdrawal, left }: { readonly withdrawal: Withdrawal; readonly left: readonly string[] },
): Promise<number | undefined> {
  const { clock } = options;
  const { name } = rule;
  const { count, at, isNew } = await countCarriers(options, rule, withdrawal);
  if (count.kind === 'forbidden' || count.kind === 'otherVersion') {
    sawCarriers(withdrawal);
    // Where it may be listed nothing waits for where it may not (P10).
    if (count.kind === 'forbidden' && isNew) options.release(rule, count.live);
    await say(options, name, count.kind === 'forbidden' ? forbidden(count.places) : OTHER_VERSION);
    return clock.now() + LOOK_EVERY_MS;
  }
  if (count.kind === 'counted' && (count.live.length > 0 || count.deleting > 0)) {
    sawCarriers(withdrawal);
    if (isNew) options.release(rule, count.live);
    await say(options, name, blockedBy(options, rule, { live: count.live.length, deleting: count.deleting }));
    return clock.now() + LOOK_EVERY_MS;
  }
  if (left.length > 0) {
    sawCarriers(withdrawal);
    await say(options, name, ['NamespacesLeft', leftWords(left)]);
    return clock.now() + LOOK_EVERY_MS;
  }
  const looksAgainIn = sawNobody(withdrawal, at);
  if (looksAgainIn > 0) {
    await say(options, name, ['Settling', 'nobody carries the entry; looking once more in a minute']);
    return clock.now() + Math.max(LOOK_EVERY_MS, at + looksAgainIn - clock.monotonic());
  }
  await letGo(options, rule);
  return undefined;
}

/** Counts anew when the last count is old: a list of a large kind is not cheap, and every status written wakes us. */
async function countCarriers(
  options: WithdrawalOptions,
  { name, match }: Rule,
  withdrawal: Withdrawal,
): Promise<{ readonly count: Count; readonly at: number; readonly isNew: boolean }> {
  const { clock, pendings } = options;
  const { counted } = withdrawal;
  const isHeldUp =
    counted !== undefined && isQuiet(counted.count, () => pendings().some((pending) => isUnder(pending, name, match)));
  const every = isHeldUp ? LOOK_SELDOM_MS : LOOK_EVERY_MS;
  if (counted !== undefined && clock.monotonic() - counted.at < every) return { ...counted, isNew: false };
  const at = clock.monotonic();
  const count = await countNow(options, name, match);
  withdrawal.counted = { count, at };
  return { count, at, isNew: true };
}

async function countNow({ census, kinds, served }: WithdrawalOptions, name: string, match: KindRef): Promise<Count> {
  const facts = await kinds.describe(match);
  // What is in no namespace is in none of those that are served (rule-namespaces.ts knows of a time before).
  if (facts?.namespaced === false && served.namespaces !== undefined) return NOBODY;
  const count: Count = facts === undefined ? { kind: 'unserved' } : await census(match, entryOf(name));
  // Discovery has the last word: a list that nobody answered, while the kind is served, is not an empty one (P9).
  return count.kind === 'unserved' && (await kinds.isServed(match)) ? { kind: 'otherVersion' } : count;
}

const NOBODY: Count = { kind: 'counted', live: [], deleting: 0 };

/** Whether nothing is coming off, and what holds the withdrawal up takes its time: a deletion, or a right that somebody gives. */
function isQuiet(count: Count, isPending: () => boolean): boolean {
  switch (count.kind) {
    case 'counted':
      return count.live.length === 0 && isPending();
    case 'forbidden':
      // Where nothing may be listed, asking costs nothing.
      return count.live.length === 0 && count.places.length > 0;
    case 'unserved':
    case 'otherVersion':
      return false;
  }
}

const NO_MORE: Condition = {
  ...{ type: 'FinalizerAtAdmission', status: 'False', reason: 'NotLabelled' },
  message: 'The rule is being deleted: no new object gets its entry.',
};

/** Reason and message of WithdrawalBlocked. */
type Said = readonly [reason: string, message: string];

const OTHER_VERSION: Said = [
  'VersionNotServed',
  "the rule's version of the kind is not served, others are: serve it again to withdraw",
];

function forbidden(places: readonly string[]): Said {
  const where = places.length === 0 ? '' : ` in namespace ${places.join(', ')}`;
  return ['NotPermitted', `may not list the kind${where}, so nobody can tell who still carries the entry`];
}

function blockedBy(
  { pendings }: WithdrawalOptions,
  { name, match }: Rule,
  { live, deleting }: { readonly live: number; readonly deleting: number },
): Said {
  const held = pendings().filter((pending) => isUnder(pending, name, match) && pending.standing?.phase === 'Held');
  if (held.length > 0) {
    const names = held.slice(0, 5).map(({ meta }) => [meta.namespace, meta.name].filter(Boolean).join('/'));
    return ['HeldObjects', `${held.length} held objects must be released or finished: ${names.join(', ')}`];
  }
  if (deleting > 0) return ['PendingObjects', `${deleting} objects are being taken down`];
  return ['Releasing', `the entry is coming off ${live} live objects`];
}

async function say(options: WithdrawalOptions, name: string, [reason, message]: Said): Promise<void> {
  const blocked: Condition = { type: 'WithdrawalBlocked', status: 'True', reason, message };
  const ready: Condition = {
    type: 'Ready',
    status: 'False',
    reason: 'Withdrawing',
    message: 'the rule is being deleted',
  };
  await updateStatus(options, name, [blocked, ready, NO_MORE]);
}

async function unmark({ cluster }: WithdrawalOptions, meta: ObjectMeta): Promise<void> {
  const operations = markRule(meta, undefined);
  if (operations === undefined) return;
  const outcome = await cluster.patch(rulePath(meta.name), operations);
  if (outcome.kind === 'conflict') throw new Error(`marking rule ${meta.name}: it has changed`);
}

async function letGo({ cluster, log }: WithdrawalOptions, { name, uid }: Rule): Promise<void> {
  const object = await cluster.get(rulePath(name));
  if (object === undefined || object.metadata.uid !== uid) return;
  const operations = removeEntry(object.metadata, WITHDRAWAL_FINALIZER);
  if (operations === undefined) return;
  const outcome = await cluster.patch(rulePath(name), operations);
  if (outcome.kind === 'conflict') throw new Error(`letting rule ${name} go: it has changed`);
  log.info({ rule: name }, 'withdrawing a rule: done');
}
