/*
 * Programs that libraries start on our behalf: a plug-in for credentials of the API server, a `credential_process` for keys of
 * SQS. Neither library ends one that hangs, and each later try would start another beside it. So whoever gives a try up ends what
 * it has started, and starts nothing more while that lives on. And both wait until nobody holds a program's output any more: what
 * it leaves running is not waited for. Used by cluster-credentials.ts and sqs-keys.ts.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from './ports.ts';
import { within } from './time-out.ts';

/** A program that is over has said all it has to say; so long another one that it has left may go on for it. */
const OUTPUT_MS = 1_000;
/** What is killed is over soon, if it can be killed. */
const KILLED_WITHIN_MS = 1_000;

const beginning = new AsyncLocalStorage<BegunPrograms>();
let isListening = false;

/** Node.js tells of each child process that is made, in the context of whoever has it made. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('child_process', (message) => {
    const child = typeof message === 'object' && message !== null && 'process' in message ? message.process : undefined;
    if (child instanceof ChildProcess) beginning.getStore()?.begun(child);
  });
}

/** The programs that some work has started. */
export class BegunPrograms {
  readonly #clock: Clock;
  readonly #living = new Set<ChildProcess>();
  /** Told when none lives on any more. */
  readonly #waiting = new Set<() => void>();
  #isEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    listen();
  }

  /** How many live on. */
  get living(): number {
    return this.#living.size;
  }

  /** Does work, and notes what it starts, now or later. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return beginning.run(this, work);
  }

  /** A program is about to be started. */
  begun(child: ChildProcess): void {
    const isOver = () => {
      this.#living.delete(child);
      if (this.#living.size === 0) for (const tell of this.#waiting) tell();
    };
    this.#living.add(child);
    child.once('exit', () => {
      isOver();
      this.#letGo(child);
    });
    // It could not be started.
    child.once('error', () => {
      if (child.pid === undefined) isOver();
    });
    // What one try of a chain does not give another may be asked for.
    child.once('spawn', () => {
      if (this.#isEnded) kill(child);
    });
  }

  /**
   * Ends all that live on, and what they have started themselves, as far as that can be told, and from now on all that the work
   * starts. Returns how many there were.
   */
  end(): number {
    this.#isEnded = true;
    const ended = this.#living.size;
    for (const child of this.#living) kill(child);
    return ended;
  }

  /** Whether all are over; those that were ended a moment ago are waited for. */
  async areOver(): Promise<boolean> {
    if (this.#living.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Taken off again: a program that cannot be ended is asked for at every try.
    this.#waiting.add(resolve);
    await within({ clock: this.#clock, ms: KILLED_WITHIN_MS }, () => promise).catch(() => undefined);
    this.#waiting.delete(resolve);
    return this.#living.size === 0;
  }

  /** What a program leaves running may hold its output for good, and whoever reads that would wait for as long. */
  #letGo(child: ChildProcess): void {
    if (this.#isEnded) {
      closeOutput(child);
      return;
    }
    const cancel = this.#clock.after(OUTPUT_MS, () => closeOutput(child));
    child.once('close', cancel);
  }
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const one of [pid, ...descendants(pid)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // Gone meanwhile; or another user's, and then it goes on counting as living.
    }
  }
}

/** What a process has started, and that again; nothing where the system does not tell. */
function descendants(pid: number): readonly number[] {
  const children = threadsOf(pid).flatMap((thread) => {
    const listed = told(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    return (listed ?? '').split(' ').filter(Boolean).map(Number);
  });
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function threadsOf(pid: number): readonly string[] {
  return told(() => readdirSync(`/proc/${pid}/task`)) ?? [];
}

function told<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
