/*
 * Topics in the shared cloud emulator, each with a queue that hears what is published, for end-to-end tests of sns-notify.
 * Every call makes and closes its own client.
 */
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { z } from 'zod/mini';
import type { CloudClient } from '../../infra/local/cloud.ts';

/** A topic, and the queue that subscribes to it. */
export interface HeardTopic {
  readonly topicArn: string;
  /** What was published since it was asked last, as texts. */
  heard(): Promise<readonly string[]>;
}

const envelope = z.object({ Message: z.string() });
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Makes a topic with tags, and a queue that subscribes to it. */
export async function makeTopic(
  { endpoint, region, accountId }: CloudClient,
  name: string,
  tags: Readonly<Record<string, string>> = {},
): Promise<HeardTopic> {
  const sns = new SNSClient({ endpoint, region, credentials });
  const sqs = new SQSClient({ endpoint, region, credentials });
  try {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: name, Tags }));
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
    const Endpoint = `arn:aws:sqs:${region}:${accountId}:${name}`;
    await sns.send(new SubscribeCommand({ TopicArn: topicArn, Protocol: 'sqs', Endpoint }));
    return { topicArn, heard: () => receiveAll({ endpoint, region }, QueueUrl ?? '') };
  } finally {
    sns.destroy();
    sqs.destroy();
  }
}

async function receiveAll(place: Pick<CloudClient, 'endpoint' | 'region'>, QueueUrl: string) {
  const sqs = new SQSClient({ ...place, credentials });
  const heard: string[] = [];
  try {
    for (;;) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      if (Messages.length === 0) return heard;
      heard.push(...Messages.map(({ Body = '' }) => envelope.parse(JSON.parse(Body)).Message));
    }
  } finally {
    sqs.destroy();
  }
}
