import { expect, test } from 'bun:test'
import { addressGroup } from './client-address.ts'

test('groups IPv6 by /64 and leaves IPv4 alone', () => {
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1')
  expect(addressGroup('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(addressGroup('2001:db8:0:1:ffff::1')).toBe('2001:db8:0:1')
  expect(addressGroup('2001:db8:0:1::2')).toBe('2001:db8:0:1')
  expect(addressGroup('2001:0db8::2')).toBe('2001:db8:0:0')
  expect(addressGroup('::1')).toBe('0:0:0:0')
  expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0')
})
