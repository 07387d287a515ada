/*
 * Counts the calls that the SQS emulator answers, by who signed them and by action: what a user would be billed for.
 * Installed by queue-server.ts; read over HTTP by queues.ts for benchmarks and tests that hold the bridge to its budget.
 */
import type { buildApp } from 'fauxqs';
import { z } from 'zod/mini';
import { accessKeyOf, actionOf } from './queue-senders.ts';

type App = ReturnType<typeof buildApp>;

/** Where the counts are read. */
export const CALLS_PATH = '/_finalizer-bridge/calls';

/** Answers by access key and action; receives that brought nothing count as `ReceiveMessage empty`. */
export const callCounts = z.record(z.string(), z.record(z.string(), z.int()));
export type CallCounts = z.output<typeof callCounts>;

const received = z.object({ Messages: z.array(z.unknown()).check(z.minLength(1)) });

/** Adds the counting to an emulator that does not listen yet. */
export function countCalls(app: App): void {
  const counts: CallCounts = {};
  app.addHook('preSerialization', async (request, _reply, payload) => {
    if (request.method !== 'POST') return payload;
    const sender = accessKeyOf(request.headers.authorization) ?? '';
    const action = actionOf(request.headers['x-amz-target']);
    const call = action === 'ReceiveMessage' && !received.safeParse(payload).success ? 'ReceiveMessage empty' : action;
    const own = counts[sender] ?? {};
    counts[sender] = { ...own, [call]: (own[call] ?? 0) + 1 };
    return payload;
  });
  app.get(CALLS_PATH, async () => counts);
}
