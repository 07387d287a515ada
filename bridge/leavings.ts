/*
 * Whether anything of a rule is left in the namespaces that are being left: counted by lists, at most once a minute, and found
 * empty only by two clean ones a minute apart, as for a withdrawal (settling.ts). Asked by rule-enforcing.ts for each look at a
 * rule; nothing is kept of a namespace once the rule's status names it no more. A restart counts again.
 */
import { entryOf, hasEntry } from './finalizer.ts';
import { listPart } from './namespace-existence.ts';
import type { Clock, Cluster, KindRef, Kinds } from './ports.ts';
import { SETTLE_MS, type Settling, sawCarriers, sawNobody } from './settling.ts';

/** One namespace, as it was counted last; monotonic ms. */
interface Leaving extends Settling {
  countedAt: number;
  carriers: number;
}

/** What is known of a rule's namespaces that are being left. */
export interface Left {
  /** Nobody carries the entry there any more. */
  readonly emptied: readonly string[];
  /** How many do, or may, in each of the others. */
  readonly carriers: ReadonlyMap<string, number>;
}

/** The rule, as far as it is asked for. */
export interface LeavingRule {
  readonly name: string;
  readonly uid: string;
  readonly match: KindRef;
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
  readonly #known = new Map<string, Leaving>();

  constructor(options: LeavingsOptions) {
    this.#options = options;
  }

  /** Looks, where that is due. Throws ApiError for what another try may mend. */
  async look(rule: LeavingRule, namespaces: readonly string[]): Promise<Left> {
    const emptied: string[] = [];
    const carriers = new Map<string, number>();
    for (const namespace of namespaces) {
      const key = `${rule.uid}/${namespace}`;
      if (await this.#isEmpty(rule, namespace, key)) {
        emptied.push(namespace);
        this.#known.delete(key);
      } else carriers.set(namespace, this.#known.get(key)?.carriers ?? 0);
    }
    return { emptied, carriers };
  }

  async #isEmpty({ name, match }: LeavingRule, namespace: string, key: string): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    const known = this.#known.get(key) ?? {
      seenAt: now,
      cleanSince: undefined,
      countedAt: Number.NEGATIVE_INFINITY,
      carriers: 0,
    };
    this.#known.set(key, known);
    if (now - known.countedAt < SETTLE_MS) return false;
    known.countedAt = now;
    const count = await this.#count(entryOf(name), { ...match, namespace });
    known.carriers = count ?? known.carriers;
    if (count === 0) return sawNobody(known, now) === 0;
    sawCarriers(known);
    return false;
  }

  /** undefined: nobody can tell, as it may not be listed, or is served in other versions only, where objects keep their entry. */
  async #count(entry: string, watched: KindRef & { readonly namespace: string }): Promise<number | undefined> {
    const { cluster, kinds } = this.#options;
    let count = 0;
    const listed = await listPart(cluster, watched, (meta) => {
      if (hasEntry(meta, entry)) count += 1;
    });
    if (listed === 'forbidden' || (listed === 'unserved' && (await kinds.isServed(watched)))) return undefined;
    return count;
  }
}
