/*
 * Which addresses a webhook may be sent to: those of the public internet. Asked by network.ts for every address that a name
 * resolves to, before any is connected to. IPv6 is let through only where addresses are given out (2000::/3), so what
 * embeds an IPv4 address elsewhere (::ffff:0:0/96, ::/96, 64:ff9b::/96), loopback, link-local and unique local ones are
 * refused without being named; the lists are the IANA registries of special-purpose addresses.
 */
import { BlockList, isIP } from 'node:net';

/** Blocks of IPv4 that are not for the public, or for more than one host. */
const CLOSED_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // A cloud's metadata at an address that looks like any other.
  '168.63.129.16/32',
];
/** Where IPv6 addresses are given out, and what of that is special: Teredo and others, documentation, 6to4. */
const OPEN_V6 = ['2000::/3'];
const CLOSED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const closedV4 = listOf(CLOSED_V4, 'ipv4');
const openV6 = listOf(OPEN_V6, 'ipv6');
const closedV6 = listOf(CLOSED_V6, 'ipv6');

/** Whether a literal IP address is one of the public internet; false for everything that is no address. */
export function isPublicAddress(address: string): boolean {
  // A zone (fe80::1%eth0) only makes sense on a link.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !closedV4.check(address, 'ipv4');
    case 6:
      return openV6.check(address, 'ipv6') && !closedV6.check(address, 'ipv6');
    default:
      return false;
  }
}

function listOf(blocks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits = ''] = block.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
