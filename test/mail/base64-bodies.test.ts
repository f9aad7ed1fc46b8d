import { describe, expect, test } from 'bun:test'
import { readMessageSummary } from '../../src/mail/message.ts'
import type { ByteRange } from '../../src/mail/message-source.ts'
import { Base64BodyFinder } from '../../src/mail/mime/base64-bodies.ts'
import { CanonicalBase64Decoder, NotCanonicalError } from '../../src/mail/mime/canonical-base64.ts'
import { BoundedParser, parseLimits } from '../../src/mail/mime-parser.ts'
import { amount } from '../harness/amount.ts'
import { oddMessage, type Pick, pickFrom } from './odd-messages.ts'
import { readWith, unaidedReadingOf } from './parser-reading.ts'

const encode = (bytes: Buffer, width = 76) =>
  bytes.toString('base64').replace(new RegExp(`.{${width}}(?!$)`, 'g'), '$&\r\n')
const bytesOf = (size: number) => Buffer.alloc(size, 'The quick brown fox. ')

const decoded = (body: Buffer): Buffer => {
  const decoder = new CanonicalBase64Decoder()
  return Buffer.concat([decoder.decode(body), decoder.end()])
}

const file = (body: string, ...fields: readonly string[]) =>
  `${(fields.length > 0 ? fields : ['Content-Type: application/pdf; name="a.pdf"', 'Content-Transfer-Encoding: base64']).join('\r\n')}\r\n\r\n${body}`
const multipart = (boundary: string, ...parts: readonly string[]) =>
  `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n${parts.map(part => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`
const mail = (entity: string) => Buffer.from(`From: a@x.test\r\nSubject: caf\xe9\r\n${entity}`, 'latin1')
const text = '\r\nwords'

async function bodiesOf(message: Buffer): Promise<readonly string[]> {
  const { base64Bodies } = await readMessageSummary(message)
  return base64Bodies.map(({ start, end }) => message.toString('latin1', start, end))
}

const large = encode(bytesOf(40_000))

describe('finds the body of', () => {
  const found: Readonly<Record<string, readonly [message: Buffer, bodies: readonly string[]]>> = {
    'each large file, and of no small one': [
      mail(multipart('b', text, file(large), file(encode(bytesOf(1000))), file(`${large}AAAA`))),
      [large, `${large}AAAA`],
    ],
    'a file in an inner multipart': [
      mail(multipart('b', multipart('c', text, file(large)), file(encode(bytesOf(40_001))))),
      [large, encode(bytesOf(40_001))],
    ],
    'a file before an empty line, which is part of it': [mail(multipart('b', file(`${large}\r\n`))), [`${large}\r\n`]],
    'a file whose fields are folded, but not its encoding': [
      mail(
        multipart(
          'b',
          file(large, 'content-type: Image/PNG;\r\n\tname=b.png;', 'CONTENT-TRANSFER-ENCODING:Base64 ', 'X-Any: \xff'),
        ),
      ),
      [large],
    ],
    'the first sixteen files alone': [
      mail(multipart('b', ...Array.from({ length: 18 }, () => file(large)))),
      Array.from({ length: 16 }, () => large),
    ],
  }
  for (const [what, [message, bodies]] of Object.entries(found))
    test(what, async () => {
      expect(await bodiesOf(message)).toEqual([...bodies])
    })
})

