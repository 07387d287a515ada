/*
 * What a test does and looks at in the words of the matter: bucket objects in the API server, the buckets in the cloud
 * that they stand for, the words of a person, what the bridge writes for people. Used by end-to-end tests over a site.
 */
import {
  CreateBucketCommand,
  HeadBucketCommand,
  ListObjectVersionsCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { z } from 'zod/mini';
import type { PatchOperation } from '../../bridge/ports.ts';
import type { Record as BridgeRecord } from '../../bridge/record.ts';
import { LOCAL_REGION } from '../../infra/local/places.ts';
import { eventually } from './eventually.ts';
import { askOf, eventsAbout, type LiveObject, liveObject, recordOf } from './live-objects.ts';
import type { TestSite } from './site.ts';

export interface NewBucket {
  /** Whose entry it gets, `team` unless told. */
  readonly rule?: string;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Versions in the bucket, 2 unless told; `none`: there is no bucket in the cloud. */
  readonly versions?: number | 'none';
  /** False: the bucket carries no proof that it belongs to the object. */
  readonly owned?: boolean;
  /** Left out of the status. */
  readonly unnamed?: boolean;
  /** Does not wait for the bridge's entry. */
  readonly unclaimed?: boolean;
  readonly namespace?: string;
}

/** Made, and claimed by the bridge. */
export interface MadeBucket {
  readonly name: string;
  readonly uid: string;
  /** In the cloud. */
  readonly bucket: string;
}

const OWNER_TAG = 'finalizer-bridge.dev/owner-uid';

/** The verbs of a site. */
export type Buckets = ReturnType<typeof bucketsOf>;

/** The verbs, bound to a site. Names of objects are unique in a site, whatever their namespace. */
export function bucketsOf(site: TestSite) {
  const { admin, s3, group } = site;
  const ask = askOf(site);
  const namespaces = new Map<string, string>();
  const collection = (name: string) => `/apis/${group}/v1/namespaces/${namespaces.get(name) ?? site.namespace}/buckets`;
  const path = (name: string) => `${collection(name)}/${name}`;
  const entry = (rule = 'team') => `finalizer-bridge.dev/${rule}`;

  async function read(name: string): Promise<LiveObject | undefined> {
    const { status, body } = await admin.request('GET', path(name));
    return status === 404 ? undefined : z.parse(liveObject, body);
  }

  async function found(name: string): Promise<LiveObject> {
    const object = await read(name);
    if (object === undefined) throw new Error(`reading ${name}: it is gone`);
    return object;
  }

  async function createBucket(
    bucket: string,
    { owner, versions }: { owner?: string; versions: number },
  ): Promise<void> {
    const on = { Bucket: bucket };
    await s3.send(new CreateBucketCommand({ ...on, CreateBucketConfiguration: { LocationConstraint: LOCAL_REGION } }));
    if (owner !== undefined) await tag(bucket, owner);
    if (versions > 0) {
      const VersioningConfiguration = { Status: 'Enabled' as const };
      await s3.send(new PutBucketVersioningCommand({ ...on, VersioningConfiguration }));
    }
    for (let count = 0; count < versions; count += 1) {
      await s3.send(new PutObjectCommand({ ...on, Key: `key-${Math.floor(count / 2)}`, Body: String(count) }));
    }
  }

  async function tag(bucket: string, owner: string): Promise<void> {
    const Tagging = { TagSet: [{ Key: OWNER_TAG, Value: owner }] };
    await s3.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging }));
  }

  async function create(name: string, options: NewBucket = {}): Promise<MadeBucket> {
    const { rule = 'team', finalizers, annotations, versions = 2, owned = true, namespace } = options;
    if (namespace !== undefined) namespaces.set(name, namespace);
    const bucket = `${site.name}-${name}`;
    const object = {
      apiVersion: `${group}/v1`,
      kind: 'Bucket',
      metadata: { name, labels: { rule }, ...(finalizers && { finalizers }), ...(annotations && { annotations }) },
      status: options.unnamed ? {} : { bucketName: bucket },
    };
    const { uid } = z.parse(liveObject, await ask('POST', collection(name), object)).metadata;
    if (versions !== 'none') await createBucket(bucket, { versions, ...(owned ? { owner: uid } : {}) });
    if (!options.unclaimed) await claimed(name, rule);
    return { name, uid, bucket };
  }

  async function claimed(name: string, rule?: string): Promise<void> {
    const has = async () => (await read(name))?.metadata.finalizers.includes(entry(rule));
    await eventually(`${name} carries the entry of ${rule}`, has);
  }

  async function edit(name: string, operations: readonly PatchOperation[]): Promise<void> {
    await ask('PATCH', path(name), operations, 'application/json-patch+json');
  }

  const annotate = async (name: string, annotations: Readonly<Record<string, string>>) =>
    void (await ask('PATCH', path(name), { metadata: { annotations } }, 'application/merge-patch+json'));

  const record = async (name: string, rule = 'team') => recordOf(await read(name), rule);

  return {
    ...{ path, entry, read, found, create, createBucket, tag, claimed, edit, annotate, record },
    finalizers: async (name: string) => (await found(name)).metadata.finalizers,
    /** As `kubectl delete --wait=false`. */
    delete: async (name: string, propagationPolicy: 'Background' | 'Foreground' | 'Orphan' = 'Background') =>
      void (await ask('DELETE', path(name), { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy })),
    /** As `kubectl replace --force=false` of a manifest that knows nothing of finalizers. */
    replaceWithout: async (name: string) => {
      const { metadata, ...rest } = await found(name);
      const { finalizers: _stripped, deletionTimestamp: _kept, ...others } = metadata;
      await ask('PUT', path(name), { ...rest, metadata: others });
    },
    gone: (name: string, within?: number) =>
      eventually(`${name} is gone`, async () => (await read(name)) === undefined, within),
    /** Resolves with the record once it says that reason. */
    says: (name: string, reason: BridgeRecord['reason'], { rule, within }: { rule?: string; within?: number } = {}) =>
      eventually(
        `${name} says ${reason}`,
        async () => {
          const said = await record(name, rule);
          return said?.reason === reason ? said : undefined;
        },
        within,
      ),
    release: async (name: string, { rule = 'team', now = false } = {}) => {
      const { uid } = (await found(name)).metadata;
      await annotate(name, { [`release.finalizer-bridge.dev/${rule}`]: now ? `${uid}/now` : uid });
    },
    retry: async (name: string, { rule = 'team', word = 'again' } = {}) => {
      const { uid } = (await found(name)).metadata;
      await annotate(name, { [`retry.finalizer-bridge.dev/${rule}`]: `${uid}/${word}` });
    },
    events: ({ uid }: { readonly uid: string }) => eventsAbout(ask, uid),
    /** The versions of a bucket in the cloud; undefined when there is no such bucket. */
    versions: async (bucket: string): Promise<number | undefined> => {
      const exists = await s3.send(new HeadBucketCommand({ Bucket: bucket })).then(
        () => true,
        (error: Error) => {
          if (error.name === 'NotFound') return false;
          throw error;
        },
      );
      if (!exists) return undefined;
      const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }));
      return Versions.length + DeleteMarkers.length;
    },
  };
}
