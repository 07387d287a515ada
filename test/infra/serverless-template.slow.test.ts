/*
 * What the framework compiles of serverless.yml, functions/registry.ts and a values file: the CloudFormation template,
 * asserted as it would be deployed. The bundles that go with it are tested in serverless-artefacts.slow.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { CLOCK_SKEW_MS, TERM_MAX_MS } from '../../bridge/contract.ts';
import { readConfig, readDeadLetterConfig } from '../../functions/config.ts';
import { backOffSeconds } from '../../functions/visibility.ts';
import {
  getArn,
  handlers,
  idOf,
  type PackagedService,
  PRODUCTION,
  packageService,
  resultQueues,
  STAGING,
  twoClusters,
  urlOf,
  withAlarms,
} from '../support/packaged-service.ts';

let service: PackagedService;
const properties = (id: string) => service.properties(id);
const ofType = (type: string) => service.ofType(type);
/** How logical ids of the dead-letter function begin. */
const LETTERS = 'DeadDashletters';
const deadLetterQueues = () => ofType('AWS::SQS::Queue').filter((id) => id.endsWith('DeadLetterQueue'));

beforeAll(async () => {
  service = await packageService({ values: withAlarms(twoClusters), bundled: false });
}, 600_000);
afterAll(() => service?.remove());

