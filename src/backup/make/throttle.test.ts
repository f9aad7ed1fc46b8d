import { expect, test } from 'bun:test'
import { freedom } from './throttle.ts'

test('a machine that is idle gives all of the share, a busy one a third, and between them part of it', () => {
  expect(freedom(0, 4)).toBe(1)
  expect(freedom(2, 4)).toBe(1)
  expect(freedom(3, 4)).toBeCloseTo(2 / 3)
  expect(freedom(4, 4)).toBeCloseTo(1 / 3)
  expect(freedom(400, 4)).toBeCloseTo(1 / 3)
})
