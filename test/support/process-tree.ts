/*
 * The processes below a process, sampled while it lives, so that a test can tell afterwards which of them live on, and
 * how much they have worked.
 * A process is known by its id, its start time and its name: ids are given away again.
 */
import { execFileSync } from 'node:child_process';

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly identity: string;
  /** CPU time in s, whole ones on Linux. */
  readonly worked: number;
}

/** Samples the descendants of a process until it is told to stop. */
export class ProcessTree {
  /** The last CPU time of each process that was seen. */
  readonly #worked = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(root: number, everyMs = 100) {
    const sample = () => {
      const all = listed();
      const below = descendants(root, all);
      for (const { identity } of below) this.#seen.add(identity);
      for (const { identity, worked } of [...below, ...all.filter(({ pid }) => pid === root)]) {
        this.#worked.set(identity, worked);
      }
    };
    sample();
    this.#timer = setInterval(sample, everyMs);
  }

  /** How many different processes were seen. */
  get size(): number {
    return this.#seen.size;
  }

  /** CPU seconds of the process and of all below it, each as it was last seen. */
  get cpuSeconds(): number {
    return [...this.#worked.values()].reduce((sum, worked) => sum + worked, 0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Those that were seen and are still there. */
  survivors(): readonly string[] {
    const now = new Set(listed().map(({ identity }) => identity));
    return [...this.#seen].filter((identity) => now.has(identity));
  }
}

function listed(): readonly Listed[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,time=,lstart=,comm='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, time, rest] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (pid === undefined || time === undefined || rest === undefined || rest.endsWith('<defunct>')) return [];
    return [{ pid: Number(pid), parent: Number(parent), identity: `${pid} ${rest}`, worked: secondsOf(time) }];
  });
}

/** `[[dd-]hh:]mm:ss`, as ps writes it. */
function secondsOf(time: string): number {
  return time.split(/[-:]/).reduceRight((sum, part, index, all) => {
    return sum + Number(part) * ([1, 60, 3600, 86_400][all.length - 1 - index] ?? Number.NaN);
  }, 0);
}

function descendants(root: number, all: readonly Listed[]): readonly Listed[] {
  const children = all.filter(({ parent }) => parent === root);
  return [...children, ...children.flatMap(({ pid }) => descendants(pid, all))];
}
