/*
 * The drain of one rule, or of entries whose rule is gone, one look at a time: deletes the rule, waits as a withdrawal
 * waits (settling.ts), takes the entry off live objects, sees to those being deleted (holding.ts), and lets the rule go.
 * A bridge that can do this is left to do it first; both at once do no harm, since every write is guarded. Run by run.ts.
 */

import { atOnce } from '../../at-once.ts';
import { hasEntry } from '../../finalizer.ts';
import { kindKey } from '../../kind-key.ts';
import { explain } from '../../log.ts';
import type { KindRef } from '../../ports.ts';
import type { Rule } from '../../rule.ts';
import { namespacesOnly } from '../../rule-namespaces.ts';
import { injectsFor, SETTLE_MS, type Settling, sawCarriers, sawNobody } from '../../settling.ts';
import { WITHDRAWAL_FINALIZER } from '../../teardown-rules.ts';
import type { Release } from '../../words.ts';
import type { Discovery } from '../catalogue.ts';
import type { DrainWorld } from './api.ts';
import type { BridgeState } from './bridge-sight.ts';
import { type Counted, count } from './count.ts';
import { freeLive } from './entries.ts';
import { seeToDeleting } from './holding.ts';
import { deleteRule, letGo, type RuleSight } from './rules.ts';
import type { Blocker, Hands, Step } from './step.ts';
import type { Carrier, Unseen } from './sweep.ts';

const LOOK_EVERY_MS = 5_000;
/** After a write of ours. */
const LOOK_SOON_MS = 1_000;
/** By how much a bridge that can act comes first. */
const BRIDGE_FIRST_MS = 15_000;
const OBJECTS_AT_ONCE = 8;
/** While new objects may still get the entry, a list is for those being deleted only. */
const SETTLING_LOOK_MS = 15_000;
/** Listing takes at most one part in so many of the time. */
const LIST_SHARE = 20;
/** Entries without a rule that are put on again this often are somebody's rule after all. */
const PUT_BACKS_MAX = 3;
/** What a bridge says when it cannot withdraw a rule, and somebody with more rights may. */
const CANNOT: ReadonlySet<string> = new Set(['NotPermitted', 'VersionNotServed', 'NamespacesLeft']);

/** What is the same for every look. */
export interface RuleDrainOptions {
  readonly world: DrainWorld;
  readonly name: string;
  readonly release: Release;
  say(line: string): void;
}

/** What was found before the look. */
export interface Look {
  readonly rule: RuleSight | undefined;
  readonly bridge: BridgeState;
  readonly discovery: Discovery;
}

interface Now extends Look {
  readonly settling: Settling;
  readonly hands: Hands;
  /** ms since the epoch. */
  readonly serverTime: number;
}

/** One rule, until nothing is left of it. */
export class RuleDrain {
  readonly #options: RuleDrainOptions;
  /** Where the entry has been seen, each kind once. */
  readonly #kinds = new Map<string, KindRef>();
  readonly #told = new Set<string>();
  readonly #freed = new Set<string>();
  #putBacks = 0;
  /** Monotonic ms: until then a list would say nothing that the last one did not. */
  #countAgainAt = 0;
  /** What came of the objects that are being deleted, while new ones may still get the entry. */
  #early: Step | undefined;
  #settling: Settling | undefined;
  /** The rule as it was seen last, and from when its deletion is: ms since the epoch. */
  #known: { readonly sight: RuleSight; readonly deletedAt: number } | undefined;
  /** Since when nobody else sees to it, ms since the epoch. */
  #ownSince: number | undefined;

