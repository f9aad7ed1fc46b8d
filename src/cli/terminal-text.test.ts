import { expect, test } from 'bun:test'
import { sanitizeForTerminal } from './terminal-text.ts'

test('text from outside cannot control a terminal', () => {
  expect(sanitizeForTerminal('a\u001b[2Jb\u009b31mc\r\nd\u202etxt.exe')).toBe('a�[2Jb�31mc��d�txt.exe')
  expect(sanitizeForTerminal('Grüße, 你好 👋')).toBe('Grüße, 你好 👋')
})
