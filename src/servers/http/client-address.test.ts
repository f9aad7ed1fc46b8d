import { expect, test } from 'bun:test'
import { addressGroup, clientAddressReader } from './client-address.ts'

test('groups IPv6 by /64 and leaves IPv4 alone', () => {
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1')
  expect(addressGroup('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(addressGroup('2001:db8:0:1:ffff::1')).toBe('2001:db8:0:1')
  expect(addressGroup('2001:db8:0:1::2')).toBe('2001:db8:0:1')
  expect(addressGroup('2001:0db8::2')).toBe('2001:db8:0:0')
  expect(addressGroup('::1')).toBe('0:0:0:0')
  expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0')
})

const headers = (said: string) => new Headers({ 'x-forwarded-for': said })

test('believes nobody who is not a proxy of ours', () => {
  expect(clientAddressReader([])('192.0.2.1', headers('198.51.100.1'))).toBe('192.0.2.1')
  const addressOf = clientAddressReader(['127.0.0.1'])
  expect(addressOf('192.0.2.1', headers('198.51.100.1'))).toBe('192.0.2.1')
  expect(addressOf('::ffff:192.0.2.1', new Headers())).toBe('192.0.2.1')
  expect(addressOf('127.0.0.1', new Headers())).toBe('127.0.0.1')
  expect(addressOf('unknown', headers('198.51.100.1'))).toBe('unknown')
})

test('takes from our proxies the nearest address that is not theirs', () => {
  const addressOf = clientAddressReader(['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32'])
  for (const [peer, said, client] of [
    ['127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['::1', '2001:4860::1', '2001:4860::1'],
    ['127.0.0.1', 'spoofed, 203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['127.0.0.1', '203.0.113.9, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['2001:db8::2', '198.51.100.1:4711,10.1.2.3', '198.51.100.1'],
    ['127.0.0.1', '[2001:4860::1]:4711', '2001:4860::1'],
    ['127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['127.0.0.1', '198.51.100.1, nonsense', '127.0.0.1'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', '10.1.2.3', '10.1.2.3'],
  ] as const)
    expect([peer, said, addressOf(peer, headers(said))]).toEqual([peer, said, client])
})
