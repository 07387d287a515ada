/*
 * The bindings that give the bridge its rights in namespaces, as they were seen last: read, changed, and what may not be read or
 * changed. Nothing is decided here. Used by kept-rights.ts.
 */
import { explain, type Log } from './log.ts';
import { stateOfNamespace } from './namespace-existence.ts';
import { ApiError, type Clock, type Cluster, type ObjectMeta, type PatchOperation } from './ports.ts';
import { bindingIn } from './rights-binding.ts';

/** What looking at bindings needs. */
export interface SightsOptions {
  readonly cluster: Pick<Cluster, 'get' | 'patch'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** A binding, as it was seen last. */
export interface Sight {
  /** Monotonic ms. */
  readonly at: number;
  /** undefined: it is not there, or may not be read. */
  readonly meta: ObjectMeta | undefined;
  /** The namespace itself is being deleted. */
  readonly isEnding: boolean;
}

/** By namespace, the binding in it. */
export class BindingSights {
  readonly #options: SightsOptions;
  /** The whole cluster is served: what is there is from before, and the bridge needs none of it. */
  readonly #isFormer: boolean;
  readonly #seen = new Map<string, Sight>();
  /** Of those from before, when one was last not to be read or changed; monotonic ms. */
  readonly #denied = new Map<string, number>();

  constructor(options: SightsOptions, isFormer: boolean) {
    this.#options = options;
    this.#isFormer = isFormer;
  }

  /** As it was seen last. */
  of(namespace: string): Sight | undefined {
    return this.#seen.get(namespace);
  }

  /** Where a binding from before may not be read or changed, and since when that is known; monotonic ms. */
  get denied(): ReadonlyMap<string, number> {
    return this.#denied;
  }

  /** Nothing is to be read or changed there any more. */
  forget(namespace: string): void {
    this.#denied.delete(namespace);
    this.#seen.delete(namespace);
  }

  /** Looks at it now. Throws ApiError for what another try may mend. */
  async read(namespace: string): Promise<Sight> {
    const { cluster, clock } = this.#options;
    const wasEnding = this.#seen.get(namespace)?.isEnding === true;
    const meta = await this.#binding(namespace);
    // Rights that were given up go at once, the namespace only after them.
    const mayEnd = meta === undefined ? wasEnding : meta.deletionTimestamp !== undefined;
    const isEnding = !this.#isFormer && mayEnd && (await stateOfNamespace(cluster, namespace)) === 'ending';
    const sight = { at: clock.monotonic(), meta, isEnding };
    this.#seen.set(namespace, sight);
    return sight;
  }

  /** Changes it; undefined: there is nothing to change. Throws ApiError for what another try may mend. */
  async patch(namespace: string, operations: readonly PatchOperation[] | undefined): Promise<'conflict' | 'settled'> {
    if (operations === undefined) return 'settled';
    try {
      const outcome = await this.#options.cluster.patch(bindingIn(namespace), operations);
      const sight = this.#seen.get(namespace);
      if (sight !== undefined && outcome.kind === 'patched')
        this.#seen.set(namespace, { ...sight, meta: outcome.meta });
      return outcome.kind === 'conflict' ? 'conflict' : 'settled';
    } catch (error) {
      if (!isDenied(error)) throw error;
      this.#deny(namespace, error);
      return 'settled';
    }
  }

  async #binding(namespace: string): Promise<ObjectMeta | undefined> {
    try {
      return (await this.#options.cluster.get(bindingIn(namespace)))?.metadata;
    } catch (error) {
      if (!isDenied(error)) throw error;
      // Whoever gives the rights by other names has none of this; one from before is there unless somebody can say that it is not.
      if (this.#isFormer) this.#deny(namespace, error);
      return undefined;
    }
  }

  #deny(namespace: string, error: ApiError): void {
    const { clock, log } = this.#options;
    if (this.#isFormer) this.#denied.set(namespace, clock.monotonic());
    const what = this.#isFormer ? 'giving up' : 'keeping';
    log.warn({ namespace, err: explain(error) }, `${what} the rights in a namespace: not permitted`);
  }
}

function isDenied(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}
