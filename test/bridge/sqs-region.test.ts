/*
 * The region of a queue by every form of address that AWS has for SQS, and by those that only look like one: a call that is
 * signed for a wrong region is refused, and nothing comes or goes.
 */
import { expect, it } from 'vitest';
import { regionOf } from '../../bridge/sqs-region.ts';

it.each([
  ['of today', 'sqs.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['of GovCloud, where it is FIPS as well', 'sqs.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['for FIPS', 'sqs-fips.us-east-1.amazonaws.com', 'us-east-1'],
  ['for FIPS in Canada', 'sqs-fips.ca-west-1.amazonaws.com', 'ca-west-1'],
  ['for FIPS in GovCloud', 'sqs-fips.us-gov-east-1.amazonaws.com', 'us-gov-east-1'],
  ['of China', 'sqs.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['of the European sovereign cloud', 'sqs.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1'],
  ['of an isolated partition', 'sqs.us-isob-east-1.sc2s.sgov.gov', 'us-isob-east-1'],
  ['for IPv6', 'sqs.us-east-1.api.aws', 'us-east-1'],
  ['for IPv6 and FIPS', 'sqs-fips.us-west-2.api.aws', 'us-west-2'],
  ['for IPv6 in China', 'sqs.cn-northwest-1.api.amazonwebservices.com.cn', 'cn-northwest-1'],
  ['of an interface endpoint', 'vpce-0a1b-x2.sqs.us-east-1.vpce.amazonaws.com', 'us-east-1'],
  ['of one in one zone', 'vpce-0a1b-x2-us-east-1a.sqs.us-east-1.vpce.amazonaws.com', 'us-east-1'],
  ['of one for FIPS', 'vpce-0a1b-x2.sqs-fips.us-west-1.vpce.amazonaws.com', 'us-west-1'],
  ['of one in China', 'vpce-0a1b-x2.sqs.cn-north-1.vpce.amazonaws.com.cn', 'cn-north-1'],
  ['as it was once', 'us-west-2.queue.amazonaws.com', 'us-west-2'],
  ['as it was once, in China', 'cn-north-1.queue.amazonaws.com.cn', 'cn-north-1'],
  ['as it was at first', 'queue.amazonaws.com', 'us-east-1'],
  ['with a port', 'sqs.eu-west-1.amazonaws.com:443', 'eu-west-1'],
  ['in capitals', 'SQS.EU-WEST-1.AMAZONAWS.COM', 'eu-west-1'],
  ['up to the root', 'sqs.eu-west-1.amazonaws.com.', 'eu-west-1'],
  ['whose first part is no region', 'fips.queue.amazonaws.com', undefined],
  ['whose second part is none', 'sqs.fips.amazonaws.com', undefined],
  ['without a region', 'sqs.amazonaws.com', undefined],
  ['of another service', 'sns.eu-west-1.amazonaws.com', undefined],
  ['of an endpoint without its service', 'vpce-0a1b-x2.us-east-1.vpce.amazonaws.com', undefined],
  ['of an endpoint without its name', 'sqs.us-east-1.vpce.amazonaws.com', undefined],
  ['that goes on after that of AWS', 'sqs.eu-west-1.amazonaws.com.example.com', undefined],
  ['that comes before that of AWS', 'example-sqs.eu-west-1.amazonaws.com', undefined],
  ['of this machine', 'localhost:4566', undefined],
  ['of this machine in digits', '127.0.0.1:4566', undefined],
  ['of this machine in IPv6', '[::1]:4566', undefined],
  ['of an emulator', 'sqs.us-east-1.localhost.localstack.cloud:4566', undefined],
])('the region of an address %s, %s, is %s', (_, host, region) => {
  expect(regionOf(`https://${host}/111122223333/a`)).toBe(region);
});

it('the region of a queue is nothing that its path says', () => {
  expect(regionOf('https://queues.example.com/111122223333/sqs.eu-west-1.amazonaws.com')).toBeUndefined();
});
