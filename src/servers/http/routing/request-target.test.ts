import { expect, test } from 'bun:test'
import { readTarget } from './request-target.ts'

const target = (url: string) => {
  const { request, audience, path, query, isTls, isFramed, linked } = readTarget(new Request(url))
  return { url: request.url, audience, path, query, isTls, isFramed, ...(linked && { linked }) }
}
const nothing = { organization: undefined, brand: undefined }

test('keys count below /v1, members below /app/api/v1, sessions below /app/api, and the rest of /app is files', () => {
  const audiences = {
    '/v1': 'key',
    '/v1/emails': 'key',
    '/v1x': 'public',
    '/app/api/v1/emails': 'member',
    '/app/api/v1/mcp': 'session',
    '/app/api/v1': 'session',
    '/app/api/session': 'session',
    '/app/api': 'session',
    '/app/message/msg_1/view': 'session',
    '/app/sent-email/eml_1/view': 'session',
    '/app/message/msg_1': 'file',
    '/app': 'file',
    '/app/org_1/mail': 'file',
    '/apple': 'public',
    '/health': 'public',
  }
  for (const [path, audience] of Object.entries(audiences))
    expect([path, target(`http://localhost${path}`).audience]).toEqual([path, audience as never])
})

test('the routes of the API get their own URL, without the organization and the brand of a link', () => {
  expect(target('http://localhost:8080/app/api/v1/emails?organization=org_1&limit=5&brand=brd_1')).toEqual({
    url: 'http://localhost:8080/v1/emails?limit=5',
    audience: 'member',
    path: '/app/api/v1/emails',
    query: '?organization=org_1&limit=5&brand=brd_1',
    isTls: false,
    isFramed: false,
    linked: { organization: 'org_1', brand: 'brd_1' },
  })
  expect(target('http://localhost/app/api/live?organization=a&organization=b')).toMatchObject({
    url: 'http://localhost/app/api/live?organization=b',
    linked: { ...nothing, organization: 'a' },
  })
  expect(target('http://localhost/v1/emails?organization=org_1').url).toBe(
    'http://localhost/v1/emails?organization=org_1',
  )
})

test('over TLS the routes get the same URL with http', () => {
  expect(target('https://mail.example/v1/emails?a=1')).toMatchObject({
    url: 'http://mail.example/v1/emails?a=1',
    isTls: true,
  })
  expect(target('https://mail.example/app/api/v1/emails')).toMatchObject({
    url: 'http://mail.example/v1/emails',
    isTls: true,
  })
})

test('a body goes along', async () => {
  const request = new Request('https://mail.example/app/api/v1/emails', { method: 'POST', body: 'x' })
  expect(await readTarget(request).request.text()).toBe('x')
})
