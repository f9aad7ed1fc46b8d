import { expect, test } from 'bun:test'
import { quoteText, unquoteText } from './txt-quoting.ts'

test.each([
  ['plain', '"plain"'],
  ['', '""'],
  ['say "x" \\; twice', '"say \\"x\\" \\\\; twice"'],
  ['ü', '"\\195\\188"'],
  ['a\tb', '"a\\009b"'],
])('%j stands in a zone file as %j', (text, quoted) => {
  expect(quoteText(text)).toBe(quoted)
  expect(unquoteText(quoted)).toBe(text)
})

test('a text is split into strings of 255 octets, and joined wherever it was split', () => {
  const text = 'x'.repeat(254) + 'ü'.repeat(200)
  const strings = quoteText(text).split(' ')
  expect(strings).toHaveLength(3)
  expect(strings[0]).toBe(`"${'x'.repeat(254)}\\195"`)
  expect(unquoteText(strings.join(' '))).toBe(text)
  expect(unquoteText(strings.join('\t'))).toBe(text)
  expect(unquoteText('"v=spf1 " "-all"')).toBe('v=spf1 -all')
  expect(unquoteText('"a" b "c"')).toBe('abc')
})

test('a text without quotes is returned unchanged', () => {
  expect(unquoteText('v=DMARC1; p=none')).toBe('v=DMARC1; p=none')
})
