import { expect, test } from 'bun:test'
import { browserOrigin, isLocalRequest, requireSafeOrigin } from './browser-origin.ts'

const request = (url: string, origin?: string) => new Request(url, { headers: origin === undefined ? {} : { origin } })

test('the origin is that of the host, over TLS of our own https', () => {
  expect(browserOrigin(request('http://mail.example:8080/app'), false, undefined)).toEqual({
    origin: 'http://mail.example:8080',
    isSecure: false,
  })
  expect(browserOrigin(request('http://mail.example/app'), true, undefined)).toEqual({
    origin: 'https://mail.example',
    isSecure: true,
  })
})

test('behind a proxy with TLS the public URL counts, by its host or by the Origin', () => {
  const published = { origin: 'https://mail.example', isSecure: true }
  expect(browserOrigin(request('http://mail.example/app'), false, 'https://mail.example')).toEqual(published)
  expect(
    browserOrigin(request('http://127.0.0.1:8080/app', 'https://mail.example'), false, 'https://mail.example/'),
  ).toEqual(published)
  expect(browserOrigin(request('http://localhost:8080/app'), false, 'https://mail.example')).toEqual({
    origin: 'http://localhost:8080',
    isSecure: false,
  })
})

test('a request is local from this machine, by its name, without a proxy and without a public URL', () => {
  const local = request('http://localhost:8080/app')
  expect(isLocalRequest(local, '127.0.0.1', undefined)).toBe(true)
  expect(isLocalRequest(request('http://[::1]:8080/app'), '::1', 'http://localhost:8080')).toBe(true)
  expect(isLocalRequest(local, '192.0.2.1', undefined)).toBe(false)
  expect(isLocalRequest(request('http://mail.example/app'), '127.0.0.1', undefined)).toBe(false)
  expect(isLocalRequest(local, '127.0.0.1', 'https://mail.example')).toBe(false)
  const forwarded = new Request(local.url, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  expect(isLocalRequest(forwarded, '127.0.0.1', undefined)).toBe(false)
})

test('an address that is not the published one is told where the dashboard is', () => {
  const local = { origin: 'http://10.0.0.5:8080', isSecure: false }
  expect(() => requireSafeOrigin(local, 'https://mail.example/')).toThrow(
    'The dashboard is at https://mail.example/app, not at http://10.0.0.5:8080;',
  )
  expect(() => requireSafeOrigin(local, 'http://10.0.0.5:8080')).toThrow('The dashboard needs https,')
  requireSafeOrigin({ origin: 'https://mail.example', isSecure: true }, undefined)
  requireSafeOrigin({ origin: 'http://localhost:8080', isSecure: false }, 'https://mail.example')
})
