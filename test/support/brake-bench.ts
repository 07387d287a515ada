/*
 * Brakes over one rule of a tiny API server and virtual time. Several brakes over one bench are several processes.
 * Used by the tests of the brake alone; deletions under it are in rule-scene.ts.
 */
import { Brakes } from '../../bridge/brake.ts';
import type { Rule } from '../../bridge/rule.ts';
import { ruleFromObject } from '../../bridge/rules.ts';
import { statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from './bridge-builders.ts';
import { FakeCluster } from './fake-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { ruleSpec } from './rule-objects.ts';

/** One rule with a budget of `limit` deletions an hour, and a brake. */
export class BrakeBench {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster(() => this.clock.now());
  readonly rule: Rule;
  brakes: Brakes;

  constructor(limit: number, window = '1h') {
    const spec = ruleSpec({ budget: { limit, window } });
    const parsed = ruleFromObject(this.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec }));
    if (!parsed.ok) throw new Error(`reading the test's rule: ${JSON.stringify(parsed.faults)}`);
    this.rule = parsed.rule;
    this.brakes = this.process();
  }

  /** Brakes as another process, or one that was started anew, has them. */
  process(): Brakes {
    return new Brakes({ cluster: this.cluster, clock: this.clock });
  }

  /** Asks so many times, one after the other, and counts what was granted. */
  async granted(times: number, rule = this.rule): Promise<number> {
    let granted = 0;
    for (let turn = 0; turn < times; turn += 1) if ((await this.brakes.take(rule)).ok) granted += 1;
    return granted;
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
