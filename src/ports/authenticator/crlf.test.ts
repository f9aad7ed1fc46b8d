import { expect, test } from 'bun:test'
import { crlfNormalizer, withCrlf } from './crlf.ts'

test('makes every line end CRLF', () => {
  const normal = (text: string) => withCrlf(Buffer.from(text)).toString()
  expect(normal('a\nb\rc\r\nd\n\ne\r\rf\r\n\n')).toBe('a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\nf\r\n\r\n')
  expect(normal('a\r')).toBe('a\r\n')
  expect(normal('')).toBe('')
})

test('does not copy text that has CRLF line ends already', () => {
  const bytes = Buffer.from('a: b\r\n\r\nc\r\n')
  expect(withCrlf(bytes)).toBe(bytes)
})

test('gives the same whatever the chunks', () => {
  const text = 'a\r\nb\nc\rd\r\r\n\n\re\r'
  for (let size = 1; size < text.length; size++) {
    const normalizer = crlfNormalizer()
    let result = ''
    for (let i = 0; i < text.length; i += size)
      result += normalizer.write(Buffer.from(text.slice(i, i + size))).toString()
    expect(result + normalizer.end().toString()).toBe(withCrlf(Buffer.from(text)).toString())
  }
})
