import { expect, test } from 'bun:test'
import { toZoneFile } from './zone-file.ts'

const record = { name: 'example.com', priority: null, ttl: 300 }

test('writes a record a line, with absolute names', () => {
  const mx = { ...record, type: 'MX', value: 'mail.example.net', priority: 10 } as const
  const alias = { ...record, type: 'CNAME', name: 'www.example.com', value: 'example.net' } as const
  expect(toZoneFile([mx, alias])).toBe(
    'example.com. 300 IN MX 10 mail.example.net.\nwww.example.com. 300 IN CNAME example.net.\n',
  )
})

test('splits a long text into strings of 255 bytes, and escapes quotes and backslashes', () => {
  const text = { ...record, type: 'TXT', value: `${'a'.repeat(255)}b"\\` } as const
  expect(toZoneFile([text])).toBe(`example.com. 300 IN TXT "${'a'.repeat(255)}" "b\\"\\\\"\n`)
})
