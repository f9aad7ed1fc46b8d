import { expect, test } from 'bun:test'
import { plain } from './text.ts'

test('what strangers wrote cannot steer a terminal', () => {
  expect(plain('a\u001b[2Jb\u009b31mc\r\nd\u202etxt.exe')).toBe('a�[2Jb�31mc��d�txt.exe')
  expect(plain('Grüße, 你好 👋')).toBe('Grüße, 你好 👋')
})
