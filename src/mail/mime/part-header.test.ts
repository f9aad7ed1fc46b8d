import { describe, expect, test } from 'bun:test'
import { parseMessage } from '../message.ts'

/** Text, HTML and files of a message with these fields and this body. */
async function parsed(fields: readonly string[], body: string) {
  const lines = ['From: a@x.test', ...fields, '', body]
  const { text, html, attachments, problem } = await parseMessage(Buffer.from(lines.join('\r\n'), 'latin1'))
  expect(problem).toBeNull()
  return {
    text: text?.trim() ?? null,
    html: html?.trim() ?? null,
    files: attachments.map(file => `${file.filename} ${file.contentType} ${file.disposition} ${file.content}`),
  }
}

const textOnly = (text: string | null) => ({ text, html: null, files: [] })

describe('reads a message with', () => {
  const types: readonly (readonly [field: string, body: string, text: string | null])[] = [
    ['Content-Type: text', 'words', 'words'],
    ['Content-Type: text/', 'words', 'words'],
    ['Content-Type: /plain', 'words', 'words'],
    ['Content-Type: plain', 'words', 'words'],
    ['Content-Type:', 'words', 'words'],
    ['Content-Type: ; charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text; charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: TEXT/PLAIN', 'words', 'words'],
    ['Content-Type: text / plain; charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain, charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain (the body); charset=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain; charset=iso-8859-1 format=flowed', 'caf\xe9', 'café'],
    ["Content-Type: text/plain; charset='iso-8859-1'", 'caf\xe9', 'café'],
    ['Content-Type: text/plain; charset="iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain; charset = iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Type: text/plain;; charset=iso-8859-1;', 'caf\xe9', 'café'],
    ['Content-Type: text/plain\r\n\t;\r\n\tcharset\r\n\t=iso-8859-1', 'caf\xe9', 'café'],
    ['Content-Transfer-Encoding: base64;', 'd29yZHM=', 'words'],
    ['Content-Transfer-Encoding: "base64"', 'd29yZHM=', 'words'],
    ['Content-Transfer-Encoding: BASE64 (of course)', 'd29yZHM=', 'words'],
    ['Content-Transfer-Encoding: Quoted-Printable', 'w=6Frds', 'words'],
    ['Content-Transfer-Encoding: 8bit', 'words', 'words'],
    ['Content-Transfer-Encoding: klingon', 'words', 'words'],
    ['Content-Transfer-Encoding: x-uuencode', "begin 644 a.txt\r\n%=V]R9',\r\n`\r\nend", 'words'],
    ['Content-Transfer-Encoding: X-UUE', "begin 644 a.txt\r\n%=V]R9',\r\n`\r\nend", 'words'],
    ['Content-Type: multipart/mixed', 'words', 'words'],
    ['Content-Type: multipart/mixed; boundary=""', 'words', 'words'],
    ['Content-Type: multipart/mixed boundary=b', '--b\r\n\r\nwords\r\n--b--', 'words'],
    ['Content-Type: multipart; boundary=b', '--b\r\n\r\nwords\r\n--b--', 'words'],
    ['Content-Type: multipart/unheard-of; boundary=b', '--b\r\n\r\nwords\r\n--b--', 'words'],
    ["Content-Type: multipart/mixed; boundary*=us-ascii''b", '--b\r\n\r\nwords\r\n--b--', 'words'],
    ['Content-Type: multipart/mixed; boundary*0=b; boundary*1=c', '--bc\r\n\r\nwords\r\n--bc--', 'words'],
    ['Content-Type: text/plain; name=a.txt', 'words', 'words'],
    ['Content-Disposition: inline; filename=a.txt', 'words', 'words'],
  ]
  for (const [field, body, text] of types)
    test(JSON.stringify(field), async () => expect(await parsed([field], body)).toEqual(textOnly(text)))
})

