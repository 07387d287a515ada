/*
 * What Lambda calls. Builds configuration, clock, clients and log once per cold start, then hands each batch to dispatch.
 * A function's bundle is a module that calls createEntry with its one handler, so nothing of another handler is loaded.
 */
import { clientInput, FUNCTION_PATIENCE } from './client-input.ts';
import { systemClock } from './clock.ts';
import { type Config, type Environment, readConfig, xrayTraceId } from './config.ts';
import { createDispatch } from './dispatch.ts';
import type { Handler } from './handler.ts';
import { batchResponse, type LambdaContext, type LambdaHandler, readEvent } from './lambda-event.ts';
import { createLog } from './log.ts';
import type { Clock, Random } from './ports.ts';
import { askSqs, queueUrlOf, sqsQueue } from './sqs.ts';

export type { LambdaContext, LambdaHandler } from './lambda-event.ts';

/** The outside world, for tests and local systems; everything has its real default. */
export interface EntryOverrides {
  readonly environment?: Environment;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Takes one line of the log. */
  readonly write?: (line: string) => void;
}

/**
 * Makes the function of one handler. The configuration is read now, so a bad one stops the cold start.
 * @throws ConfigError with every fault and its path.
 */
export function createEntry(handler: Handler, overrides: EntryOverrides = {}): LambdaHandler {
  const config = readConfig(handler, overrides.environment);
  const clock = overrides.clock ?? systemClock;
  const write = overrides.write ?? ((line) => process.stdout.write(`${line}\n`));
  const log = createLog({ level: config.logLevel, now: clock.now, write, fields: { handler: handler.name } });
  const random = overrides.random ?? Math.random;
  const ask = askSqs(config, { clock, random });
  return async (event, context) => {
    // Anything thrown from here on makes Lambda keep the whole batch, which is what a broken event deserves.
    const batch = readEvent(event, log);
    const { records } = batch;
    const [first] = records;
    if (first === undefined) return batchResponse(batch, []);
    const queueUrl = config.requestQueueUrl ?? queueUrlOf(first.eventSourceARN, config);
    const dispatch = createDispatch({
      ...{ handler, config, clock, random },
      queue: sqsQueue(ask, queueUrl),
      log: log.with({ awsRequestId: context.awsRequestId, xrayTraceId: xrayTraceId(overrides.environment) }),
      aws: (service, region) => clientInput(region, config.endpoints[service], FUNCTION_PATIENCE),
    });
    const endsAt = clock.now() + context.getRemainingTimeInMillis();
    return batchResponse(batch, await dispatch(records, { endsAt, account: ownAccount(config, context) }));
  };
}

function ownAccount(config: Config, { invokedFunctionArn }: LambdaContext): string {
  const account = config.account ?? invokedFunctionArn.split(':')[4];
  if (account === undefined || account === '') {
    throw new Error(`reading the function's own account: ${invokedFunctionArn} names none`);
  }
  return account;
}
