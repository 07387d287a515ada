/*
 * What the tests of the functions share: requests as the bridge makes them, configurations, virtual time, a queue and a
 * log that remember. Data and small fakes only; nothing here decides anything.
 */
import * as z from 'zod/mini';
import {
  decodeResult,
  encodeRequest,
  makeRequest,
  type Outcome,
  type Request,
  type RequestInput,
  type Result,
} from '../../bridge/contract.ts';
import { type Config, type Configured, readConfig } from '../../functions/config.ts';
import type { QueueRecord } from '../../functions/dispatch.ts';
import { type AwsClientInput, defineHandler, type Handler, type TeardownContext } from '../../functions/handler.ts';
import type { EntryFault, Queue, SendEntry, VisibilityEntry } from '../../functions/ports.ts';
import { manualClock } from '../../functions/testing/clock.ts';

export { type ManualClock as VirtualClock, settled } from '../../functions/testing/clock.ts';
export { type MemoryLog, memoryLog } from '../../functions/testing/log.ts';

export const ACCOUNT = '123456789012';
export const REGION = 'eu-central-1';
export const CLUSTER = 'c1c1c1c1-0000-4000-8000-000000000001';
export const SENDER = 'AROABRIDGE';
export const UID = 'e7a4c1d2-0000-4000-8000-00000000aaaa';
export const OWNER_TAG = 'finalizer-bridge.dev/owner-uid';
export const RESULT_QUEUE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/results';
/** When the deletion of the usual object began. */
export const DELETED_AT = Date.parse('2030-01-01T00:00:00Z');
/** A while after that, long before its request expires. */
export const NOW = DELETED_AT + 60_000;
export const HOUR = 3_600_000;

/** The request of attempt 0 with a term of an hour, so it expires two hours after the deletion began. */
export function requestOf(changes: Partial<RequestInput> & { readonly namespace?: string | undefined } = {}): Request {
  const { namespace = 'team-a', ...input } = changes;
  return makeRequest({
    cluster: { uid: CLUSTER, name: 'test' },
    rule: { name: 'team-buckets', uid: 'f0000000-0000-4000-8000-000000000001' },
    handler: 'thing',
    path: '/apis/storage.example.com/v1/namespaces/team-a/buckets/logs',
    object: {
      apiVersion: 'storage.example.com/v1',
      kind: 'Bucket',
      resource: 'buckets',
      ...(namespace === '' ? {} : { namespace }),
      name: 'logs',
      uid: UID,
      creationTimestamp: new Date(DELETED_AT - 24 * HOUR).toISOString(),
      deletionTimestamp: new Date(DELETED_AT).toISOString(),
    },
    gracePeriodSeconds: 0,
    target: { name: 'team-a-logs', region: REGION, account: ACCOUNT },
    options: {},
    ownership: { tags: { [OWNER_TAG]: UID } },
    attempt: 0,
    term: HOUR,
    ...input,
  });
}

/** A received message. */
export function recordOf(request: Request | string, changes: Partial<QueueRecord> = {}): QueueRecord {
  const body = typeof request === 'string' ? request : encodeRequest(request);
  const messageId = changes.messageId ?? 'm-1';
  return {
    ...{ messageId, receiptHandle: `receipt of ${messageId}`, body, senderId: `${SENDER}:bridge`, receiveCount: 1 },
    ...changes,
  };
}

/** A configuration as it stands in the environment, before it is read. */
export function rawConfig(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    handler: 'thing',
    region: REGION,
    clusters: [{ uid: CLUSTER, sender: SENDER, resultQueueUrl: RESULT_QUEUE }],
    allow: { accounts: [ACCOUNT], regions: [REGION], names: ['team-a-*'] },
    logLevel: 'silent',
    ...changes,
  };
}

/** A handler that has no settings of its own, as its configuration is read. */
export const configured = (name: string, dangerous: readonly string[] = []): Configured => ({
  ...{ name, dangerous, schemas: { settings: z.strictObject({}) } },
});

/** The same, read. */
export function configOf(changes: Readonly<Record<string, unknown>> = {}): Config {
  const raw = rawConfig(changes);
  return readConfig(configured(String(raw.handler), ['force']), { FINALIZER_BRIDGE_CONFIG: JSON.stringify(raw) });
}

const thingTarget = z.strictObject({ name: z.string(), region: z.string(), account: z.string() });
const thingOptions = z.strictObject({ gently: z.optional(z.boolean()), force: z.optional(z.boolean()) });
/** The context of the handler `thing`. */
export type ThingContext = TeardownContext<z.output<typeof thingTarget>, z.output<typeof thingOptions>, string>;

/** A handler that does what the test says. */
export function thing(
  teardown: (context: ThingContext) => Promise<Outcome>,
  changes: { readonly crossAccount?: boolean; readonly batchSize?: number; readonly timeBudgetSeconds?: number } = {},
): Handler {
  const { crossAccount = false, batchSize = 10, timeBudgetSeconds = 270 } = changes;
  return defineHandler({
    name: 'thing',
    version: '1.2.3',
    target: thingTarget,
    options: thingOptions,
    dangerous: ['force'],
    permissions: [],
    limits: { batchSize, timeBudgetSeconds },
    crossAccount,
    identity: ({ name, account, region }) => ({ names: [name], place: { account, region } }),
    service: 'thing',
    connect: (input: AwsClientInput) => `client in ${input.region}`,
    teardown,
  });
}

export const virtualClock = (start = NOW) => manualClock(start);

/** A queue that remembers. */
export interface MemoryQueue extends Queue {
  readonly sent: { readonly queueUrl: string; readonly entries: readonly SendEntry[] }[];
  readonly visibilities: VisibilityEntry[];
  /** All results that were sent, decoded. */
  results(): readonly Result[];
}

export function memoryQueue(
  refuse: (entries: readonly SendEntry[], call: number) => readonly EntryFault[] = () => [],
): MemoryQueue {
  const sent: { readonly queueUrl: string; readonly entries: readonly SendEntry[] }[] = [];
  const visibilities: VisibilityEntry[] = [];
  return {
    sent,
    visibilities,
    async send(queueUrl, entries) {
      sent.push({ queueUrl, entries });
      return refuse(entries, sent.length);
    },
    async changeVisibility(entries) {
      visibilities.push(...entries);
    },
    results: () =>
      sent.flatMap(({ entries }) =>
        entries.map(({ body }) => {
          const decoded = decodeResult(body);
          if (!decoded.ok) throw new Error(`reading a sent result: ${decoded.failure} ${decoded.detail}`);
          return decoded.message;
        }),
      ),
  };
}
