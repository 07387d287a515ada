/*
 * The drain as a whole: every rule that is wanted, and every entry whose rule is gone, until nothing is left, nothing can
 * move any more, or time is up. Keeps nothing that the next run needs: it may be stopped at any point, begun again, run
 * twice at once and beside a bridge. Called by the command, drain.ts.
 */

import { atOnce } from '../../at-once.ts';
import { explain } from '../../log.ts';
import type { Rule } from '../../rule.ts';
import type { Release } from '../../words.ts';
import { fewOf } from '../few.ts';
import type { DrainWorld } from './api.ts';
import type { BridgeSight, BridgeState } from './bridge-sight.ts';
import { withTargets } from './holding.ts';
import { bridgeWords } from './report.ts';
import { RuleDrain } from './rule-drain.ts';
import { type RuleSight, readRules } from './rules.ts';
import type { DrainEnd, Left, Step } from './step.ts';
import { type Carrier, type Swept, sweep } from './sweep.ts';

const AGAIN_MS = 5_000;
const RULES_AT_ONCE = 4;
/** For each name kinds are listed, and anybody who may write an object can give it any number of entries without a rule. */
export const WITHOUT_RULE_MAX = 100;

/** What is to be drained, and how. */
export interface DrainOptions {
  /** Names of rules; all of them, and every entry of ours, when empty. */
  readonly names: readonly string[];
  /** To be looked into beside those that rules name, where not all may be listed. */
  readonly namespaces: readonly string[];
  readonly release: Release;
  /** ms. */
  readonly timeout: number;
  readonly sight: BridgeSight;
  say(line: string): void;
}

/** What is there before anything is done. */
export interface Survey {
  readonly rules: ReadonlyMap<string, RuleSight>;
  readonly swept: Swept;
  readonly bridge: BridgeState;
}

type Pending = Exclude<Step, { state: 'done' }>;

/** Looks at everything once, and changes nothing. Throws ApiError. */
export async function survey(world: DrainWorld, { names, namespaces, sight }: DrainOptions): Promise<Survey> {
  const rules = await readRules(world);
  sight.saw([...rules.values()].map(({ object }) => object));
  const { carriers, unseen } = await sweep(world, rules, namespaces);
  const isWanted = ([name]: readonly [string, unknown]) => names.length === 0 || names.includes(name);
  return {
    rules: new Map([...rules].filter(isWanted)),
    swept: { carriers: new Map([...carriers].filter(isWanted)), unseen },
    bridge: await sight.look(),
  };
}

/** Drains. Never throws: what the API server does not let be done is left, and said. */
export async function runDrain(world: DrainWorld, options: DrainOptions): Promise<DrainEnd> {
  return await new Drain(world, options).run();
}

class Drain {
  readonly #world: DrainWorld;
  readonly #options: DrainOptions;
  readonly #until: number;
  readonly #drains = new Map<string, RuleDrain>();
  /** Where each rule stood at the last look; without those that are done. */
  readonly #left = new Map<string, Pending>();
  /** When each is to be looked at again, monotonic ms. */
  readonly #dueAt = new Map<string, number>();
  readonly #said = new Map<string, string>();
  /** Entries without a rule that wait until those before them are done. */
  #later: readonly string[] = [];

  constructor(world: DrainWorld, options: DrainOptions) {
    this.#world = world;
    this.#options = options;
    this.#until = world.clock.monotonic() + options.timeout;
  }

