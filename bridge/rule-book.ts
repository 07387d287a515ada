/*
 * The rules in force: by name for decisions, by kind for what the watches see. Built by main.ts from the rule file;
 * read by intake, claims and reconcile.
 */
import { kindKey } from './intake.ts';
import type { KindRef } from './ports.ts';
import type { Rule } from './rule.ts';

/** An immutable set of rules. */
export class RuleBook {
  readonly #byName: ReadonlyMap<string, Rule>;
  readonly #byKind: ReadonlyMap<string, readonly Rule[]>;
  /** Every kind that some rule selects, once. */
  readonly kinds: readonly KindRef[];

  constructor(rules: readonly Rule[]) {
    this.#byName = new Map(rules.map((rule) => [rule.name, rule]));
    this.#byKind = Map.groupBy(rules, (rule) => kindKey(rule.match));
    this.kinds = [...this.#byKind.values()].flatMap(([first]) => (first === undefined ? [] : [first.match]));
  }

  /** All rules. */
  get rules(): readonly Rule[] {
    return [...this.#byName.values()];
  }

  named(name: string): Rule | undefined {
    return this.#byName.get(name);
  }

  ofKind(kind: KindRef): readonly Rule[] {
    return this.#byKind.get(kindKey(kind)) ?? [];
  }
}
