/*
 * Objects, records and Events as the API server has them, decoded: what the words of a test over a site are made of.
 * Used by site-things.ts and site-buckets.ts.
 */
import { z } from 'zod/mini';
import { recordKey } from '../../bridge/record.ts';
import type { TestSite } from './site.ts';

const text = z.record(z.string(), z.string());
export const liveObject = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    finalizers: z._default(z.array(z.string()), []),
    labels: z._default(text, {}),
    annotations: z._default(text, {}),
    deletionTimestamp: z.optional(z.string()),
    deletionGracePeriodSeconds: z.optional(z.int()),
  }),
});
const recordSchema = z.looseObject({ phase: z.string(), reason: z.string(), message: z.string() });
const eventList = z.object({
  items: z.array(
    z.object({
      ...{ type: z.string(), reason: z.string(), note: z.string() },
      regarding: z.object({ uid: z.optional(z.string()) }),
    }),
  ),
});

/** An object as the API server has it. */
export type LiveObject = z.output<typeof liveObject>;
/** What the bridge wrote down on an object. */
export type LiveRecord = z.output<typeof recordSchema>;

/** An Event about an object. */
export interface Told {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

/** Asks as the administrator; resolves with the body of an answer below 300. @throws Error with the answer otherwise */
export type Ask = (method: string, path: string, body?: unknown, contentType?: string) => Promise<unknown>;

/** Of a site. */
export function askOf({ admin }: Pick<TestSite, 'admin'>): Ask {
  return async (method, path, body, contentType = 'application/json') => {
    const answer = await admin.request(method, path, body, { contentType });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}

/** The record of a rule. */
export function recordOf(object: LiveObject | undefined, rule: string): LiveRecord | undefined {
  const written = object?.metadata.annotations[recordKey(rule)];
  return written === undefined ? undefined : z.parse(recordSchema, JSON.parse(written));
}

/** The Events about an object. */
export async function eventsAbout(ask: Ask, uid: string): Promise<readonly Told[]> {
  const { items } = z.parse(eventList, await ask('GET', '/apis/events.k8s.io/v1/events'));
  return items.filter((event) => event.regarding.uid === uid).map(({ type, reason, note }) => ({ type, reason, note }));
}
