import { describe, expect, test } from 'bun:test'
import { DataDecoder } from './data-decoder.ts'

/** The message in these chunks, and what follows its end (null: it does not end). */
function decode(chunks: readonly string[]): { readonly message: string; readonly after: string | null } {
  const decoder = new DataDecoder()
  let message = ''
  const sink = {
    write: (bytes: Buffer) => {
      message += bytes.toString('latin1')
    },
  }
  for (const [index, text] of chunks.entries()) {
    const chunk = Buffer.from(text, 'latin1')
    const end = decoder.decode(chunk, sink)
    if (end >= 0) return { message, after: text.slice(end) + chunks.slice(index + 1).join('') }
  }
  return { message, after: null }
}

/** The message in each wire form, and what follows its end. */
const forms: Readonly<Record<string, readonly [wire: string, message: string, after: string | null]>> = {
  'an empty message': ['.\r\n', '', ''],
  'a plain message': ['a\r\nb\r\n.\r\n', 'a\r\nb\r\n', ''],
  'what follows the end': ['a\r\n.\r\nQUIT\r\n', 'a\r\n', 'QUIT\r\n'],
  'a stuffed dot alone on a line': ['..\r\n.\r\n', '.\r\n', ''],
  'stuffed dots in the middle': ['a\r\n..b\r\n...\r\n.\r\n', 'a\r\n.b\r\n..\r\n', ''],
  'a dot that was not stuffed': ['a\r\n.b\r\n.\r\n', 'a\r\nb\r\n', ''],
  'a dot and CR that go on': ['a\r\n.\rb\r\n.\r\n', 'a\r\n\rb\r\n', ''],
  'a dot and two CRs': ['a\r\n.\r\r\n.\r\n', 'a\r\n\r\r\n', ''],
  'LF.LF': ['a\n.\nb', 'a\n.\nb', null],
  'LF.CRLF': ['a\n.\r\nb', 'a\n.\r\nb', null],
  'CRLF.LF': ['a\r\n.\nb', 'a\r\n\nb', null],
  'CR.CR': ['a\r.\rb', 'a\r.\rb', null],
  'CR.CRLF': ['a\r.\r\nb', 'a\r.\r\nb', null],
  'CRLF.CR': ['a\r\n.\rb', 'a\r\n\rb', null],
  'CRCRLF.CRLF, whose last CRLF is one': ['a\r\r\n.\r\nb', 'a\r\r\n', 'b'],
  'dots after a bare LF': ['a\n..b\n.\r\n..c\r\n.\r\n', 'a\n..b\n.\r\n.c\r\n', ''],
  'NUL in the end': ['a\r\n.\0\r\nb', 'a\r\n\0\r\nb', null],
  'NUL before the dot': ['a\r\n\0.\r\nb', 'a\r\n\0.\r\nb', null],
  'a space after the dot': ['a\r\n. \r\nb', 'a\r\n \r\nb', null],
  'every byte': [`${bytes()}\r\n.\r\n`, `${bytes()}\r\n`, ''],
}

function bytes(): string {
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')
}

for (const [name, [wire, message, after]] of Object.entries(forms))
  describe(name, () => {
    test('whole', () => expect(decode([wire])).toEqual({ message, after }))
    test('byte by byte', () => expect(decode([...wire])).toEqual({ message, after }))
    test('split in two anywhere', () => {
      for (let at = 1; at < wire.length; at++)
        expect(decode([wire.slice(0, at), wire.slice(at)])).toEqual({ message, after })
    })
  })
