/*
 * Virtual time and chance: one heap of due tasks, run one at a time; time moves only when nothing is runnable.
 * Made by world.ts; every model and every process of a simulated world takes its time from here.
 * Same seed, same order: nothing in a world reads the machine's clock.
 */

/** When every simulated world begins, in ms since the epoch. Not on a whole second, as no real moment is. */
const EPOCH = Date.parse('2026-03-01T08:00:00.250Z');

/** A number in [0, 1), the same sequence for the same seed (sfc32). */
export function seededRandom(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed >>> 0;
  let d = 1;
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 12; round += 1) next();
  return next;
}

/** A turn of the event loop is dearer than a tick, and is for everybody else on this thread. */
const TURN_EVERY = 1_000;
/** Tasks that are due later than this stay out of the heap, where most of them would only be in the way until they are cancelled. */
const NEAR_MS = 5 * 60_000;
const SETTLED = Promise.resolve();

interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** The scheduler of one world. Times in ms since the epoch. */
export class VirtualTime {
  /** What is due before the horizon; what comes later lies in the second, in no order. */
  readonly #heap: Task[] = [];
  #later: Task[] = [];
  #horizon = EPOCH + NEAR_MS;
  #now = EPOCH;
  #order = 0;
  #steps = 0;
  #rests = 0;

  now(): number {
    return this.#now;
  }

  /** How many tasks have run. */
  get steps(): number {
    return this.#steps;
  }

  /** Runs `task` after `ms`; tasks of one instant run in the order in which they were put in. Returns its cancel. */
  after(ms: number, task: () => void): () => void {
    const entry: Task = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order, run: task };
    this.#order += 1;
    if (entry.at < this.#horizon) push(this.#heap, entry);
    else this.#later.push(entry);
    return () => {
      entry.run = undefined;
    };
  }

  /**
   * Runs until `isDone` says so at a moment of rest, or until nothing is due before `until`.
   * @returns whether `isDone` said so. On return time stands at the last task, or at `until` if that came first.
   */
  run(until: number, isDone: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        try {
          const hasDone = isDone();
          if (hasDone || !this.#step(until)) resolve(hasDone);
          else this.#rest(turn, onTick);
        } catch (error) {
          reject(error);
        }
      };
      // A tick that is asked for by a promise's reaction comes when no reaction is left; one asked for otherwise comes before them.
      const onTick = () => process.nextTick(turn);
      this.#rest(turn, onTick);
    });
  }

  /** Runs the next task. False: there is none before `until`. */
  #step(until: number): boolean {
    const next = this.#due(until);
    if (next?.run === undefined) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    this.#now = Math.max(this.#now, next.at);
    this.#steps += 1;
    next.run();
    return true;
  }

  #due(until: number): Task | undefined {
    for (;;) {
      const first = this.#heap[0] ?? this.#next();
      if (first === undefined || first.at > until) return undefined;
      pop(this.#heap);
      if (first.run !== undefined) return first;
    }
  }

  /** Moves the horizon behind the first of what lies beyond it; the heap is empty. */
  #next(): Task | undefined {
    const left = this.#later.filter(({ run }) => run !== undefined);
    this.#later = [];
    if (left.length === 0) return undefined;
    const first = left.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
    this.#horizon = Math.max(this.#horizon, first + NEAR_MS);
    for (const entry of left) {
      if (entry.at < this.#horizon) push(this.#heap, entry);
      else this.#later.push(entry);
    }
    return this.#heap[0];
  }

  /** Lets all promises run on before the next turn. */
  #rest(turn: () => void, onTick: () => void): void {
    this.#rests += 1;
    if (this.#rests % TURN_EVERY === 0) setImmediate(turn);
    else void SETTLED.then(onTick);
  }
}

function isBefore(left: Task, right: Task): boolean {
  return left.at === right.at ? left.order < right.order : left.at < right.at;
}

function push(heap: Task[], entry: Task): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(entry, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Task[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const leftTask = heap[left];
    if (leftTask === undefined) break;
    const rightTask = heap[right];
    const isRight = rightTask !== undefined && isBefore(rightTask, leftTask);
    const child = isRight ? rightTask : leftTask;
    if (!isBefore(child, last)) break;
    heap[index] = child;
    index = isRight ? right : left;
  }
  heap[index] = last;
}
