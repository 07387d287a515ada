/*
 * One HTTP call over undici whose answer is read whole, without undici's streams: for small bodies these cost half of a
 * call's CPU (docs/benchmarks.md). Used by cluster-http.ts for the API server and by sqs-client.ts for the queue.
 */
import type { Dispatcher } from 'undici';

/** An answer, read whole. Names of headers are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** How long is waited, and for how much. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** An answer that is larger is given up; any size is read unless told. */
  readonly maxBytes?: number;
  /** Called when the answer has begun; what it returns is called when it has ended. It may cut the answer. */
  onBegin?(cut: (reason: Error) => void): () => void;
}

/**
 * Makes a call; `headersTimeout` and `bodyTimeout` are those of undici.
 * @throws what undici throws where no whole answer came, or the reason of the signal.
 */
export function exchange(
  dispatcher: Dispatcher,
  call: Dispatcher.DispatchOptions,
  patience: Patience = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (patience.signal?.aborted === true) reject(patience.signal.reason);
    else dispatcher.dispatch(call, new Exchange({ resolve, reject, patience }));
  });
}

interface Ends {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly patience: Patience;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #ends: Ends;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #cutFor: Error | undefined;
  #status = 0;
  #headers: Answer['headers'] = {};
  #ended: (() => void) | undefined;
  readonly #onAbort = () => {
    const reason: unknown = this.#ends.patience.signal?.reason;
    this.#cut(reason instanceof Error ? reason : new Error('given up', { cause: reason }));
  };

  constructor(ends: Ends) {
    this.#ends = ends;
    ends.patience.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for its turn.
    if (this.#cutFor !== undefined) controller.abort(this.#cutFor);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    // What comes before the answer proper, such as 103, is none.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#ended = this.#ends.patience.onBegin?.((reason) => this.#cut(reason));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes = Number.POSITIVE_INFINITY } = this.#ends.patience;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) this.#cut(new Error(`the answer is larger than ${maxBytes} bytes`));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#ends.resolve({ status: this.#status, headers: this.#headers, text: body.toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#ends.reject(error);
  }

  /** The caller is told at once; undici may still have to come to this call. */
  #cut(reason: Error): void {
    this.#cutFor ??= reason;
    this.#end();
    this.#ends.reject(reason);
    this.#controller?.abort(reason);
  }

  #end(): void {
    this.#ends.patience.signal?.removeEventListener('abort', this.#onAbort);
    this.#ended?.();
    this.#ended = undefined;
  }
}
