/*
 * What a scripted server says as SQS, and what it was sent: for functions that run as bundles or through their entry.
 * Used with scripted-aws.ts.
 */
import { hash } from 'node:crypto';
import { z } from 'zod/mini';
import { decodeResult, type Result } from '../../bridge/contract.ts';
import { json, type ScriptedAws, type Seen } from './scripted-aws.ts';

const batch = z.object({ Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })) });

/** Takes every entry of a SendMessageBatch. */
export function takesAll({ body }: Seen) {
  const { Entries } = z.parse(batch, JSON.parse(body));
  const Successful = Entries.map(({ Id, MessageBody }) => ({
    ...{ Id, MessageId: `sent-${Id}` },
    MD5OfMessageBody: hash('md5', MessageBody),
  }));
  return json({ Successful, Failed: [] });
}

/** The results that were sent, decoded. */
export function sentResults({ seen }: Pick<ScriptedAws, 'seen'>): readonly Result[] {
  const sends = seen.filter(({ operation }) => operation === 'sqs:SendMessageBatch');
  return sends
    .flatMap(({ body }) => z.parse(batch, JSON.parse(body)).Entries)
    .map(({ MessageBody }) => {
      const decoded = decodeResult(MessageBody);
      if (!decoded.ok) throw new Error(`reading a sent result: ${decoded.failure} ${decoded.detail}`);
      return decoded.message;
    });
}
