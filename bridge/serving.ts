/*
 * Since when each kind has been served without a break, as this process has seen it. While the API server does not know a
 * new kind everywhere yet, the admission policy makes its creates fail (503), so a rule is handed to it only later.
 * Fed by intake.ts with what becomes of the watches, read by rule-enforcing.ts and following.ts.
 */
import { kindKey } from './kind-key.ts';
import type { Clock, KindRef } from './ports.ts';

/** How long a kind has to be served before creates of it may depend on the admission policy. */
export const SERVED_MS = 30_000;

interface Service {
  /** Monotonic ms; undefined while nobody looks, or it is not served. */
  since: number | undefined;
  /** It was seen not to be served. */
  wasBroken: boolean;
}

/** Whether a rule is to have the label, and in how many ms that may change. */
export interface LabelWord {
  readonly isWanted: boolean;
  readonly dueIn: number | undefined;
}

/** The kinds that are, or were, watched. */
export class Serving {
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Service>();
  readonly #listeners: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The kind is being served. */
  up(kind: KindRef): void {
    const wasDown = this.isDown(kind);
    this.#of(kind).since ??= this.#clock.monotonic();
    if (wasDown) this.#turned();
  }

  /** The API server said that it does not serve the kind. */
  down(kind: KindRef): void {
    const wasDown = this.isDown(kind);
    const service = this.#of(kind);
    service.since = undefined;
    service.wasBroken = true;
    if (!wasDown) this.#turned();
  }

  /** Tells whenever a kind that was down is served, or one that was not is down. */
  onTurn(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Whether the API server has said that it does not serve the kind, and was not seen to since. */
  isDown(kind: KindRef): boolean {
    const { since, wasBroken } = this.#of(kind);
    return wasBroken && since === undefined;
  }

  /** Nobody looks any more. */
  unseen(kind: KindRef): void {
    this.#of(kind).since = undefined;
  }

  /**
   * Whether a rule in force for the kind is to have the label. One that is there already stays over a restart, since then
   * nothing was seen to break.
   */
  label(kind: KindRef, isLabelled: boolean): LabelWord {
    const { since, wasBroken } = this.#of(kind);
    const left = since === undefined ? undefined : since + SERVED_MS - this.#clock.monotonic();
    if (left !== undefined && left <= 0) return { isWanted: true, dueIn: undefined };
    return { isWanted: isLabelled && !wasBroken, dueIn: left };
  }

  #turned(): void {
    for (const listener of this.#listeners) listener();
  }

  #of(kind: KindRef): Service {
    const key = kindKey(kind);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const service = { since: undefined, wasBroken: false };
    this.#kinds.set(key, service);
    return service;
  }
}
