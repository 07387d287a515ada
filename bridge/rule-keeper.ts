/*
 * Keeps the rule book as the TeardownRules in the API are: watches them, judges each generation, puts what is accepted in
 * force, says what is wrong in the rule's conditions, and withdraws what is deleted. Started by main.ts beside the bridge.
 * Every run starts from the rule as it is; a rule that cannot work is judged again by itself, since kinds and rights come.
 */
import type { Births } from './births.ts';
import type { Census } from './census.ts';
import { Contests } from './contests.ts';
import { KeptRights } from './kept-rights.ts';
import { Leavings } from './leavings.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Pending } from './pending.ts';
import type { Clock, Cluster, Kinds, KubeObject, Lease, ObjectMeta, Random } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { type EnforcingOptions, enforce, policyProbe, REJUDGE_MS } from './rule-enforcing.ts';
import { stopTaking } from './rule-force.ts';
import { isPermitted, type Judgement, judgeRule } from './rule-judge.ts';
import { RuleMoves } from './rule-moves.ts';
import { knownNamespaces } from './rule-namespaces.ts';
import { RuleReader } from './rule-reader.ts';
import { STATUS_EVERY_MS, type Written } from './rule-status.ts';
import { RulesSight } from './rules-sight.ts';
import type { Served } from './served.ts';
import type { Serving } from './serving.ts';
import { rulePath, TEARDOWN_RULES, versionOf } from './teardown-rules.ts';
import { sayUnjudged } from './unjudged.ts';
import { Watcher } from './watch.ts';
import type { Sink } from './watch-sink.ts';
import { withdraw } from './withdrawal.ts';
import type { Withdrawal } from './withdrawal-count.ts';
import { WorkQueue } from './work-queue.ts';

/** A rule that cannot be judged holds up no other for longer than this many tries (P10). */
const FAILURES_UNTIL_PASSED = 3;
/** A rule that is deleted while somebody has taken its finalizer off goes without being withdrawn (P9). */
const UNHELD_MAX_MS = 5_000;

/** What the keeper needs. */
export interface RuleKeeperOptions {
  readonly cluster: Cluster;
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly random: Random;
  readonly lease: Lease;
  readonly book: RuleBook;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly census: Census;
  readonly births: Births;
  readonly serving: Serving;
  readonly served: Served;
  hasHandler(name: string): boolean;
  /** Whether a rule's kind is being watched and was listed. */
  isWatching(rule: string): boolean;
  /** Namespaces in which a rule's kind is not being watched. */
  blindIn(rule: string): readonly string[];
  /** Takes a rule's entry off live objects. */
  release(rule: Rule, carriers: readonly ObjectMeta[]): void;
  pendings(rule: string): readonly Pending[];
}

/** A running keeper. */
export interface RuleKeeper {
  /** Whether the rules are being watched, and every one was judged once, or cannot be judged now. */
  isReady(): boolean;
  /** Whether a rule's verbs were all there when it was judged last. */
  isPermitted(rule: string): boolean;
  /** Why the rules cannot be read, where that is not for a moment only; undefined while they can. */
  readonly trouble: string | undefined;
  stop(): Promise<void>;
}

/** Starts keeping. */
export function startRuleKeeper(options: RuleKeeperOptions): RuleKeeper {
  return new Keeper(options);
}

interface Judged {
  readonly version: string;
  /** Monotonic ms. */
  readonly at: number;
  readonly judgement: Judgement;
}

class Keeper implements RuleKeeper {
  readonly #options: RuleKeeperOptions;
  readonly #work: WorkQueue;
  readonly #watcher: Watcher;
  readonly #unjudged = new Set<string>();
  readonly #judged = new Map<string, Judged>();
  readonly #reader = new RuleReader();
  /** Rules that could not be judged when they were tried last. */
  readonly #unanswered = new Map<string, { readonly object: KubeObject; readonly error: unknown }>();
  readonly #withdrawals = new Map<string, Withdrawal>();
  readonly #moves: RuleMoves;
  readonly #sight: RulesSight;
  readonly #own: Pick<EnforcingOptions, 'written' | 'marked' | 'contests' | 'isPolicyServed' | 'leavings' | 'rights'>;
  #isSynced = false;
  #shown: Set<string> | undefined;
  #cancel = () => {};

