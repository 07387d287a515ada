/*
 * What people do to the system while it is beaten, by a seed: objects and buckets of all sorts are made, objects deleted, held
 * ones mended or released. Everything is noted in a ledger. Also reads what is there for audit.ts. Used by run.ts.
 */
import {
  CreateBucketCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { z } from 'zod/mini';
import { recordKey } from '../../bridge/record.ts';
import { LOCAL_REGION } from '../../infra/local/places.ts';
import { seededRandom } from '../simulation/clock.ts';
import type { Seen, SeenObject } from './audit.ts';
import type { Made, Sort } from './ledger.ts';
import { persistently } from './persistently.ts';
import { RULES, SITE, type Stage } from './stage.ts';

const OWNER_TAG = 'finalizer-bridge.dev/owner-uid';
const KEEP_TAG = 'finalizer-bridge.dev/keep';
/** Of a hundred objects; the rest is plain. */
const SHARES: readonly (readonly [Sort, number])[] = [
  ...([
    ['braked', 10],
    ['foreign', 8],
    ['kept', 4],
    ['retained', 6],
    ['absent', 6],
    ['live', 10],
  ] as const),
];

const text = z.record(z.string(), z.string());
const objectSchema = z.looseObject({
  metadata: z.looseObject({
    ...{ name: z.string(), uid: z.string(), deletionTimestamp: z.optional(z.string()) },
    ...{ finalizers: z._default(z.array(z.string()), []), annotations: z._default(text, {}) },
  }),
});
const listSchema = z.object({ items: z.array(objectSchema) });
const recordSchema = z.looseObject({ reason: z.string() });

/** The hands of people. */
export interface World {
  readonly ledger: readonly Made[];
  /** Makes an object and its bucket. */
  make(): Promise<void>;
  /** Deletes some of those that are there, many at once from time to time. */
  deleteSome(): Promise<void>;
  /** Mends or releases one object that is held as not owned, if there is one. */
  helpOne(): Promise<void>;
  /** Deletes what is still to be deleted and carries its entry; true when nothing is left to delete. */
  deleteRest(): Promise<boolean>;
  look(): Promise<Seen>;
  close(): void;
}

/** The hands, by a seed. */
export function worldOf(stage: Stage, seed: number): World {
  const random = seededRandom(seed);
  const s3 = stage.cloud.s3();
  const ledger: Made[] = [];
  const ask = (method: string, path: string, body?: unknown, contentType = 'application/json') =>
    persistently(`${method} ${path}`, async () => await stage.kube.request(method, path, body, { contentType }));
  const path = ({ name }: Made) => `${stage.collection}/${name}`;
  const due = () => ledger.filter(({ sort, deletedAt }) => sort !== 'live' && deletedAt === undefined);
  // Only what carries its entry: before that nobody promises anything (docs/rules.md, the entry at birth).
  const isClaimed = async (made: Made) => {
    const { status, body } = await ask('GET', path(made));
    return status === 200 && z.parse(objectSchema, body).metadata.finalizers.length > 0;
  };
  const remove = async (made: Made) => {
    if (made.deletedAt !== undefined || !(await isClaimed(made))) return;
    made.deletedAt = Date.now();
    await ask('DELETE', path(made), { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: made.uid } });
  };
  const annotate = async (made: Made, annotations: Readonly<Record<string, string>>) =>
    await ask('PATCH', path(made), { metadata: { annotations } }, 'application/merge-patch+json');
  return {
    ledger,
    make: async () => void ledger.push(await makeOne({ stage, s3, ask }, sortFor(random()), ledger.length)),
    deleteSome: async () => {
      const burst = random() < 0.05 ? 40 : 4;
      await Promise.all(
        due()
          .slice(0, Math.ceil(random() * burst))
          .map(remove),
      );
    },
    helpOne: async () => {
      const isOpen = ({ sort, deletedAt, mended, released }: Made) =>
        sort === 'foreign' && deletedAt !== undefined && deletedAt < Date.now() - 20_000 && !mended && !released;
      const made = ledger.find(isOpen);
      const choice = random();
      if (made === undefined || choice > 0.6) return;
      if (choice > 0.3) {
        made.released = true;
        return void (await annotate(made, { [`release.finalizer-bridge.dev/${RULES.usual}`]: `${made.uid}/now` }));
      }
      made.mended = true;
      await tag(s3, made.bucket, { [OWNER_TAG]: made.uid });
      await annotate(made, { [`retry.finalizer-bridge.dev/${RULES.usual}`]: `${made.uid}/mended` });
    },
    deleteRest: async () => {
      for (const made of due()) await remove(made);
      return due().length === 0;
    },
    look: () => look(stage, s3),
    close: () => s3.destroy(),
  };
}

