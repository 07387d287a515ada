/*
 * Whether the bridge can read its rules at all. Where the API server does not serve TeardownRule, or does not let the bridge
 * list them, nothing is published and no deletion ends: that is told loudly, by log and metric, on pending objects and by
 * /readyz. Fed by rule-keeper.ts with the ends of its watch.
 */
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { TEARDOWN_RULES } from './teardown-rules.ts';

/** The definition may be created, or the rights given, in the very moment in which a bridge starts. */
const REFUSALS_UNTIL_TOLD = 6;

const REFUSALS: Readonly<Record<string, string>> = {
  Http403: 'the bridge may not list or watch teardownrules',
  Http404: 'the API server does not serve teardownrules: their definition is not installed',
  Http405: 'the API server does not serve teardownrules: their definition is not installed',
};

/** What seeing needs. */
export interface RulesSightOptions {
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What was seen last. */
export class RulesSight {
  readonly #options: RulesSightOptions;
  #refusals = 0;
  #trouble: string | undefined;

  constructor(options: RulesSightOptions) {
    this.#options = options;
  }

  /** Why the rules cannot be read, where that is not for a moment only; undefined while they can. */
  get trouble(): string | undefined {
    return this.#refusals >= REFUSALS_UNTIL_TOLD ? this.#trouble : undefined;
  }

  /** The watch of the rules has ended, or could not begin. */
  blind(cause: string): void {
    const { metrics, log } = this.#options;
    this.#watching(metrics, 0);
    const why = REFUSALS[cause];
    // Nobody answers: what was known of the rules goes on being true.
    if (why === undefined) return;
    this.#refusals += 1;
    this.#trouble = why;
    const isTold = this.#refusals === REFUSALS_UNTIL_TOLD || Number.isInteger(Math.log2(this.#refusals));
    if (this.#refusals < REFUSALS_UNTIL_TOLD || !isTold) return;
    log.error(
      { cause, tries: this.#refusals, reason: 'RulesUnreadable' },
      `reading the rules: ${why}; nothing is published`,
    );
  }

  /** They can be read. */
  clear(): void {
    this.#refusals = 0;
    this.#trouble = undefined;
    this.#watching(this.#options.metrics, 1);
  }

  #watching({ watching }: Metrics, value: number): void {
    watching.set({ group: TEARDOWN_RULES.group, resource: TEARDOWN_RULES.resource }, value);
  }
}
