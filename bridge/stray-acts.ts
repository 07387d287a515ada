/*
 * What is done about strays: they are told of, many at once, and an entry comes off when a person has released this very
 * object (P9, K33). Never for another reason: a rule may come back, and what it would have taken down is still there.
 * Called by strays.ts; the work queue of claims runs the releases.
 */
import { signatureOf } from './audit.ts';
import { entryOf, removeEntry } from './finalizer.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { wordCommand } from './next-command.ts';
import type { Cluster, KindRef, KubeObject, Lease, ObjectPath } from './ports.ts';
import type { Reporter, Telling } from './reporter.ts';
import type { StrayCount, StrayObject } from './strays.ts';
import { RELEASE_PREFIX, releaseWord } from './words.ts';

const STRAY_PREFIX = 'stray:';
/** Words that are known to have been told of; of older ones a repetition is told again. */
const MISREAD_MAX = 1_000;

/** What acting needs. */
export interface StrayActsOptions {
  readonly cluster: Cluster;
  readonly lease: Lease;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly reporter: Reporter;
  /** Whether some rule, accepted or not, has that name and is for that kind. */
  hasRule(name: string, kind: KindRef): boolean;
  /** The name of an entry's rule in metrics. */
  labelOf(name: string, kind: KindRef): string;
  add(key: string): void;
}

interface Asked {
  readonly object: StrayObject;
  readonly rule: string;
}

/** Whether a key of the work queue is one of a stray's release. */
export function isStrayKey(key: string): boolean {
  return key.startsWith(STRAY_PREFIX);
}

/** The acts. */
export class StrayActs {
  readonly #options: StrayActsOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #misread = new Set<string>();

  constructor(options: StrayActsOptions) {
    this.#options = options;
  }

  /** Notes that a person's word was seen on an object. */
  release(object: StrayObject, rule: string): void {
    const key = `${STRAY_PREFIX}${object.uid}/${rule}`;
    this.#asked.set(key, { object, rule });
    this.#options.add(key);
  }

  /** Tells once of a word that was meant for another object, or mistyped: whoever wrote it waits. */
  misread(object: StrayObject, rule: string, faults: readonly string[]): void {
    const message = `${rule}: not understood: ${faults.join('; ')}`;
    const key = `${object.uid} ${message}`;
    if (!this.#options.lease.holds() || this.#misread.has(key)) return;
    this.#misread.add(key);
    const [oldest] = this.#misread;
    if (oldest !== undefined && this.#misread.size > MISREAD_MAX) this.#misread.delete(oldest);
    const { kind, namespace, name, uid } = object;
    const reason = 'WordNotUnderstood';
    this.#options.log.warn({ rule, resource: kind.resource, namespace, name, uid, reason }, message);
    void this.#tellOn(object, rule, { reason, message });
  }

  /** Releases one, if that is still so: the object is read anew. Throws to be tried again with back-off. */
  async run(key: string): Promise<undefined> {
    const asked = this.#asked.get(key);
    if (asked === undefined) return undefined;
    const { object: seen } = asked;
    const object = await this.#options.cluster.get(pathOf(seen));
    const operations = object === undefined ? undefined : this.#removal(asked, object);
    if (object !== undefined && operations !== undefined) {
      const doing = `releasing ${seen.kind.resource}/${seen.name}`;
      if (!this.#options.lease.holds()) throw new Error(`${doing}: the lease is not held`);
      const outcome = await this.#options.cluster.patch(pathOf(seen), operations);
      if (outcome.kind === 'conflict') throw new Error(`${doing}: it has changed`);
      if (outcome.kind === 'patched') this.#tellReleased(asked, object);
    }
    if (this.#asked.get(key) === asked) this.#asked.delete(key);
    return undefined;
  }

  /** One log line and one Event for all of a name: there may be thousands. */
  tell({ kind, rule, name: missing, count, examples }: StrayCount): void {
    if (!this.#options.lease.holds()) return;
    const [first] = examples;
    const carried = missing === undefined ? 'entries of yet other names' : `the entry ${entryOf(missing)}`;
    const next =
      first === undefined || missing === undefined
        ? ''
        : `, or release each, as in: ${wordCommand('release', { kind, rule: missing, meta: first })}`;
    const message = `${rule}: NoRule: ${count} live ${kind.resource} carry ${carried}, and no rule of that name is for them; they are held once they are deleted. Restore the rule${next}`;
    const names = examples.map(({ namespace, name }) => [namespace, name].filter(Boolean).join('/'));
    this.#options.log.warn({ rule, ...kind, count, examples: names, reason: 'NoRule' }, message);
    if (first !== undefined) void this.#tellOn(first, rule, { reason: 'NoRule', message });
  }

  /** Judged by the object and the rules as they are now; what is being deleted is decided on as any pending object. */
  #removal({ object: { kind, uid }, rule }: Asked, { metadata }: KubeObject) {
    if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return undefined;
    if (this.#options.hasRule(rule, kind) || releaseWord(metadata, rule) === 'none') return undefined;
    return removeEntry(metadata, entryOf(rule));
  }

  #tellReleased({ object: { kind }, rule }: Asked, object: KubeObject): void {
    const { metrics, reporter, labelOf } = this.#options;
    const label = labelOf(rule, kind);
    metrics.removed.inc({ rule: label, reason: 'Released' });
    metrics.words.inc({ rule: label, word: 'release' });
    reporter.tell(
      { rule, kind, meta: object.metadata, facts: { object, evaluation: undefined } },
      {
        type: 'Warning',
        reason: 'Released',
        action: 'Release',
        message: `${rule}: the entry of a rule that is not there came off on a person's word${signatureOf(object, RELEASE_PREFIX + rule)}`,
      },
    );
  }

  /** Best effort: the log and the metric have said it. */
  async #tellOn(seen: StrayObject, rule: string, told: Pick<Telling, 'reason' | 'message'>): Promise<void> {
    const { cluster, log, reporter } = this.#options;
    try {
      const object = await cluster.get(pathOf(seen));
      if (object === undefined || object.metadata.uid !== seen.uid) return;
      await reporter.record(
        { rule, kind: seen.kind, meta: object.metadata, facts: { object, evaluation: undefined } },
        { type: 'Warning', action: 'Watch', ...told },
      );
    } catch (error) {
      log.debug({ rule, err: explain(error) }, 'reading a stray to tell of it: given up');
    }
  }
}

function pathOf({ kind, namespace, name }: StrayObject): ObjectPath {
  return { ...kind, namespace, name };
}
