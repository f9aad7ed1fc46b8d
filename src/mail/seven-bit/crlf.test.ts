import { expect, test } from 'bun:test'
import { crlfNormalizer } from './crlf.ts'

/** Normalizes a text in chunks of `size` characters. */
function normalize(text: string, size = text.length + 1): string {
  const normalizer = crlfNormalizer()
  let result = ''
  for (let i = 0; i < text.length; i += size)
    result += normalizer.write(Buffer.from(text.slice(i, i + size))).toString()
  return result + normalizer.end().toString()
}

test('makes every line end CRLF', () => {
  expect(normalize('a\nb\rc\r\nd\n\ne\r\rf\r\n\n')).toBe('a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\nf\r\n\r\n')
  expect(normalize('a\r')).toBe('a\r\n')
  expect(normalize('')).toBe('')
})

test('does not copy a chunk that has CRLF line ends already', () => {
  const bytes = Buffer.from('a: b\r\n\r\nc\r\n')
  expect(crlfNormalizer().write(bytes)).toBe(bytes)
})

test('gives the same result whatever the size of the chunks', () => {
  const text = 'a\r\nb\nc\rd\r\r\n\n\re\r'
  for (let size = 1; size < text.length; size++) expect(normalize(text, size)).toBe(normalize(text))
})

test('finds a bare line end behind many lines, long and short', () => {
  for (const lines of [`${'x'.repeat(70)}\r\n`.repeat(1000), 'x\r\n'.repeat(1000), '\r\n'.repeat(1000)])
    for (const odd of ['', 'a\n', '\n', '\r', 'a\rb', '\r\r\n', '\n\r', '\n\r\n'])
      for (const text of [`${lines}${odd}`, `${odd}${lines}`, `${lines}${odd}${lines}`])
        expect(normalize(text)).toBe(text.replace(/\r\n|\r|\n/g, '\r\n'))
})
