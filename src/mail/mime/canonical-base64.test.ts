import { describe, expect, test } from 'bun:test'
import { CanonicalBase64Decoder, NotCanonicalError } from './canonical-base64.ts'

/** Given in pieces of this size. */
function decode(body: string, pieceBytes: number): Buffer {
  const decoder = new CanonicalBase64Decoder()
  const bytes = Buffer.from(body, 'latin1')
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(decoder.decode(bytes.subarray(at, at + pieceBytes)))
  return Buffer.concat([...pieces, decoder.end()])
}

const content = (size: number) => Buffer.from(Array.from({ length: size }, (_, i) => (i * 7919) % 256))
const encode = (bytes: Buffer, width = 76) =>
  bytes.toString('base64').replace(new RegExp(`.{${width}}(?!$)`, 'g'), '$&\r\n')

test('decodes lines of one length, in pieces of any size', () => {
  for (const size of [1, 2, 3, 56, 57, 58, 113, 114, 115, 500, 4000])
    for (const width of [4, 60, 64, 72, 76])
      for (const pieceBytes of [1, 3, 77, 78, 79, 1000, 10_000])
        for (const end of ['', '\r\n', '\r\n\r\n'])
          expect(decode(encode(content(size), width) + end, pieceBytes)).toEqual(content(size))
})

test('decodes bodies of many lines, and finds what is wrong far within', () => {
  const large = content(200_000)
  const body = encode(large)
  const lineEnd = body.indexOf('\r\n', 150_000)
  for (const pieceBytes of [1000, 70_000, 262_144]) {
    expect(decode(body, pieceBytes)).toEqual(large)
    for (const last of ['    ', 'AAA='])
      expect(() => decode(body.slice(0, lineEnd - 4) + last + body.slice(lineEnd), pieceBytes)).toThrow(
        NotCanonicalError,
      )
  }
})

describe('does not decode', () => {
  const good = encode(content(4000))
  const at = (position: number, text: string, dropped = 0) =>
    good.slice(0, position) + text + good.slice(position + dropped)
  const full = encode(content(57 * 3))
  const bad: Readonly<Record<string, string>> = {
    nothing: '',
    'a line end alone': '\r\n',
    'a line end first': `\r\n${good}`,
    'LF alone': good.replaceAll('\r\n', '\n'),
    'one LF alone': at(good.indexOf('\r\n', 500), '', 1),
    'CR alone': good.replaceAll('\r\n', '\r'),
    'a blank in a line': at(1000, ' '),
    'a blank instead of a character': at(1000, ' ', 1),
    'a blank at the end of a line': at(good.indexOf('\r\n', 500), ' '),
    'a blank in the last line': at(good.length - 10, ' '),
    'blanks instead of four characters': at(1000, '    ', 4),
    'two LF at the end of a line': at(good.indexOf('\r\n', 500), '\n\n', 2),
    'a tab in the first line': at(10, '\t'),
    'a NUL': at(1000, '\0'),
    'a character beyond ASCII': at(1000, '\xc1', 1),
    'a character of the alphabet for URLs': at(1000, '-', 1),
    'a delimiter': at(good.indexOf('\r\n', 500) + 2, '--b\r\n'),
    'an empty line': at(good.indexOf('\r\n', 500), '\r\n'),
    'a shorter line': at(1000, '', 4),
    'a longer line': at(1000, 'AAAA'),
    'a longer last line': `${full}AAAA`,
    'lines that are no multiple of four': encode(content(4000), 75),
    'such lines of which four are a multiple': encode(content(282), 75),
    'a shorter line before the last': `${'A'.repeat(76)}\r\n${'A'.repeat(72)}\r\nAAAA`,
    'lines longer than 76': encode(content(4000), 80),
    'one long line': content(4000).toString('base64'),
    'padding within a line': at(1000, '=', 1),
    'padding at the end of a line': at(good.indexOf('\r\n', 500) - 1, '=', 1),
    'padding of zeros at the end of a line': `${'A'.repeat(75)}=\r\n`.repeat(5),
    'padding before the end': `${encode(content(56))}\r\nAAAA`,
    'no padding': encode(content(55)).replaceAll('=', ''),
    'too little padding': encode(content(55)).replace('==', '='),
    'too much padding': `${encode(content(56))}=`,
    'characters after the padding': `${encode(content(55))}AAAA`,
    'bits that no byte has': 'QR==',
    'three empty lines at the end': `${good}\r\n\r\n\r\n`,
    'three empty lines after a full one': `${full}\r\n\r\n\r\n`,
    'a blank after the end': `${good}\r\n `,
  }
  for (const [what, body] of Object.entries(bad))
    test(what, () => {
      for (const pieceBytes of [1, 78, 1000, 10_000]) expect(() => decode(body, pieceBytes)).toThrow(NotCanonicalError)
    })
})