test('says of malformed messages that they were repaired, and of no others', async () => {
  const part = '--b\r\nContent-Type: text/plain\r\n\r\nwords\r\n--b--\r\n'
  const file = 'Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.pdf'
  for (const [fields, body, isRepaired] of [
    [[], 'words', false],
    [[], '', false],
    [['Content-Type: text/plain'], 'words', false],
    [['Content-Type: Text/HTML; charset="utf-8"', 'Content-Transfer-Encoding: 8Bit'], '<p>', false],
    [['Content-Type: text/plain; charset=iso-8859-1; format=flowed'], 'caf\xe9', false],
    [['Content-Transfer-Encoding: quoted-printable (as usual)'], 'w=6Frds', false],
    [['Content-Type: multipart/mixed; boundary="b"'], part, false],
    [['Content-Type: multipart/mixed; boundary=b'], `preamble\r\n${part}epilogue\r\n`, false],
    [['Content-Type: multipart/mixed; boundary=b'], `--b\r\n\r\nwords\r\n--b\r\n${file}\r\n\r\nb25l\r\n--b--`, false],
    [['Content-Type: message/rfc822'], 'Subject: inner\r\n\r\nwords', false],
    [['Content-Type: text'], 'words', true],
    [['Content-Type: multipart/mixed; boundary=b'], part.replace('--b', '--b '), true],
    [['Content-Transfer-Encoding: base64;'], 'd29yZHM=', true],
    [['Content-Transfer-Encoding: x-uuencode'], 'words', true],
    [['X-Long: a', ' '], 'words', false],
  ] as const) {
    const message = Buffer.from(['From: a@x.test', ...fields, '', body].join('\r\n'), 'latin1')
    expect([fields, (await parseMessage(message)).isRepaired]).toEqual([fields, isRepaired])
  }
})

describe('takes a part as', () => {
  const mixed = ['Content-Type: multipart/mixed; boundary=b']
  const withPart = (...lines: readonly string[]) =>
    `--b\r\n\r\nwords\r\n--b\r\n${lines.join('\r\n')}\r\n\r\none\r\n--b--\r\n`
  for (const [what, lines, file] of [
    ['a file: text with a name', ['Content-Type: text/plain; name="a.txt"'], 'a.txt text/plain attachment one'],
    ['a file: HTML with a name', ['Content-Type: text/html; name="a.html"'], 'a.html text/html attachment one'],
    [
      'a file: text with an encoded name',
      ['Content-Type: text/plain; name="=?utf-8?Q?=C3=A9.txt?="'],
      'é.txt text/plain attachment one',
    ],
    [
      'a file: text with a name in pieces',
      ["Content-Type: text/plain; name*0*=utf-8''%C3%A9; name*1=.txt"],
      'é.txt text/plain attachment one',
    ],
    [
      'a file that is shown inline',
      ['Content-Type: text/plain', 'Content-Disposition: inline; filename=a.txt'],
      'a.txt text/plain inline one',
    ],
    ['a file: an unknown type with a name', ['Content-Type: pdf; name=a.pdf'], 'a.pdf application/pdf attachment one'],
    [
      'a file: no type, and a name',
      ['Content-Disposition: attachment; filename=a.pdf'],
      'a.pdf application/pdf attachment one',
    ],
    [
      'a file: a disposition that is unknown',
      ['Content-Type: text/plain', 'Content-Disposition: form-data; name=x'],
      'attachment-1 text/plain attachment one',
    ],
  ] as const)
    test(what, async () =>
      expect(await parsed(mixed, withPart(...lines))).toEqual({ text: 'words', html: null, files: [file] }),
    )

  for (const [what, lines] of [
    ['text without a type', ['Content-Type: text']],
    ['text with an empty type', ['Content-Type:']],
    ['text with an empty name', ['Content-Type: text/plain; name=""']],
    ['text that is shown inline', ['Content-Disposition: inline']],
    ['text with an empty disposition', ['Content-Disposition:']],
  ] as const)
    test(what, async () => {
      expect(await parsed(mixed, withPart(...lines))).toEqual(textOnly('words\none'))
    })

  test('text: the alternatives, whatever their names', async () => {
    const body =
      '--b\r\nContent-Type: text/plain; name=a.txt\r\n\r\nwords\r\n--b\r\nContent-Type: text/html; name=a.html\r\n\r\n<p>\r\n--b--'
    const found = await parsed(['Content-Type: multipart/alternative; boundary=b'], body)
    expect(found).toEqual({ text: 'words', html: '<p>', files: [] })
  })

  test('text: the root of what is related, whatever its name', async () => {
    const body =
      '--b\r\nContent-Type: text/html; name=a.html\r\n\r\n<p>\r\n--b\r\nContent-Type: text/html; name=b.html\r\n\r\n<i>\r\n--b--'
    const found = await parsed(['Content-Type: multipart/related; boundary=b'], body)
    expect(found).toEqual({ text: null, html: '<p>', files: ['b.html text/html attachment <i>'] })
  })

  test('a file in x-uuencode', async () => {
    const lines = [
      'Content-Type: application/octet-stream; name=a.bin',
      'Content-Transfer-Encoding: x-uuencode',
      '',
      'begin 644 a.bin',
      '#0V%T',
      '`',
      'end',
    ]
    expect(await parsed(mixed, `--b\r\n\r\nwords\r\n--b\r\n${lines.join('\r\n')}\r\n--b--\r\n`)).toEqual({
      text: 'words',
      html: null,
      files: ['a.bin application/octet-stream attachment Cat'],
    })
  })
})
