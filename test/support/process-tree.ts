/*
 * The processes below a process, sampled while it lives, so that a test can tell afterwards which of them live on.
 * A process is known by its id, its start time and its name: ids are given away again.
 */
import { execFileSync } from 'node:child_process';

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly identity: string;
}

/** Samples the descendants of a process until it is told to stop. */
export class ProcessTree {
  readonly #seen = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(root: number, everyMs = 100) {
    const sample = () => {
      for (const { identity } of descendants(root, listed())) this.#seen.add(identity);
    };
    sample();
    this.#timer = setInterval(sample, everyMs);
  }

  /** How many different processes were seen. */
  get size(): number {
    return this.#seen.size;
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
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,lstart=,comm='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, rest] = /^\s*(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (pid === undefined || rest === undefined || rest.endsWith('<defunct>')) return [];
    return [{ pid: Number(pid), parent: Number(parent), identity: `${pid} ${rest}` }];
  });
}

function descendants(root: number, all: readonly Listed[]): readonly Listed[] {
  const children = all.filter(({ parent }) => parent === root);
  return [...children, ...children.flatMap(({ pid }) => descendants(pid, all))];
}
