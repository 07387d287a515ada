/*
 * Runs functions as Lambda would: `node function-host.ts <configuration file>` loads each entry module and feeds its handler
 * export from its queue. Prints one JSON line when all are polling; on SIGTERM it finishes what is in work and ends.
 * Started by function-process; a process of its own, so that it can be killed at any point.
 */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod/mini';
import { realClock } from '../../bridge/clock.ts';
import { createSqsClient } from '../../bridge/sqs-client.ts';
import { type EventSource, type InvocationReport, startEventSource } from './event-source.ts';

const hostedFunction = z.object({
  /** As Lambda would name it. */
  functionName: z.string(),
  /** Path of the module that Lambda would load: a source or a bundle. */
  entry: z.string(),
  queueUrl: z.string(),
  queueArn: z.string(),
  /** Of SQS. */
  endpoint: z.string(),
  batchSize: z.int().check(z.gte(1), z.lte(10)),
  functionTimeoutMs: z.int().check(z.positive()),
  concurrency: z.int().check(z.positive()),
});
const configuration = z.object({
  functions: z.array(hostedFunction).check(z.minLength(1)),
  /** No lines of the host's own about invocations. */
  isQuiet: z.optional(z.boolean()),
});

/** What the host is told. */
export type HostConfiguration = z.input<typeof configuration>;

type Handler = Parameters<typeof startEventSource>[0]['invoke'];

async function load(entry: string): Promise<Handler> {
  const module: Record<string, unknown> = await import(pathToFileURL(entry).href);
  // CommonJS bundles show their exports as members of the default export, depending on how they were written.
  const inner = z.safeParse(z.looseObject({}), module.default).data;
  const found = module.handler ?? inner?.handler;
  if (!isHandler(found)) throw new Error(`loading ${entry}: it exports no function handler`);
  return found;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

function told(name: string): Pick<Parameters<typeof startEventSource>[0], 'onBegin' | 'onInvocation'> {
  return {
    onBegin: (messageIds) => say({ function: name, kind: 'begins', messageIds }),
    onInvocation: (one) => report(name, one),
  };
}

function report(name: string, { outcome, requestId, messageIds, durationMs }: InvocationReport): void {
  const detail = outcome.kind === 'threw' ? { ...outcome, error: String(outcome.error) } : outcome;
  say({ function: name, requestId, messageIds, durationMs, ...detail });
}

function say(line: object): void {
  console.error(JSON.stringify({ time: new Date().toISOString(), ...line }));
}

async function main(path: string): Promise<void> {
  const { functions, isQuiet = false } = z.parse(configuration, JSON.parse(await readFile(path, 'utf8')));
  const sources: EventSource[] = [];
  for (const { entry, endpoint, ...mapping } of functions) {
    const invoke = await load(entry);
    const { functionName, queueArn } = mapping;
    // Credentials come from the standard AWS variables, as on Lambda.
    const client = createSqsClient({ region: queueArn.split(':')[3] ?? '', endpoint, clock: realClock });
    const onError = (error: unknown) => console.error(JSON.stringify({ function: functionName, error: String(error) }));
    sources.push(
      startEventSource({
        ...{ ...mapping, client, invoke, onError },
        ...(isQuiet ? {} : told(functionName)),
      }),
    );
  }
  process.once('SIGTERM', () => {
    void Promise.all(sources.map((source) => source.stop(4000))).finally(() => process.exit(0));
  });
  console.log(JSON.stringify({ ready: functions.map((one) => one.functionName) }));
}

if (import.meta.main) await main(process.argv[2] ?? '');
