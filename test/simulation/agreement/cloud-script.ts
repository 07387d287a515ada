/*
 * Scripts of an outside resource with a name and tags, and their run. The model of the cloud and buckets of an emulator of S3 have
 * to agree on each: run by test/e2e/agreement-cloud.test.ts. Resources that go slowly are the model's own: no emulator has them.
 */
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketTaggingCommand,
  PutBucketTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { VirtualTime } from '../clock.ts';
import { Cloud } from '../cloud.ts';
import type { Shown } from './transcript.ts';

type Tags = Readonly<Record<string, string>>;

/** One step. `find` shows the tags. */
export type CloudStep =
  | { readonly do: 'create' | 'tag'; readonly name: string; readonly tags: Tags }
  | { readonly do: 'find' | 'delete'; readonly name: string };

/** One behaviour. */
export interface CloudScript {
  readonly title: string;
  readonly steps: readonly CloudStep[];
}

/** A cloud in the hands of a script. */
export interface CloudDriver {
  /** False: the name is taken. */
  create(name: string, tags: Tags): Promise<boolean>;
  /** In the place of all tags before. False: there is none. */
  tag(name: string, tags: Tags): Promise<boolean>;
  /** Undefined: there is none. */
  find(name: string): Promise<Tags | undefined>;
  /** False: there is none. */
  delete(name: string): Promise<boolean>;
}

const [OURS, THEIRS] = [{ owner: 'uid-1' }, { owner: 'uid-2' }];

/** All of them. */
export const cloudScripts: readonly CloudScript[] = [
  {
    title: 'a resource is gone with its deletion, and a second deletion finds none',
    steps: [
      { do: 'find', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'create', name: 'a', tags: OURS },
      { do: 'find', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'find', name: 'a' },
      { do: 'delete', name: 'a' },
    ],
  },
  {
    title: 'a name that is free again may be taken by somebody else, whose tags are read then',
    steps: [
      { do: 'create', name: 'a', tags: OURS },
      { do: 'delete', name: 'a' },
      { do: 'create', name: 'a', tags: THEIRS },
      { do: 'find', name: 'a' },
      { do: 'delete', name: 'a' },
      { do: 'find', name: 'a' },
    ],
  },
  {
    title: 'tags are those that were written last',
    steps: [
      { do: 'tag', name: 'a', tags: OURS },
      { do: 'create', name: 'a', tags: OURS },
      { do: 'tag', name: 'a', tags: { ...THEIRS, keep: '' } },
      { do: 'find', name: 'a' },
    ],
  },
  {
    title: 'a name that is taken stays with who has it',
    steps: [
      { do: 'create', name: 'a', tags: OURS },
      { do: 'create', name: 'a', tags: THEIRS },
      { do: 'find', name: 'a' },
      { do: 'create', name: 'b', tags: THEIRS },
      { do: 'delete', name: 'a' },
      { do: 'find', name: 'b' },
    ],
  },
];

/** The model, with nothing in it. */
export function createCloudModel(): CloudDriver {
  const cloud = new Cloud(new VirtualTime());
  return {
    create: async (name, tags) => cloud.create(name, 'an owner', tags),
    tag: async (name, tags) => cloud.tag(name, 'an owner', tags),
    find: async (name) => {
      const found = cloud.find(name);
      return found === undefined ? undefined : Object.fromEntries(found.tags);
    },
    delete: async (name) => cloud.delete(name, 'test'),
  };
}

/** Buckets; every name has `prefix` before it. */
export function createCloudReal(s3: S3Client, prefix: string): CloudDriver {
  const bucket = (name: string) => `${prefix}-${name}`;
  const tag = async (name: string, tags: Tags) => {
    const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const put = new PutBucketTaggingCommand({ Bucket: bucket(name), Tagging: { TagSet } });
    return (await unless(['NoSuchBucket'], () => s3.send(put))) !== undefined;
  };
  return {
    async create(name, tags) {
      const Bucket = bucket(name);
      const LocationConstraint = 'eu-central-1';
      const made = await unless(['BucketAlreadyOwnedByYou', 'BucketAlreadyExists'], () =>
        s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint } })),
      );
      if (made === undefined) return false;
      return await tag(name, tags);
    },
    tag,
    async find(name) {
      const found = await unless(['NoSuchBucket'], () =>
        s3.send(new GetBucketTaggingCommand({ Bucket: bucket(name) })),
      );
      return found && Object.fromEntries((found.TagSet ?? []).map(({ Key, Value }) => [Key, Value ?? '']));
    },
    delete: async (name) =>
      (await unless(['NoSuchBucket'], () => s3.send(new DeleteBucketCommand({ Bucket: bucket(name) })))) !== undefined,
  };
}

/** Runs a script. */
export async function runCloudScript(cloud: CloudDriver, { steps }: CloudScript): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const step of steps) {
    const saw = 'tags' in step ? await cloud[step.do](step.name, step.tags) : await cloud[step.do](step.name);
    shown.push({ step: JSON.stringify(step), saw });
  }
  return shown;
}

async function unless<T>(codes: readonly string[], call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && codes.includes(error.name)) return undefined;
    throw error;
  }
}
