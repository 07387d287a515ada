/*
 * Tells people that an object is going, by one message to an SNS topic. Called by run.ts for each request.
 *
 * It takes nothing down. `gone` with the evidence `deleted` means that SNS has taken the message and named it, so that a rule
 * which waits for the entry of this one goes on when people have been told, and never before: a topic that is not there is
 * refused, not gone. The topic stands where a target stands elsewhere: its tags are read, the rule's ownership is proven by
 * them or is `none`, and a topic with the keep tag is left alone. Telling twice is harmless: every message of one deletion
 * and rule has the same id, and a FIFO topic drops the second within its five minutes.
 */
import { ListTagsForResourceCommand, PublishCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod/mini';
import { type Outcome, sha256Hex } from '../../bridge/contract.ts';
import type { ErrorTable } from '../aws-errors.ts';
import type { Allow } from '../config.ts';
import { defineHandler, gone, pending, refused, type TeardownContext } from '../handler.ts';
import { notKept, tagsFrom } from '../ownership.ts';
import { accountSchema, arnPartition, regionSchema } from '../places.ts';

const targetSchema = z.strictObject({
  topicArn: z.string().check(z.refine(isTopicArn, 'not the ARN of an SNS topic')),
});
const optionsSchema = z.strictObject({});

type Context = TeardownContext<z.output<typeof targetSchema>, z.output<typeof optionsSchema>, SNSClient>;

/** Longest subject that SNS takes, in characters. */
const SUBJECT_MAX = 99;

/** Codes of the calls below, see the API reference. A topic that is not there is refused: nobody was told. */
export const snsErrors: ErrorTable = {
  'sns:ListTagsForResource': {
    ResourceNotFound: { means: 'refused', reason: 'TopicNotFound' },
    InvalidParameter: { means: 'refused', reason: 'InvalidRequest' },
  },
  'sns:Publish': {
    NotFound: { means: 'refused', reason: 'TopicNotFound' },
    InvalidParameter: { means: 'refused', reason: 'InvalidRequest' },
    KMSAccessDenied: { means: 'refused', reason: 'KeyUnusable' },
    KMSDisabled: { means: 'refused', reason: 'KeyUnusable' },
    KMSInvalidState: { means: 'refused', reason: 'KeyUnusable' },
    KMSNotFound: { means: 'refused', reason: 'KeyUnusable' },
    KMSOptInRequired: { means: 'refused', reason: 'KeyUnusable' },
    KMSThrottling: { means: 'again', reason: 'Throttled' },
  },
  '*': {
    Throttled: { means: 'again', reason: 'Throttled' },
    AuthorizationError: { means: 'again', reason: 'AccessDenied' },
  },
};

/** The handler `sns-notify`: target {topicArn}, no options. */
export const snsNotify = defineHandler({
  name: 'sns-notify',
  version: '1.0.0',
  target: targetSchema,
  options: optionsSchema,
  errors: snsErrors,
  // Two quick calls a run.
  limits: { timeBudgetSeconds: 60, batchSize: 10, memoryMb: 256, maximumConcurrency: 10 },
  // Nothing here is believed to be absent, so a topic of another account cannot be mistaken for one.
  crossAccount: true,
  absence: 'refused',
  permissions: [
    { actions: ['sns:ListTagsForResource'], resources: topicArns },
    { actions: ['sns:Publish'], resources: topicArns, condition: notKept },
  ],
  identity: ({ topicArn }) => {
    const { name, account, region } = partsOf(topicArn);
    return { names: [name], place: { account, region } };
  },
  service: 'sns',
  connect: (input) => new SNSClient(input),
  teardown,
});

function topicArns({ accounts, regions, names }: Allow): readonly string[] {
  return accounts.flatMap((account) =>
    regions.flatMap((region) => names.map((name) => `arn:${arnPartition(region)}:sns:${region}:${account}:${name}`)),
  );
}

async function teardown(context: Context): Promise<Outcome> {
  const { target, calls, client, region, log } = context;
  const { topicArn } = target;
  const sns = client(region);
  const found = await calls.look('sns:ListTagsForResource', (options) =>
    sns.send(new ListTagsForResourceCommand({ ResourceArn: topicArn }), options),
  );
  if (found.means !== 'done')
    return refused({ reason: found.reason, message: `looking at ${topicArn}: ${found.code}` });
  const verdict = calls.prove(tagsFrom(found.value.Tags));
  if (!verdict.owned) return refused({ reason: verdict.reason, message: `${topicArn}: ${verdict.message}` });
  const told = await calls.destroy('sns:Publish', (options) =>
    sns.send(new PublishCommand(noticeOf(context)), options),
  );
  if (told.means !== 'done') return refused({ reason: told.reason, message: `telling ${topicArn}: ${told.code}` });
  const { MessageId } = told.value;
  if (MessageId === undefined || MessageId === '') {
    return pending({ reason: 'NotConfirmed', message: `telling ${topicArn}: the answer names no message` });
  }
  log.info('people were told', { topicArn, messageId: MessageId });
  return gone('deleted');
}

/** What people and programs read; the id is the same for every message of this deletion under this rule. */
function noticeOf({ target, request }: Context): PublishCommandInput {
  const { cluster, rule, object } = request;
  const { apiVersion, kind, namespace, name, uid, deletionTimestamp } = object;
  const id = `${uid}/${rule.name}`;
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  const text = `${kind} ${place} is being deleted in cluster ${cluster.name ?? cluster.uid}.`;
  const notice = {
    type: 'dev.finalizer-bridge.notice.v1',
    ...{ id, text, cluster, rule: rule.name },
    object: { apiVersion, kind, namespace, name, uid, deletionTimestamp },
  };
  const attributes = { cluster: cluster.uid, rule: rule.name, kind, namespace: namespace ?? '' };
  const fifo = { MessageGroupId: uid, MessageDeduplicationId: sha256Hex(id) };
  return {
    TopicArn: target.topicArn,
    Subject: `Deletion of ${kind} ${place}`.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, SUBJECT_MAX),
    Message: JSON.stringify(notice, undefined, 2),
    // For filter policies of subscriptions; SNS takes no empty text.
    MessageAttributes: Object.fromEntries(
      Object.entries(attributes)
        .filter(([, value]) => value !== '')
        .map(([key, StringValue]) => [key, { DataType: 'String', StringValue }]),
    ),
    ...(target.topicArn.endsWith('.fifo') ? fifo : {}),
  };
}

function partsOf(arn: string) {
  const [prefix, partition, service, region = '', account = '', name = '', ...rest] = arn.split(':');
  return { prefix, partition, service, region, account, name, rest };
}

/** An ARN whose parts fit each other: partition and region, and nothing after the name, as of a subscription. */
function isTopicArn(text: string): boolean {
  const { prefix, partition, service, region, account, name, rest } = partsOf(text);
  const isPlace = regionSchema.safeParse(region).success && accountSchema.safeParse(account).success;
  const isTopic = prefix === 'arn' && service === 'sns' && partition === arnPartition(region) && rest.length === 0;
  return isPlace && isTopic && name.length <= 256 && /^[\w-]+(\.fifo)?$/.test(name);
}
