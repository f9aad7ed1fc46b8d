import { expect, test } from 'bun:test'
import { openConnectionLimiter } from './connection-limiter.ts'

test('limits the sessions of a network and of all together, and counts released ones no more', () => {
  const limiter = openConnectionLimiter({ total: 3, perNetwork: 2 })
  expect([limiter.acquire('2001:db8::1'), limiter.acquire('2001:db8::2')]).toEqual([undefined, undefined])
  expect(limiter.acquire('2001:db8::3')).toBe('too_many_sessions_from_address')
  expect(limiter.acquire('192.0.2.1')).toBeUndefined()
  expect(limiter.acquire('192.0.2.2')).toBe('too_many_sessions')
  limiter.release('2001:db8::1')
  expect(limiter.acquire('192.0.2.2')).toBeUndefined()
})
