import { expect, test } from 'bun:test'
import { renewalTime, retryDelayMs } from './renewal.ts'

const day = 86_400_000
const minute = 60_000

test('a certificate that is valid for 90 days is renewed after 60 to 62 days', () => {
  const validity = { notBefore: new Date(0), notAfter: new Date(90 * day) }
  expect(renewalTime(validity, 0)).toEqual(new Date(60 * day))
  expect(renewalTime(validity, 0.999).getTime()).toBeLessThan(62 * day)
})

test('a certificate that is valid for six days is renewed after four', () => {
  const validity = { notBefore: new Date(0), notAfter: new Date(6 * day) }
  expect(renewalTime(validity, 0)).toEqual(new Date(4 * day))
})

test('the retry delay doubles from 5 minutes to 12 hours', () => {
  expect([1, 2, 3, 4, 8, 9, 100].map(failures => retryDelayMs(failures, 0) / minute)).toEqual([
    5, 10, 20, 40, 640, 720, 720,
  ])
  expect(retryDelayMs(1, 1)).toBe(6.25 * minute)
})

test('a longer Retry-After of the authority is observed, up to a week', () => {
  expect(retryDelayMs(1, 0, 3 * 60 * minute)).toBe(3 * 60 * minute)
  expect(retryDelayMs(4, 0, minute)).toBe(40 * minute)
  expect(retryDelayMs(1, 0, 365 * day)).toBe(7 * day)
})
