import { expect, test } from 'bun:test'
import { readSmarthostUrl } from './address.ts'

test.each([
  ['smtp://relay.example', 25, false, false, false],
  ['smtp://relay.example:2525', 2525, false, false, false],
  ['smtp://u:p@relay.example', 587, false, true, true],
  ['smtps://u:p@relay.example', 465, true, false, true],
  ['smtps://relay.example', 465, true, false, true],
  ['smtp://u:p@127.0.0.1:2525', 2525, false, false, false],
  ['smtp://u:p@[::1]:2525', 2525, false, false, false],
  ['smtps://u:p@localhost', 465, true, false, false],
])(
  '%s: port %i, implicit TLS %p, TLS required %p, certificate verified %p',
  (url, port, implicit, required, verified) => {
    expect(readSmarthostUrl(url)).toMatchObject({
      port,
      implicitTls: implicit,
      requireTls: required,
      verifyCertificate: verified,
    })
  },
)

test('reads an encoded password and a bracketed IPv6 address', () => {
  expect(readSmarthostUrl('smtp://us%40er:p%3Aw%2F@[2001:db8::1]:587')).toMatchObject({
    host: '2001:db8::1',
    credentials: { user: 'us@er', password: 'p:w/' },
  })
})
