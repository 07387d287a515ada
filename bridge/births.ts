/*
 * What new objects have shown of each rule's entry at birth: the last word per rule and nothing per object (P8).
 * Fed by intake.ts with what the watches show being created; rule-enforcing.ts tells which rules have their label, and
 * reads. In memory only: what was written into the rule's status stands until something new is seen.
 */
import { type Neighbours, type Sight, sightOf } from './at-admission.ts';
import { kindName } from './kind-key.ts';
import type { Clock, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';

interface Labelled {
  readonly uid: string;
  readonly kind: string;
  /** When this process first knew of the label, in ms since the epoch. */
  readonly since: number;
  sight: Sight | undefined;
}

/** The rules that the admission policy may know, and what was seen of it. */
export class Births {
  readonly #clock: Clock;
  readonly #labelled = new Map<string, Labelled>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The rule has its label, from now on if that is news. */
  label(name: string, uid: string, match: Rule['match']): void {
    if (this.#labelled.get(name)?.uid === uid) return;
    this.#labelled.set(name, { uid, kind: kindName(match), since: this.#clock.now(), sight: undefined });
  }

  /** The rule has no label, or is gone: what was seen is over. */
  forget(name: string): void {
    this.#labelled.delete(name);
  }

  /** An object that the rule selects was created just now. Called for each, so it looks no closer than it has to. */
  saw(rule: Rule, meta: ObjectMeta, isHeld: boolean): void {
    const labelled = this.#labelled.get(rule.name);
    if (labelled === undefined || labelled.sight === (isHeld ? 'Observed' : 'NotInjected')) return;
    const seen = sightOf({
      ...{ entry: rule.entry, isHeld, managedFields: meta.managedFields, labelledAt: labelled.since },
      ...{ createdAt: Date.parse(meta.creationTimestamp), now: this.#clock.now() },
    });
    labelled.sight = seen ?? labelled.sight;
  }

  /** What the rule's newest object showed; undefined when none was seen since the label. */
  sightOf(name: string): Sight | undefined {
    return this.#labelled.get(name)?.sight;
  }

  /** Whose entries come at birth, for a rule whose own do not. */
  neighboursOf(match: Rule['match']): Neighbours {
    const kind = kindName(match);
    const observed = [...this.#labelled.values()].filter(({ sight }) => sight === 'Observed');
    if (observed.some((one) => one.kind === kind)) return 'SameKind';
    return observed.length > 0 ? 'OtherKinds' : 'None';
  }
}
