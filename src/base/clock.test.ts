import { expect, test } from 'bun:test'
import { fromIso, instantAt, microsecondsOf, plusMs, systemClock, toIso } from './clock.ts'

const at = instantAt(1_767_225_599_999_999)

test('converts microseconds both ways', () => {
  expect(at as string).toBe('2025-12-31 23:59:59.999999')
  expect(microsecondsOf(at)).toBe(1_767_225_599_999_999)
  expect(toIso(at)).toBe('2025-12-31T23:59:59.999999Z')
  expect(fromIso(toIso(at))).toBe(at)
  expect(plusMs(at, 0.001) as string).toBe('2026-01-01 00:00:00.000000')
})

test('reads an instant whichever was made last', () => {
  const other = instantAt(1_767_225_600_000_001)
  expect([at, other, at].map(microsecondsOf)).toEqual([
    1_767_225_599_999_999, 1_767_225_600_000_001, 1_767_225_599_999_999,
  ])
})

test('parses other offsets and precisions', () => {
  expect(fromIso('2026-01-01T01:59:59.9+02:00') as string).toBe('2025-12-31 23:59:59.900000')
  expect(fromIso('2026-01-01T00:00:00Z') as string).toBe('2026-01-01 00:00:00.000000')
  expect(fromIso('2028-02-29T23:59:59-00:30') as string).toBe('2028-03-01 00:29:59.000000')
})

for (const wrong of [
  '',
  'now',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-13-01T00:00:00Z',
  '2026-01-01T00:00:00z',
  '2026-02-30T00:00:00Z',
  '2026-02-29T12:00:00+05:00',
  '2026-04-31T00:00:00+02:00',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+99:99',
  '1e9',
  '+012026-01-01T00:00:00Z',
])
  test(`refuses "${wrong}" as a time`, () => expect(fromIso(wrong)).toBeUndefined())

test('never gives the same instant twice', () => {
  const instants = Array.from({ length: 5000 }, () => systemClock.now())
  expect(new Set(instants).size).toBe(5000)
  expect(instants.toSorted()).toEqual(instants)
})
