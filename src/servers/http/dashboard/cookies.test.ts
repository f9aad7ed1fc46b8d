import { expect, test } from 'bun:test'
import { readCookie, setCookieHeader } from './cookies.ts'

test('reads the cookie with exactly this name, the first of several', () => {
  const header = 'other=1; mailroom=a=b; __Host-mailroom=c;mailroom=d'
  expect(readCookie(header, 'mailroom')).toBe('a=b')
  expect(readCookie(header, '__Host-mailroom')).toBe('c')
  expect(readCookie(header, 'room')).toBeUndefined()
  expect(readCookie(null, 'mailroom')).toBeUndefined()
  expect(readCookie('mailroom', 'mailroom')).toBeUndefined()
})

test('no script and no other site gets to use a cookie, and none goes in clear where there is TLS', () => {
  expect(setCookieHeader('__Host-mailroom', 'abc', 60, true)).toBe(
    '__Host-mailroom=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  )
  expect(setCookieHeader('mailroom', '', 0, false)).toBe('mailroom=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict')
  expect(() => setCookieHeader('mailroom', 'a; Domain=example', 60, true)).toThrow('cannot be a cookie')
})
