/*
 * One open watch in the hands of the fault proxy: lines of the API server come in, and go on, or are cut, held back,
 * spoilt, followed by an error, or by what was said before. Made by fault-proxy.ts for each watch that it lets through.
 */
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Ask, StreamFault } from './fault-script.ts';

/** What was said of a kind, oldest first. */
export type History = string[];

/** Longest memory of a kind. */
const HISTORY_MAX = 500;
const SYNCED = /"k8s\.io\/initial-events-end":\s*"true"/;

export interface FaultStreamOptions {
  readonly ask: Ask;
  readonly out: Http2ServerResponse;
  readonly history: History;
  readonly random: () => number;
}

/** A watch. */
export class FaultStream {
  readonly ask: Ask;
  readonly #options: FaultStreamOptions;
  #fault: StreamFault | undefined;
  #passed = 0;
  #rest = '';
  #isMuted = false;

  constructor(options: FaultStreamOptions, fault: StreamFault | undefined) {
    this.#options = options;
    this.ask = options.ask;
    this.#fault = fault;
    // What needs no line to strike at strikes before the first.
    const isAtOnce = fault?.kind === 'stall' || fault?.kind === 'end' || fault?.kind === 'error';
    if (isAtOnce && (fault.afterLines ?? 0) === 0) this.strike(fault);
  }

  /** Nothing comes any more, the end neither. */
  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** Takes what the API server said. */
  feed(text: string): void {
    this.#rest += text;
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  /** Strikes now. */
  strike(fault: StreamFault, line = '{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","apiVersion"'): void {
    this.#fault = undefined;
    const { out } = this.#options;
    switch (fault.kind) {
      case 'cut':
        out.write(line.slice(0, line.length / 2));
        cut(out);
        break;
      case 'stall':
        this.#isMuted = true;
        break;
      case 'end':
        out.end();
        break;
      case 'error':
        out.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(fault.code, fault.retryAfter) })}\n`);
        break;
      case 'garble':
        out.write(`${line.slice(0, line.length / 2)}\n`);
        break;
      case 'echo':
        for (const old of shuffled(this.#options.history, this.#options.random)) out.write(`${old}\n`);
        break;
      default:
        fault satisfies never;
    }
  }

  #line(line: string): void {
    const { out, history } = this.#options;
    if (this.#isMuted || out.writableEnded || out.destroyed) return;
    const fault = this.#fault;
    if (fault !== undefined && fault.kind !== 'echo' && this.#passed >= (fault.afterLines ?? 0)) {
      this.strike(fault, line);
      return;
    }
    this.#passed += 1;
    out.write(`${line}\n`);
    if (/"type":\s*"(ADDED|MODIFIED|DELETED)"/.test(line)) {
      history.push(line);
      if (history.length > HISTORY_MAX) history.shift();
    } else if (fault?.kind === 'echo' && SYNCED.test(line)) {
      this.strike(fault);
    }
  }
}

/** Ends a stream as a broken connection does. */
export function cut(out: Http2ServerResponse): void {
  out.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** What an API server says of a failure. `retryAfter` in s. */
export function statusOf(code: number, retryAfter?: number): object {
  return {
    ...{
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'struck by the fault proxy',
      code,
    },
    reason: code === 410 ? 'Expired' : 'Unknown',
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  };
}

function shuffled(lines: readonly string[], random: () => number): readonly string[] {
  return lines
    .map((line) => ({ line, at: random() }))
    .toSorted((one, two) => one.at - two.at)
    .map(({ line }) => line);
}
