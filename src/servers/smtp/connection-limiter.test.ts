import { expect, test } from 'bun:test'
import { networkOf, openConnectionLimiter } from './connection-limiter.ts'

const networks: Readonly<Record<string, string>> = {
  '192.0.2.1': '192.0.2.1',
  '::ffff:192.0.2.1': '192.0.2.1',
  '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
  '2001:0DB8:0001:2::9': '2001:db8:1:2::/64',
  '2001:db8::1': '2001:db8:0:0::/64',
  '::1': '0:0:0:0::/64',
  'fe80::1%eth0': 'fe80:0:0:0::/64',
  '1::2:3:4:5:6:7': '1:0:2:3::/64',
}

for (const [address, network] of Object.entries(networks))
  test(`${address} counts as ${network}`, () => expect(networkOf(address)).toBe(network))

test('limits each network, then all, and forgets what is released', () => {
  const limiter = openConnectionLimiter({ total: 3, perNetwork: 2 })
  expect([limiter.acquire('2001:db8::1'), limiter.acquire('2001:db8::2')]).toEqual([undefined, undefined])
  expect(limiter.acquire('2001:db8::3')).toBe('too_many_sessions_from_address')
  expect(limiter.acquire('192.0.2.1')).toBeUndefined()
  expect(limiter.acquire('192.0.2.2')).toBe('too_many_sessions')
  limiter.release('2001:db8::1')
  expect(limiter.acquire('192.0.2.2')).toBeUndefined()
})
