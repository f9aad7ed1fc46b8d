import { expect, test } from 'bun:test'
import { openMemoryBudget } from './memory-budget.ts'

test('grants 256 MiB, and more only after a release', () => {
  const memory = openMemoryBudget()
  const bodyBytes = 16 * 1024 * 1024
  for (let i = 0; i < 16; i++) memory.acquire(bodyBytes)
  expect(() => memory.acquire(1)).toThrow('Too many large requests')
  memory.release(bodyBytes)
  memory.acquire(bodyBytes)
})
