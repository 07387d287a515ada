/*
 * The dead-letter function and what belongs to it: derived from the queues of all handlers and clusters. Called by service.
 * It takes from every dead-letter queue, keeps the bodies in the archive queue, and may answer in every result queue.
 */
import { CONFIG_VARIABLE } from '../../functions/config.ts';
import { type AlarmedHandler, alarmResources } from './alarms.ts';
import { clustersOf, reference } from './environment.ts';
import { DEAD_LETTERS, type DeadLetterNames, deadLetterNames, type QueueNames } from './names.ts';
import { archiveResources, arnOf, DEAD_LETTER_TIMEOUT_SECONDS, type Resources } from './queues.ts';
import { deadLetterRole } from './roles.ts';
import type { FunctionEntry } from './service.ts';
import type { Values } from './values.ts';

/** Messages per invocation; they are moved in one call. */
const BATCH_SIZE = 10;
/** Smallest that Lambda takes for an event source; letters are few. */
const MAXIMUM_CONCURRENCY = 2;

/** What the function is made from. */
export interface DeadLetterInput {
  readonly values: Values;
  /** Of all handlers that are deployed: what their functions are called, for the alarms. */
  readonly units: readonly AlarmedHandler[];
  /** Of all handlers and clusters: those whose dead-letter queues it takes from. */
  readonly queues: readonly QueueNames[];
  readonly resultQueueIds: readonly string[];
  /** Path of the function's zip. */
  readonly artifact: string;
}

/** The function as the framework takes it. */
export function deadLetterFunction({ values, queues, artifact }: DeadLetterInput): FunctionEntry {
  const names = deadLetterNames(values);
  return {
    name: names.function,
    description: 'Keeps dead letters for 14 days and tells their bridge',
    handler: 'index.handler',
    role: names.roleId,
    memorySize: 256,
    timeout: DEAD_LETTER_TIMEOUT_SECONDS,
    environment: { [CONFIG_VARIABLE]: { 'Fn::Sub': JSON.stringify(configuration(values, names)) } },
    package: { artifact },
    events: queues.map(({ deadLettersId }) => ({
      sqs: {
        arn: arnOf(deadLettersId),
        batchSize: BATCH_SIZE,
        maximumConcurrency: MAXIMUM_CONCURRENCY,
        functionResponseType: 'ReportBatchItemFailures',
      },
    })),
  };
}

function configuration(values: Values, { archiveId }: DeadLetterNames) {
  return { clusters: clustersOf(values, reference), archiveQueueUrl: `\${${archiveId}}` };
}

/** The function's role, the archive and the alarms. */
export function deadLetterResources({ values, units, queues, resultQueueIds }: DeadLetterInput): Resources {
  const names = deadLetterNames(values);
  const deadLetterQueueIds = queues.map(({ deadLettersId }) => deadLettersId);
  return {
    ...archiveResources(names, values.kmsKeyArn),
    [names.roleId]: deadLetterRole({ names, deadLetterQueueIds, resultQueueIds, kmsKeyArn: values.kmsKeyArn }),
    ...alarmResources({ names, units, queues, resultQueueIds, topicArn: values.alarms?.topicArn }),
  };
}

/** Says why a handler may not have the function's name; empty when none has. */
export function nameTaken(handlers: readonly string[]): readonly string[] {
  return handlers.includes(DEAD_LETTERS)
    ? [`the registered handler ${DEAD_LETTERS} has the name of the dead-letter function`]
    : [];
}
