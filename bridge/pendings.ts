/*
 * The deletions under way, by key, and those of one rule without a look at all others. Made by bridge-parts.ts; filled by
 * intake.ts, emptied by removal.ts; rules are told from each other at every look at one, however many are pending under others.
 */
import type { Pending } from './pending.ts';

const NONE: ReadonlySet<Pending> = new Set();

/** What is pending. */
export class Pendings extends Map<string, Pending> {
  readonly #byRule = new Map<string, Set<Pending>>();

  override set(key: string, pending: Pending): this {
    this.delete(key);
    const known = this.#byRule.get(pending.rule);
    if (known === undefined) this.#byRule.set(pending.rule, new Set([pending]));
    else known.add(pending);
    return super.set(key, pending);
  }

  override delete(key: string): boolean {
    const pending = this.get(key);
    if (pending === undefined) return false;
    const rest = this.#byRule.get(pending.rule);
    rest?.delete(pending);
    if (rest?.size === 0) this.#byRule.delete(pending.rule);
    return super.delete(key);
  }

  override clear(): void {
    this.#byRule.clear();
    super.clear();
  }

  /** Those under the entry of a rule's name, whatever kind they are of, in the order in which they came. */
  under(rule: string): ReadonlySet<Pending> {
    return this.#byRule.get(rule) ?? NONE;
  }
}