  constructor(options: RuleDrainOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The rule, also when it is gone by now. */
  get lastRule(): Rule | undefined {
    return this.#known?.sight.rule;
  }

  /** Objects of these kinds were seen to carry the entry. */
  saw(carriers: readonly Carrier[]): void {
    for (const { kind } of carriers) this.#kinds.set(kindKey(kind), kind);
  }

  /** Does what can be done now. Throws ApiError for what another try may mend. */
  async step(look: Look): Promise<Step> {
    const { world } = this.#options;
    const { rule } = look;
    const hands = handsOf(look);
    const serverTime = await world.serverTime();
    this.#ownSince = hands === 'own' ? (this.#ownSince ?? serverTime) : undefined;
    if (rule !== undefined) {
      this.#known = { sight: rule, deletedAt: deletedAtOf(rule) ?? serverTime };
      if (!rule.isDeleting) {
        this.#settling = undefined;
        await deleteRule(world, rule);
        return { state: 'waiting', why: 'deleting the rule', nextIn: LOOK_SOON_MS };
      }
    }
    this.#settling ??= { seenAt: world.clock.monotonic(), cleanSince: undefined };
    const now: Now = { ...look, settling: this.#settling, hands, serverTime };
    const settlesIn = this.#settlesIn(now);
    return settlesIn > 0 ? await this.#settle(now, settlesIn) : await this.#sweep(now);
  }

  /** Until new objects cannot get the entry live ones keep it; those that are being deleted need not wait for that. */
  async #settle(now: Now, settlesIn: number): Promise<Step> {
    const why = `waiting until no new object can get the entry${bridgeSays(now.rule)}`;
    const at = this.#options.world.clock.monotonic();
    if (at >= this.#countAgainAt) {
      const { deleting } = await this.#count(now);
      this.#early = deleting.length === 0 ? undefined : await this.#seeTo(now, deleting);
      this.#countAgainAt = at + Math.max(SETTLING_LOOK_MS, LIST_SHARE * (this.#options.world.clock.monotonic() - at));
    }
    const nextIn = Math.min(LOOK_EVERY_MS, settlesIn);
    if (this.#early?.state !== 'blocked') return { state: 'waiting', why, nextIn };
    return { ...this.#early, why: `${why}; ${this.#early.why}`, nextIn, moves: true, readyAt: undefined };
  }

  async #count({ rule, discovery }: Now): Promise<Counted> {
    const { world, name } = this.#options;
    const sight = rule ?? this.#known?.sight;
    const namespaces = sight === undefined ? undefined : namespacesOnly(sight.object);
    return await count(world, { name, match: sight?.match, kinds: [...this.#kinds.values()], discovery, namespaces });
  }

  async #sweep(now: Now): Promise<Step> {
    const { world } = this.#options;
    const { rule } = now;
    const at = world.clock.monotonic();
    const restsFor = rule === undefined || now.settling.cleanSince === undefined ? 0 : this.#countAgainAt - at;
    if (restsFor > 0) return stillClean(now, restsFor);
    const { live, deleting, unseen } = await this.#count(now);
    const isClean = live.length + deleting.length === 0;
    const isLetGo = rule === undefined && this.#known !== undefined;
    // Whoever let the rule go has counted; what carries its entry all the same is seen to.
    if (unseen.length > 0 && isLetGo && isClean) return { state: 'done' };
    if (unseen.length > 0 && !isLetGo) return this.#uncounted(now, unseen);
    if (isClean) return await this.#finish(now, at);
    sawCarriers(now.settling);
    if (live.length > 0) return await this.#free(now, live);
    // A list of a large kind is not cheap.
    const rest = LIST_SHARE * (world.clock.monotonic() - at);
    const step = await this.#seeTo(now, deleting);
    return step.state === 'blocked' ? { ...step, nextIn: Math.max(step.nextIn, rest) } : step;
  }

  async #seeTo({ rule, bridge, hands, serverTime }: Now, deleting: readonly Carrier[]) {
    const { world, name, release, say } = this.#options;
    const lastAlive = bridge.state === 'gone' ? bridge.lastAlive : undefined;
    const sentUntil = lastAlive ?? this.#ownSince ?? serverTime;
    const known = rule?.rule;
    return await seeToDeleting(world, {
      ...{ name, rule: known, deleting, hands, release, sentUntil, told: this.#told, say },
    });
  }

  /** A rule that went without a withdrawal may be injected for as long as one that is there. */
  #settlesIn({ rule, settling, hands, serverTime }: Now): number {
    const now = this.#options.world.clock.monotonic();
    if (rule !== undefined) return injectsFor(settling, hands === 'bridge' ? now - BRIDGE_FIRST_MS : now);
    if (this.#known === undefined) return 0;
    return Math.min(injectsFor(settling, now - SETTLE_MS), this.#known.deletedAt + 2 * SETTLE_MS - serverTime);
  }

  #uncounted({ settling, hands }: Now, unseen: readonly Unseen[]): Step {
    sawCarriers(settling);
    const why = `nobody can tell who carries the entry: ${unseen.map(({ what, why }) => `${what} ${why}`).join('; ')}`;
    return { state: 'blocked', why, nextIn: LOOK_EVERY_MS, moves: hands === 'bridge', by: [] };
  }

  async #free({ rule }: Now, live: readonly Carrier[]): Promise<Step> {
    const { world, name } = this.#options;
    if (rule === undefined && live.some(({ meta }) => this.#freed.has(meta.uid))) this.#putBacks += 1;
    if (this.#putBacks >= PUT_BACKS_MAX) return putBack(live);
    const failed: Blocker[] = [];
    await atOnce(OBJECTS_AT_ONCE, live, async (carrier) => {
      try {
        if ((await freeLive(world, carrier, name)) === 'written') this.#freed.add(carrier.meta.uid);
      } catch (error) {
        failed.push({ carrier, reason: 'NotFreed', message: explain(error) });
      }
    });
    const why = `the entry is coming off ${live.length} live objects`;
    if (failed.length === 0) return { state: 'waiting', why, nextIn: LOOK_SOON_MS };
    return { state: 'blocked', why, nextIn: LOOK_EVERY_MS, moves: true, by: failed };
  }

  /** Nobody carries the entry: a second list must say so as well, unless nobody did and no rule is there. */
  async #finish(now: Now, at: number): Promise<Step> {
    const { rule, settling, hands } = now;
    const first = rule !== undefined && hands === 'bridge' ? BRIDGE_FIRST_MS : 0;
    sawNobody(settling, at);
    const settlesIn = Math.max(0, (settling.cleanSince ?? at) + SETTLE_MS + first - at);
    if (rule === undefined && (this.#freed.size === 0 || settlesIn === 0)) return { state: 'done' };
    if (settlesIn > 0) {
      this.#countAgainAt = at + settlesIn;
      return stillClean(now, settlesIn);
    }
    if (rule === undefined) return { state: 'done' };
    if (!hasEntry(rule.object.metadata, WITHDRAWAL_FINALIZER)) {
      const why = `withdrawn, and kept by finalizers of others: ${(rule.object.metadata.finalizers ?? []).join(', ')}`;
      return { state: 'blocked', why, nextIn: LOOK_EVERY_MS, moves: false, by: [] };
    }
    await letGo(this.#options.world, rule);
    return { state: 'waiting', why: 'letting the rule go', nextIn: LOOK_SOON_MS };
  }
}

function stillClean({ rule }: Now, nextIn: number): Step {
  const why = `nobody carries the entry; looking once more before the end${bridgeSays(rule)}`;
  return { state: 'waiting', why, nextIn: Math.min(LOOK_EVERY_MS, nextIn) };
}

/** Who sees to a rule; entries without one nobody else sees to. */
export function handsOf({ rule, bridge }: Pick<Look, 'rule' | 'bridge'>): Hands {
  if (rule === undefined || bridge.state === 'gone') return 'own';
  return rule.blocked !== undefined && CANNOT.has(rule.blocked.reason) ? 'own' : 'bridge';
}

function deletedAtOf({ object }: RuleSight): number | undefined {
  const { deletionTimestamp } = object.metadata;
  return deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp);
}

function bridgeSays(rule: RuleSight | undefined): string {
  if (rule?.blocked === undefined) return '';
  return ` (a bridge said ${rule.blocked.reason}: ${rule.blocked.message})`;
}

function putBack(live: readonly Carrier[]): Step {
  const why = 'no rule has this name, and yet somebody puts the entry on again: a bridge with a rule file?';
  const by = live.map((carrier) => ({ carrier, reason: 'PutBack', message: 'carries the entry again' }));
  return { state: 'blocked', why, nextIn: LOOK_EVERY_MS, moves: false, by };
}
