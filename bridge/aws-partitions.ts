/*
 * The partitions of AWS, and what of names and addresses depends on them: a region's shape, an ARN's second part, the domain of
 * a service. Pure, and the one list of them: used by sqs-region.ts and cli/tagging.ts, and by places.ts and sqs.ts of the
 * functions.
 */

/** One of them. */
export interface Partition {
  /** As ARNs have it. */
  readonly id: string;
  /** What the names of its regions begin with. */
  readonly regions: string;
  /** What the addresses of its services end in. */
  readonly domain: string;
}

const COMMERCIAL: Partition = { id: 'aws', regions: '', domain: 'amazonaws.com' };

/** Those whose regions tell them: China, GovCloud, the European sovereign cloud, and those of agencies. */
const OTHERS: readonly Partition[] = [
  { id: 'aws-cn', regions: 'cn-', domain: 'amazonaws.com.cn' },
  { id: 'aws-us-gov', regions: 'us-gov-', domain: 'amazonaws.com' },
  { id: 'aws-eusc', regions: 'eusc-', domain: 'amazonaws.eu' },
  { id: 'aws-iso', regions: 'us-iso-', domain: 'c2s.ic.gov' },
  { id: 'aws-iso-b', regions: 'us-isob-', domain: 'sc2s.sgov.gov' },
  { id: 'aws-iso-e', regions: 'eu-isoe-', domain: 'cloud.adc-e.uk' },
  { id: 'aws-iso-f', regions: 'us-isof-', domain: 'csp.hci.ic.gov' },
];

/** The name of a region, as part of an expression: `eu-west-1`, `us-gov-west-1`, `us-isob-east-1`, `eusc-de-east-1`. */
export const REGION = '[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}';

/** The domains of all partitions, each once. */
export const DOMAINS: readonly string[] = [...new Set([COMMERCIAL, ...OTHERS].map(({ domain }) => domain))];

/** The partition that a region belongs to; the commercial one, unless its name says another. */
export function partitionOf(region: string): Partition {
  return OTHERS.find(({ regions }) => region.startsWith(regions)) ?? COMMERCIAL;
}
