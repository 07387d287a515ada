/*
 * Points in conversations with SQS and S3, as a tripwire sees them. Used by end-to-end tests; those in the conversation
 * with the API server are in bridge-calls.ts.
 */
import { z } from 'zod/mini';
import type { Passing, Point } from './tripwire.ts';

const named = z.object({ QueueUrl: z.string() });
const received = z.object({ Messages: z._default(z.array(z.unknown()), []) });

interface QueueCall {
  readonly operation: 'ReceiveMessage' | 'SendMessageBatch' | 'DeleteMessageBatch' | 'ChangeMessageVisibilityBatch';
  readonly queueUrl: string;
}

/** A call about a queue; a receive counts only when something was received. */
export function queueCall({ operation, queueUrl }: QueueCall, phase: Point['phase']): Point {
  const isReceive = operation === 'ReceiveMessage';
  return {
    phase,
    matches: (passing) =>
      passing.operation === operation && isAbout(passing, queueUrl) && (!isReceive || receivedBy(passing) > 0),
  };
}

/** A receive that brings so many messages at once. */
export function receipt(queueUrl: string, count: number): Point {
  const { phase, matches } = queueCall({ operation: 'ReceiveMessage', queueUrl }, 'answered');
  return { phase, matches: (passing) => matches(passing) && receivedBy(passing) === count };
}

function isAbout({ body }: Passing, queueUrl: string): boolean {
  return z.parse(named, JSON.parse(body)).QueueUrl === queueUrl;
}

function receivedBy({ phase, answer }: Passing): number {
  return phase === 'answered' ? z.parse(received, JSON.parse(answer)).Messages.length : 0;
}

/** A call about a bucket: `GET ?tagging`, `POST ?delete`, `DELETE` of the bucket itself. */
export function bucketCall(
  bucket: string,
  call: `${'GET' | 'POST' | 'PUT'} ?${string}` | 'DELETE',
  phase: Point['phase'],
): Point {
  const [method, query = ''] = call.split(' ?');
  return {
    phase,
    matches: (passing) => {
      const { pathname, searchParams } = new URL(passing.path, 'http://s3');
      const isBucket = pathname.replace(/\/$/, '') === `/${bucket}`;
      return passing.method === method && isBucket && (query === '' || searchParams.has(query));
    },
  };
}

/** The given time at which a point is met, counted from 1. */
export function nth(count: number, { phase, matches }: Point): Point {
  let met = 0;
  return {
    phase,
    matches: (passing) => {
      if (!matches(passing)) return false;
      met += 1;
      return met === count;
    },
  };
}
