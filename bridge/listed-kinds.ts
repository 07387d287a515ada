/*
 * The kinds that the configuration lists, looked up in discovery: which version to watch, and whether they are there at all.
 * Begun by bridge.ts, which watches them beside those of the rules, so that strays of rules that are gone are found. One
 * that is not there is told loudly and asked for again, and stops no other (P10).
 */
import { kindKey } from './kind-key.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, KindRef, Kinds, ListedKind, Random } from './ports.ts';
import { WorkQueue } from './work-queue.ts';

/** A kind that was found is looked up again this often: another version may be served now. */
export const LOOK_AGAIN_MS = 5 * 60_000;
/** One that was not is asked for with back-off, no more seldom than this. */
const MISSING_AGAIN_MS = 60_000;
const LOUD_FAILURES = 3;

/** What looking up needs. */
export interface ListedKindsOptions {
  readonly kinds: readonly ListedKind[];
  readonly port: Pick<Kinds, 'find'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Another kind was found, or one is not there any more. */
  onChange(): void;
}

/** The kinds of the configuration, as far as they are found. */
export class ListedKinds {
  readonly #options: ListedKindsOptions;
  readonly #found = new Map<string, KindRef>();
  readonly #work: WorkQueue;

  constructor(options: ListedKindsOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.#work = new WorkQueue({
      ...{ clock, random, concurrency: 2, backoffMax: MISSING_AGAIN_MS },
      run: (name) => this.#lookUp(name),
      onFailure: (name, error, failures) => this.#tell(name, error, failures),
    });
  }

  /** Those that are there, each in the version to watch. */
  get found(): readonly KindRef[] {
    return [...this.#found.values()];
  }

  start(): void {
    for (const kind of this.#options.kinds) this.#work.add(nameOf(kind));
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  async #lookUp(name: string): Promise<number | undefined> {
    const { kinds, port, clock, onChange } = this.#options;
    const kind = kinds.find((one) => nameOf(one) === name);
    if (kind === undefined) return undefined;
    const before = this.#found.get(name);
    const found = await port.find(kind);
    if (found === undefined) {
      if (this.#found.delete(name)) onChange();
      throw new Error(`the API server does not serve ${name}`);
    }
    this.#found.set(name, found);
    if (before === undefined || kindKey(before) !== kindKey(found)) onChange();
    return clock.now() + LOOK_AGAIN_MS;
  }

  #tell(name: string, error: unknown, failures: number): void {
    const { kinds, metrics, log } = this.#options;
    const kind = kinds.find((one) => nameOf(one) === name);
    const level = failures <= LOUD_FAILURES || Number.isInteger(Math.log2(failures)) ? 'warn' : 'debug';
    log[level]({ kind: name, failures, err: explain(error) }, 'looking up a kind of the configuration: trying again');
    // What was found before goes on being watched while nobody can be asked.
    if (kind === undefined || this.#found.has(name)) return;
    metrics.watching.set({ group: kind.group, resource: kind.resource }, 0);
  }
}

function nameOf({ group, version, resource }: ListedKind): string {
  return [resource, ...(version === undefined ? [] : [version]), ...(group === '' ? [] : [group])].join('.');
}
