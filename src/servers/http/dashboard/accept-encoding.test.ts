import { expect, test } from 'bun:test'
import { acceptedCoding } from './accept-encoding.ts'

const both = ['br', 'gzip'] as const

test('the first coding that the client accepts', () => {
  expect(acceptedCoding('gzip, deflate, br, zstd', both)).toBe('br')
  expect(acceptedCoding('GZIP', both)).toBe('gzip')
  expect(acceptedCoding('br;q=0, *', both)).toBe('gzip')
  expect(acceptedCoding('br', ['gzip'])).toBeUndefined()
  expect(acceptedCoding('gzip;q=0', both)).toBeUndefined()
  expect(acceptedCoding('identity', both)).toBeUndefined()
  expect(acceptedCoding(null, both)).toBeUndefined()
})
