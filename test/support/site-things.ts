/*
 * Objects of any kind in the hands of a test, by their API path: made, changed, deleted and read, with what the bridge
 * writes on them for people and the words that people write for the bridge. Used over a site by tests that are about
 * Kubernetes rather than about buckets in the cloud.
 */
import { z } from 'zod/mini';
import type { PatchOperation } from '../../bridge/ports.ts';
import { recordKey } from '../../bridge/record.ts';
import { eventually } from './eventually.ts';
import type { TestSite } from './site.ts';

const text = z.record(z.string(), z.string());
const objectSchema = z.looseObject({
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
    z.object({ reason: z.string(), note: z.string(), regarding: z.object({ uid: z.optional(z.string()) }) }),
  ),
});

/** An object as the API server has it. */
export type LiveThing = z.output<typeof objectSchema>;

/** Made by a test. */
export interface Thing {
  readonly path: string;
  readonly name: string;
  readonly uid: string;
}

/** Labels or annotations; null takes one off. */
type Changes = Readonly<Record<string, string | null>>;

export const entryOf = (rule: string) => `finalizer-bridge.dev/${rule}`;

/** The verbs. */
export type Things = ReturnType<typeof thingsOf>;

/** The verbs, bound to a site. */
export function thingsOf({ admin, group, namespace }: Pick<TestSite, 'admin' | 'group' | 'namespace'>) {
  async function ask(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<unknown> {
    const answer = await admin.request(method, path, body, { contentType });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function read({ path, uid }: Thing): Promise<LiveThing | undefined> {
    const { status, body } = await admin.request('GET', path);
    const object = status === 404 ? undefined : z.parse(objectSchema, body);
    return object?.metadata.uid === uid ? object : undefined;
  }

  async function found(thing: Thing): Promise<LiveThing> {
    const object = await read(thing);
    if (object === undefined) throw new Error(`reading ${thing.path}: it is gone`);
    return object;
  }

  async function create(collection: string, manifest: object): Promise<Thing> {
    const { name, uid } = z.parse(objectSchema, await ask('POST', collection, manifest)).metadata;
    return { path: `${collection}/${name}`, name, uid };
  }

  const merge = async ({ path }: Thing, metadata: object) =>
    void (await ask('PATCH', path, { metadata }, 'application/merge-patch+json'));

  const has = async (thing: Thing, rule: string) =>
    (await read(thing))?.metadata.finalizers.includes(entryOf(rule)) ?? false;

  async function record(thing: Thing, rule: string): Promise<z.output<typeof recordSchema> | undefined> {
    const written = (await read(thing))?.metadata.annotations[recordKey(rule)];
    return written === undefined ? undefined : z.parse(recordSchema, JSON.parse(written));
  }

  return {
    ...{ ask, read, found, create, record, has },
    /** One of the site's own kind. */
    bucket: (name: string, metadata: object = {}, inNamespace = namespace): Promise<Thing> =>
      create(`/apis/${group}/v1/namespaces/${inNamespace}/buckets`, {
        apiVersion: `${group}/v1`,
        kind: 'Bucket',
        metadata: { name, ...metadata },
      }),
    namespace: async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<Thing> =>
      create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
    label: (thing: Thing, labels: Changes) => merge(thing, { labels }),
    annotate: (thing: Thing, annotations: Changes) => merge(thing, { annotations }),
    edit: async ({ path }: Thing, operations: readonly PatchOperation[]) =>
      void (await ask('PATCH', path, operations, 'application/json-patch+json')),
    /** As a controller that is done takes its own finalizer off. */
    free: async (thing: Thing, finalizer: string) => {
      const { finalizers, resourceVersion } = (await found(thing)).metadata;
      await merge(thing, { resourceVersion, finalizers: finalizers.filter((one) => one !== finalizer) });
    },
    /** As `kubectl delete --wait=false`; only this very object. */
    delete: async ({ path, uid }: Thing, options: object = {}) =>
      void (await ask('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, ...options })),
    finalizers: async (thing: Thing) => (await found(thing)).metadata.finalizers,
    claimed: (thing: Thing, rule: string, within?: number) =>
      eventually(`${thing.name} carries the entry of ${rule}`, () => has(thing, rule), within),
    unclaimed: (thing: Thing, rule: string, within?: number) =>
      eventually(`${thing.name} lost the entry of ${rule}`, async () => !(await has(thing, rule)), within),
    gone: (thing: Thing, within?: number) =>
      eventually(`${thing.name} is gone`, async () => (await read(thing)) === undefined, within),
    /** Resolves with the record once it says that reason. */
    says: (thing: Thing, rule: string, reason: string, within?: number) =>
      eventually(
        `${thing.name} says ${reason}`,
        async () => {
          const said = await record(thing, rule);
          return said?.reason === reason ? said : undefined;
        },
        within,
      ),
    /** The words of a person, for this deletion unless another uid is told. */
    release: (thing: Thing, rule: string, word = thing.uid) =>
      merge(thing, { annotations: { [`release.finalizer-bridge.dev/${rule}`]: word } }),
    approve: (thing: Thing, rule: string) =>
      merge(thing, { annotations: { [`approve.finalizer-bridge.dev/${rule}`]: thing.uid } }),
    retry: (thing: Thing, rule: string, word = 'again') =>
      merge(thing, { annotations: { [`retry.finalizer-bridge.dev/${rule}`]: `${thing.uid}/${word}` } }),
    /** The reasons of the Events about an object, with their notes. */
    events: async ({ uid }: Thing): Promise<readonly { readonly reason: string; readonly note: string }[]> => {
      const { items } = z.parse(eventList, await ask('GET', '/apis/events.k8s.io/v1/events'));
      return items.filter((event) => event.regarding.uid === uid).map(({ reason, note }) => ({ reason, note }));
    },
  };
}
