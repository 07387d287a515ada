/*
 * Entries on live objects: puts a rule's entry on what it selects, and takes it off where the rule says so for what it
 * no longer selects. Called by intake.ts with what was seen, and run by the work queue. Never touches an object that is
 * already being deleted: there only a result, a policy or a person's word takes an entry off.
 */
import { Contests } from './contests.ts';
import { addEntry, hasEntry, removeEntry } from './finalizer.ts';
import { kindKey } from './kind-key.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, Cluster, KindRef, Lease, ObjectMeta, PatchOperation, Watched } from './ports.ts';
import type { Rule } from './rule.ts';
import { shows } from './served.ts';
import { isOlder } from './wire.ts';

const CLAIM_PREFIX = 'claim:';
const ROUNDS_MAX = 5;

/** One change wanted on one live object. */
export interface Claim {
  readonly kind: KindRef;
  readonly meta: ObjectMeta;
  readonly rule: Rule;
  readonly change: 'add' | 'remove';
}

/** What claiming needs. */
export interface ClaimsOptions {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly lease: Lease;
  readonly metrics: Metrics;
  readonly log: Pick<Log, 'warn'>;
  /** The rule of that name, if it is one for that kind. */
  ruleOf(name: string, kind: KindRef): Rule | undefined;
  /** Whether a rule selects a live object; undefined when that is not known yet. */
  isMatched(rule: Rule, meta: ObjectMeta): boolean | undefined;
  add(key: string): void;
}

/** The live objects that lack something, until they have it. */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #wanted = new Map<string, Claim>();
  readonly #contests: Contests;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#contests = new Contests(options.clock);
  }

  /** By rule, how many live objects wait. */
  waiting(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { rule } of this.#wanted.values()) counts.set(rule.name, (counts.get(rule.name) ?? 0) + 1);
    return counts;
  }

  /** Notes a change that is wanted; the newest sight of an object counts. */
  want(claim: Claim): void {
    const key = keyOf(claim.meta.uid, claim.rule.name);
    const { name, namespace, uid, resourceVersion, creationTimestamp, finalizers, labels } = claim.meta;
    const meta = { name, namespace, uid, resourceVersion, creationTimestamp, finalizers, labels };
    this.#wanted.set(key, { ...claim, meta });
    this.#options.add(key);
  }

  /**
   * An object was seen with the entry of a rule: whatever became of a write whose answer is lost, it is on, and what the object
   * stands for is asked for when it is deleted.
   */
  saw({ uid, resourceVersion }: ObjectMeta, rule: string): void {
    if (this.#wanted.size === 0) return;
    const key = keyOf(uid, rule);
    const wanted = this.#wanted.get(key);
    if (wanted?.change !== 'add' || isOlder(resourceVersion, wanted.meta.resourceVersion)) return;
    this.#wanted.delete(key);
  }

  /**
   * A complete list came: what waits within it is tried again now, not when its back-off is over. Rights may have come back, and an
   * object that went meanwhile is shown by nothing.
   */
  listed(watched: Watched): void {
    for (const [key, { kind, meta }] of this.#wanted) {
      if (kindKey(kind) === kindKey(watched) && shows(watched, meta)) this.#options.add(key);
    }
  }

  /** Runs one claim; resolves to when to run it again, in ms since the epoch. Throws to be tried again with back-off. */
  async run(key: string): Promise<number | undefined> {
    const claim = this.#wanted.get(key);
    if (claim === undefined) return undefined;
    const path = { ...claim.kind, namespace: claim.meta.namespace, name: claim.meta.name };
    let { meta } = claim;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const operations = this.#operations({ ...claim, meta });
      if (operations === undefined) {
        if (meta.deletionTimestamp !== undefined) this.#missed(key, { ...claim, meta });
        return this.#done(key, claim);
      }
      const wait = this.#contests.waitFor(key, claim.change);
      if (wait > 0) return this.#options.clock.now() + wait;
      if (!this.#options.lease.holds())
        throw new Error(`claiming ${path.resource}/${path.name}: the lease is not held`);
      const outcome = await this.#options.cluster.patch(path, operations);
      if (outcome.kind === 'patched') {
        this.#count(claim);
        this.#contests.wrote(key, claim.change);
        return this.#done(key, claim, outcome.meta);
      }
      const object = outcome.kind === 'missing' ? undefined : await this.#options.cluster.get(path);
      if (object === undefined || object.metadata.uid !== meta.uid) {
        this.#missed(key, claim);
        return this.#done(key, claim);
      }
      meta = object.metadata;
    }
    throw new Error(`claiming ${path.resource}/${path.name}: it keeps changing under ${ROUNDS_MAX} looks`);
  }

  /** What is still to be done, judged by the object and the rule as they are now. */
  #operations({ kind, meta, rule: { name, uid, entry }, change }: Claim): readonly PatchOperation[] | undefined {
    const rule = this.#options.ruleOf(name, kind);
    // Another rule that has come by the name since never asked for this.
    if (rule?.uid !== uid || meta.deletionTimestamp !== undefined) return undefined;
    const isMatched = rule.isWithdrawn === true ? false : this.#options.isMatched(rule, meta);
    if (change === 'add') return isMatched === true ? addEntry(meta, entry) : undefined;
    return isMatched === false && hasEntry(meta, entry) ? removeEntry(meta, entry) : undefined;
  }

  /** Forgets a claim, unless a newer sight of the object came meanwhile: newer than what was written, if it was. */
  #done(key: string, claim: Claim, written?: ObjectMeta): undefined {
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return;
    const isStale = written !== undefined && isOlder(wanted.meta.resourceVersion, written.resourceVersion);
    if (wanted === claim || isStale) this.#wanted.delete(key);
  }

  /** Deleted in the moment before its entry was on, or was put back: nobody is asked to take down what it stood for. */
  #missed(key: string, { change, rule, kind, meta }: Claim): void {
    const { namespace, name, uid, finalizers = [] } = meta;
    if (change === 'remove' || finalizers.includes(rule.entry)) return;
    // Seen with its entry meanwhile, or wanted by no rule any more.
    if (!this.#wanted.has(key) || !this.#isWanted(rule, kind, meta)) return;
    this.#options.metrics.missed.inc({ rule: rule.name });
    this.#options.log.warn(
      { rule: rule.name, uid, namespace, name, resource: kind.resource },
      'an object was deleted before its entry was on: it goes without teardown',
    );
  }

  /** Whether the rule is still there, and not known to pass over the object by now. */
  #isWanted({ name, uid }: Rule, kind: KindRef, meta: ObjectMeta): boolean {
    const rule = this.#options.ruleOf(name, kind);
    return rule?.uid === uid && rule.isWithdrawn !== true && this.#options.isMatched(rule, meta) !== false;
  }

  #count({ change, rule }: Claim): void {
    if (change === 'add') this.#options.metrics.claimed.inc({ rule: rule.name });
    else
      this.#options.metrics.removed.inc({
        rule: rule.name,
        reason: rule.isWithdrawn === true ? 'Withdrawn' : 'Unmatched',
      });
  }
}

function keyOf(uid: string, rule: string): string {
  return `${CLAIM_PREFIX}${uid}/${rule}`;
}