describe('the packaged service', () => {
  it('has one function, one event source, one role and two queues per registered handler, two queues per cluster', () => {
    const all = [...handlers.map(({ id }) => id), LETTERS];
    expect(handlers.length).toBeGreaterThan(1);
    expect(ofType('AWS::Lambda::Function')).toEqual(all.map((id) => `${id}LambdaFunction`).sort());
    expect(ofType('AWS::Lambda::EventSourceMapping')).toHaveLength(handlers.length + deadLetterQueues().length);
    expect(ofType('AWS::IAM::Role')).toEqual(all.map((id) => `${id}Role`).sort());
    const queues = [...handlers.map(({ id }) => `${id}Request`), `Result${idOf(PRODUCTION)}`, `Result${idOf(STAGING)}`];
    expect(ofType('AWS::SQS::Queue')).toEqual(
      [...queues.flatMap((id) => [`${id}DeadLetterQueue`, `${id}Queue`]), `${LETTERS}ArchiveQueue`].sort(),
    );
    expect(ofType('AWS::IAM::Policy')).toEqual([]);
  });

  it.each(handlers)('runs $name on arm64 and nodejs24.x within its own limits and under its own role', (handler) => {
    expect(properties(`${handler.id}LambdaFunction`)).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      FunctionName: `finalizer-bridge-dev-${handler.name}`,
      MemorySize: handler.limits.memoryMb,
      Timeout: handler.limits.timeBudgetSeconds + 30,
      Role: getArn(`${handler.id}Role`),
    });
    // Lambda would take up to 900; the design has five minutes.
    expect(handler.limits.timeBudgetSeconds).toBeLessThanOrEqual(270);
  });

  it.each(handlers)('shows a message of $name again only after six times its time-out (Q1)', ({ id }) => {
    const timeout = Number(properties(`${id}LambdaFunction`)?.Timeout);
    expect(properties(`${id}RequestQueue`)?.VisibilityTimeout).toBe(6 * timeout);
  });

  it.each(handlers)('lets throttled polls of $name use up no messages (Q4)', ({ id, limits }) => {
    expect(properties(`${id}EventSourceMappingSQS${id}RequestQueue`)).toMatchObject({
      ScalingConfig: { MaximumConcurrency: limits.maximumConcurrency },
    });
    expect(properties(`${id}RequestQueue`)?.RedrivePolicy).toEqual({
      deadLetterTargetArn: getArn(`${id}RequestDeadLetterQueue`),
      maxReceiveCount: 1000,
    });
  });

  it.each(handlers)(
    'feeds $name from its own queue and believes its partial batch responses (F3)',
    ({ id, limits }) => {
      expect(properties(`${id}EventSourceMappingSQS${id}RequestQueue`)).toMatchObject({
        EventSourceArn: getArn(`${id}RequestQueue`),
        FunctionName: getArn(`${id}LambdaFunction`),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BatchSize: limits.batchSize,
        Enabled: true,
      });
    },
  );

  it('keeps dead letters for 14 days, longer than any source keeps its messages (Q7)', () => {
    const sources = ofType('AWS::SQS::Queue').filter((id) => !/(DeadLetter|Archive)Queue$/.test(id));
    for (const id of sources) {
      const deadLetters = id.replace(/Queue$/, 'DeadLetterQueue');
      expect(properties(deadLetters)?.MessageRetentionPeriod).toBe(14 * 24 * 3600);
      expect(Number(properties(id)?.MessageRetentionPeriod)).toBeLessThanOrEqual(12 * 24 * 3600);
      expect(properties(id)?.RedrivePolicy).toMatchObject({ deadLetterTargetArn: getArn(deadLetters) });
      const source = `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${properties(id)?.QueueName}`;
      expect(properties(deadLetters)?.RedriveAllowPolicy).toEqual({
        redrivePermission: 'byQueue',
        sourceQueueArns: [{ 'Fn::Sub': source }],
      });
    }
  });

  it.each(handlers)('lets nothing in the queue of $name end unsaid that its function sees (P7, Q7)', ({ id }) => {
    const { MessageRetentionPeriod, RedrivePolicy } = properties(`${id}RequestQueue`) ?? {};
    const { maxReceiveCount } = z.object({ maxReceiveCount: z.number() }).parse(RedrivePolicy);
    const retentionMs = Number(MessageRetentionPeriod) * 1000;
    // What cannot be read fails at once, and comes again after the longest pause: at last it is a dead letter.
    const receives = Array.from({ length: maxReceiveCount }, (_, at) => at + 1);
    const pauses = receives.reduce((sum, receive) => sum + backOffSeconds(receive, () => 1), 0);
    expect(pauses * 1000).toBeLessThan(retentionMs);
    // A request whose handler fails each time is answered once it has expired.
    const lifeMs = 2 * TERM_MAX_MS + CLOCK_SKEW_MS;
    expect(lifeMs + backOffSeconds(maxReceiveCount, () => 1) * 1000).toBeLessThan(retentionMs);
  });

  it('feeds the dead-letter function from every dead-letter queue, and keeps bodies for 14 days (Q7)', () => {
    const { Timeout } = properties(`${LETTERS}LambdaFunction`) ?? {};
    expect(properties(`${LETTERS}ArchiveQueue`)?.MessageRetentionPeriod).toBe(14 * 24 * 3600);
    for (const id of deadLetterQueues()) {
      expect(properties(`${LETTERS}EventSourceMappingSQS${id}`), id).toMatchObject({
        EventSourceArn: getArn(id),
        FunctionName: getArn(`${LETTERS}LambdaFunction`),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
      expect(properties(id)?.VisibilityTimeout, id).toBe(6 * Number(Timeout));
    }
    const config = readDeadLetterConfig(service.environment('dead-letters'));
    expect(config.archiveQueueUrl).toBe(urlOf(`${LETTERS}ArchiveQueue`));
    expect(config.clusters.map(({ uid, resultQueueUrl }) => [uid, resultQueueUrl])).toEqual(
      [PRODUCTION, STAGING].map((uid, index) => [uid, urlOf(resultQueues[index] ?? '')]),
    );
  });

  const alarmsOn = (about: string) =>
    ofType('AWS::CloudWatch::Alarm')
      .map((id) => properties(id))
      .filter((alarm) => JSON.stringify(alarm?.Dimensions).includes(about))
      .map((alarm) => alarm?.MetricName);

  it('tells its alarms to the topic of the values, each with what to look at', () => {
    const alarms = ofType('AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(2 * handlers.length + resultQueues.length + 2 + deadLetterQueues().length);
    for (const id of alarms) {
      expect(properties(id), id).toMatchObject({
        AlarmDescription: expect.stringMatching(/finalizer-bridge-dev-|Results lie in /),
        ComparisonOperator: 'GreaterThanThreshold',
        AlarmActions: ['arn:aws:sns:eu-west-1:111122223333:platform-alarms'],
        OKActions: ['arn:aws:sns:eu-west-1:111122223333:platform-alarms'],
        TreatMissingData: 'notBreaching',
      });
    }
  });

  it('alarms when a dead letter arrives, when one lies in its queue, and when the function for them fails', () => {
    expect(alarmsOn('finalizer-bridge-dev-dead-letters').sort()).toEqual(['Errors', 'Invocations']);
    for (const id of deadLetterQueues()) expect(alarmsOn(`"${id}"`), id).toEqual(['ApproximateAgeOfOldestMessage']);
  });

  it.each(handlers)('alarms when the function of $name fails, and when it ignores requests (Q11)', ({ name }) => {
    expect(alarmsOn(`"finalizer-bridge-dev-${name}"`)).toEqual(['Errors']);
    expect(alarmsOn(JSON.stringify({ Name: 'handler', Value: name }))).toEqual(['RequestsIgnored']);
  });

  it('alarms when no bridge takes the results of a cluster', () => {
    for (const id of resultQueues) expect(alarmsOn(`"${id}"`), id).toEqual(['ApproximateAgeOfOldestMessage']);
  });

  it('encrypts every queue at rest and refuses plain text on every one', () => {
    for (const id of ofType('AWS::SQS::Queue')) {
      expect(properties(id)?.SqsManagedSseEnabled, id).toBe(true);
      expect(properties(`${id}Policy`), id).toMatchObject({
        Queues: [{ Ref: id }],
        PolicyDocument: {
          Statement: expect.arrayContaining([
            expect.objectContaining({
              Effect: 'Deny',
              Principal: '*',
              Action: 'sqs:*',
              Resource: getArn(id),
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          ]),
        },
      });
    }
  });

  it.each(handlers)('keeps the logs of $name for as long as the values say, in a group of its own', ({ id, name }) => {
    expect(properties(`${id}LogGroup`)).toEqual({
      LogGroupName: `/aws/lambda/finalizer-bridge-dev-${name}`,
      RetentionInDays: 30,
    });
  });

  it.each(handlers)('gives $name a configuration that it accepts, with the result queue of each cluster', (handler) => {
    const config = readConfig(handler, service.environment(handler.name));
    expect(config.clusters).toEqual(
      [PRODUCTION, STAGING].map((uid, index) => ({
        uid,
        sender: `AROAEXAMPLEBRIDGE000${index + 1}`,
        resultQueueUrl: urlOf(resultQueues[index] ?? ''),
      })),
    );
    expect(config.allow.accounts).toEqual(['111122223333']);
  });

  it('says in its outputs what the chart has to be told', () => {
    for (const { id } of handlers) {
      expect(service.outputs).toMatchObject({
        [`${id}RequestQueueUrl`]: { Ref: `${id}RequestQueue` },
        [`${id}RequestQueueArn`]: getArn(`${id}RequestQueue`),
        [`${id}RequestDeadLetterQueueUrl`]: { Ref: `${id}RequestDeadLetterQueue` },
        [`${id}RoleId`]: { 'Fn::GetAtt': [`${id}Role`, 'RoleId'] },
      });
    }
    for (const id of resultQueues) {
      expect(service.outputs).toMatchObject({ [`${id}Url`]: { Ref: id }, [`${id}Arn`]: getArn(id) });
    }
  });
});
