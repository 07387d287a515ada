/*
 * The commands that give an existing outside resource its proof of ownership, by handler; called by adopt.ts. Values come
 * from objects that others write, so only targets of the shape that the handler takes become commands, each word quoted.
 * All of them add tags and leave the others: S3's own put-bucket-tagging would replace them.
 */
import { partitionOf, REGION } from '../aws-partitions.ts';
import type { Target } from '../contract.ts';
import { commandOf } from './shell.ts';

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;

/** A command for an AWS account, or why there is none. */
export type Tagging =
  | { readonly kind: 'aws'; readonly account: string; readonly command: string }
  | { readonly kind: 'none'; readonly why: string };

type Tagger = (target: Target, tags: Tags) => Tagging;

const AWS_REGION = new RegExp(`^${REGION}$`);
const ACCOUNT = /^\d{12}$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const INSTANCE = /^i-[0-9a-f]{8,17}$/;
const VOLUME = /^vol-[0-9a-f]{8,17}$/;

const TAGGERS: Readonly<Record<string, Tagger>> = {
  's3-bucket': (target, tags) =>
    inAws(target, { key: 'bucket', shape: BUCKET }, (bucket, region) => {
      const list = `--resource-arn-list=arn:${partitionOf(region).id}:s3:::${bucket}`;
      return [
        'resourcegroupstaggingapi',
        'tag-resources',
        `--region=${region}`,
        list,
        `--tags=${JSON.stringify(tags)}`,
      ];
    }),
  'ec2-instance': (target, tags) =>
    Array.isArray(target.tags)
      ? { kind: 'none', why: 'the target chooses instances by their tags: set these where the instances are made' }
      : inAws(target, { key: 'instanceId', shape: INSTANCE }, ec2Tags(tags)),
  'ebs-volume': (target, tags) => inAws(target, { key: 'volumeId', shape: VOLUME }, ec2Tags(tags)),
};

/** The command that puts tags on a target. */
export function taggingOf(handler: string, target: Target, tags: Tags): Tagging {
  const tagger = Object.hasOwn(TAGGERS, handler) ? TAGGERS[handler] : undefined;
  return tagger === undefined
    ? { kind: 'none', why: `no command is known for handler ${handler}: set the tags where the resource is made` }
    : tagger(target, tags);
}

function ec2Tags(tags: Tags): (id: string, region: string) => readonly string[] {
  const list = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  return (id, region) => [
    ...['ec2', 'create-tags', `--region=${region}`, `--resources=${id}`],
    `--tags=${JSON.stringify(list)}`,
  ];
}

function inAws(
  target: Target,
  { key, shape }: { readonly key: string; readonly shape: RegExp },
  words: (id: string, region: string) => readonly string[],
): Tagging {
  const id = textOf(target, key, shape);
  const region = textOf(target, 'region', AWS_REGION);
  const account = textOf(target, 'account', ACCOUNT);
  if (id === undefined || region === undefined || account === undefined)
    return { kind: 'none', why: `the target is not one that the handler takes: ${key}, region and account are needed` };
  return { kind: 'aws', account, command: commandOf('aws', ...words(id, region)) };
}

function textOf(target: Target, key: string, shape: RegExp): string | undefined {
  const value = Object.hasOwn(target, key) ? target[key] : undefined;
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}
