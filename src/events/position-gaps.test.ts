import { expect, test } from 'bun:test'
import { addPositions, maxGaps, type SeenPositions, watermarkOf } from './position-gaps.ts'

const none: SeenPositions = { through: 0, gaps: [] }
const rangesOf = ({ gaps }: SeenPositions) => gaps.map(({ first, last }) => [first, last])

test('positions that are missing before others are gaps, which the watermark does not pass', () => {
  const seen = addPositions(none, [1, 2, 5, 7], 10)
  expect([seen.through, rangesOf(seen), watermarkOf(seen)]).toEqual([
    7,
    [
      [3, 4],
      [6, 6],
    ],
    2,
  ])
  expect(watermarkOf(addPositions(none, [1, 2, 3], 10))).toBe(3)
  expect(watermarkOf(none)).toBe(0)
})

test('an event in a gap leaves the parts on both sides of it', () => {
  const seen = addPositions(none, [10], 10)
  const filled = addPositions(seen, [1, 4, 5, 9, 11], 20)
  expect([filled.through, rangesOf(filled)]).toEqual([
    11,
    [
      [2, 3],
      [6, 8],
    ],
  ])
  expect(filled.gaps.map(gap => gap.sinceMs)).toEqual([10, 10])
  expect(addPositions(filled, [2, 3, 6, 7, 8], 30)).toEqual({ through: 11, gaps: [] })
})

test('many gaps are merged with those found at about the same time, and leave out none', () => {
  let seen = none
  for (let round = 0; round < 10; round++) {
    const first = 2 + round * 100
    seen = addPositions(
      seen,
      Array.from({ length: 50 }, (_, i) => first + 2 * i),
      round * 1000,
    )
  }
  expect(seen.gaps.length).toBeLessThanOrEqual(maxGaps)
  for (let missing = 1; missing < 1000; missing += 2)
    expect(seen.gaps.some(({ first, last }) => first <= missing && missing <= last)).toBe(true)
  expect(seen.gaps.filter(gap => gap.isMerged).map(gap => gap.sinceMs)).toEqual([2000, 4000, 7000, 8000])
  // Whichever of a merged gap was found last counts, and numbered events between them do not end it.
  expect(rangesOf(addPositions(seen, [3], 20_000))).toEqual(rangesOf(seen))
})
