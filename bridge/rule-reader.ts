/*
 * Reads TeardownRules, each generation once: compiling the expressions of a rule costs more than all the rest of a look at it,
 * and a rule whose deletions begin and end is looked at every few seconds. Made by rule-keeper.ts, asked by rule-judge.ts.
 */
import type { KubeObject } from './ports.ts';
import { type ParsedRule, ruleFromObject } from './rules.ts';
import { versionOf } from './teardown-rules.ts';

interface Read {
  readonly version: string;
  readonly parsed: ParsedRule;
}

/** Remembers of each rule what was read last. */
export class RuleReader {
  readonly #read = new Map<string, Read>();

  /** A rule as it stands, or its faults. */
  read(object: KubeObject): ParsedRule {
    const { name } = object.metadata;
    const version = versionOf(object);
    const last = this.#read.get(name);
    if (last?.version === version) return last.parsed;
    const parsed = ruleFromObject(object);
    this.#read.set(name, { version, parsed });
    return parsed;
  }

  /** The rule is gone. */
  forget(name: string): void {
    this.#read.delete(name);
  }

  /** How many rules are remembered. */
  get size(): number {
    return this.#read.size;
  }
}
