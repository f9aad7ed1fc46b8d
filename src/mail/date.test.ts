import { expect, test } from 'bun:test'
import { readDate } from './date.ts'

test.each([
  ['Tue, 03 Mar 2026 09:15:04 +0000', '2026-03-03 09:15:04.000000'],
  ['Tue,  3 Mar 2026 09:15:04 +0000 (UTC)', '2026-03-03 09:15:04.000000'],
  ['3 Mar 2026 09:15:04 -0800', '2026-03-03 17:15:04.000000'],
  ['Tue, 3 Mar 2026 09:15 GMT', '2026-03-03 09:15:00.000000'],
  ['Tue, 3 Mar 2026 09:15:04 EST', '2026-03-03 14:15:04.000000'],
])('reads %s', (text, instant) => expect(readDate(text)).toBe(instant as never))

test.each(['', 'yesterday', 'Tue, 3 Mar 2026 09:15:04', 'x +0000', '3 +0000', '99 Mar 2026 GMT'])(
  'takes no time from %p',
  text => expect(readDate(text)).toBeNull(),
)

test('reads a very long text quickly', () => {
  expect(readDate(`3 Mar ${'('.repeat(500_000)} +0000`)).toBeNull()
})
