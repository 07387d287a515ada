/*
 * The commands that give an existing outside resource its proof of ownership, by handler; called by adopt.ts. Values come
 * from objects that others write, so only targets of the shape that the handler takes become commands, each word quoted.
 * All of them add tags and leave the others: S3's own put-bucket-tagging would replace them. What has these tags with other values
 * belongs to another object, so a look comes first.
 */
import { partitionOf, REGION } from '../aws-partitions.ts';
import type { Target } from '../contract.ts';
import { commandOf } from './shell.ts';

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;

/** A command for an AWS account, or why there is none. */
export type Tagging =
  | {
      readonly kind: 'aws';
      readonly account: string;
      /** Prints the tags that are there already with another value, and nothing if none is. */
      readonly look: string;
      readonly command: string;
    }
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
      const words = (verb: string) => ['resourcegroupstaggingapi', verb, `--region=${region}`, list];
      return {
        look: [...words('get-resources'), `--query=ResourceTagMappingList[].Tags[] | ${others(tags)}`],
        tag: [...words('tag-resources'), `--tags=${JSON.stringify(tags)}`],
      };
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

/** The words of two calls. */
interface Calls {
  readonly look: readonly string[];
  readonly tag: readonly string[];
}

function ec2Tags(tags: Tags): (id: string, region: string) => Calls {
  const list = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  return (id, region) => ({
    look: [
      ...['ec2', 'describe-tags', `--region=${region}`, `--filters=Name=resource-id,Values=${id}`],
      `--query=Tags[] | ${others(tags)}`,
    ],
    tag: ['ec2', 'create-tags', `--region=${region}`, `--resources=${id}`, `--tags=${JSON.stringify(list)}`],
  });
}

/** Of a list of tags those of our keys that have another value, in JMESPath. */
function others(tags: Tags): string {
  const literal = (text: string) => `\`${JSON.stringify(text).replaceAll('`', '\\`')}\``;
  const terms = Object.entries(tags).map(([key, value]) => `(Key==${literal(key)} && Value!=${literal(value)})`);
  return `[?${terms.join(' || ')}].[Key,Value]`;
}

function inAws(
  target: Target,
  { key, shape }: { readonly key: string; readonly shape: RegExp },
  calls: (id: string, region: string) => Calls,
): Tagging {
  const id = textOf(target, key, shape);
  const region = textOf(target, 'region', AWS_REGION);
  const account = textOf(target, 'account', ACCOUNT);
  if (id === undefined || region === undefined || account === undefined)
    return { kind: 'none', why: `the target is not one that the handler takes: ${key}, region and account are needed` };
  const { look, tag } = calls(id, region);
  return { kind: 'aws', account, look: commandOf('aws', ...look, '--output=text'), command: commandOf('aws', ...tag) };
}

function textOf(target: Target, key: string, shape: RegExp): string | undefined {
  const value = Object.hasOwn(target, key) ? target[key] : undefined;
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}
