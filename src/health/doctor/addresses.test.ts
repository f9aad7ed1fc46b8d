import { expect, test } from 'bun:test'
import { isPrivateAddress, reverseName } from './addresses.ts'

test('the reverse name of an address is the one of RFC 1035 and RFC 3596', () => {
  expect(reverseName('192.0.2.10')).toBe('10.2.0.192.in-addr.arpa')
  expect(reverseName('2001:db8::567:89ab')).toBe(
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  )
  expect(reverseName('::1')).toBe(`1.${'0.'.repeat(31)}ip6.arpa`)
})

test('addresses that the world cannot reach are told from those it can', () => {
  expect(
    ['10.1.2.3', '172.18.0.1', '192.168.1.1', '127.0.0.1', '::1', 'fd00::1', '::ffff:172.18.0.1'].map(isPrivateAddress),
  ).toEqual(Array.from({ length: 7 }, () => true))
  expect(['192.0.2.1', '172.32.0.1', '2001:db8::1', '8.8.8.8'].map(isPrivateAddress)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
