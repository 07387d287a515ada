/*
 * Whether anything of a rule is left in the namespaces that are being left, or are going: counted by lists, at most once a minute,
 * and found empty only by two clean ones a minute apart, as for a withdrawal (settling.ts). Asked by rule-places.ts for each look
 * at a rule, and told by rule-keeper.ts when one is gone; nothing is kept of a namespace once the rule's status names it no more.
 * A restart counts again.
 */
import { entryOf, hasEntry, rulesHolding } from './finalizer.ts';
import { listPart } from './namespace-existence.ts';
import { ApiError, type Clock, type Cluster, type KindRef, type Kinds, type ObjectMeta } from './ports.ts';
import { SETTLE_MS, type Settling, sawCarriers, sawNobody } from './settling.ts';

/** One namespace, as it was counted last; monotonic ms. */
interface Leaving extends Settling {
  countedAt: number;
  /** Undefined: nobody could tell. */
  carriers: number | undefined;
}

/** The namespaces of one very rule. */
interface Known {
  readonly uid: string;
  readonly namespaces: Map<string, Leaving>;
}

/** What is known of a rule's namespaces that are being left. */
export interface Left {
  /** Nobody carries the entry there any more. */
  readonly emptied: readonly string[];
  /** How many do in each of the others; undefined where nobody can tell now. */
  readonly carriers: ReadonlyMap<string, number | undefined>;
}

/** The rule, as far as it is asked for. */
export interface LeavingRule {
  readonly name: string;
  readonly uid: string;
  readonly match: KindRef;
}

/** A kind within a namespace. */
type Within = KindRef & { readonly namespace: string };

const carriesEntryOf = ({ name }: LeavingRule) => {
  const entry = entryOf(name);
  return (meta: ObjectMeta) => hasEntry(meta, entry);
};

/** The rights in a namespace that is being deleted go with its last object that needs them: a live one will be deleted as well. */
function keepsFromGoing(meta: ObjectMeta): boolean {
  return meta.deletionTimestamp === undefined || rulesHolding(meta).length > 0;
}

/** What counting needs. */
export interface LeavingsOptions {
  readonly cluster: Pick<Cluster, 'list' | 'get'>;
  readonly kinds: Pick<Kinds, 'isServed'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Counts over a cluster. */
export class Leavings {
  readonly #options: LeavingsOptions;
  /** By the names of rules. */
  readonly #known = new Map<string, Known>();

  constructor(options: LeavingsOptions) {
    this.#options = options;
  }

  /**
   * Looks, where that is due; `going`: namespaces that are being deleted. One namespace that cannot be counted stops no other, and
   * not the rule (P10).
   */
  async look(rule: LeavingRule, namespaces: readonly string[], going: readonly string[] = []): Promise<Left> {
    const emptied: string[] = [];
    const carriers = new Map<string, number | undefined>();
    const before = this.#known.get(rule.name);
    const known = new Map<string, Leaving>();
    for (const namespace of namespaces) {
      const last = before?.uid === rule.uid ? before.namespaces.get(namespace) : undefined;
      known.set(namespace, last ?? this.#unseen());
    }
    this.forget(rule.name);
    if (known.size > 0) this.#known.set(rule.name, { uid: rule.uid, namespaces: known });
    // All at once: lists that hang hold the rule up for as long as one of them does.
    const looked = [...known].map(async ([namespace, leaving]) => {
      const holds = going.includes(namespace) ? keepsFromGoing : carriesEntryOf(rule);
      return { namespace, leaving, isEmpty: await this.#isEmpty({ ...rule.match, namespace }, holds, leaving) };
    });
    for (const { namespace, leaving, isEmpty } of await Promise.all(looked)) {
      if (isEmpty) {
        emptied.push(namespace);
        known.delete(namespace);
      } else carriers.set(namespace, leaving.carriers);
    }
    return { emptied, carriers };
  }

  /** The rule is gone. */
  forget(name: string): void {
    this.#known.delete(name);
  }

  /** How many rules something is kept of. */
  get size(): number {
    return this.#known.size;
  }

  #unseen(): Leaving {
    const seenAt = this.#options.clock.monotonic();
    return { seenAt, cleanSince: undefined, countedAt: Number.NEGATIVE_INFINITY, carriers: undefined };
  }

  async #isEmpty(watched: Within, holds: (meta: ObjectMeta) => boolean, known: Leaving): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    if (now - known.countedAt < SETTLE_MS) return false;
    known.countedAt = now;
    const count = await this.#count(watched, holds).catch(uncounted);
    known.carriers = count;
    if (count === 0) return sawNobody(known, now) === 0;
    sawCarriers(known);
    return false;
  }

  /** undefined: nobody can tell, as it may not be listed, or is served in other versions only, where objects keep their entry. */
  async #count(watched: Within, holds: (meta: ObjectMeta) => boolean): Promise<number | undefined> {
    const { cluster, kinds } = this.#options;
    let count = 0;
    const listed = await listPart(cluster, watched, (meta) => {
      if (holds(meta)) count += 1;
    });
    if (listed === 'forbidden' || (listed === 'unserved' && (await kinds.isServed(watched)))) return undefined;
    return count;
  }
}

/** What another try may mend has one a minute later. */
function uncounted(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}
