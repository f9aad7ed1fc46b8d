import { expect, test } from 'bun:test'
import { newCountedRequestsSum } from './counted-requests.ts'

test('adds what workers count in a minute, and forgets it with the next', () => {
  const counted = newCountedRequestsSum()
  expect(counted.sum()).toBeNull()
  counted.add({ window: 7, counts: { a: 6, b: 1 } })
  counted.add({ window: 7, counts: { a: 2 } })
  expect(counted.sum()).toEqual({ window: 7, counts: { a: 8, b: 1 } })
  counted.add({ window: 8, counts: { a: 1 } })
  counted.add({ window: 7, counts: { a: 5 } })
  expect(counted.sum()).toEqual({ window: 8, counts: { a: 1 } })
})
