/*
 * Words about what is going on, for steps that can take long (a download, a build, an install).
 * Used by binaries, cloud and cache; the callers hand in `say`, which usually writes a line to stderr.
 */

/** Takes one line of progress, without line end. */
export type Say = (line: string) => void;

/** A duration as a person reads it: `800 ms`, `12 s`, `3 min 20 s`. */
function readable(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What a heartbeat needs; `detail` adds something that moves, such as bytes so far. */
export interface Heartbeat {
  readonly say: Say;
  /** A gerund phrase: "building etcd". */
  readonly what: string;
  readonly detail?: () => string;
  /** ms between two words, 10 s unless told. */
  readonly every?: number;
}

/** Runs `work`, saying every few seconds that it is still at it, and at the end how long it took. */
export async function withHeartbeat<T>(heartbeat: Heartbeat, work: () => Promise<T>): Promise<T> {
  const { say, what, detail, every = 10_000 } = heartbeat;
  const started = performance.now();
  const elapsed = () => readable(performance.now() - started);
  const beat = setInterval(() => say(`${what}: ${elapsed()} so far${detail ? `, ${detail()}` : ''}`), every);
  try {
    const result = await work();
    say(`${what}: done in ${elapsed()}`);
    return result;
  } finally {
    clearInterval(beat);
  }
}
