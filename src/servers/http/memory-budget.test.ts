import { expect, test } from 'bun:test'
import { bodyRoom } from './memory-budget.ts'

test('has room for 256 MiB of bodies, and again when they are gone', () => {
  const room = bodyRoom()
  const each = 16 * 1024 * 1024
  for (let i = 0; i < 16; i++) room.take(each)
  expect(() => room.take(1)).toThrow('Too many large requests')
  room.giveBack(each)
  room.take(each)
})