describe('finds none', () => {
  const base64 = 'Content-Transfer-Encoding: base64'
  const pdf = 'Content-Type: application/pdf'
  const good = mail(multipart('b', file(large))).toString('latin1')
  const none: Readonly<Record<string, string | Buffer>> = {
    'of text': mail(multipart('b', file(large, 'Content-Type: text/html; name=a.html', base64))),
    'of a message': mail(multipart('b', file(large, 'Content-Type: message/rfc822', base64))),
    'of a part without a type': mail(multipart('b', file(large, base64, 'Content-Disposition: attachment'))),
    'of a part with two types': mail(multipart('b', file(large, pdf, 'Content-Type: text/plain', base64))),
    'of a part with two encodings': mail(multipart('b', file(large, pdf, base64, base64))),
    'with a comment in the encoding': mail(multipart('b', file(large, pdf, `${base64} (really)`))),
    'with a folded encoding': mail(multipart('b', file(large, pdf, 'Content-Transfer-Encoding:\r\n base64'))),
    'with a semicolon after the encoding': mail(multipart('b', file(large, pdf, `${base64};`))),
    'with a blank before the colon': mail(multipart('b', file(large, `${pdf}\r\nContent-Transfer-Encoding : base64`))),
    'with a line that is no field': mail(multipart('b', file(large, pdf, 'no field', base64))),
    'with a CR alone in the header': mail(multipart('b', file(large, pdf, `X-A: b\r${base64}`, base64))),
    'with a NUL in the header': mail(multipart('b', file(large, pdf, `X-A: \0`, base64))),
    'with a line of white space in the header': mail(multipart('b', file(large, `${pdf};\r\n \r\n name=a`, base64))),
    'with a parameter given twice': mail(multipart('b', file(large, `${pdf}; name=a; name=b`, base64))),
    'with a boundary of its own': mail(multipart('b', file(large, `${pdf}; boundary=d`, base64))),
    'with a comment in the type': mail(
      multipart('b', file(large, 'Content-Type: application/pdf (text/html)', base64)),
    ),
    'of a multipart with two boundaries': good.replace('boundary="b"', 'boundary="b"; boundary="c"'),
    'of a multipart with a boundary in two forms': good.replace(
      'boundary="b"',
      'boundary="b"; boundary*=us-ascii\'\'b',
    ),
    'of a multipart with two types': good.replace('\r\nContent-Type', '\r\nContent-Type: text/plain\r\nContent-Type'),
    'of a multipart in base64': good.replace('\r\nContent-Type', `\r\n${base64}\r\nContent-Type`),
    'in an inner multipart with two boundaries': mail(
      multipart('b', multipart('c', file(large)).replace('"c"', '"c"; boundary=d')),
    ),
    'before the end of the message': good.slice(0, good.lastIndexOf('\r\n--b--')),
    'with LF': good.replaceAll('\r\n', '\n'),
    'with LF before the delimiter': good.replace('\r\n--b--', '\n--b--'),
    'with LF after the header': good.replace('base64\r\n\r\n', 'base64\r\n\n'),
    'with padding after a delimiter': good.replace('--b--', '--b-- '),
    'in a message of one part': mail(file(large)),
    'beside a part that is repaired': mail(
      multipart('b', file(large), file('x', 'Content-Type: x; name=a', 'Content-Transfer-Encoding: uuencode')),
    ),
    'in an embedded message': mail(
      multipart(
        'b',
        `Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\nFrom: c@x.test\r\n${multipart('c', file(large))}`,
      ),
    ),
    'in a message that ends with one part too many': mail(
      multipart('b', file(large), ...Array.from({ length: 999 }, () => text)),
    )
      .toString('latin1')
      .replace(/words\r\n--b--\r\n$/, ''),
    'in a message with too many parts': mail(multipart('b', file(large), ...Array.from({ length: 1000 }, () => text))),
  }
  test('where all is as it should be, one', async () => {
    expect(await bodiesOf(Buffer.from(good, 'latin1'))).toEqual([large])
  })
  for (const [what, message] of Object.entries(none))
    test(what, async () => {
      expect(await bodiesOf(Buffer.from(message as string, 'latin1'))).toEqual([])
    })
})

test('finds none in a message of which it did not see each byte', async () => {
  const parser = new BoundedParser(parseLimits)
  const finder = new Base64BodyFinder()
  Object.assign(parser, { bodies: finder })
  const message = mail(multipart('b', file(large)))
  await readWith(parser, message, [64 * 1024])
  expect([finder.bodiesOf(message.length).length, finder.bodiesOf(message.length + 1).length]).toEqual([1, 0])
})

/** Bodies of any size, of a message that comes in pieces of this size. */
async function smallBodiesOf(message: Buffer, pieceBytes: number): Promise<readonly ByteRange[]> {
  const parser = new BoundedParser(parseLimits)
  Object.assign(parser, { bodies: new Base64BodyFinder(1) })
  const { error } = await readWith(parser, message, [pieceBytes])
  return error === null ? parser.base64Bodies() : []
}

/** Odd messages, of which many have only one odd thing. */
function nearlyGood(pick: Pick): Buffer {
  const width = [76, 76, 60, 64, 75][pick(5)] ?? 76
  const parts = Array.from({ length: 1 + pick(3) }, () => {
    const body = encode(bytesOf(1 + pick(pick(2) ? 200 : 5000)), width)
    const at = pick(body.length)
    const odd = ['', '', '', '\r\n', '=', ' ', '\n', '-', '--', '\r\n--c\r\n'][pick(10)] ?? ''
    return file(pick(4) ? body : body.slice(0, at) + odd + body.slice(at))
  })
  return mail(multipart('b', text, pick(2) ? multipart('c', ...parts) : parts.join('\r\n--b\r\n')))
}

test('a body that is found and canonical is decoded as the parser decodes it, and encodes to the same bytes', async () => {
  const pick = pickFrom(7)
  const counts = { canonical: 0, other: 0 }
  for (let i = 0; i < amount({ short: 150, long: 10_000 }); i++) {
    const message = pick(3) ? nearlyGood(pick) : oddMessage(pick)
    const bodies = await smallBodiesOf(message, 64 * 1024)
    expect(await smallBodiesOf(message, 1 + pick(300))).toEqual(bodies)
    if (bodies.length === 0) continue
    const { attachments } = await unaidedReadingOf(message)
    const contents = attachments.map(attachment => (attachment as { content?: string }).content)
    for (const { start, end } of bodies) {
      expect(message.toString('latin1', start - 4, start)).toBe('\r\n\r\n')
      expect(message.toString('latin1', end, end + 4)).toBe('\r\n--')
      const body = message.subarray(start, end)
      const bytes = canonicalBytes(body)
      counts[bytes ? 'canonical' : 'other']++
      if (!bytes) continue
      expect(contents).toContain(bytes.toString('latin1'))
      const width = body.indexOf('\r\n')
      expect(encode(bytes, width < 0 ? 76 : width)).toBe(body.toString('latin1').replace(/(?:\r\n)+$/, ''))
    }
  }
  expect(counts.canonical).toBeGreaterThan(50)
  expect(counts.other).toBeGreaterThan(10)
})

function canonicalBytes(body: Buffer): Buffer | null {
  try {
    return decoded(body)
  } catch (error) {
    if (error instanceof NotCanonicalError) return null
    throw error
  }
}
