/*
 * Which rules are to be looked at again because what their status tells has moved: nobody else says that a deletion began, or a
 * watch ended, or a namespace is being deleted (P7). Asked by rule-keeper.ts every few seconds; nothing is asked of the cluster.
 */
import type { Births } from './births.ts';
import type { KeptRights } from './kept-rights.ts';
import type { Pending } from './pending.ts';
import type { RuleBook } from './rule-book.ts';
import { type RuleTally, tallyOf } from './rule-counts.ts';
import type { Serving } from './serving.ts';

/** What is looked at. */
export interface RuleMovesOptions {
  readonly births: Births;
  readonly serving: Serving;
  readonly book: RuleBook;
  readonly rights: Pick<KeptRights, 'ending' | 'going'>;
  /** Whether a rule's kind is being watched and was listed. */
  isWatching(rule: string): boolean;
  pendings(rule: string): readonly Pending[];
}

/** How rules stood when they were looked at last. */
export class RuleMoves {
  readonly #options: RuleMovesOptions;
  readonly #stood = new Map<string, string>();

  constructor(options: RuleMovesOptions) {
    this.#options = options;
  }

  /** A rule is being looked at now. */
  looked(name: string): void {
    this.#stood.set(name, this.#stateOf(name));
  }

  forget(name: string): void {
    this.#stood.delete(name);
  }

  /** Those of these rules of which something has moved. */
  among(names: Iterable<string>): readonly string[] {
    return [...names].filter((name) => this.#stood.get(name) !== this.#stateOf(name));
  }

  #stateOf(name: string): string {
    const { isWatching, births, serving, book, rights } = this.#options;
    const kind = book.named(name)?.match;
    // A break of the kind's service may be over before anybody looks.
    const keepsLabel = kind !== undefined && serving.label(kind, true).isWanted;
    const pendings = this.#options.pendings(name);
    // Without a rule in force nobody knows here which of them are its own.
    const counts = kind === undefined ? pendings.length : shortOf(tallyOf(pendings, name, kind));
    const places = [rights.ending, rights.going];
    return JSON.stringify([isWatching(name), births.sightOf(name), keepsLabel, places, counts]);
  }
}

/** All that a status tells of it, without its words. */
function shortOf({ pending, held, oldest, first }: RuleTally): readonly unknown[] {
  return [pending, held, oldest, ...first.map(({ key, standing }) => [key, standing?.reason, standing?.since])];
}
