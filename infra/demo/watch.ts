/*
 * A plain watch of the API server for the demo's time line: one line of JSON per change, taken up again where it ended.
 * Called by objects.ts, for objects and for Events. The bridge has its own, which this does not use: the time line
 * has to show what the API server says, also if the bridge does not see it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod/mini';
import type { KubeFacts } from '../local/kube-client.ts';

const change = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({ metadata: z.optional(z.looseObject({ resourceVersion: z.optional(z.string()) })) }),
});

/** A change as the API server tells it; `object` is whole. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: unknown;
}

export interface WatchInput {
  readonly kube: KubeFacts;
  /** Of the list, such as `/api/v1/namespaces`. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onChange: (change: Change) => void;
}

const PAUSE_MS = 100;

/**
 * Watches until the signal; begins with what is there. An end of the connection is not told: it goes on after it.
 * @throws what `onChange` throws, and for a line that is none.
 */
export async function watch({ kube, path, signal, onChange }: WatchInput): Promise<void> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(kube.caFile, 'utf8') }, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${kube.adminToken}`, accept: 'application/json' };
  let version: string | undefined;
  try {
    while (!signal.aborted) {
      const query = new URLSearchParams({ watch: '1', ...(version === undefined ? {} : { resourceVersion: version }) });
      const url = `${kube.url}${path}?${query}`;
      for await (const line of linesOf(() => request(url, { dispatcher, headers, signal }))) {
        const { type, object } = z.parse(change, JSON.parse(line));
        // An error says that the version is too old to go on from: then it begins anew.
        version = type === 'ERROR' ? undefined : (object.metadata?.resourceVersion ?? version);
        if (type !== 'ERROR' && type !== 'BOOKMARK') onChange({ type, object });
      }
      await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await dispatcher.destroy();
  }
}

/** The lines of an answer until it ends in whatever way; none of an answer other than 200. */
async function* linesOf(ask: () => Promise<Dispatcher.ResponseData>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  const answer = await ask().catch(() => undefined);
  if (answer?.statusCode !== 200) {
    await answer?.body.dump();
    return;
  }
  const chunks = answer.body[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch(() => undefined);
    if (next === undefined || next.done === true) return;
    const lines = (rest + decoder.decode(z.parse(z.instanceof(Uint8Array), next.value), { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
