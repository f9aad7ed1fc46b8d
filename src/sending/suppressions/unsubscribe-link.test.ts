import { expect, test } from 'bun:test'
import { oneClickDoubt } from './unsubscribe-link.ts'

test('doubts links that mail programs do not follow with one click', () => {
  expect(oneClickDoubt('http://127.0.0.1:8080')).toContain('MAILROOM_PUBLIC_URL')
  expect(oneClickDoubt('http://mail.example/api')).toContain('RFC 8058')
  expect(oneClickDoubt('https://mail.example')).toBeNull()
  expect(oneClickDoubt('HTTPS://mail.example/api')).toBeNull()
})
