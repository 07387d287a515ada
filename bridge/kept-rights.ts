/*
 * Keeps the rights of the bridge in each namespace for as long as a rule may have entries there, where it serves some namespaces
 * only. When a namespace is deleted Kubernetes deletes what is in it in any order, the RoleBinding of the bridge too: without it
 * no deletion there would ever end (P4, P9). So the binding carries a finalizer of ours from before the first entry until no rule
 * names the namespace in its status any more; where the whole cluster is served by now, what was kept before is given up.
 * Kept by rule-keeper.ts; asked by rule-places.ts and withdrawal.ts.
 */
import { atOnce } from './at-once.ts';
import { BindingSights, type Sight } from './binding-sights.ts';
import { addEntry, hasEntry, removeEntry } from './finalizer.ts';
import { explain } from './log.ts';
import { Outgrown, type OutgrownOptions } from './outgrown.ts';
import type { Clock, Cluster, Lease, ObjectMeta } from './ports.ts';
import { RIGHTS_FINALIZER } from './rights-binding.ts';
import { ANYWHERE, knownNamespaces } from './rule-namespaces.ts';
import { rulesNow } from './rules-now.ts';
import { lookedInto } from './served.ts';

/** How often each binding is looked at: a namespace that is being deleted is noticed by its binding. */
const LOOK_EVERY_MS = 60_000;
/** How many bindings are asked for at once: one that hangs does so for a call's time-out, and holds up none but its own. */
const AT_ONCE = 10;
/** What is not permitted is asked for again this often: the right may have been given. */
const DENIED_EVERY_MS = 5 * 60_000;

/** What keeping needs. */
export interface KeptRightsOptions extends OutgrownOptions {
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'patch'>;
  readonly clock: Clock;
  readonly lease: Lease;
}

/** What a rule's status was last seen to name. */
interface Named {
  readonly namespaces: readonly string[];
  /** Which of all such sights this was. */
  readonly sight: number;
}

/** The rights in all namespaces that are looked into; where the whole cluster is served, what is left of those from before. */
export class KeptRights {
  readonly #options: KeptRightsOptions;
  /** Those that are looked into; undefined: all, and none needs rights of its own. */
  readonly #served: readonly string[] | undefined;
  readonly #namespaces: readonly string[];
  /** By rule, the namespaces that its status names, as far as this process has seen. */
  readonly #named = new Map<string, Named>();
  #sight = 0;
  /** By rule, those of them that it is about to name no more. */
  readonly #left = new Map<string, readonly string[]>();
  readonly #sights: BindingSights;
  readonly #outgrown: Outgrown;
  /** By namespace, one thing at a time: what one rule needs another must not take away meanwhile. */
  readonly #last = new Map<string, Promise<unknown>>();
  #cancel = () => {};
  #isStopped = false;

  constructor(options: KeptRightsOptions) {
    this.#options = options;
    this.#served = lookedInto(options.served);
    this.#namespaces = this.#served ?? [];
    this.#sights = new BindingSights(options, this.#served === undefined);
    this.#outgrown = new Outgrown(options);
    if (this.#namespaces.length > 0) this.#again();
  }

  /** Namespaces that are being deleted while the rights in them are kept, or were until nothing was left. */
  get ending(): readonly string[] {
    return this.#namespaces.filter((namespace) => this.#sights.of(namespace)?.isEnding === true);
  }

  /** Namespaces that stay, but in which somebody has deleted the binding: it goes when nothing needs it any more. */
  get going(): readonly string[] {
    const isGoing = (sight: Sight | undefined) => sight?.meta?.deletionTimestamp !== undefined && !sight.isEnding;
    return this.#namespaces.filter((namespace) => isGoing(this.#sights.of(namespace)));
  }

  /** Namespaces in which a binding may still be kept from before, and may not be read or changed. */
  get denied(): readonly string[] {
    return [...this.#sights.denied.keys()].filter((namespace) => this.#isNamed(namespace));
  }

  /** A rule's status names these. */
  saw(rule: string, namespaces: readonly string[]): void {
    this.#sight += 1;
    this.#named.set(rule, { namespaces, sight: this.#sight });
    this.#left.delete(rule);
  }

  /** The rule is gone. */
  forget(rule: string): void {
    this.#named.delete(rule);
    this.#left.delete(rule);
  }

  /** Before a rule has entries in these namespaces. A binding that cannot be kept holds up nothing: it is tried again. */
  async keep(rule: string, namespaces: readonly string[]): Promise<void> {
    this.saw(rule, namespaces);
    const needed = this.#namespaces.filter((namespace) => namespaces.includes(namespace));
    // Asked in its turn only: what is there is being given up, maybe, for another rule that needed it.
    await this.#eachInTurn(needed, async (namespace) => {
      if (this.#mayLack(namespace)) await this.#see(namespace);
    });
  }

  /**
   * Before a rule's status names these no more: what only this rule needed is given up first, so that a binding which is kept is
   * always one that some rule answers for. Throws what another try may mend.
   */
  async leave(rule: string, namespaces: readonly string[]): Promise<void> {
    const isKept = (namespace: string) => this.#served?.includes(namespace) ?? namespace !== ANYWHERE;
    const left = namespaces.filter(isKept);
    if (left.length === 0) return;
    const known = this.#named.get(rule)?.namespaces ?? [];
    this.saw(
      rule,
      known.filter((namespace) => !left.includes(namespace)),
    );
    this.#left.set(rule, left);
    for (const namespace of left) await this.#inTurn(namespace, () => this.#giveUp(namespace, rule));
  }

  /**
   * Where the whole cluster is served: gives up what is kept from before in those of these namespaces where no rule needs it any
   * more. Resolves to those in which nothing is kept. Never throws: another try may mend what is left.
   */
  async outgrow(namespaces: readonly string[]): Promise<readonly string[]> {
    const { clock, log } = this.#options;
    if (this.#served !== undefined) return [];
    const deniedAt = (namespace: string) => this.#sights.denied.get(namespace) ?? Number.NEGATIVE_INFINITY;
    const isDue = (namespace: string) => clock.monotonic() - deniedAt(namespace) >= DENIED_EVERY_MS;
    const due = await this.#outgrown.among(namespaces.filter(isDue));
    const done: string[] = [];
    await this.#each(due, async (namespace) => {
      const before = deniedAt(namespace);
      try {
        await this.#inTurn(namespace, async () => this.#takeOff(namespace, (await this.#sights.read(namespace)).meta));
        if (deniedAt(namespace) !== before) return;
        this.#sights.forget(namespace);
        done.push(namespace);
      } catch (error) {
        log.warn({ namespace, err: explain(error) }, 'giving up the rights in a namespace: trying again');
      }
    });
    return done;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await Promise.all(this.#last.values());
  }

  #again(): void {
    this.#cancel = this.#options.clock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    await this.#eachInTurn(this.#namespaces, (namespace) => this.#see(namespace));
    if (!this.#isStopped) this.#again();
  }

  async #eachInTurn(namespaces: readonly string[], act: (namespace: string) => Promise<void>): Promise<void> {
    await this.#each(namespaces, (namespace) => this.#inTurn(namespace, () => act(namespace)));
  }

