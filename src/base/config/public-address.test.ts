import { expect, test } from 'bun:test'
import { publicAddress } from './public-address.ts'

const httpListen = { host: '127.0.0.1', port: 8080 }

test('links start with the public URL', () => {
  expect(publicAddress({ publicUrl: 'https://mail.example.com/', httpListen })).toBe('https://mail.example.com')
  expect(publicAddress({ publicUrl: 'http://127.0.0.1:8080', httpListen })).toBe('http://127.0.0.1:8080')
})

test.each([
  [{ host: '127.0.0.1', port: 8080 }, 'http://localhost:8080'],
  [{ host: '::1', port: 8080 }, 'http://localhost:8080'],
  [{ host: '0.0.0.0', port: 8080 }, 'http://localhost:8080'],
  [{ host: '::', port: 8080 }, 'http://localhost:8080'],
  [{ host: '10.0.0.5', port: 8080 }, 'http://10.0.0.5:8080'],
  [{ host: '2001:db8::1', port: 80 }, 'http://[2001:db8::1]:80'],
])('without it they say where %p is reached', (listen, address) => {
  expect(publicAddress({ publicUrl: undefined, httpListen: listen })).toBe(address)
})

test('the port that was bound counts, not the one that was asked for', () => {
  const config = { publicUrl: undefined, httpListen: { host: '127.0.0.1', port: 0 } }
  expect(publicAddress(config, 'http://127.0.0.1:40123')).toBe('http://localhost:40123')
})
