import { expect, test } from 'bun:test'
import { readAll } from '../streams.ts'
import { UuDecoder } from './uuencode.ts'

/** What `uuencode -` of sharutils writes. */
function uuencoded(bytes: Buffer, { eol = '\n', zero = '`' } = {}): string {
  const character = (sextet: number) => (sextet === 0 ? zero : String.fromCharCode(0x20 + sextet))
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 45) {
    const piece = bytes.subarray(at, at + 45)
    let line = String.fromCharCode(0x20 + piece.length)
    for (let i = 0; i < piece.length; i += 3) {
      const bits = ((piece[i] ?? 0) << 16) | ((piece[i + 1] ?? 0) << 8) | (piece[i + 2] ?? 0)
      line += [18, 12, 6, 0].map(shift => character((bits >> shift) & 0x3f)).join('')
    }
    lines.push(zero === ' ' ? line.trimEnd() : line)
  }
  return ['begin 644 a file.bin', ...lines, zero, 'end', ''].join(eol)
}

async function decoded(text: string, pieceBytes = 1000): Promise<Buffer> {
  const decoder = new UuDecoder()
  const all = readAll(decoder)
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += pieceBytes) decoder.write(bytes.subarray(at, at + pieceBytes))
  decoder.end()
  return await all
}

test('decodes what an independent encoder wrote', async () => {
  expect((await decoded('begin 644 cat.txt\n#0V%T\n`\nend\n')).toString()).toBe('Cat')
  expect((await decoded("begin 0755 x\r\n.:'1T<#HO+W=W=RYU=VX*\r\n \r\nend\r\n")).length).toBe(14)
})

test('decodes all bytes, with either line end and either zero, in pieces of any size', async () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 256))
  for (const eol of ['\n', '\r\n'])
    for (const zero of ['`', ' '])
      for (const size of [1, 3, 64, 10_000]) expect(await decoded(uuencoded(bytes, { eol, zero }), size)).toEqual(bytes)
})

test('leaves out what is after the end, and empty lines before the beginning', async () => {
  expect((await decoded(`\r\n\r\n${uuencoded(Buffer.from('words'))}\r\nsignature\r\n`)).toString()).toBe('words')
})

test('decodes what there is of a body that is cut off', async () => {
  const all = uuencoded(Buffer.alloc(90, 'a'))
  const first = all.indexOf('\n', all.indexOf('\nM') + 1)
  expect((await decoded(all.slice(0, first))).toString()).toBe('a'.repeat(45))
  expect((await decoded(all.slice(0, first + 20))).toString()).toStartWith('a'.repeat(45))
})

test('leaves a body as it is that is not uuencoded', async () => {
  for (const text of ['just words\r\nin lines\r\n', 'x'.repeat(5000), 'begin the day\r\nwell\r\n'])
    for (const size of [1, 1000]) expect((await decoded(text, size)).toString('latin1')).toBe(text)
})

test('takes long lines quickly', async () => {
  const started = performance.now()
  for (const start of ['', 'begin 644 a\n']) await decoded(start + 'x'.repeat(2_000_000), 64 * 1024)
  expect(performance.now() - started).toBeLessThan(1000)
})
