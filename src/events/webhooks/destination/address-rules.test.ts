import { expect, test } from 'bun:test'
import { refusedAddress } from './address-rules.ts'

const refused: readonly (readonly [address: string, rule: string, network: string])[] = [
  ['0.0.0.0', 'unspecified', '0.0.0.0/8'],
  ['0.1.2.3', 'unspecified', '0.0.0.0/8'],
  ['10.0.0.1', 'private', '10.0.0.0/8'],
  ['172.16.0.1', 'private', '172.16.0.0/12'],
  ['172.31.255.255', 'private', '172.16.0.0/12'],
  ['192.168.1.1', 'private', '192.168.0.0/16'],
  ['100.64.0.1', 'shared', '100.64.0.0/10'],
  ['100.127.255.254', 'shared', '100.64.0.0/10'],
  ['127.0.0.1', 'loopback', '127.0.0.0/8'],
  ['127.255.255.255', 'loopback', '127.0.0.0/8'],
  ['169.254.1.1', 'link_local', '169.254.0.0/16'],
  ['169.254.169.254', 'metadata', '169.254.169.254/32'],
  ['168.63.129.16', 'metadata', '168.63.129.16/32'],
  ['100.100.100.200', 'metadata', '100.100.100.200/32'],
  ['192.0.0.192', 'metadata', '192.0.0.192/32'],
  ['192.0.0.8', 'reserved', '192.0.0.0/24'],
  ['192.0.2.1', 'documentation', '192.0.2.0/24'],
  ['198.51.100.1', 'documentation', '198.51.100.0/24'],
  ['203.0.113.1', 'documentation', '203.0.113.0/24'],
  ['192.88.99.1', 'reserved', '192.88.99.0/24'],
  ['198.18.0.1', 'reserved', '198.18.0.0/15'],
  ['198.19.255.255', 'reserved', '198.18.0.0/15'],
  ['224.0.0.1', 'multicast', '224.0.0.0/4'],
  ['239.255.255.255', 'multicast', '224.0.0.0/4'],
  ['240.0.0.1', 'reserved', '240.0.0.0/4'],
  ['255.255.255.255', 'reserved', '240.0.0.0/4'],
  ['::', 'unspecified', '::/128'],
  ['::1', 'loopback', '::1/128'],
  ['0:0:0:0:0:0:0:1', 'loopback', '::1/128'],
  ['fc00::1', 'private', 'fc00::/7'],
  ['fd12:3456::1', 'private', 'fc00::/7'],
  ['fd00:ec2::254', 'metadata', 'fd00:ec2::254/128'],
  ['fec0::1', 'private', 'fec0::/10'],
  ['fe80::1', 'link_local', 'fe80::/10'],
  ['febf::1', 'link_local', 'fe80::/10'],
  ['ff02::1', 'multicast', 'ff00::/8'],
  ['2001:db8::1', 'documentation', '2001:db8::/32'],
  ['3fff::1', 'documentation', '3fff::/20'],
  ['100::1', 'reserved', '100::/64'],
  ['5f00::1', 'reserved', '5f00::/16'],
  ['64:ff9b:1::1', 'private', '64:ff9b:1::/48'],
  // Teredo (RFC 4380) and ORCHID.
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved', '2001::/23'],
  ['2001:10::1', 'reserved', '2001::/23'],
  // Neither global unicast nor known.
  ['4000::1', 'reserved', '::/0'],
  // An IPv4 address inside: mapped, in both notations, compatible, translated, NAT64, 6to4, ISATAP.
  ['::ffff:127.0.0.1', 'loopback', '127.0.0.0/8'],
  ['::ffff:7f00:1', 'loopback', '127.0.0.0/8'],
  ['::ffff:a9fe:a9fe', 'metadata', '169.254.169.254/32'],
  ['0:0:0:0:0:ffff:10.0.0.1', 'private', '10.0.0.0/8'],
  ['::10.0.0.1', 'private', '10.0.0.0/8'],
  ['::ffff:0:192.168.0.1', 'private', '192.168.0.0/16'],
  ['64:ff9b::10.0.0.1', 'private', '10.0.0.0/8'],
  ['64:ff9b::a9fe:a9fe', 'metadata', '169.254.169.254/32'],
  ['2002:7f00:1::1', 'loopback', '127.0.0.0/8'],
  ['2002:a00:1::', 'private', '10.0.0.0/8'],
  ['2a00:1450::5efe:10.0.0.1', 'private', '10.0.0.0/8'],
  ['2a00:1450::200:5efe:127.0.0.1', 'loopback', '127.0.0.0/8'],
]

test.each(refused)('%s is refused as %s (%s)', (address, rule, network) => {
  expect(refusedAddress(address)).toEqual({ rule, network } as ReturnType<typeof refusedAddress>)
})

const allowed = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2a00:1450:4001:80b::200e',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
]

test.each(allowed)('%s is a public address', address => {
  expect(refusedAddress(address)).toBeNull()
})

test.each(['', 'localhost', '127.1', 'fe80::1%eth0', '1.2.3.4.5', ':::'])('%p is no address, and refused', text => {
  expect(refusedAddress(text)).toMatchObject({ rule: 'reserved' })
})
