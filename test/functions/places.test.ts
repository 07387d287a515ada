/*
 * Regions and their partitions, as AWS names them: what a target may name, the ARNs that permissions and policies are made of,
 * and that the bridge finds a queue's region where the functions find one.
 */
import { describe, expect, it } from 'vitest';
import { regionOf } from '../../bridge/sqs-region.ts';
import { arnPartition, regionSchema } from '../../functions/places.ts';
import { queueUrlOf } from '../../functions/sqs.ts';

const ACCOUNT = '111122223333';
/** By region, the partition and what the addresses of services there end in. */
const PLACES = [
  ['us-east-1', 'aws', 'amazonaws.com'],
  ['ap-southeast-5', 'aws', 'amazonaws.com'],
  ['mx-central-1', 'aws', 'amazonaws.com'],
  ['cn-northwest-1', 'aws-cn', 'amazonaws.com.cn'],
  ['us-gov-east-1', 'aws-us-gov', 'amazonaws.com'],
  ['eusc-de-east-1', 'aws-eusc', 'amazonaws.eu'],
  ['us-iso-west-1', 'aws-iso', 'c2s.ic.gov'],
  ['us-isob-east-1', 'aws-iso-b', 'sc2s.sgov.gov'],
  ['eu-isoe-west-1', 'aws-iso-e', 'cloud.adc-e.uk'],
  ['us-isof-south-1', 'aws-iso-f', 'csp.hci.ic.gov'],
] as const;

describe.each(PLACES)('the region %s', (region, partition, domain) => {
  it('may be that of a target, and has its partition in ARNs', () => {
    expect(regionSchema.safeParse(region).success).toBe(true);
    expect(arnPartition(region)).toBe(partition);
  });

  it('has queues at an address by which the bridge and the functions mean the same', () => {
    const url = queueUrlOf(`arn:${partition}:sqs:${region}:${ACCOUNT}:requests`, { endpoints: {} });

    expect(url).toBe(`https://sqs.${region}.${domain}/${ACCOUNT}/requests`);
    expect(regionOf(url)).toBe(region);
  });
});

it.each(['', 'eu', 'eu-west', 'EU-WEST-1', 'eu-west-1a', 'eu-west-1 ', 'eu--1', 'europe-west-1', 'eu-west-1/x', '*'])(
  'what is no region is none: "%s"',
  (text) => {
    expect(regionSchema.safeParse(text).success).toBe(false);
  },
);
