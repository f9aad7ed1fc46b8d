import { expect, test } from 'bun:test'
import { previewOf } from './preview.ts'
import { oneLine, truncate } from './text.ts'

test('takes the beginning of the text, on one line', () => {
  expect(previewOf('  Hello\r\n\r\n\tworld \u200b\u0007', '<p>other</p>')).toBe('Hello world')
})

test('is the same for ASCII alone as beside other characters', () => {
  for (let code = 0; code < 0x80; code++) {
    const text = ` a${String.fromCharCode(code)}b \f\v c`
    expect(previewOf(text, null)).toBe(previewOf(`${text}\u00e9`, null).replace('\u00e9', ''))
  }
})

test('does not depend on what comes after it', () => {
  for (let length = 190; length < 420; length++)
    for (const line of [
      'x'.repeat(length),
      `${' '.repeat(250)}${'x'.repeat(length)}`,
      ` \n${'a b\r\n  '.repeat(length)}`.slice(0, length),
    ])
      for (const end of [' ', '\r\n', ' \u0007 \u200b y', 'é', '\u0301', '😀']) {
        const text = `${line}${end}`.repeat(3)
        expect(previewOf(text, null)).toBe(truncate(oneLine(text.replaceAll('\u200b', '')), 200))
      }
})

test('takes what HTML shows when there is no text', () => {
  const html =
    '<html><head><title>T</title><style>p{a:b}</style></head><!-- no > --><body><script>x()</script><p class="a>b">Caf&eacute; &amp; &#x1F600;&nbsp;ok</p>a&zwnj;b &bogus;</body>'
  expect(previewOf(' \n', html)).toBe('Café & 😀 ok ab &bogus;')
  expect(previewOf(null, '<p>Gr&uuml;&szlig;e aus M&uuml;nchen</p>')).toBe('Grüße aus München')
})

test('is never longer than 200 characters, nor ends in half a character', () => {
  expect(previewOf('x'.repeat(500), null)).toHaveLength(200)
  expect(previewOf(`${'x'.repeat(199)}😀`, null)).toBe('x'.repeat(199))
})

test('is empty when there is nothing to see', () => {
  expect(previewOf(null, null)).toBe('')
  expect(previewOf(null, '<style>unclosed')).toBe('')
})

for (const piece of ['<', '<div>', '<style>', '<style></style>', '<!--', '&', '&amp;', ' ', '</', '\u200b'])
  test(`reads much of ${piece} quickly`, () => {
    const started = performance.now()
    previewOf(null, piece.repeat(500_000 / piece.length))
    previewOf(piece.repeat(500_000 / piece.length), null)
    expect(performance.now() - started).toBeLessThan(300)
  })
