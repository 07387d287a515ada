/*
 * The connection of one simulated watch: frames arrive in order, each some time after it was sent, until a fault, the server
 * or the listener ends it. Made by cluster-port.ts for each watch that is opened.
 */
import { ApiError, type WatchFrame } from '../../bridge/ports.ts';
import type { SimulatedProcess } from './process.ts';
import { endOf, type WatchFault } from './watch-faults.ts';

const BOOKMARK_MS = 60_000;
const WATCH_ENDS_MS = 540_000;

/** What a line goes through. */
export interface LineInput {
  readonly process: SimulatedProcess;
  readonly random: () => number;
  /** How far behind it is, in ms, beyond the usual few. */
  readonly watchLag: () => number;
}

/** The connection of one watch: frames arrive in order, each some time after it was sent. */
export class Line {
  readonly #input: LineInput;
  readonly #signal: AbortSignal;
  #arrived: (WatchFrame | ApiError | undefined)[] = [];
  #taken = 0;
  #last = 0;
  #ended = false;
  #isSilent = false;
  #isBroken = false;
  #passed = 0;
  #due: { readonly lines: number; readonly strike: () => void } | undefined;
  #stop = () => {};
  #forget = () => {};
  #wake: (() => void) | undefined;

  constructor(input: LineInput, signal: AbortSignal) {
    this.#input = input;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Nobody listens any more. */
  get isOver(): boolean {
    return this.#ended || !this.#input.process.isAlive;
  }

  put(frame: WatchFrame | ApiError | undefined): void {
    if (this.#isSilent) return;
    const { process, random, watchLag } = this.#input;
    const now = process.clock().monotonic();
    this.#last = Math.max(this.#last, now + 1 + random() * 10 + watchLag());
    process.later(this.#last - now, () => this.#arrive(frame));
  }

  /** A fault in the place of the line after so many: that one and what comes behind it are lost. */
  strikeAfter(lines: number, strike: () => void): void {
    this.#due = { lines, strike };
  }

  #arrive(frame: WatchFrame | ApiError | undefined): void {
    const isLine = frame !== undefined && !(frame instanceof ApiError);
    if (this.#isSilent || (this.#isBroken && isLine)) return;
    const due = this.#due;
    if (due !== undefined && isLine && this.#passed >= due.lines) {
      this.#due = undefined;
      this.#isBroken = true;
      due.strike();
      return;
    }
    this.#passed += 1;
    this.#arrived.push(frame);
    this.#wake?.();
  }

  /** What a fault does to it: what is on its way arrives before an end, and not at all in silence. */
  strike({ kind }: WatchFault, { doing, echoes }: { doing: string; echoes: () => readonly WatchFrame[] }): void {
    if (this.#ended) return;
    const end = endOf(kind, doing);
    if (kind === 'echo') this.#isBroken = false;
    if (kind === 'silent') this.#isSilent = true;
    else if (kind === 'echo') for (const frame of echoes()) this.put(frame);
    else this.put(end === 'end' ? undefined : end);
    if (end !== undefined) this.#stop();
  }

  /** Keeps it going: bookmarks, and the end that the server puts to every watch. */
  open(stop: () => void, bookmark: () => void): void {
    const { process } = this.#input;
    this.#stop = stop;
    if (this.#ended) stop();
    const tick = () => {
      if (this.#ended) return;
      bookmark();
      process.later(BOOKMARK_MS, tick);
    };
    process.later(BOOKMARK_MS, tick);
    process.later(WATCH_ENDS_MS, () => {
      stop();
      this.put(undefined);
    });
  }

  /** What is to be called when nobody listens any more. */
  until(forget: () => void): void {
    this.#forget = forget;
    if (this.#ended) forget();
  }

  /** The next frame; undefined at the end. */
  async next(): Promise<WatchFrame | undefined> {
    while (this.#taken === this.#arrived.length && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#signal.aborted) return undefined;
    const arrived = this.#arrived[this.#taken];
    this.#taken += 1;
    if (this.#taken === this.#arrived.length) {
      this.#arrived = [];
      this.#taken = 0;
    }
    if (arrived instanceof ApiError) throw arrived;
    return arrived;
  }

  #end(): void {
    this.#ended = true;
    this.#stop();
    this.#forget();
    this.#wake?.();
  }
}
