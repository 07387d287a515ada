/*
 * Brakes over one rule of a tiny API server and virtual time. Several brakes over one bench are several processes.
 * Used by the tests of the brake alone; deletions under it are in rule-scene.ts.
 */
import * as z from 'zod/mini';
import { Brakes } from '../../bridge/brake.ts';
import { ApiError } from '../../bridge/ports.ts';
import type { Rule } from '../../bridge/rule.ts';
import { ruleFromObject } from '../../bridge/rules.ts';
import { statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from './bridge-builders.ts';
import { FakeCluster } from './fake-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { ruleSpec } from './rule-objects.ts';

const budget = z.object({ reservations: z.array(z.object({ size: z.int() })) });

/** One rule with a budget of `limit` deletions an hour, and a brake. */
export class BrakeBench {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster(() => this.clock.now());
  readonly rule: Rule;
  brakes: Brakes;
  #processes = 0;

  constructor(limit: number, window = '1h') {
    const spec = ruleSpec({ budget: { limit, window } });
    const parsed = ruleFromObject(this.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec }));
    if (!parsed.ok) throw new Error(`reading the test's rule: ${JSON.stringify(parsed.faults)}`);
    this.rule = parsed.rule;
    this.brakes = this.process();
  }

  /** Brakes as another process, or one that was started anew, has them; its wall clock may be off, by `skew` ms. */
  process(skew = 0): Brakes {
    const { clock, cluster } = this;
    this.#processes += 1;
    const drawn = this.#processes / 1_000;
    return new Brakes({
      cluster,
      clock: {
        now: () => clock.now() + skew,
        monotonic: () => clock.monotonic(),
        after: (ms, task) => clock.after(ms, task),
      },
      random: () => drawn,
    });
  }

  /** Asks so many times, one after the other, and counts what was granted. */
  async granted(times: number, rule = this.rule): Promise<number> {
    let granted = 0;
    for (let turn = 0; turn < times; turn += 1) if ((await this.brakes.take(rule)).ok) granted += 1;
    return granted;
  }

  /** Takes a token by a write whose answer is lost; throws as that does. */
  async takeUnanswered(): Promise<void> {
    const patch = this.cluster.patch.bind(this.cluster);
    this.cluster.patch = async (...call) => {
      await patch(...call);
      throw new ApiError('patching', 0);
    };
    try {
      await this.brakes.take(this.rule);
    } finally {
      this.cluster.patch = patch;
    }
  }

  /** The sizes of the blocks that are written down. */
  get sizes(): readonly number[] {
    const { reservations } = budget.parse(this.status.budget ?? { reservations: [] });
    return reservations.map(({ size }) => size);
  }

  /** The rule's status as it is written. */
  get status(): ReturnType<typeof statusOf> {
    const rule = this.cluster.peek(RULE, TEARDOWN_RULES);
    if (rule === undefined) throw new Error('the rule is gone');
    return statusOf(rule);
  }

  /** Somebody else writes the status. */
  writeStatus(changes: Readonly<Record<string, unknown>>): void {
    const edit = { ...this.status, ...changes };
    this.cluster.change(RULE, (object) => ({ ...object, status: edit }), TEARDOWN_RULES);
  }
}
