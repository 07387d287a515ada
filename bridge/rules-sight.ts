/*
 * Whether the bridge can read its rules at all. Where the API server does not serve TeardownRule, or does not let the bridge
 * list them, nothing is published and no deletion ends: that is told loudly, by log and metric, on pending objects and by
 * /readyz. Fed by rule-keeper.ts with the ends of its watch.
 */
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock } from './ports.ts';
import { TEARDOWN_RULES } from './teardown-rules.ts';

/** The definition may be created, or the rights given, in the very moment in which a bridge starts. */
const REFUSALS_UNTIL_TOLD = 6;
/** It is told again this often: who looks into the log finds it, and it fills none. */
const TOLD_EVERY_MS = 10 * 60_000;

/** Why the rules cannot be read, and what a person does about it. */
interface Refusal {
  readonly why: string;
  readonly next: string;
}

const FORBIDDEN: Refusal = {
  why: 'the bridge may not list or watch teardownrules',
  next: 'bind its ServiceAccount to a ClusterRole with get, list, watch and patch on them, as the chart does',
};
const UNSERVED: Refusal = {
  why: 'the API server does not serve teardownrules: their definition is not installed',
  next: 'apply it, by the chart (crds.enabled) or from infra/manifests/teardownrules.yaml',
};
const REFUSALS: Readonly<Record<string, Refusal>> = { Http403: FORBIDDEN, Http404: UNSERVED, Http405: UNSERVED };

/** What seeing needs. */
export interface RulesSightOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What was seen last. */
export class RulesSight {
  readonly #options: RulesSightOptions;
  #refusals = 0;
  #trouble: string | undefined;
  /** When it was told last, in monotonic ms. */
  #toldAt: number | undefined;

  constructor(options: RulesSightOptions) {
    this.#options = options;
  }

  /** Why the rules cannot be read, where that is not for a moment only; undefined while they can. */
  get trouble(): string | undefined {
    return this.#refusals >= REFUSALS_UNTIL_TOLD ? this.#trouble : undefined;
  }

  /** The watch of the rules has ended, or could not begin. */
  blind(cause: string): void {
    const { metrics, log, clock } = this.#options;
    this.#watching(metrics, 0);
    const refusal = REFUSALS[cause];
    // Nobody answers: what was known of the rules goes on being true.
    if (refusal === undefined) return;
    const { why, next } = refusal;
    this.#refusals += 1;
    this.#trouble = why;
    const now = clock.monotonic();
    const isDue = this.#toldAt === undefined || now - this.#toldAt >= TOLD_EVERY_MS;
    if (this.#refusals < REFUSALS_UNTIL_TOLD || !isDue) return;
    this.#toldAt = now;
    log.error(
      { cause, tries: this.#refusals, reason: 'RulesUnreadable' },
      `reading the rules: ${why}; nothing is published, and what is deleted stays. Next: ${next}`,
    );
  }

  /** They can be read. */
  clear(): void {
    const { metrics, log } = this.#options;
    if (this.#toldAt !== undefined)
      log.info({ reason: 'RulesUnreadable' }, 'reading the rules: they can be read again');
    this.#refusals = 0;
    this.#trouble = undefined;
    this.#toldAt = undefined;
    this.#watching(metrics, 1);
  }

  #watching({ watching }: Metrics, value: number): void {
    watching.set({ group: TEARDOWN_RULES.group, resource: TEARDOWN_RULES.resource }, value);
  }
}
