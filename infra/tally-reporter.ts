/*
 * A vitest reporter that writes the counts of a run to a file, and says on stderr which tests are still running when
 * one takes long. Put to work by vitest.config.ts when verify.ts asks for counts.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { countModules } from './tally.ts';

/** A test is mentioned when it has run this long, and again after as long. */
const PATIENCE_MS = 15_000;

/** The reporter; vitest calls its hooks. */
export class TallyReporter implements Reporter {
  readonly #file: string;
  readonly #running = new Map<string, NodeJS.Timeout>();

  /** @param file where the counts go, as JSON of `tallySchema` */
  constructor(file: string) {
    this.#file = file;
  }

  onTestCaseReady(test: TestCase): void {
    const began = performance.now();
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000);
      process.stderr.write(`still running after ${seconds} s: ${test.module.relativeModuleId} > ${test.fullName}\n`);
    }, PATIENCE_MS);
    this.#running.set(test.id, timer.unref());
  }

  onTestCaseResult(test: TestCase): void {
    clearInterval(this.#running.get(test.id));
    this.#running.delete(test.id);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    for (const timer of this.#running.values()) clearInterval(timer);
    writeFileSync(this.#file, JSON.stringify(countModules(modules, unhandledErrors)));
  }
}
