/*
 * The region of a queue, from its URL as AWS writes it: the address of today, for FIPS, for IPv6, of an interface endpoint of a
 * VPC, and as addresses were once. Pure; called by sqs-signature.ts: a call is signed for the region of its queue, and for the
 * caller's own where the URL names none.
 */
import { DOMAINS, REGION } from './aws-partitions.ts';

/** What stands in its place in an address may also be something else. */
const NAMED = `(${REGION})`;
const DOMAIN = `(?:${DOMAINS.map((domain) => domain.replaceAll('.', '\\.')).join('|')})`;
const DUAL_STACK_DOMAIN = 'api\\.(?:aws|amazonwebservices\\.com\\.cn|amazonwebservices\\.eu)';

const FORMS = [
  `sqs(?:-fips)?\\.${NAMED}\\.(?:${DOMAIN}|${DUAL_STACK_DOMAIN})`,
  `vpce-[a-z0-9-]+\\.sqs(?:-fips)?\\.${NAMED}\\.vpce\\.${DOMAIN}`,
  `${NAMED}\\.queue\\.${DOMAIN}`,
].map((form) => new RegExp(`^${form}$`));

/** The oldest address of all names no region, and is of this one. */
const OLDEST = { host: 'queue.amazonaws.com', region: 'us-east-1' } as const;

/** The region that the URL of a queue names; undefined for one that names none, or is not of AWS. */
export function regionOf(queueUrl: string): string | undefined {
  // A name may be written with a dot for the root.
  const host = new URL(queueUrl).hostname.replace(/\.$/, '');
  if (host === OLDEST.host) return OLDEST.region;
  return FORMS.map((form) => form.exec(host)?.[1]).find((region) => region !== undefined);
}
