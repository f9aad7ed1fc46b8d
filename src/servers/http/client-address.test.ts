import { expect, test } from 'bun:test'
import { clientAddressReader } from './client-address.ts'

const headers = (forwardedFor: string) => new Headers({ 'x-forwarded-for': forwardedFor })

test('ignores X-Forwarded-For from a peer that is not one of our proxies', () => {
  expect(clientAddressReader([])('192.0.2.1', headers('198.51.100.1'))).toBe('192.0.2.1')
  const readAddress = clientAddressReader(['127.0.0.1'])
  expect(readAddress('192.0.2.1', headers('198.51.100.1'))).toBe('192.0.2.1')
  expect(readAddress('::ffff:192.0.2.1', new Headers())).toBe('192.0.2.1')
  expect(readAddress('127.0.0.1', new Headers())).toBe('127.0.0.1')
  expect(readAddress('unknown', headers('198.51.100.1'))).toBe('unknown')
})

test('takes the nearest address in X-Forwarded-For that is not a proxy', () => {
  const readAddress = clientAddressReader(['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32'])
  for (const [peer, forwardedFor, client] of [
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
    expect([peer, forwardedFor, readAddress(peer, headers(forwardedFor))]).toEqual([peer, forwardedFor, client])
})
