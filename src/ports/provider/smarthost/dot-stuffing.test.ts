import { expect, test } from 'bun:test'
import { withFinalDot } from './dot-stuffing.ts'

test.each([
  ['no dots', 'H: x\r\n\r\na.\r\n', 'H: x\r\n\r\na.\r\n.\r\n'],
  ['no line end at the end', '.H: x\r\n\r\n.\r\n.c', undefined],
  ['dots at the starts of all lines', '.H\r\n.\r\n..\r\na.b\r\n.c\r\n', '..H\r\n..\r\n...\r\na.b\r\n..c\r\n.\r\n'],
  ['a final dot of its own', 'a\r\n.\r\n', 'a\r\n..\r\n.\r\n'],
])('%s', (_, message, transmitted) => {
  expect(withFinalDot(Buffer.from(message))?.toString()).toBe(transmitted as string)
})

test.each(['', 'a', 'a\n', 'a\r', '\n', 'a\r\nb\n.\r\n', 'a\rb\r\n', 'a\r.\r\r\n', 'a\r\r\n', '\r\r\n'])(
  'lines that do not end in CRLF are left to who can mend them: %j',
  message => expect(withFinalDot(Buffer.from(message))).toBeUndefined(),
)
