/*
 * CloudWatch alarms, as CloudFormation resources: functions that fail or ignore requests, results that no bridge takes, dead
 * letters. Called by dead-letters. Each names in its description what to look at; they notify the SNS topic of the values (`alarms.topicArn`), and without one only show in CloudWatch.
 */
import { METRICS_NAMESPACE } from '../../functions/log.ts';
import type { DeadLetterNames, HandlerNames, QueueNames } from './names.ts';
import type { Resources, Value } from './queues.ts';

const PERIOD_SECONDS = 300;
/** The dead-letter function takes a letter within seconds; one that lies this long is not being taken. */
const LYING_SECONDS = 3600;
/** A bridge takes a result within a second; another leads within half a minute. */
const WAITING_SECONDS = 900;

/** A handler that is deployed, as far as alarms need it. */
export interface AlarmedHandler {
  readonly handler: { readonly name: string };
  readonly names: HandlerNames;
}

/** What alarms are made from. */
export interface AlarmInput {
  readonly names: DeadLetterNames;
  readonly units: readonly AlarmedHandler[];
  readonly queues: readonly QueueNames[];
  readonly resultQueueIds: readonly string[];
  readonly topicArn: string | undefined;
}

/** Two alarms per handler, one per result queue, and those about dead letters. */
export function alarmResources(input: AlarmInput): Resources {
  const made: Make = (id, description, metric) => ({ [id]: alarm(description, metric, input.topicArn) });
  return Object.assign(
    deadLetterAlarms(input, made),
    ...input.units.map((unit) => handlerAlarms(unit, made)),
    ...input.resultQueueIds.map((id) =>
      made(`${id}WaitingAlarm`, `Results lie in ${id} and no bridge takes them`, ageOf(id, WAITING_SECONDS)),
    ),
  );
}

type Make = (id: string, description: string, metric: Metric) => Resources;

function handlerAlarms({ handler, names }: AlarmedHandler, made: Make): Resources {
  const { name } = handler;
  const id = names.roleId.replace(/Role$/, '');
  return {
    ...made(
      `${id}FailingAlarm`,
      `The function of ${name} fails, does not start or runs out of time: see the log of ${names.function}`,
      { ...ofFunction(names.function, 'Errors'), Statistic: 'Sum', Threshold: 0 },
    ),
    ...made(
      `${id}IgnoringAlarm`,
      `Requests for ${name} get no answer, as their sender is not known or they are none: see the log of ${names.function}`,
      {
        ...{ Namespace: METRICS_NAMESPACE, MetricName: 'RequestsIgnored', Statistic: 'Sum', Threshold: 0 },
        Dimensions: [{ Name: 'handler', Value: name }],
      },
    ),
  };
}

function ofFunction(name: string, MetricName: string) {
  return { Namespace: 'AWS/Lambda', MetricName, Dimensions: [{ Name: 'FunctionName', Value: name }] };
}

function ageOf(queueId: string, Threshold: number): Metric {
  return {
    ...{ Namespace: 'AWS/SQS', MetricName: 'ApproximateAgeOfOldestMessage', Statistic: 'Maximum', Threshold },
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queueId, 'QueueName'] } }],
  };
}

/** For the arrival of dead letters, for their function's own failures, and one per dead-letter queue. */
function deadLetterAlarms({ names, queues }: AlarmInput, made: Make): Resources {
  return {
    ...made(
      'DeadLettersArrivedAlarm',
      `Dead letters have arrived: see the log of ${names.function} for which, and the queue ${names.archive} for their bodies`,
      { ...ofFunction(names.function, 'Invocations'), Statistic: 'Sum', Threshold: 0 },
    ),
    ...made(
      'DeadLettersFailingAlarm',
      `The dead-letter function fails: see the log of ${names.function}; dead letters stay in their queues meanwhile`,
      { ...ofFunction(names.function, 'Errors'), Statistic: 'Sum', Threshold: 0 },
    ),
    ...Object.assign(
      {},
      ...queues.map(({ deadLetters, deadLettersId }) =>
        made(
          `${deadLettersId}LyingAlarm`,
          `Dead letters lie in ${deadLetters} and are not taken by ${names.function}`,
          ageOf(deadLettersId, LYING_SECONDS),
        ),
      ),
    ),
  };
}

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: Value }[];
  readonly Statistic: 'Sum' | 'Maximum';
  readonly Threshold: number;
}

function alarm(AlarmDescription: string, metric: Metric, topicArn: string | undefined) {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmDescription,
      ...metric,
      Period: PERIOD_SECONDS,
      EvaluationPeriods: 1,
      ComparisonOperator: 'GreaterThanThreshold',
      // No data means that nothing happened.
      TreatMissingData: 'notBreaching',
      ...(topicArn === undefined ? {} : { AlarmActions: [topicArn], OKActions: [topicArn] }),
    },
  };
}
