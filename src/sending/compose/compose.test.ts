import { describe, expect, test } from 'bun:test'
import type { Instant } from '../../base/clock.ts'
import { parseMessage, readMessageSummary } from '../../mail/message.ts'
import { parseSendRequest } from '../accept/parse-request.ts'
import type { SendEmail } from '../emails/schema.ts'
import { compose } from './compose.ts'
import { textAlternative } from './text-alternative.ts'

const naming = { emailId: 'eml_01m7x95a2d01z8q062b7w8246y', messageId: '01m7x95a2d@a.example' } as const
const plain = { from: 'Ann <ann@a.example>', to: 'bob@b.example', subject: 'Hello', text: 'Hello Bob' }

async function composed(fields: Partial<SendEmail> = {}): Promise<Buffer> {
  return compose(parseSendRequest({ ...plain, ...fields }, '2026-01-01 00:00:00.000000' as Instant), naming)
}

/** Only CRLF ends lines, none is longer than 998 octets or blank inside the header, all is 7 bit, and nothing is NUL. */
function expectClean(message: Buffer): void {
  const text = message.toString('latin1')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(text).not.toMatch(/[^\u0001-\u007f]/)
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
  expect(Math.max(...text.split('\r\n').map(line => line.length))).toBeLessThanOrEqual(998)
  expect(text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n')).not.toContainEqual(expect.stringMatching(/^\s*$/))
}

function headerNames(message: Buffer): readonly string[] {
  const text = message.toString('latin1')
  const header = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]/g, ' ')
  return header.split('\r\n').map(line => line.slice(0, line.indexOf(':')).toLowerCase())
}

test('composes a small text, byte for byte', async () => {
  expect(
    (
      await composed({ bcc: 'secret@c.example', cc: ['Lee, C <c@c.example>'.replace('Lee, C', '"Lee, C"')] })
    ).toString(),
  ).toBe(
    [
      'Subject: Hello',
      'X-Mailroom-ID: eml_01m7x95a2d01z8q062b7w8246y',
      'From: Ann <ann@a.example>',
      'To: bob@b.example',
      'Cc: "Lee, C" <c@c.example>',
      'Message-ID: <01m7x95a2d@a.example>',
      'Content-Transfer-Encoding: 7bit',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Hello Bob',
      '',
    ].join('\r\n'),
  )
})

test('is pure: the same email gives the same bytes', async () => {
  const fields = { html: '<p>x</p>', attachments: [{ filename: 'a.bin', content: 'AAAA' }] }
  const [one, two] = [await composed(fields), await composed(fields)]
  expect(one.equals(two)).toBe(true)
})

test('writes the names of header fields in their usual case, however often they come', async () => {
  const many = Array.from({ length: 600 }, (_, i) => [`x-order-${i}`, `X-Order-${i}`] as const)
  for (let turn = 0; turn < 2; turn++)
    for (const [name, written] of [['x-order-id', 'X-Order-ID'], ['X-ORDER-ID', 'X-Order-ID'], ...many] as const) {
      const message = (await composed({ headers: { [name]: '1', 'LIST-help': '<https://a.example>' } })).toString()
      expect(message).toContain(`\r\n${written}: 1\r\nList-Help: <https://a.example>\r\n`)
      expect(message).toContain('\r\nMIME-Version: 1.0\r\n')
    }
})

test('chooses the encoding of a text by its characters', async () => {
  const long = 'x'.repeat(80)
  const encodingOf = async (text: string) =>
    /^Content-Transfer-Encoding: (.*)\r$/m.exec((await composed({ text })).toString())?.[1]
  expect(await encodingOf('short')).toBe('7bit')
  expect(await encodingOf(long)).toBe('quoted-printable')
  expect(await encodingOf(`${long}\t\n`)).toBe('quoted-printable')
  expect(await encodingOf('1'.repeat(80))).toBe('base64')
  expect(await encodingOf('a short é')).toBe('quoted-printable')
  expect(await encodingOf('éa')).toBe('base64')
  expect(await encodingOf('\u0001\u0001a')).toBe('base64')
})

