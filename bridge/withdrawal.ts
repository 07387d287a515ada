/*
 * Withdraws a rule that is being deleted (P9): injection has stopped by the rule's deletion itself; a minute later its
 * entry comes off live objects; another minute later a second consistent list must be clean, and only then does the rule
 * go. Pending deletions finish first; held ones are named in WithdrawalBlocked until somebody releases them.
 * Called by rule-keeper.ts; waits are counted from what this process has seen, so a restart waits again.
 */
import { removeEntry } from './finalizer.ts';
import type { Log } from './log.ts';
import { isUnder } from './pending.ts';
import type { Cluster, KubeObject, Lease, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { permitted } from './rule-conditions.ts';
import { lastAcceptedOf } from './rule-force.ts';
import { type Judgement, whyRefused } from './rule-judge.ts';
import { formerNamespaces, knownNamespaces, leftBehind, leftWords, namesAll, stillLeaving } from './rule-namespaces.ts';
import { goingFrom, goingNamed, type PlacesOptions, rightsSeen, seeToPlaces } from './rule-places.ts';
import { updateStatus, type Written } from './rule-status.ts';
import { ruleFromObject } from './rules.ts';
import { injectsFor, sawCarriers, sawNobody } from './settling.ts';
import { standInFor } from './stand-in.ts';
import { type Condition, labelRule, matchOf, rulePath, WITHDRAWAL_FINALIZER } from './teardown-rules.ts';
import { type CountingOptions, countCarriers, LOOK_EVERY_MS, type Withdrawal } from './withdrawal-count.ts';

/** What withdrawing needs. */
export interface WithdrawalOptions extends CountingOptions, Pick<PlacesOptions, 'contests' | 'leavings' | 'rights'> {
  readonly cluster: Cluster;
  readonly lease: Lease;
  readonly book: RuleBook;
  readonly log: Log;
  readonly running: Map<string, Withdrawal>;
  readonly written: Map<string, Written>;
  /** Conditions beside those of the withdrawal. */
  readonly alsoSaid?: readonly Condition[];
  isWatching(rule: string): boolean;
  blindIn(rule: string): readonly string[];
  /** Takes a rule's entry off live objects. */
  release(rule: Rule, carriers: readonly ObjectMeta[]): void;
}

/** Takes one step; resolves to when to look again (ms since the epoch), or undefined when the rule is let go. */
export async function withdraw(
  given: WithdrawalOptions,
  object: KubeObject,
  judgement: Judgement,
): Promise<number | undefined> {
  // What is held may be so for want of rights, however it goes on with the withdrawal.
  const options = { ...given, alsoSaid: [permitted(judgement, rightsSeen(given, object, judgement))] };
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
    await say(options, object, ['Settling', 'waiting until no new object can get the entry']);
    return clock.now() + settlesIn;
  }
  const outgrown = options.served.namespaces === undefined ? formerNamespaces(object) : [];
  const going = goingFrom(options, judgement);
  const leaves = [...goingNamed(object, going), ...stillLeaving(object, options.served), ...outgrown];
  const staying = options.served.namespaces?.filter((namespace) => !going.includes(namespace));
  // A namespace that is being deleted, or left, waits for no other; nor do the rights in one that is served only since.
  const isWaitedFor = leaves.length > 0 || judgement.isBeyond || !namesAll(object, { namespaces: staying });
  const seen = isWaitedFor ? (await seeToPlaces(options, object, { rule, judgement })).object : object;
  return await sweep(options, rule, { withdrawal, object: seen });
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

async function sweep(
  options: WithdrawalOptions,
  rule: Rule,
  { withdrawal, object }: { readonly withdrawal: Withdrawal; readonly object: KubeObject },
): Promise<number | undefined> {
  const { clock, served } = options;
  const { name } = rule;
  const named = served.namespaces === undefined ? undefined : knownNamespaces(object);
  const { count, at, isNew } = await countCarriers(options, { rule, named }, withdrawal);
  if (count.kind === 'forbidden' || count.kind === 'otherVersion') {
    sawCarriers(withdrawal);
    // Where it may be listed nothing waits for where it may not (P10).
    if (count.kind === 'forbidden' && isNew) options.release(rule, count.live);
    await say(options, object, count.kind === 'forbidden' ? forbidden(count.places) : OTHER_VERSION);
    return clock.now() + LOOK_EVERY_MS;
  }
  if (count.kind === 'counted' && (count.live.length > 0 || count.deleting > 0)) {
    sawCarriers(withdrawal);
    if (isNew) options.release(rule, count.live);
    await say(options, object, blockedBy(options, rule, { live: count.live.length, deleting: count.deleting }));
    return clock.now() + LOOK_EVERY_MS;
  }
  const left = leftBehind(object, served);
  if (left.length > 0) {
    sawCarriers(withdrawal);
    await say(options, object, ['NamespacesLeft', leftWords(left)]);
    return clock.now() + LOOK_EVERY_MS;
  }
  const looksAgainIn = sawNobody(withdrawal, at);
  if (looksAgainIn > 0) {
    await say(options, object, ['Settling', 'nobody carries the entry; looking once more in a minute']);
    return clock.now() + Math.max(LOOK_EVERY_MS, at + looksAgainIn - clock.monotonic());
  }
  await options.rights.leave(name, knownNamespaces(object));
  await letGo(options, rule);
  return undefined;
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
  const held = pendings(name).filter((pending) => isUnder(pending, name, match) && pending.standing?.phase === 'Held');
  if (held.length > 0) {
    const names = held.slice(0, 5).map(({ meta }) => [meta.namespace, meta.name].filter(Boolean).join('/'));
    return ['HeldObjects', `${held.length} held objects must be released or finished: ${names.join(', ')}`];
  }
  if (deleting > 0) return ['PendingObjects', `${deleting} objects are being taken down`];
  return ['Releasing', `the entry is coming off ${live} live objects`];
}

async function say(options: WithdrawalOptions, seen: KubeObject, [reason, message]: Said): Promise<void> {
  const { name } = seen.metadata;
  const blocked: Condition = { type: 'WithdrawalBlocked', status: 'True', reason, message };
  const ready: Condition = {
    type: 'Ready',
    status: 'False',
    reason: 'Withdrawing',
    message: 'the rule is being deleted',
  };
  const conditions = [blocked, ready, NO_MORE, ...(options.alsoSaid ?? [])];
  await updateStatus(options, { name, conditions, seen });
}

async function unmark({ cluster }: WithdrawalOptions, meta: ObjectMeta): Promise<void> {
  const operations = labelRule(meta, undefined);
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
