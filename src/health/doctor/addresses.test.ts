import { expect, test } from 'bun:test'
import { isPrivateAddress } from './addresses.ts'

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
