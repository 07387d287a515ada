/*
 * Where the whole cluster is served: in which namespaces a rule still needs the rights that are kept there from before. They are
 * given up only when every rule that names the namespace has its rights in the whole cluster, and no rule forgets the namespace
 * before: so there is always one that names what is kept, whoever else leads and gives up as well (P9). Asked by kept-rights.ts.
 */
import { explain, type Log } from './log.ts';
import type { Clock, Cluster, Kinds, KubeObject } from './ports.ts';
import type { RuleBook } from './rule-book.ts';
import { formerNamespaces } from './rule-namespaces.ts';
import { mayAll } from './rule-rights.ts';
import { rulesNow } from './rules-now.ts';
import type { Served } from './served.ts';
import { matchOf } from './teardown-rules.ts';

/** As often as a rule is judged again that is not ready; all rules ask within moments. */
const ASKED_EVERY_MS = 15_000;

/** What asking needs. */
export interface OutgrownOptions {
  readonly book: Pick<RuleBook, 'named'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly cluster: Pick<Cluster, 'get' | 'list'>;
  readonly kinds: Pick<Kinds, 'lacking'>;
  readonly served: Served;
  readonly log: Log;
}

/** What is still needed of rights from before. */
export class Outgrown {
  readonly #options: OutgrownOptions;
  #last: { readonly at: number; readonly needed: Promise<ReadonlySet<string> | undefined> } | undefined;

  constructor(options: OutgrownOptions) {
    this.#options = options;
  }

  /** Those of these namespaces that no rule needs rights of its own in any more; none while nobody can tell. */
  async among(namespaces: readonly string[]): Promise<readonly string[]> {
    const needed = namespaces.length === 0 ? undefined : await this.#needed();
    return needed === undefined ? [] : namespaces.filter((namespace) => !needed.has(namespace));
  }

  async #needed(): Promise<ReadonlySet<string> | undefined> {
    const at = this.#options.clock.monotonic();
    if (this.#last === undefined || at - this.#last.at >= ASKED_EVERY_MS) this.#last = { at, needed: this.#ask() };
    return await this.#last.needed;
  }

  async #ask(): Promise<ReadonlySet<string> | undefined> {
    const needed = new Set<string>();
    try {
      for await (const rule of rulesNow(this.#options.cluster)) {
        const former = formerNamespaces(rule);
        if (former.length === 0 || (await this.#isGivenAll(rule))) continue;
        for (const namespace of former) needed.add(namespace);
      }
      return needed;
    } catch (error) {
      this.#options.log.warn({ err: explain(error) }, 'asking which rights from before are needed: trying again');
      return undefined;
    }
  }

  /** Asked apart from any judgement: a refused rule is not asked about, and what is pending under it needs its rights all the same (P4). */
  async #isGivenAll(object: KubeObject): Promise<boolean> {
    const { book, log } = this.#options;
    try {
      return await mayAll(this.#options, book.named(object.metadata.name) ?? { match: matchOf(object) });
    } catch (error) {
      log.warn({ err: explain(error) }, 'asking for the rights in the whole cluster: trying again');
      return false;
    }
  }
}
