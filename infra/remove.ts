/*
 * Entry of `npm run remove [-- --stage S] [--values FILE] [--discard-messages]`: takes the functions' stack away. First it
 * looks into the queues: while a request or a result lies there, an object in a cluster waits for it, and the stack stays.
 * What should have come before is `finalizer-bridge drain` (docs/leaving.md).
 */
import { join } from 'node:path';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { runFramework } from './framework.ts';
import { queuesIn, type StackOutputs } from './functions/stack-outputs.ts';
import { fetchOutputs, queuesClient, requireCredentials, type StackPlace, valuesOf } from './stack.ts';
import { frameworkArgs, stackOptions } from './stack-options.ts';
import { helped, type Usage } from './stack-usage.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** A queue of the stack and what lies in it. */
export interface Filled {
  readonly name: string;
  readonly messages: number;
  /** Whether an object waits for what lies there. */
  readonly awaited: boolean;
}

/**
 * Counts what lies in the stack's queues, seen or unseen: in all that are deployed, whether or not the values still name them.
 * SQS counts approximately, and up to a minute late.
 */
async function filledQueues(sqs: SQSClient, outputs: StackOutputs): Promise<readonly Filled[]> {
  const counted = queuesIn(outputs).map(async ({ name, url, awaited }) => ({
    ...{ name, awaited },
    messages: await messagesIn(sqs, url),
  }));
  return (await Promise.all(counted)).filter(({ messages }) => messages > 0);
}

async function messagesIn(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

/** What is removed, and how. */
export interface RemoveRequest extends StackPlace {
  readonly sqs: SQSClient;
  /** A person's word that what lies in the queues may be lost. */
  readonly discardMessages: boolean;
  readonly say: (text: string) => void;
}

/** Looks into the queues and removes the stack; returns the exit code, 1 while something lies there that is waited for. */
export async function removeFunctions(request: RemoveRequest): Promise<number> {
  const { deployed, serviceDir, env, sqs, discardMessages, say } = request;
  const values = valuesOf(request);
  const stack = `${values.service}-${values.stage}`;
  const filled = await filledQueues(sqs, await fetchOutputs(request));
  for (const { name, messages, awaited } of filled) {
    const what = awaited ? 'objects in the cluster wait for them' : 'they are lost with it';
    say(`${name}: about ${messages} messages; ${what}\n`);
  }
  if (filled.some(({ awaited }) => awaited) && !discardMessages) {
    say(
      `${stack} stays. Drain the clusters first (docs/leaving.md), or say --discard-messages: then those objects stay\n`,
    );
    say('in Terminating until their rules are drained or they are released.\n');
    return 1;
  }
  say(
    `Removing ${stack} from ${values.region}: functions, roles, queues, logs, and the bucket of deployment artefacts\n`,
  );
  const place = { cwd: serviceDir, say, ...(env === undefined ? {} : { env }) };
  return (await runFramework(['remove', ...frameworkArgs(deployed)], place)).code;
}

/** Text of --help. */
const USAGE: Usage = {
  command: 'remove',
  does: [
    'Takes the stack of the functions away, unless something lies in a queue that an object in a cluster waits for.',
    'Before it: finalizer-bridge drain, in every cluster (docs/leaving.md).',
  ],
  own: { '--discard-messages': 'also while something lies there: then those objects stay in Terminating' },
};

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (helped(args, USAGE)) return 0;
  const { deployed, has } = stackOptions(args, { flags: ['discard-messages'] });
  const place = { deployed, serviceDir: root };
  const sqs = queuesClient(valuesOf(place).region);
  await requireCredentials(sqs);
  const say = (text: string) => void process.stderr.write(text);
  return await removeFunctions({ ...place, sqs, discardMessages: has('discard-messages'), say });
}

if (import.meta.main) await runEntry(main);
