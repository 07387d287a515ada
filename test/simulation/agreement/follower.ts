/*
 * Follows one watch of a script: keeps what comes until somebody looks, and how it ended. Made by api-run.ts, which also
 * waits for what is on its way.
 */
import { ApiError, type WatchFrame } from '../../../bridge/ports.ts';
import type { ScriptKind } from './api-script.ts';
import { refusalIn } from './transcript.ts';

/** What is watched, and the namespace in which something can be made that it shows. */
export interface WatchPlace {
  readonly kind: ScriptKind;
  readonly fences: string;
}

/** One watch. */
export class Follower {
  readonly place: WatchPlace;
  readonly #stop = new AbortController();
  readonly #gone = new Set<string>();
  #frames: WatchFrame[] = [];
  #isOpen = false;
  #end: string | number | undefined;

  constructor(place: WatchPlace, open: (signal: AbortSignal) => AsyncIterable<WatchFrame>) {
    this.place = place;
    void this.#follow(open(this.#stop.signal));
  }

  /** Whether the server has answered. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How it ended: by itself (`ended`), or refused; undefined while it goes on. */
  get ending(): string | number | undefined {
    return this.#end;
  }

  /** Whether the deletion of an object of this name has come. */
  hasLost(name: string): boolean {
    return this.#gone.has(name);
  }

  /** What has come since this was called last. */
  take(): readonly WatchFrame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(frames: AsyncIterable<WatchFrame>): Promise<void> {
    try {
      for await (const frame of frames) {
        this.#isOpen = true;
        this.#frames.push(frame);
        if (frame.type === 'deleted') this.#gone.add(frame.meta.name);
      }
      this.#end = 'ended';
    } catch (error) {
      this.#end = error instanceof ApiError ? refusalIn(error) : 0;
    }
  }
}
