/*
 * A queue that takes only some entries of a batch and says so with status 200, as SQS may and the emulator never does: by
 * a tripwire in front of it, so that what it says is also what it did. Used by end-to-end tests.
 */
import { z } from 'zod/mini';
import type { Passing, Tripwire, Verdict } from './tripwire.ts';

const batch = z.looseObject({ QueueUrl: z.string(), Entries: z.array(z.looseObject({ Id: z.string() })) });
const taken = z.looseObject({ Successful: z._default(z.array(z.looseObject({ Id: z.string() })), []) });

/** How many entries a call sends to that queue; undefined for any other call. */
export function entriesTo(queueUrl: string, { operation, body }: Passing): number | undefined {
  if (operation !== 'SendMessageBatch') return undefined;
  const { QueueUrl, Entries } = z.parse(batch, JSON.parse(body));
  return QueueUrl === queueUrl ? Entries.length : undefined;
}

/** Loses the first entry of the first batch with at least so many; resolves when the sender is being told. */
export async function loseFirst(sqs: Tripwire, queueUrl: string, atLeast = 1): Promise<void> {
  const matches = (passing: Passing) => (entriesTo(queueUrl, passing) ?? 0) >= atLeast;
  const { body } = await sqs.once({ phase: 'asked', matches }, async (asked) => without(asked));
  if (z.parse(batch, JSON.parse(body)).Entries.length === 1) return;
  const isSame = (passing: Passing) => passing.body === body;
  await sqs.once({ phase: 'answered', matches: isSame }, async (answered) => told(answered));
}

/** Sends on all but the first; where there is no other, the queue is not asked at all. */
function without({ body }: Passing): Verdict {
  const { Entries, ...rest } = z.parse(batch, JSON.parse(body));
  return Entries.length === 1
    ? { answer: answerOf([], Entries[0]?.Id ?? '') }
    : { send: { body: JSON.stringify({ ...rest, Entries: Entries.slice(1) }) } };
}

function told({ body, answer }: Passing): Verdict {
  const { Entries } = z.parse(batch, JSON.parse(body));
  return { answer: answerOf(z.parse(taken, JSON.parse(answer)).Successful, Entries[0]?.Id ?? '') };
}

function answerOf(Successful: readonly object[], lost: string): { readonly status: number; readonly body: string } {
  const Failed = [{ Id: lost, Code: 'InternalError', Message: 'try again', SenderFault: false }];
  return { status: 200, body: JSON.stringify({ Successful, Failed }) };
}
