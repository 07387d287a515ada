/*
 * Which addresses webhooks may go to: every block that is not the public internet is closed to its edges, in every
 * spelling, and what lies beside them is open. Addresses are made by arithmetic of the test's own.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../functions/handlers/webhook/addresses.ts';
import { holds } from '../support/property.ts';

const v4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const groups = (value: bigint) =>
  Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
const v6 = (value: bigint) =>
  groups(value)
    .map((group) => group.toString(16))
    .join(':');
const fromV4 = (text: string) => text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
const fromV6 = (text: string) => {
  const [head = '', tail = ''] = text.split('::');
  const parts = (half: string) => (half === '' ? [] : half.split(':').map((group) => BigInt(`0x${group}`)));
  const missing = 8 - parts(head).length - parts(tail).length;
  return [...parts(head), ...Array<bigint>(missing).fill(0n), ...parts(tail)].reduce(
    (sum, part) => (sum << 16n) + part,
    0n,
  );
};

interface Block {
  readonly first: bigint;
  readonly last: bigint;
  readonly write: (value: bigint) => string;
}
const blockOf = (text: string): Block => {
  const [network = '', bits = ''] = text.split('/');
  const isV6 = network.includes(':');
  const first = isV6 ? fromV6(network) : fromV4(network);
  return { first, last: first + (1n << (BigInt(isV6 ? 128 : 32) - BigInt(bits))) - 1n, write: isV6 ? v6 : v4 };
};
const within = ({ first, last }: Block) => fc.bigInt({ min: first, max: last });

/** From the IANA registries of special-purpose addresses, and what clouds use for metadata. */
const closed = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32'],
  ...['::/128', '::1/128', '::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32'],
  ...['2001:2::/48', '2001:20::/28', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10'],
  ...['fec0::/10', 'ff00::/8', 'fd00:ec2::254/128', '4000::/3', '8000::/1'],
];
/** What lies directly beside closed blocks, and well-known hosts. */
const open = [
  ...['1.1.1.1/32', '9.255.255.255/32', '11.0.0.0/32', '100.63.255.255/32', '100.128.0.0/32', '126.255.255.255/32'],
  ...['128.0.0.0/32', '169.253.255.255/32', '169.255.0.0/32', '172.15.255.255/32', '172.32.0.0/32', '192.0.3.0/32'],
  ...[
    '192.167.255.255/32',
    '192.169.0.0/32',
    '198.17.255.255/32',
    '198.20.0.0/32',
    '223.255.255.255/32',
    '93.184.0.0/16',
  ],
  ...['2000::/32', '2001:4860:4860::8888/128', '2600::/16', '2a00::/16', '3ffe:ffff::/32'],
];

describe.each(closed)('%s', (text) => {
  const block = blockOf(text);
  it('is closed: first, last and everything between', () => {
    expect([block.first, block.last].map(block.write).filter(isPublicAddress)).toEqual([]);
    holds(fc.property(within(block), (value) => !isPublicAddress(block.write(value))));
  });
});

describe.each(open)('%s', (text) => {
  const block = blockOf(text);
  it('is open', () => {
    holds(fc.property(within(block), (value) => isPublicAddress(block.write(value))));
  });
});

it('judges an IPv6 address by its value, however it is spelled', () => {
  const inside = closed.map(blockOf).filter(({ write }) => write === v6);
  const any = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), ...inside.map(within));
  holds(
    fc.property(any, (value) => {
      const plain = v6(value);
      const zeros = plain
        .split(':')
        .map((group) => group.padStart(4, '0'))
        .join(':');
      const short = new URL(`http://[${plain}]`).hostname.slice(1, -1);
      const mixed = `${plain.split(':').slice(0, 6).join(':')}:${v4(value & 0xffffffffn)}`;
      const said = [plain, zeros, short, mixed, plain.toUpperCase()].map(isPublicAddress);
      return new Set(said).size === 1;
    }),
  );
});

it('closes every IPv4 address in the clothes of IPv6, open or not', () => {
  holds(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) =>
      ['::ffff:', '::', '64:ff9b::', '::ffff:0:'].every((prefix) => !isPublicAddress(prefix + v4(value))),
    ),
  );
});

it.each([
  '',
  'localhost',
  'example.com',
  '1.1.1',
  '0x7f.1',
  '2130706433',
  '127.1',
  '1.1.1.1:80',
  '01.1.1.1',
  '[2600::1]',
])('takes %j, which is no literal address, for closed', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

it('takes an address with a zone for closed, since a zone is of one link', () => {
  expect(isPublicAddress('2600::1')).toBe(true);
  expect(isPublicAddress('2600::1%eth0')).toBe(false);
});