test('gives HTML without text a text alternative', async () => {
  const { text: _, ...without } = plain
  const message = compose(
    parseSendRequest(
      { ...without, html: '<h1>Hi</h1><p>See <a href="https://a.example/x">this</a></p>' },
      '' as Instant,
    ),
    naming,
  )
  const parsed = await readMessageSummary(message)
  expect(parsed.text?.trim()).toBe('Hi\n\nSee this <https://a.example/x>')
  expect(parsed.html).toContain('<h1>Hi</h1>')
  expect(message.toString()).toContain('multipart/alternative')
})

test('keeps text in any script', async () => {
  const text = 'Grüße\r\n. dot\r\nFrom here\r\nЗдравствуйте 你好 🎉\r\n'
  const message = await composed({
    from: '"Zoë \\"Z\\" Müller" <zoe@bücher.example>',
    to: ['山田 <y@b.example>', '"quoted local"@b.example'],
    reply_to: 'Réponse <r@a.example>',
    subject: 'Grüße 🎉 "zitiert" =?utf-8?q?x?=',
    text,
    html: `<p>${'ä'.repeat(5000)}</p>`,
    headers: { 'X-Note': 'Ünïcode', 'List-Unsubscribe': '<https://a.example/u?x="1">, <mailto:u@a.example>' },
    attachments: [
      { filename: 'Übersicht "1";x.pdf', content: Buffer.from([0, 255, 13, 10, 13, 46]).toString('base64') },
      { filename: 'logo.png', content: 'AAEC', content_id: 'logo@a' },
    ],
  })
  expectClean(message)
  const parsed = await parseMessage(message)
  expect(parsed.from).toEqual([{ name: 'Zoë "Z" Müller', address: 'zoe@xn--bcher-kva.example' }])
  expect(parsed.to.map(address => address.address)).toEqual(['y@b.example', '"quoted local"@b.example'])
  expect(parsed.to[0]?.name).toBe('山田')
  expect(parsed.replyTo).toEqual([{ name: 'Réponse', address: 'r@a.example' }])
  expect(parsed.subject).toBe('Grüße 🎉 "zitiert" =?utf-8?q?x?=')
  expect(parsed.text?.replace(/\r?\n/g, '\r\n').trimEnd()).toBe(text.trimEnd())
  expect(parsed.html).toContain('ä'.repeat(5000))
  expect(parsed.headers).toContainEqual({
    name: 'List-Unsubscribe',
    value: '<https://a.example/u?x="1">, <mailto:u@a.example>',
  })
  expect(
    parsed.attachments.map(attachment => [
      attachment.filename,
      attachment.contentId,
      attachment.disposition,
      [...attachment.content],
    ]),
  ).toEqual([
    ['logo.png', 'logo@a', 'inline', [0, 1, 2]],
    ['Übersicht "1";x.pdf', null, 'attachment', [0, 255, 13, 10, 13, 46]],
  ])
})

describe('stays clean', () => {
  const nasty: Readonly<Record<string, Partial<SendEmail>>> = {
    'a subject of one long word': { subject: 'x'.repeat(998) },
    'a subject of spaces and one letter': { subject: `a${' '.repeat(990)}b` },
    'a subject of 998 umlauts': { subject: 'ü'.repeat(998) },
    'long lines of text': { text: `${'x'.repeat(5000)}\n${'y'.repeat(999)}` },
    'lone CR and LF in text': { text: 'a\rb\nc\r\nd\n\re\r\r\nf' },
    'end of data in text': { text: 'a\r\n.\r\nMAIL FROM:<x@y>\n.\nRCPT\r.\rx\r\n.' },
    'controls in text': { text: 'a\u0001\u0007\u001b[31m\u007fb' },
    'half a surrogate pair': { text: 'a\ud800b', subject: 'a\udc00b', html: '\ud800' },
    'a header of spaces': { headers: { 'X-A': `a${' '.repeat(996)}b` } },
    'a header of tabs': { headers: { 'X-A': '\t'.repeat(998) } },
    'a header of one long word': { headers: { 'X-A': 'x'.repeat(990) } },
    'a header with controls': { headers: { 'X-A': 'a\u0001\u001b\u007fb' } },
    'fifty names': { to: Array.from({ length: 50 }, (_, i) => `${'Ä'.repeat(200)} <a${i}@b.example>`) },
    'names of 256': { to: [`"${'x'.repeat(256)}" <a@b.example>`, `${'é'.repeat(256)} <c@b.example>`] },
    'a message as attachment, 8 bit': {
      attachments: [{ filename: 'm.eml', content: Buffer.from('Subject: ü\n\nx\r.\rx').toString('base64') }],
    },
    'a message as attachment, bare LF': {
      attachments: [{ filename: 'm.eml', content: Buffer.from('Subject: x\n\nx\n.\nx').toString('base64') }],
    },
    'a text attachment with bare CR': {
      attachments: [{ filename: 'a.txt', content: Buffer.from('x\ry\n\u0000z').toString('base64') }],
    },
    'an empty attachment': { attachments: [{ filename: 'a.txt', content: '' }] },
    'attachments alone with html': { html: '<p>', attachments: [{ filename: 'ü'.repeat(255), content: 'AAAA' }] },
  }
  for (const [name, fields] of Object.entries(nasty))
    test(name, async () => {
      const message = await composed(fields)
      expectClean(message)
      expect(headerNames(message).filter(headerName => headerName === 'bcc' || headerName === 'date')).toEqual([])
    })
})