  async run(): Promise<DrainEnd> {
    for (;;) {
      const around = await this.#around().catch((error: unknown) => ({ failed: explain(error) }));
      if (!('failed' in around)) return around;
      this.#say('looking at the cluster', `${around.failed}; trying again`);
      if (this.#leftFor() <= 0) {
        const step: Pending = { state: 'blocked', why: around.failed, nextIn: 0, moves: false, by: [] };
        return { left: [...(await this.#ends()), { rule: '(all)', step }], unseen: [] };
      }
      await this.#sleep(AGAIN_MS);
    }
  }

  /** From one sweep over everything to the next; ends when a sweep finds nothing, or nothing more can be done. */
  async #around(): Promise<DrainEnd> {
    for (;;) {
      const rules = await readRules(this.#world);
      const { carriers, unseen, discovery } = await sweep(this.#world, rules, this.#options.namespaces);
      const found = this.#firstOf(rules, carriers);
      for (const name of found) this.#drainOf(name).saw(carriers.get(name) ?? []);
      if (found.length === 0) return { left: [], unseen };
      for (const name of found) this.#begin(name);
      for (;;) {
        const nextIn = await this.#look(discovery);
        if (this.#left.size === 0) break;
        if (await this.#isStuck()) return { left: await this.#ends(), unseen };
        await this.#sleep(Math.min(nextIn, this.#leftFor()));
      }
    }
  }

  /** Every rule, and of the entries without one as many as can be seen to at once: what can be done without a word first. */
  #firstOf(rules: ReadonlyMap<string, unknown>, carriers: Swept['carriers']): readonly string[] {
    const isLive = ({ meta }: Carrier) => meta.deletionTimestamp === undefined;
    const without = [...carriers].filter(([name]) => !rules.has(name) && this.#isWanted(name));
    const sorted = [true, false].flatMap((live) => without.filter(([, found]) => found.some(isLive) === live));
    const names = sorted.map(([name]) => name);
    this.#later = names.slice(WITHOUT_RULE_MAX);
    if (this.#later.length > 0)
      this.#say('entries without a rule', `${this.#later.length} more names wait for their turn`);
    return [...[...rules.keys()].filter((name) => this.#isWanted(name)), ...names.slice(0, WITHOUT_RULE_MAX)];
  }

  /** Takes one step for each rule that is left; resolves to when to look again, in ms. */
  async #look(discovery: Parameters<RuleDrain['step']>[0]['discovery']): Promise<number> {
    const rules = await readRules(this.#world);
    this.#options.sight.saw([...rules.values()].map(({ object }) => object));
    const bridge = await this.#options.sight.look();
    this.#say('bridge', bridgeWords(bridge));
    for (const name of rules.keys()) {
      // A rule that came meanwhile is one more.
      if (this.#isWanted(name) && !this.#left.has(name)) this.#begin(name);
    }
    const { clock } = this.#world;
    const due = [...this.#left.keys()].filter((name) => (this.#dueAt.get(name) ?? 0) <= clock.monotonic());
    // Side by side: what hangs for one rule holds up none but a few.
    await atOnce(RULES_AT_ONCE, due, async (name) => {
      const step = await this.#step(name, { rule: rules.get(name), bridge, discovery });
      this.#say(name, step.state === 'done' ? 'done' : step.why);
      if (step.state === 'done') this.#left.delete(name);
      else {
        this.#left.set(name, step);
        this.#dueAt.set(name, clock.monotonic() + step.nextIn);
      }
    });
    let next = Number.POSITIVE_INFINITY;
    for (const name of this.#left.keys()) next = Math.min(next, this.#dueAt.get(name) ?? 0);
    return next - clock.monotonic();
  }

  #begin(name: string): void {
    this.#left.set(name, { state: 'waiting', why: 'not looked at yet', nextIn: 0 });
    this.#dueAt.delete(name);
  }

  async #step(name: string, look: Parameters<RuleDrain['step']>[0]): Promise<Step> {
    try {
      return await this.#drainOf(name).step(look);
    } catch (error) {
      // One rule's trouble never stops the others (P10).
      return { state: 'blocked', why: explain(error), nextIn: AGAIN_MS, moves: true, by: [] };
    }
  }

  /** Nothing moves, or not before time is up. */
  async #isStuck(): Promise<boolean> {
    if (this.#leftFor() <= 0) return true;
    const steps = [...this.#left.values()];
    if (steps.some(({ state }) => state === 'waiting')) return false;
    const blocked = steps.filter((step) => step.state === 'blocked');
    const readyAt = blocked.flatMap(({ moves, readyAt: at }) => (moves ? [at ?? 0] : []));
    const end = (await this.#world.serverTime()) + this.#leftFor();
    return readyAt.every((at) => at > end);
  }

  async #ends(): Promise<readonly Left[]> {
    const why = `entries of ${this.#later.length} more names, none of which has a rule, and none was begun with: ${fewOf(this.#later)}`;
    const later: Left = { rule: '(others)', step: { state: 'blocked', why, nextIn: 0, moves: false, by: [] } };
    const begun = await Promise.all(
      [...this.#left].map(async ([name, step]) => {
        const rule: Rule | undefined = this.#drainOf(name).lastRule;
        const by = step.state === 'blocked' ? await withTargets(this.#world, rule, step.by) : [];
        return { rule: name, step: step.state === 'blocked' ? { ...step, by } : step };
      }),
    );
    return this.#later.length === 0 ? begun : [...begun, later];
  }

  #isWanted(name: string): boolean {
    return this.#options.names.length === 0 || this.#options.names.includes(name);
  }

  #drainOf(name: string): RuleDrain {
    const known = this.#drains.get(name);
    if (known !== undefined) return known;
    const { release, say } = this.#options;
    const made = new RuleDrain({ world: this.#world, name, release, say });
    this.#drains.set(name, made);
    return made;
  }

  #leftFor(): number {
    return this.#until - this.#world.clock.monotonic();
  }

  /** Says what has changed. */
  #say(about: string, what: string): void {
    if (this.#said.get(about) === what) return;
    this.#said.set(about, what);
    this.#options.say(`${about}: ${what}`);
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#world.clock.after(ms, resolve));
  }
}
