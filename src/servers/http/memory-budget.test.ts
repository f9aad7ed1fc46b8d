import { expect, test } from 'bun:test'
import { openMemoryBudget } from './memory-budget.ts'

test('has room for 256 MiB of bodies, and again when they are gone', () => {
  const room = openMemoryBudget()
  const each = 16 * 1024 * 1024
  for (let i = 0; i < 16; i++) room.acquire(each)
  expect(() => room.acquire(1)).toThrow('Too many large requests')
  room.release(each)
  room.acquire(each)
})
