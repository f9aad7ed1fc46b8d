import { expect, test } from 'bun:test'
import { isId, newId, newSortableToken } from './ids.ts'

test('has the documented form', () => {
  const id = newId('eml')
  expect(id).toMatch(/^eml_[0-9a-hjkmnp-tv-z]{26}$/)
  expect(isId('eml', id)).toBeTrue()
  expect(isId('msg', id)).toBeFalse()
  expect(isId('eml', `${id}0`)).toBeFalse()
})

test('sorts by time', () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001]
  const made = times.map(time => newSortableToken(time))
  expect(made.toSorted()).toEqual(made)
})

test('sorts in the order of creation, also within a millisecond', () => {
  const made = Array.from({ length: 5000 }, () => newSortableToken(1_700_000_000_000))
  expect(made.toSorted()).toEqual(made)
})

test('does not repeat', () => {
  expect(new Set(Array.from({ length: 20_000 }, () => newId('evt'))).size).toBe(20_000)
})
