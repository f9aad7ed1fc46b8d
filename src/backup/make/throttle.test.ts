import { expect, test } from 'bun:test'
import { shareForLoad } from './throttle.ts'

test('an idle machine allows the whole share, a busy one a third, and between them it falls', () => {
  expect(shareForLoad(0, 4)).toBe(1)
  expect(shareForLoad(2, 4)).toBe(1)
  expect(shareForLoad(3, 4)).toBeCloseTo(2 / 3)
  expect(shareForLoad(4, 4)).toBeCloseTo(1 / 3)
  expect(shareForLoad(400, 4)).toBeCloseTo(1 / 3)
})
