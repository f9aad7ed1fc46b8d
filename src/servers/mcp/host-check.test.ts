import { expect, test } from 'bun:test'
import { hostCheck } from './host-check.ts'

const check = hostCheck(['mail.example.com'], ['https://app.example.com'])
const isRefused = (headers: Record<string, string>) => check(new Headers(headers)) !== undefined

test.each([
  { host: 'mail.example.com' },
  { host: 'MAIL.example.com:8443' },
  { host: 'localhost:8080' },
  { host: '127.0.0.1:8080' },
  { host: '[::1]:8080' },
  { host: 'mail.example.com', origin: 'https://mail.example.com' },
  { host: 'mail.example.com', origin: 'https://app.example.com' },
  { host: 'localhost:8080', origin: 'http://localhost:6274' },
])('allows %o', headers => {
  expect(isRefused(headers)).toBe(false)
})

test.each([
  {},
  { host: 'evil.example' },
  { host: 'mail.example.com.evil.example' },
  { host: 'evil.example@mail.example.com.evil.example' },
  { host: 'mail.example.com', origin: 'https://evil.example' },
  { host: 'mail.example.com', origin: 'null' },
  { host: 'mail.example.com', origin: 'https://app.example.com.evil.example' },
  { host: 'localhost:8080', origin: 'file://' },
])('refuses %o', headers => {
  expect(isRefused(headers as Record<string, string>)).toBe(true)
})
