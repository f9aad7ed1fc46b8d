import { describe, expect, test } from 'bun:test'
import { parseMessage } from '../message.ts'
import { isSevenBit, toSevenBit } from './seven-bit.ts'
import { splitMultipart } from './split-multipart.ts'

const message = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'))
const converted = (lines: readonly string[]) => toSevenBit(message(lines)).toString('latin1')

/** The converted message parsed again: the same text, HTML and attachments as before. */
async function expectSameContent(lines: readonly string[] | Buffer) {
  const before = Buffer.isBuffer(lines) ? lines : message(lines)
  const after = toSevenBit(before)
  expect(isSevenBit(after)).toBe(true)
  const [was, is] = await Promise.all([parseMessage(before), parseMessage(after)])
  const contentOf = ({ text, html, attachments, subject }: typeof was) => ({
    text: text?.trimEnd(),
    html: html?.trimEnd(),
    subject,
    attachments: attachments.map(({ filename, contentType, content }) => [
      filename,
      contentType,
      content.toString('hex'),
    ]),
  })
  expect(contentOf(is)).toEqual(contentOf(was))
  return after.toString('latin1')
}

test('a message in 7 bit stays byte for byte', () => {
  const bytes = message(['Subject: x', '', 'text', '.', '  ', '', ''])
  expect(toSevenBit(bytes)).toBe(bytes)
})

test('a text without MIME fields gets those that its readers need', async () => {
  const text = await expectSameContent(['Subject: Grüße', '', 'Grüße an alle', ''])
  expect(text).toBe(
    [
      'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=C3=BC=C3=9Fe an alle',
      '',
    ].join('\r\n'),
  )
})

describe('the content is the same after', () => {
  const multipart = (...parts: readonly (readonly string[])[]) => [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="a b"',
    '',
    'preamble ä',
    ...parts.flatMap(part => ['--a b', ...part]),
    '--a b--',
    'epilogue ö',
    '',
  ]
  const text = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', '', 'Grüße', '=3D = ende']
  test.each([
    ['8 bit text', multipart(text)],
    ['a part without a header', multipart(['', 'Grüße'])],
    [
      'parts in parts',
      multipart(text, ['Content-Type: multipart/alternative; boundary=c', '', '--c', ...text, '--c--']),
    ],
    ['an unclosed part', multipart(['Content-Type: multipart/alternative; boundary=c', '', '--c', ...text])],
    ['a boundary that begins another', multipart(['Content-Type: text/plain', '', 'x', '--a b c', 'Grüße'])],
    ['Chinese text', multipart(['Content-Type: text/html; charset=utf-8', '', '<p>电子邮件中文内容</p>'.repeat(20)])],
    ['long lines', multipart(['Content-Type: text/html', '', `<p>${'x '.repeat(3000)}</p>`])],
    [
      'quoted-printable with raw bytes',
      multipart([
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Gr=C3=BC=',
        'ße',
      ]),
    ],
    [
      '8 bit files',
      multipart([
        'Content-Type: application/x; name="ä.bin"',
        'Content-Disposition: attachment; filename="ä.bin"',
        'Content-Transfer-Encoding: binary',
        '',
        'ÄÖÜ',
      ]),
    ],
  ])('%s', async (_, lines) => {
    const after = await expectSameContent(lines)
    expect(after).toContain('--a b--')
    expect(after.match(/^Content-Transfer-Encoding: (?:8bit|binary)/gim)).toBeNull()
  })

  test('of Latin-1', async () => {
    const latin1 = Buffer.from('Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\n', 'latin1')
    expect(await expectSameContent(latin1)).toContain('Gr=FC=DFe')
  })
})

test('an attached message is not encoded itself, but what is in it', () => {
  const inner = ['Subject: x', '', 'Grüße an alle', '']
  const text = converted([
    'MIME-Version: 1.0',
    'Content-Type: message/rfc822',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...inner,
  ])
  expect(text).toBe(
    [
      'MIME-Version: 1.0',
      'Content-Type: message/rfc822',
      '',
      'Subject: x',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=C3=BC=C3=9Fe an alle',
      '',
    ].join('\r\n'),
  )
})

test.each([
  ['From: Jörg <j@x.example>', 'From: =?UTF-8?Q?J=C3=B6rg?= <j@x.example>'],
  ['To: "Ä, B" <a@x.example>, c@x.example', 'To: =?UTF-8?Q?=C3=84=2C_B?= <a@x.example>, c@x.example'],
  ['Cc: a@bücher.example', 'Cc: a@xn--bcher-kva.example'],
  ['X-Note: ü', 'X-Note: =?UTF-8?Q?=C3=BC?='],
])('the field %j becomes %j', (field, encoded) => {
  expect(converted([field, '', 'x'])).toStartWith(`${encoded}\r\n\r\n`)
})

test('the pieces of a multipart body are all of it', () => {
  for (const body of [
    '',
    '--b',
    '--b--',
    'x\r\n--b\r\n\r\ny\r\n--b--\r\nz',
    '--b\r\n--b\r\n--b--',
    'a--b\r\n\r\n--bc\r\n--b \t\r\nx',
  ]) {
    const pieces = splitMultipart(Buffer.from(body), 'b')
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).toBe(body)
  }
  const kinds = splitMultipart(Buffer.from('p\r\n--b\r\n1\r\n--b\r\n2\r\n--b--\r\ne'), 'b').map(
    ({ kind, bytes }) => `${kind} ${bytes}`,
  )
  expect(kinds).toEqual([
    'other p',
    'other \r\n--b\r\n',
    'part 1',
    'other \r\n--b\r\n',
    'part 2',
    'other \r\n--b--\r\n',
    'other e',
  ])
})
