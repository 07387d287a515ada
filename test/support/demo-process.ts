/*
 * The demo as a process with a temporary folder of its own, so that what it leaves can be told from everything else.
 * Used by the tests of the demo.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { ProcessTree } from './process-tree.ts';

const script = join(import.meta.dirname, '../../infra/demo.ts');
/** Ends it with who started it, as the bootstrap has it do: a run of the tests that is interrupted asks nobody to end it. */
const lifeline = new URL('../../infra/boot/lifeline.mjs', import.meta.url).href;
/** A machine that does other things as well may take a few times what it takes alone. */
const PATIENCE = { timeout: 400_000, interval: 50 };

/** A running demo. */
export class DemoProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), 'demo-test-'));
  readonly #process: ChildProcess;
  readonly #tree: ProcessTree;
  readonly #startedAt = performance.now();
  #endedAt: number | undefined;
  readonly #said = { stdout: '', stderr: '' };

  constructor(...args: readonly string[]) {
    const { FORCE_COLOR: _force, NO_COLOR: _no, ...env } = process.env;
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    this.#process = spawn(process.execPath, ['--import', lifeline, script, ...args], {
      env: { ...env, TMPDIR: this.#folder, FINALIZER_BRIDGE_BOOT_PID: String(process.pid) },
      stdio: [...stdio],
    });
    for (const name of ['stdout', 'stderr'] as const) {
      this.#process[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#said[name] += text;
      });
    }
    this.#process.once('exit', () => {
      this.#endedAt = performance.now();
    });
    this.#tree = new ProcessTree(this.#process.pid ?? 0);
  }

  get stdout(): string {
    return this.#said.stdout;
  }

  get stderr(): string {
    return this.#said.stderr;
  }

  /** How many processes it has started so far, in all. */
  get started(): number {
    return this.#tree.size;
  }

  /** CPU seconds of it and all its processes so far. */
  get cpuSeconds(): number {
    return this.#tree.cpuSeconds;
  }

  /** Seconds from its start to its end, or until now. */
  get seconds(): number {
    return ((this.#endedAt ?? performance.now()) - this.#startedAt) / 1000;
  }

  /** Waits for a condition; fails with all that was said when the demo ends before. */
  async until(condition: () => boolean): Promise<void> {
    await vi.waitUntil(() => condition() || this.#hasEnded(), PATIENCE);
    if (!condition()) throw new Error(`the demo ended:\n${this.stdout}\n${this.stderr}`);
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.#process.kill('SIGINT');
  }

  /** Waits for the end, checks that no process and no file of it is left, and gives the exit code. */
  async endedCleanly(): Promise<number | null> {
    if (!this.#hasEnded()) await once(this.#process, 'close');
    this.#tree.stop();
    // What was ended last may still be in the list for a moment.
    await vi.waitFor(() => expect(this.#tree.survivors()).toEqual([]), { timeout: 60_000, interval: 50 });
    expect(readdirSync(this.#folder)).toEqual([]);
    return this.#process.exitCode;
  }

  /** Ends it in any case. */
  async remove(): Promise<void> {
    this.#tree.stop();
    if (!this.#hasEnded()) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'close');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