  constructor(options: RuleKeeperOptions) {
    const { cluster, clock, random, metrics, log } = options;
    this.#options = options;
    this.#sight = new RulesSight(options);
    const kept = {
      written: new Map<string, Written>(),
      marked: new Map<string, Written>(),
      contests: new Contests(clock, UNHELD_MAX_MS),
    };
    const rights = new KeptRights(options);
    this.#own = { ...kept, isPolicyServed: policyProbe(options), leavings: new Leavings(options), rights };
    this.#moves = new RuleMoves({ ...options, rights });
    this.#work = new WorkQueue({
      clock,
      random,
      concurrency: 4,
      run: async (name) => {
        const wakeAt = await this.#keep(name);
        this.#unjudged.delete(name);
        return wakeAt;
      },
      onFailure: (name, error, failures) => this.#noteFailure(name, error, failures),
    });
    this.#watcher = new Watcher({ kind: TEARDOWN_RULES, cluster, clock, random, metrics, log, sink: this.#sink() });
    this.#watcher.start();
    this.#tick();
  }

  isReady(): boolean {
    return this.#watcher.isWatching && this.#unjudged.size === 0;
  }

  isPermitted(rule: string): boolean {
    return isPermitted(this.#judged.get(rule)?.judgement);
  }

  get trouble(): string | undefined {
    return this.#sight.trouble;
  }

  async stop(): Promise<void> {
    this.#cancel();
    await this.#watcher.stop();
    await this.#work.stop();
    await this.#own.rights.stop();
  }

  #sink(): Sink {
    return {
      listing: () => {
        this.#shown = new Set();
      },
      present: (_kind, { name, resourceVersion }) => {
        this.#shown?.add(name);
        // Counts that this process has written over what it saw: nothing is new.
        if (this.#isSynced && this.#own.written.get(name)?.counted === resourceVersion) return;
        if (!this.#isSynced) this.#unjudged.add(name);
        this.#work.add(name);
      },
      deleted: (_kind, { name }) => this.#work.add(name),
      synced: () => {
        this.#isSynced = true;
        this.#sight.clear();
        // What a list lacks may be gone; the run finds out by a GET.
        for (const { name } of this.#options.book.rules) if (this.#shown?.has(name) === false) this.#work.add(name);
        this.#shown = undefined;
      },
      blind: (_kind, cause) => this.#sight.blind(cause),
      resumed: () => this.#sight.clear(),
    };
  }

  /** Looks at the rules whose status has moved since: nobody else tells that a deletion began, or a watch ended (P7). */
  #tick(): void {
    for (const name of this.#moves.among(this.#judged.keys())) this.#work.add(name);
    this.#cancel = this.#options.clock.after(STATUS_EVERY_MS, () => this.#tick());
  }

  async #keep(name: string): Promise<number | undefined> {
    const object = await this.#options.cluster.get(rulePath(name));
    if (object === undefined) {
      this.#forget(name);
      return undefined;
    }
    this.#moves.looked(name);
    this.#own.rights.saw(name, knownNamespaces(object));
    const options = { ...this.#options, ...this.#own };
    if (object.metadata.deletionTimestamp !== undefined) {
      this.#options.births.forget(name);
      stopTaking(this.#options.book, object.metadata);
      return await withdraw({ ...options, running: this.#withdrawals }, object, await this.#judge(object));
    }
    this.#withdrawals.delete(name);
    return await enforce(options, object, await this.#judge(object));
  }

  /** Judges anew when there is a new generation, or the last judgement is old: kinds and rights come and go. */
  async #judge(object: KubeObject): Promise<Judgement> {
    const { name } = object.metadata;
    const { clock } = this.#options;
    const version = versionOf(object);
    const last = this.#judged.get(name);
    const isFresh = last !== undefined && last.version === version && clock.monotonic() - last.at < REJUDGE_MS;
    if (isFresh) return last.judgement;
    const judgement = await judgeRule({ ...this.#options, reader: this.#reader }, object).catch((error: unknown) => {
      this.#unanswered.set(name, { object, error });
      throw error;
    });
    this.#unanswered.delete(name);
    this.#judged.set(name, { version, at: clock.monotonic(), judgement });
    for (const other of judgement.others) {
      this.#judged.delete(other);
      this.#work.add(other);
    }
    return judgement;
  }

  #forget(name: string): void {
    this.#unjudged.delete(name);
    const { written, marked, leavings, rights } = this.#own;
    for (const memory of [leavings, rights, this.#moves]) memory.forget(name);
    for (const kept of [this.#withdrawals, this.#judged, this.#unanswered, written, marked]) kept.delete(name);
    this.#reader.forget(name);
    this.#options.births.forget(name);
    this.#options.book.delete(name);
    this.#options.book.note(name, undefined);
  }

  async #noteFailure(name: string, error: unknown, failures: number): Promise<void> {
    const { log, book } = this.#options;
    log.warn({ rule: name, err: explain(error) }, 'keeping a rule: trying again');
    if (failures < FAILURES_UNTIL_PASSED) return;
    this.#unjudged.delete(name);
    const unanswered = this.#unanswered.get(name);
    if (unanswered === undefined || unanswered.error !== error) {
      if (book.named(name) === undefined) book.refuse(name, `not judged yet: ${explain(error)}`);
      return;
    }
    try {
      await sayUnjudged({ ...this.#options, ...this.#own }, unanswered.object, error);
    } catch (failure) {
      log.warn({ rule: name, err: explain(failure) }, 'saying that a rule cannot be judged: failed');
    }
  }
}