function sortFor(drawn: number): Sort {
  let below = 0;
  for (const [sort, share] of SHARES) {
    below += share / 100;
    if (drawn < below) return sort;
  }
  return 'plain';
}

interface Hands {
  readonly stage: Stage;
  readonly s3: S3Client;
  readonly ask: (method: string, path: string, body?: unknown) => Promise<{ readonly body: unknown }>;
}

async function makeOne({ stage, s3, ask }: Hands, sort: Sort, index: number): Promise<Made> {
  const name = `${sort}-${index}`;
  const bucket = `${SITE}-${name}`;
  const { body } = await ask('POST', stage.collection, {
    apiVersion: stage.collection.split('/').slice(2, 4).join('/'),
    kind: 'Bucket',
    metadata: {
      name,
      labels: { rule: sort === 'braked' ? RULES.braked : RULES.usual },
      annotations: sort === 'retained' ? { 'soak.example.com/on-delete': 'Retain' } : {},
    },
    status: { bucketName: bucket },
  });
  const { uid } = z.parse(objectSchema, body).metadata;
  const versions = sort === 'absent' ? 0 : 2;
  if (versions > 0) {
    const on = { Bucket: bucket };
    await s3.send(new CreateBucketCommand({ ...on, CreateBucketConfiguration: { LocationConstraint: LOCAL_REGION } }));
    await s3.send(new PutBucketVersioningCommand({ ...on, VersioningConfiguration: { Status: 'Enabled' } }));
    for (let count = 0; count < versions; count += 1) {
      await s3.send(new PutObjectCommand({ ...on, Key: 'key', Body: String(count) }));
    }
    const owner = sort === 'foreign' ? 'somebody-else' : uid;
    await tag(s3, bucket, { [OWNER_TAG]: owner, ...(sort === 'kept' ? { [KEEP_TAG]: '' } : {}) });
  }
  return { name, uid, sort, bucket, versions };
}

async function tag(s3: S3Client, bucket: string, tags: Readonly<Record<string, string>>): Promise<void> {
  const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  await s3.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging: { TagSet } }));
}

async function look({ kube, collection }: Stage, s3: S3Client): Promise<Seen> {
  // The buckets first: what goes meanwhile is seen as a bucket without its object at the next look only if it stays so.
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
  const buckets = new Map<string, number>();
  for (const { Name = '' } of Buckets) {
    const listed = await s3.send(new ListObjectVersionsCommand({ Bucket: Name })).catch(() => undefined);
    if (listed === undefined) continue;
    buckets.set(Name, (listed.Versions?.length ?? 0) + (listed.DeleteMarkers?.length ?? 0));
  }
  const { body } = await persistently('listing the objects', () => kube.request('GET', collection));
  const objects = z.parse(listSchema, body).items.map(({ metadata }) => seenOf(metadata));
  return { buckets, objects: new Map(objects.map((object) => [object.uid, object])) };
}

function seenOf({
  uid,
  deletionTimestamp,
  finalizers,
  annotations,
}: z.output<typeof objectSchema>['metadata']): SeenObject {
  const rule = Object.values(RULES).find((name) => finalizers.includes(`finalizer-bridge.dev/${name}`));
  const record = rule === undefined ? undefined : annotations[recordKey(rule)];
  const reason = record === undefined ? undefined : z.parse(recordSchema, JSON.parse(record)).reason;
  return {
    ...{ uid, deleting: deletionTimestamp !== undefined, hasEntry: rule !== undefined },
    ...(reason === undefined ? {} : { reason }),
  };
}