  async #each(namespaces: readonly string[], act: (namespace: string) => Promise<void>): Promise<void> {
    await atOnce(AT_ONCE, [...namespaces], async (namespace) => {
      if (!this.#isStopped) await act(namespace);
    });
  }

  /** Level, not edge: the binding as it is, against what the rules name. Never throws. */
  async #see(namespace: string): Promise<void> {
    const { lease, log } = this.#options;
    if (!lease.holds()) return;
    try {
      const { meta } = await this.#sights.read(namespace);
      if (meta === undefined) return;
      if (this.#isNamed(namespace)) await this.#sights.patch(namespace, addEntry(meta, RIGHTS_FINALIZER));
      else await this.#giveUp(namespace);
    } catch (error) {
      log.warn({ namespace, err: explain(error) }, 'keeping the rights in a namespace: trying again');
    }
  }

  /**
   * Gives it up unless a rule other than `leaving` needs it: asked of the rules as they are after the binding was read, since what is
   * remembered of them may be old where another process leads as well, and a binding that was deleted goes for good.
   */
  async #giveUp(namespace: string, leaving?: string): Promise<void> {
    const since = this.#sight;
    const { meta } = await this.#sights.read(namespace);
    if (meta === undefined || !hasEntry(meta, RIGHTS_FINALIZER)) return;
    for await (const rule of rulesNow(this.#options.cluster, this.#naming(namespace))) {
      const { name } = rule.metadata;
      if (name !== leaving && !this.#isLeft(name, namespace) && knownNamespaces(rule).includes(namespace)) return;
    }
    // A rule may have come meanwhile that needs it.
    if (!this.#isNamed(namespace, since)) await this.#takeOff(namespace, meta);
  }

  async #takeOff(namespace: string, meta: ObjectMeta | undefined): Promise<void> {
    if (meta === undefined) return;
    if ((await this.#sights.patch(namespace, removeEntry(meta, RIGHTS_FINALIZER))) === 'conflict') {
      throw new Error(`giving up the rights in namespace ${namespace}: they have changed`);
    }
  }

  /** Whether a look may show that the binding is not kept; what was seen a moment ago and cannot be mended is not asked for again. */
  #mayLack(namespace: string): boolean {
    const sight = this.#sights.of(namespace);
    if (sight === undefined) return true;
    const isLive = sight.meta !== undefined && sight.meta.deletionTimestamp === undefined;
    if (isLive) return !hasEntry(sight.meta, RIGHTS_FINALIZER);
    return this.#options.clock.monotonic() - sight.at >= LOOK_EVERY_MS;
  }

  /** Whether a rule was seen to name it, of those that were seen later than `since`. */
  #isNamed(namespace: string, since = 0): boolean {
    return [...this.#named.values()].some(({ namespaces, sight }) => sight > since && namespaces.includes(namespace));
  }

  /** Whether this process has a rule leave it: who waits for the others to name it no more may be the last, and so may they. */
  #isLeft(rule: string, namespace: string): boolean {
    return this.#left.get(rule)?.includes(namespace) === true;
  }

  #naming(namespace: string): ReadonlySet<string> {
    return new Set([...this.#named].flatMap(([rule, { namespaces }]) => (namespaces.includes(namespace) ? rule : [])));
  }

  async #inTurn(namespace: string, act: () => Promise<void>): Promise<void> {
    const turn = (this.#last.get(namespace) ?? Promise.resolve()).then(act);
    this.#last.set(
      namespace,
      turn.catch(() => undefined),
    );
    await turn;
  }
}
