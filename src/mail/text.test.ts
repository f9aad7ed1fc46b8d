import { expect, test } from 'bun:test'
import { oneLine, truncate } from './text.ts'

test('writes on one line', () => {
  expect(oneLine('\r\n 550 5.1.1\t\u0007no\u00a0such  user\r\n')).toBe('550 5.1.1 no such user')
})

test('truncates to well-formed text', () => {
  expect(truncate('abc', 2)).toBe('ab')
  expect(truncate('a😀', 2)).toBe('a')
  expect(truncate('a\ud800', 9)).toBe('a\ufffd')
})
