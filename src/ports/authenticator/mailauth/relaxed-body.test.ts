import { expect, test } from 'bun:test'
import { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js'
import { hashRelaxedLines } from './relaxed-body.ts'

// mailauth's own hash is the judge.

interface HashedBody {
  readonly hash: string
  readonly lengths: readonly number[]
}

function hashed(chunks: readonly Buffer[], isAided: boolean, maxLength?: number): HashedBody {
  const hash = new RelaxedHash('sha256', maxLength)
  if (isAided) hashRelaxedLines(hash)
  for (const chunk of chunks) hash.update(chunk)
  const digest = hash.digest('base64')
  return { hash: digest, lengths: [hash.byteLength, hash.canonicalizedLength, hash.bodyHashedBytes] }
}

/** Chunks of these sizes, the last of them again and again, none of which ends between CR and LF. */
function chunksOf(body: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    let end = at + (sizes[chunks.length] ?? sizes.at(-1) ?? body.length)
    if (body[end - 1] === 0x0d) end++
    chunks.push(body.subarray(at, end))
    at = end
  }
  return chunks
}

const lines = (line: string, count: number) => `${line}\r\n`.repeat(count)
const base64 = lines('VGhlIHF1aWNrIGJyb3duIGZveC4gVGhlIHF1aWNrIGJyb3duIGZveC4gVGhlIHF1aWNrIGJyb3du', 1000)

const bodies: Readonly<Record<string, string>> = {
  nothing: '',
  'an empty line': '\r\n',
  'empty lines alone': lines('', 20_000),
  'a line without an end': 'words',
  'white space alone': ' \t \r\n\t',
  'lines in the relaxed form': base64,
  'empty lines at the end': `${base64}${lines('', 10_000)}`,
  'empty lines between': `${base64}${lines('', 10_000)}${base64}`,
  'a line with two spaces among others': `${base64}two  spaces\r\n${base64}`,
  'a line with a tab among others': `${base64}\ta tab\tor two\r\n${base64}`,
  'lines that end with a space': lines('words and a space ', 2000),
  'lines that begin with a space': lines(' words', 5000),
  'a space before the end': `${base64}words `,
  'a line of many blocks': `${'x'.repeat(50_000)} ${'y'.repeat(50_000)}\r\n${base64}`,
  'a line of many blocks without an end': `${base64}${'x'.repeat(100_000)}`,
  'lines of spaces': lines(' ', 10_000),
}

for (const [what, body] of Object.entries(bodies))
  test(`the hash of ${what} is that of mailauth, whatever its chunks and its l=`, () => {
    const bytes = Buffer.from(body)
    for (const sizes of [[bytes.length || 1], [16 * 1024], [77, 1000, 40_000], [1, 2, 3, 5000]])
      for (const maxLength of [undefined, 0, 1, 100, 20_000]) {
        const chunks = chunksOf(bytes, sizes)
        expect(hashed(chunks, true, maxLength)).toEqual(hashed(chunks, false, maxLength))
      }
  })
