/*
 * What Lambda calls for dead letters. Configuration, clock, clients and log are made once per cold start; each batch goes
 * to dead-letter.ts. One function for the dead-letter queues of all handlers and clusters, with no right on anything else.
 */
import { systemClock } from './clock.ts';
import { readDeadLetterConfig, xrayTraceId } from './config.ts';
import { handleDeadLetters } from './dead-letter.ts';
import type { EntryOverrides } from './entry.ts';
import { batchResponse, type LambdaHandler, readEvent } from './lambda-event.ts';
import { createLog } from './log.ts';
import { askSqs, sqsQueue } from './sqs.ts';

/** Kept back of an invocation's time, so that the response gets out. */
const ENDS_MS = 2_000;

/**
 * Makes the function. The configuration is read now, so a bad one stops the cold start.
 * @throws ConfigError with every fault and its path.
 */
export function createDeadLetterEntry(overrides: EntryOverrides = {}): LambdaHandler {
  const config = readDeadLetterConfig(overrides.environment);
  const clock = overrides.clock ?? systemClock;
  const write = overrides.write ?? ((line) => process.stdout.write(`${line}\n`));
  const log = createLog({ level: config.logLevel, now: clock.now, write, fields: {} });
  const random = overrides.random ?? Math.random;
  const queue = sqsQueue(askSqs(config, { clock, random }), config.archiveQueueUrl);
  return async (event, context) => {
    const batch = readEvent(event, log);
    const until = clock.now() + context.getRemainingTimeInMillis() - ENDS_MS;
    const about = { awsRequestId: context.awsRequestId, xrayTraceId: xrayTraceId(overrides.environment) };
    const ports = { queue, clock, random, log: log.with(about) };
    return batchResponse(batch, await handleDeadLetters(batch.records, { ...ports, config, until }));
  };
}
