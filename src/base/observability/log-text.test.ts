import { expect, test } from 'bun:test'
import { formatLogLine } from './log-text.ts'

const time = '2026-11-21T10:00:00.000Z'
const shown = (facts: object, msg = 'message accepted') =>
  formatLogLine(JSON.stringify({ level: 30, time, ...facts, msg }))

test('formats an event as one line: time, level, message and fields', () => {
  expect(shown({ message_id: 'msg_1', bytes: 12, tls: null, roles: ['smtp'], cause: 'not "now"' })).toBe(
    `${time} INFO  message accepted message_id=msg_1 bytes=12 tls=null roles=["smtp"] cause="not \\"now\\""\n`,
  )
})

test('writes an error on the same line, its stack last', () => {
  const line = shown({ err: { type: 'Error', message: 'no room', stack: 'Error: no room\n    at a.ts:1' } }, 'failed')
  expect(line).toBe(
    `${time} INFO  failed err.type=Error err.message="no room" err.stack="Error: no room\\n    at a.ts:1"\n`,
  )
})

test('escapes characters that break the line, move the cursor or hide text', () => {
  const nasty = 'a\u001b[2Jb\r\nc\u007fd\u009be\u202ef\u2028g\u0000h'
  const line = shown({ helo: nasty, [`k\n${nasty}`]: 1 }, `said ${nasty}`)
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(line.endsWith('\n')).toBe(true)
  expect(line).toContain('\\u{1b}[2Jb\\u{d}\\u{a}c\\u{7f}d\\u{9b}e\\u{202e}f\\u{2028}g\\u{0}h')
})
