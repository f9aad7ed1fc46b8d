import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newId } from '../../base/ids.ts'
import { secretsOf } from '../../base/secrets/secrets.ts'
import { newReturnPaths } from './return-path.ts'

const [first, second] = [randomBytes(32), randomBytes(32)]
const paths = newReturnPaths(secretsOf([first]))
const emailId = newId('eml')
const localPartOf = (position: number) => paths.addressOf({ emailId, position }, 'b.shop.test').split('@')[0] ?? ''

test('reads the recipient back, in either case', () => {
  for (const position of [0, 1, 31, 32, 49, 1023]) {
    const address = paths.addressOf({ emailId, position }, 'b.shop.test')
    expect(address).toMatch(/^b\+[0-9a-z]{44}@b\.shop\.test$/)
    for (const localPart of [localPartOf(position), localPartOf(position).toUpperCase()])
      expect(paths.read(localPart)).toEqual({ emailId, position })
  }
})

test('distinguishes every recipient and every email', () => {
  const other = paths.addressOf({ emailId: newId('eml'), position: 0 }, 'x.test').split('@')[0] ?? ''
  expect(new Set([localPartOf(0), localPartOf(1), other]).size).toBe(3)
  expect(localPartOf(0).slice(-16)).not.toBe(localPartOf(1).slice(-16))
})

test('accepts no other character, no other position and no other key', () => {
  const localPart = localPartOf(3)
  for (let at = 2; at < localPart.length; at++) {
    const changed = localPart.slice(0, at) + (localPart[at] === '0' ? '1' : '0') + localPart.slice(at + 1)
    expect(paths.read(changed)).toBe('forged')
  }
  expect(newReturnPaths(secretsOf([second])).read(localPart)).toBe('forged')
})

test('accepts what was signed with a key that is no longer the first', () => {
  expect(newReturnPaths(secretsOf([second, first])).read(localPartOf(3))).toEqual({ emailId, position: 3 })
})

test('ignores other addresses', () => {
  for (const other of [
    'b',
    'b+tag',
    'bob',
    `c${localPartOf(0).slice(1)}`,
    `${localPartOf(0)}0`,
    localPartOf(0).slice(0, -1),
  ])
    expect(paths.read(other)).toBeUndefined()
})
