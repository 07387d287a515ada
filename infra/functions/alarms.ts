/*
 * CloudWatch alarms about dead letters, as CloudFormation resources. Called by service. Each names in its description what
 * to look at; they notify the SNS topic of the values (`alarms.topicArn`), and without one only show in CloudWatch.
 */
import type { DeadLetterNames, QueueNames } from './names.ts';
import type { Resources, Value } from './queues.ts';

const PERIOD_SECONDS = 300;
/** The dead-letter function takes a letter within seconds; one that lies this long is not being taken. */
const LYING_SECONDS = 3600;

/** What alarms are made from. */
export interface AlarmInput {
  readonly names: DeadLetterNames;
  readonly queues: readonly QueueNames[];
  readonly topicArn: string | undefined;
}

/** An alarm for the arrival of dead letters, one for the function's own failures, and one per dead-letter queue. */
export function alarmResources({ names, queues, topicArn }: AlarmInput): Resources {
  const ofFunction = (MetricName: string) => ({
    Namespace: 'AWS/Lambda',
    MetricName,
    Dimensions: [{ Name: 'FunctionName', Value: names.function }],
  });
  const made = (id: string, description: string, metric: Metric) => ({ [id]: alarm(description, metric, topicArn) });
  return {
    ...made(
      'DeadLettersArrivedAlarm',
      `Dead letters have arrived: see the log of ${names.function} for which, and the queue ${names.archive} for their bodies`,
      { ...ofFunction('Invocations'), Statistic: 'Sum', Threshold: 0 },
    ),
    ...made(
      'DeadLettersFailingAlarm',
      `The dead-letter function fails: see the log of ${names.function}; dead letters stay in their queues meanwhile`,
      { ...ofFunction('Errors'), Statistic: 'Sum', Threshold: 0 },
    ),
    ...Object.assign(
      {},
      ...queues.map(({ deadLetters, deadLettersId }) =>
        made(
          `${deadLettersId}LyingAlarm`,
          `Dead letters lie in ${deadLetters} and are not taken by ${names.function}`,
          {
            Namespace: 'AWS/SQS',
            MetricName: 'ApproximateAgeOfOldestMessage',
            Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [deadLettersId, 'QueueName'] } }],
            Statistic: 'Maximum',
            Threshold: LYING_SECONDS,
          },
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
