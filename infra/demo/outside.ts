/*
 * What the objects of the demo stand for, and what the demo expects of each: made by buckets.ts and machines.ts, looked
 * at before and after by story.ts and verdict.ts. The demo plays the part of whoever makes such things for a cluster.
 */
import type { EC2Client } from '@aws-sdk/client-ec2';
import type { S3Client } from '@aws-sdk/client-s3';
import { bucketThing } from './buckets.ts';
import { machineThing } from './machines.ts';

/** What the cloud said when it was asked about a thing. */
export type Holding =
  | { readonly kind: 'bucket'; readonly versions: number; readonly markers: number }
  | { readonly kind: 'instance'; readonly state: string }
  | { readonly kind: 'absent'; readonly answer: string };

/** Something outside the cluster that one object stands for. */
export interface Thing {
  /** Its object: `Bucket/logs`. */
  readonly object: string;
  /** Whether it is to carry the tag that proves whose it is. */
  readonly isOwned: boolean;
  /** As a person would name it: `s3://team-a-logs`. Known once it was made. */
  name(): string;
  /** Makes it, with its content. */
  make(): Promise<void>;
  /** Puts the tag on it that the rules ask for. */
  prove(uid: string): Promise<void>;
  /** What its maker writes into the object's status. */
  status(): Readonly<Record<string, string>>;
  /** Asks the cloud. */
  look(): Promise<Holding>;
}

export interface Clients {
  readonly s3: S3Client;
  readonly ec2: EC2Client;
  readonly region: string;
}

/** The tag by which a rule knows whose a thing is, unless it says something else. */
export const OWNER_TAG = 'finalizer-bridge.dev/owner-uid';

/** The things of manifests/objects.yaml. */
export function thingsOf(clients: Clients): readonly Thing[] {
  const few = { versioned: false, rounds: 1, deletions: 0, files: 3 };
  return [
    // For three nights 300 log files are written and twice cleaned away; versioning keeps all of it.
    bucketThing(clients, {
      object: 'Bucket/logs',
      bucket: 'team-a-logs',
      isOwned: true,
      versioned: true,
      rounds: 3,
      deletions: 2,
      files: 300,
    }),
    bucketThing(clients, { ...few, object: 'Bucket/photos', bucket: 'team-a-photos', isOwned: true }),
    bucketThing(clients, { ...few, object: 'Bucket/reports', bucket: 'team-a-reports', isOwned: true }),
    bucketThing(clients, { ...few, object: 'Bucket/legacy', bucket: 'team-a-legacy', isOwned: false }),
    machineThing(clients, { object: 'VirtualMachine/builder', instanceType: 't3.micro' }),
  ];
}

/** A holding in words. */
export function inWords(holding: Holding): string {
  switch (holding.kind) {
    case 'bucket': {
      const { versions, markers } = holding;
      const number = (value: number) => value.toLocaleString('en-US');
      if (markers === 0) return `${number(versions)} objects`;
      return `${number(versions + markers)} versions, ${number(markers)} of them delete markers`;
    }
    case 'instance':
      return holding.state;
    case 'absent':
      return holding.answer;
    default:
      return holding satisfies never;
  }
}

/** Versions and delete markers in a holding. */
export function versionsIn(holding: Holding): number {
  return holding.kind === 'bucket' ? holding.versions + holding.markers : 0;
}
