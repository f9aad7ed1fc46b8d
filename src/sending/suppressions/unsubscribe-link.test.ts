import { expect, test } from 'bun:test'
import { oneClickWarning } from './unsubscribe-link.ts'

test('warns of links that mail programs do not follow with one click', () => {
  expect(oneClickWarning('http://127.0.0.1:8080')).toContain('MAILROOM_PUBLIC_URL')
  expect(oneClickWarning('http://mail.example/api')).toContain('RFC 8058')
  expect(oneClickWarning('https://mail.example')).toBeNull()
  expect(oneClickWarning('HTTPS://mail.example/api')).toBeNull()
})
