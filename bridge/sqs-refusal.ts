/*
 * What an answer of SQS says in its JSON protocol: its JSON, or what was refused. Pure; called by sqs-client.ts on both sides,
 * bridge and functions.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html
 */
import * as z from 'zod/mini';

const refusalBody = z.object({
  __type: z.optional(z.string()),
  message: z.optional(z.string()),
  Message: z.optional(z.string()),
});

/** A refusal; `code` as the documentation of SQS has it, such as `QueueDoesNotExist`, or `Http503` where it says none. */
export interface Refusal {
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  /** What SQS says to it; may be empty. */
  readonly detail: string;
}

/** The refusal in the JSON of an answer. */
export function refusalOf(status: number, said: unknown): Refusal {
  const { __type: type, message, Message: detail = '' } = refusalBody.safeParse(said).data ?? {};
  return { code: type?.split('#').at(-1) || `Http${status}`, status, detail: message ?? detail };
}

/** The JSON of an answer; undefined where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
