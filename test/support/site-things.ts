/*
 * Objects of any kind in the hands of a test, by their API path: made, changed, deleted and read, with what the bridge
 * writes on them for people and the words that people write for the bridge. Used over a site by tests that are about
 * Kubernetes rather than about buckets in the cloud.
 */
import { z } from 'zod/mini';
import type { PatchOperation } from '../../bridge/ports.ts';
import { eventually } from './eventually.ts';
import { askOf, eventsAbout, type LiveObject, liveObject, recordOf } from './live-objects.ts';
import type { TestSite } from './site.ts';

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
  const ask = askOf({ admin });
  async function read({ path, uid }: Thing): Promise<LiveObject | undefined> {
    const { status, body } = await admin.request('GET', path);
    const object = status === 404 ? undefined : z.parse(liveObject, body);
    return object?.metadata.uid === uid ? object : undefined;
  }

  async function found(thing: Thing): Promise<LiveObject> {
    const object = await read(thing);
    if (object === undefined) throw new Error(`reading ${thing.path}: it is gone`);
    return object;
  }

  async function create(collection: string, manifest: object): Promise<Thing> {
    const { name, uid } = z.parse(liveObject, await ask('POST', collection, manifest)).metadata;
    return { path: `${collection}/${name}`, name, uid };
  }

  const merge = async ({ path }: Thing, metadata: object) =>
    void (await ask('PATCH', path, { metadata }, 'application/merge-patch+json'));

  const has = async (thing: Thing, rule: string) =>
    (await read(thing))?.metadata.finalizers.includes(entryOf(rule)) ?? false;

  const record = async (thing: Thing, rule: string) => recordOf(await read(thing), rule);

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
    events: ({ uid }: { readonly uid: string }) => eventsAbout(ask, uid),
  };
}