describe('an injected line never becomes a header or a recipient', () => {
  const payloads = [
    'x\r\nBcc: evil@x.y',
    'x\nBcc: evil@x.y',
    'x\rBcc: evil@x.y',
    'x\r\n\r\nbody',
    'x\u0000y',
    'x\r\n Bcc: evil@x.y',
    'x%0d%0aBcc: evil@x.y',
    'x\u2028Bcc: evil@x.y',
    'x\u0085Bcc: evil@x.y',
    '=?utf-8?q?x=0d=0aBcc:_evil@x.y?=',
    '"; Bcc: evil@x.y; x="',
    'a@b.c>\r\nRCPT TO:<evil@x.y',
    'g: a@b.c, evil@x.y;',
  ]
  const fields: Readonly<Record<string, (payload: string) => Partial<SendEmail>>> = {
    from: payload => ({ from: `${payload} <ann@a.example>` }),
    to: payload => ({ to: [`${payload} <bob@b.example>`] }),
    'an address': payload => ({ to: [payload] }),
    cc: payload => ({ cc: `"${payload.replace(/["\\]/g, '\\$&')}" <bob@b.example>` }),
    reply_to: payload => ({ reply_to: payload }),
    subject: payload => ({ subject: payload }),
    text: payload => ({ text: payload }),
    html: payload => ({ html: payload }),
    'a header': payload => ({ headers: { 'X-A': payload } }),
    "a header's name": payload => ({ headers: { [payload]: 'x' } }),
    'In-Reply-To': payload => ({ headers: { 'In-Reply-To': payload } }),
    References: payload => ({ headers: { References: payload } }),
    filename: payload => ({ attachments: [{ filename: payload, content: 'AAAA' }] }),
    content_type: payload => ({
      attachments: [{ filename: 'x', content_type: `text/plain; x=${payload}`, content: 'AAAA' }],
    }),
    content_id: payload => ({
      html: '<p>',
      attachments: [{ filename: 'x.png', content_id: payload, content: 'AAAA' }],
    }),
  }
  for (const [field, withPayload] of Object.entries(fields))
    test(field, async () => {
      let taken = 0
      for (const payload of payloads) {
        const message = await composed(withPayload(payload)).catch((error: { code?: string }) => error)
        if (!Buffer.isBuffer(message)) {
          expect(message.code).toBe('invalid_request')
          continue
        }
        taken++
        expectClean(message)
        expect(headerNames(message)).not.toContain('bcc')
        const parsed = await readMessageSummary(message)
        expect([...parsed.from, ...parsed.to, ...parsed.cc].map(address => address.address)).not.toContain('evil@x.y')
      }
      if (field === 'an address' || field === "a header's name") expect(taken).toBe(0)
      else expect(taken).toBeLessThan(payloads.length + (['text', 'html'].includes(field) ? 1 : 0))
    })
})

test('converts hostile HTML to text within a quarter of a second', () => {
  const started = performance.now()
  for (const value of ['<div>', '<b>', '<ul><li>', '<table><tr><td>', '<blockquote>', '<!--', '<a href="'])
    textAlternative(value.repeat(400_000 / value.length))
  expect(performance.now() - started).toBeLessThan(7 * 250)
})
