/*
 * Whether a bridge runs, seen by the Lease that its leader renews. No clocks are compared: a lease is held by somebody for
 * as long as its renewTime is seen to move, as other candidates for it judge. Where there is none, or it cannot be read, nobody
 * knows, unless a person says so; a lease that moves is believed more than a person, and so is a status that is written while
 * the drain looks on, which also a bridge does that keeps no lease. Asked by run.ts at every look.
 */
import type * as z from 'zod/mini';
import { LEASE_MS, LEASE_PLACE } from '../../leader-state.ts';
import { explain } from '../../log.ts';
import type { Clock, Cluster, KubeObject } from '../../ports.ts';
import { leaseSchema } from '../leader-sight.ts';

/** Room for a renewal that is late. */
const LATE_MS = 5_000;

/**
 * Whether a bridge runs. `lastAlive`, in ms since the epoch: none sent anything later; undefined when that is not known.
 */
export type BridgeState =
  | { readonly state: 'up'; readonly who: string }
  | { readonly state: 'gone'; readonly lastAlive: number | undefined }
  | { readonly state: 'unknown'; readonly why: string };

/** What a person says about it. `since`, in ms since the epoch. */
export type BridgeSaid =
  | { readonly said: 'nothing' }
  | { readonly said: 'up' }
  | { readonly said: 'gone'; readonly since: number | undefined };

/** A rule whose status was written while somebody looked on, and what the lease said then. */
interface Written {
  readonly rule: string;
  readonly lease: string | undefined;
}

interface Seen {
  readonly renewTime: string;
  /** Monotonic ms. */
  readonly at: number;
  /** It was seen to change. */
  readonly moved: boolean;
}

/** What looking needs. */
export interface BridgeSightOptions {
  readonly cluster: Pick<Cluster, 'get'>;
  readonly clock: Clock;
  readonly said: BridgeSaid;
}

/** Looks at the lease again and again. */
export class BridgeSight {
  readonly #options: BridgeSightOptions;
  #seen: Seen | undefined;
  /** The lease as it was read last, as text. */
  #lastLease: string | undefined;
  #wasHeld = false;
  /** The status of each rule as it was seen last, as text, by the rule's uid. */
  readonly #statuses = new Map<string, string>();
  #written: Written | undefined;

  constructor(options: BridgeSightOptions) {
    this.#options = options;
  }

  /** Takes in the rules as they are now: nobody but a bridge writes their status. */
  saw(rules: Iterable<KubeObject>): void {
    for (const { metadata, status } of rules) {
      const now = JSON.stringify(status ?? {});
      const before = this.#statuses.get(metadata.uid);
      this.#statuses.set(metadata.uid, now);
      // Where the lease is held its holder has written.
      if (before === undefined || before === now || this.#wasHeld) continue;
      this.#written = { rule: metadata.name, lease: this.#lastLease };
    }
  }

  /** Never throws: what cannot be read is not known. */
  async look(): Promise<BridgeState> {
    const { said } = this.#options;
    const lease = await this.#lease();
    this.#wasHeld = lease.state === 'up';
    if (lease.state === 'up' && this.#seen?.moved === true) return lease;
    // Whoever has changed the lease since then is judged by the lease.
    if (this.#written !== undefined && this.#lastLease !== this.#written.lease) this.#written = undefined;
    if (this.#written !== undefined && lease.state !== 'up') {
      return { state: 'up', who: `it has written the status of rule ${this.#written.rule} just now` };
    }
    if (said.said === 'up') return { state: 'up', who: 'as was said' };
    if (said.said === 'gone') {
      const known = lease.state === 'gone' ? lease.lastAlive : undefined;
      return { state: 'gone', lastAlive: said.since ?? known };
    }
    return lease;
  }

  async #lease(): Promise<BridgeState> {
    try {
      const object = await this.#options.cluster.get(LEASE_PLACE);
      const { spec } = leaseSchema.parse(object ?? { spec: {} });
      this.#lastLease = object === undefined ? undefined : JSON.stringify(spec);
      // Somebody may have deleted it; and a bridge of an older version keeps none.
      return object === undefined ? { state: 'unknown', why: 'there is no lease of its leader' } : this.#judge(spec);
    } catch (error) {
      return { state: 'unknown', why: `the lease of its leader cannot be read: ${explain(error)}` };
    }
  }

  #judge({ holderIdentity, leaseDurationSeconds, renewTime }: z.output<typeof leaseSchema>['spec']): BridgeState {
    // One that says nothing about itself lasts as long as ours do.
    const duration = (leaseDurationSeconds ?? LEASE_MS / 1000) * 1000;
    if (!holderIdentity || !renewTime) {
      return { state: 'gone', lastAlive: renewTime ? Date.parse(renewTime) + duration : undefined };
    }
    const now = this.#options.clock.monotonic();
    if (this.#seen === undefined || this.#seen.renewTime !== renewTime) {
      this.#seen = { renewTime, at: now, moved: this.#seen !== undefined };
    }
    // Until it has been looked at for long enough it counts as held: that is the careful side.
    return now - this.#seen.at <= duration + LATE_MS
      ? { state: 'up', who: holderIdentity }
      : { state: 'gone', lastAlive: Date.parse(renewTime) + duration };
  }
}
