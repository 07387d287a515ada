/*
 * The rules in force: by name for decisions, by kind for what the watches see. Filled by main.ts from a file, or by the
 * rule keeper from the API; read by intake, claims and reconcile. Whoever needs to know of a change listens.
 */
import { kindKey } from './kind-key.ts';
import type { KindRef } from './ports.ts';
import type { Rule } from './rule.ts';

/** Told of a rule's change: what it was and what it is; either may be undefined. */
export type RuleListener = (name: string, before: Rule | undefined, after: Rule | undefined) => void;

/** No rule can have this name. */
export const NO_RULE = '(no rule)';

interface Refused {
  readonly why: string;
  /** What it is for, as far as that can be told: what carries its entry has to be seen. */
  readonly kind: KindRef | undefined;
}

/** The rules, and why some that exist are not in force. */
export class RuleBook {
  readonly #byName = new Map<string, Rule>();
  #byKind: ReadonlyMap<string, readonly Rule[]> | undefined;
  /** Rules of which no generation was ever accepted. */
  readonly #neverAccepted = new Map<string, Refused>();
  /** By rule, the namespaces that its status names, where some are served only. */
  readonly #noted = new Map<string, readonly string[]>();
  readonly #listeners: RuleListener[] = [];

  constructor(rules: readonly Rule[] = []) {
    for (const rule of rules) this.#byName.set(rule.name, rule);
  }

  /** All rules that are, or were, accepted. */
  get rules(): readonly Rule[] {
    return [...this.#byName.values()];
  }

  /** Every kind that some rule selects, or would if it were accepted, once. */
  get kinds(): readonly KindRef[] {
    const refused = [...this.#neverAccepted.values()].flatMap(({ kind }) => kind ?? []);
    return [
      ...new Map([...this.rules.map(({ match }) => match), ...refused].map((kind) => [kindKey(kind), kind])).values(),
    ];
  }

  named(name: string): Rule | undefined {
    return this.#byName.get(name);
  }

  /** The rule of that name, if it is one for that kind, whatever the version. */
  namedFor(name: string, { group, resource }: Pick<KindRef, 'group' | 'resource'>): Rule | undefined {
    const rule = this.#byName.get(name);
    return rule?.match.group === group && rule.match.resource === resource ? rule : undefined;
  }

  /** Whether a rule of that name exists for that kind, accepted or not, in force or being withdrawn. */
  hasRule(name: string, kind: Pick<KindRef, 'group' | 'resource'>): boolean {
    if (this.namedFor(name, kind) !== undefined) return true;
    const refused = this.#neverAccepted.get(name);
    if (refused === undefined) return false;
    return refused.kind === undefined || (refused.kind.group === kind.group && refused.kind.resource === kind.resource);
  }

  /** The rules for a kind. Asked for every object that a watch shows, so computed once per change. */
  ofKind(kind: KindRef): readonly Rule[] {
    this.#byKind ??= Map.groupBy(this.#byName.values(), ({ match }) => kindKey(match));
    return this.#byKind.get(kindKey(kind)) ?? [];
  }

  /** Why a rule that exists for that kind, or for one that nobody can tell, has no accepted generation; undefined when there is none. */
  whyNotAccepted(name: string, kind: Pick<KindRef, 'group' | 'resource'>): string | undefined {
    return this.hasRule(name, kind) ? this.#neverAccepted.get(name)?.why : undefined;
  }

  /**
   * What an entry's rule is called where each name costs something for good: whoever may write an object may give its entries
   * any name. Without a kind, any rule of that name will do.
   */
  labelOf(name: string, kind?: Pick<KindRef, 'group' | 'resource'>): string {
    const isKnown =
      kind === undefined ? this.#byName.has(name) || this.#neverAccepted.has(name) : this.hasRule(name, kind);
    return isKnown ? name : NO_RULE;
  }

  /** Puts a rule in force, in place of its earlier generation. */
  set(rule: Rule): void {
    const before = this.#byName.get(rule.name);
    this.#neverAccepted.delete(rule.name);
    this.#byName.set(rule.name, rule);
    this.#tell(rule.name, before, rule);
  }

  /** A rule exists, and no generation of it was ever accepted; `kind` is what it is for, where that is to be watched. */
  refuse(name: string, why: string, kind?: KindRef): void {
    const isNews = this.#neverAccepted.get(name)?.why !== why;
    this.#neverAccepted.set(name, { why, kind });
    if (isNews) this.#tell(name, undefined, undefined);
  }

  /** The rule is gone. */
  delete(name: string): void {
    const before = this.#byName.get(name);
    const wasKnown = this.#byName.delete(name) || this.#neverAccepted.delete(name);
    this.#neverAccepted.delete(name);
    if (wasKnown) this.#tell(name, before, undefined);
  }

  /** A rule's status names these namespaces, and its entry may be put on in them; undefined: in any. */
  note(name: string, namespaces: readonly string[] | undefined): void {
    const before = this.#noted.get(name);
    if (namespaces === undefined) this.#noted.delete(name);
    else this.#noted.set(name, namespaces);
    const rule = this.#byName.get(name);
    const isNews = before !== undefined && namespaces?.some((namespace) => !before.includes(namespace)) === true;
    // What was passed over there is looked at again.
    if (isNews && rule !== undefined) this.#tell(name, rule, rule);
  }

  /** Whether a rule's status says already that its entry may be on objects in a namespace (P5). */
  isNoted(name: string, namespace: string | undefined): boolean {
    const noted = this.#noted.get(name);
    return noted === undefined || (namespace !== undefined && noted.includes(namespace));
  }

  onChange(listener: RuleListener): void {
    this.#listeners.push(listener);
  }

  #tell(...change: Parameters<RuleListener>): void {
    this.#byKind = undefined;
    for (const listener of this.#listeners) listener(...change);
  }
}
