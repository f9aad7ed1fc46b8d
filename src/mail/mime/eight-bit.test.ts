import { describe, expect, test } from 'bun:test'
import { parseMessage, readHeaderSummary, readMessageSummary } from '../message.ts'

/** Text with a byte for each character: \xe9 is one byte. */
const bytes = (text: string) => Buffer.from(text, 'latin1')
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

const sjis = '\x93\xfa\x96\x7b' // 日本
const koi8 = '\xf0\xd2\xc9\xd7\xc5\xd4' // Привет
const jis = '\x1b$BF|K\\\x1b(B' // 日本

async function subjectOf(subject: string, fields: readonly string[] = [], body = ''): Promise<string> {
  const message = bytes(['From: a@x.test', `Subject: ${subject}`, ...fields, '', body].join('\r\n'))
  return (await readMessageSummary(message)).subject
}

describe('reads a Subject of', () => {
  const latin1 = ['Content-Type: text/plain; charset=iso-8859-1']
  for (const [what, subject, fields, expected] of [
    ['bytes in UTF-8', utf8('café'), [], 'café'],
    ['bytes in UTF-8, whatever is declared', utf8('café'), latin1, 'café'],
    ['bytes in the declared charset', 'caf\xe9', latin1, 'café'],
    ['bytes in the declared charset, folded', 'caf\xe9\r\n und Stra\xdfe', latin1, 'café und Straße'],
    ['bytes in a declared charset in quotes', koi8, ['Content-Type: text/plain; charset="KOI8-R"'], 'Привет'],
    ['bytes in a declared charset of two bytes', sjis, ['Content-Type: text/plain; charset=Shift_JIS'], '日本'],
    ['bytes in no declared charset', 'caf\xe9', [], 'caf\ufffd'],
    ['bytes in an unknown charset', 'caf\xe9', ['Content-Type: text/plain; charset=klingon'], 'caf\ufffd'],
    ['bytes in a charset without ASCII', 'caf\xe9', ['Content-Type: text/plain; charset=utf-16le'], 'caf\ufffd'],
    ['ISO-2022-JP outside of an encoded word', jis, [], '日本'],
    ['ISO-2022-JP that is declared', `Re: ${jis}`, ['Content-Type: text/plain; charset=ISO-2022-JP'], 'Re: 日本'],
    ['an escape sequence that is none of a charset', 'a \x1b[2J b', [], 'a  [2J b'],

    ['an encoded word with bytes in UTF-8', `=?utf-8?Q?${utf8('café')}?=`, [], 'café'],
    ['an encoded word with bytes in UTF-8 and another charset', `=?iso-8859-1?Q?${utf8('café')}?=`, [], 'café'],
    ['an encoded word with bytes in its charset', '=?iso-8859-1?Q?caf\xe9?=', [], 'café'],
    ['an encoded word with bytes and escapes', '=?iso-8859-1?Q?caf\xe9_=E9?=', [], 'café é'],
    ['an encoded word with bytes of two', `=?shift_jis?Q?${sjis}?=`, [], '日本'],
    ['an encoded word with a language', `=?iso-8859-1*fr?Q?caf\xe9?=`, [], 'café'],
    ['an encoded word with bytes, and the declared charset', '=?koi8-r?q?\xf0\xd2?= caf\xe9', latin1, 'Пр café'],
    ['encoded words with blanks in them', '=?utf-8?Q?a b?= =?utf-8?Q?c d?=', [], 'a bc d'],
    ['an encoded word as it should be', '=?utf-8?B?Y2Fmw6k=?=', latin1, 'café'],
  ] as const)
    test(what, async () => expect(await subjectOf(subject, fields)).toBe(expected))

  test('bytes in the charset of the first text, where the header declares none', async () => {
    const body = '--b\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\nx\r\n--b--\r\n'
    expect(await subjectOf(koi8, ['Content-Type: multipart/mixed; boundary=b'], body)).toBe('Привет')
  })
})

test('reads names of people and files, and any other field, in the declared charset', async () => {
  const message = bytes(
    [
      'From: Jos\xe9 <a@x.test>',
      'To: =?iso-8859-1?Q?Ren\xe9?= <b@x.test>, "M\xfcller, J." <c@x.test>',
      'X-Other: Gr\xfc\xdfe',
      'Content-Type: text/plain; charset=windows-1252',
      '',
      'caf\xe9 \x80',
    ].join('\r\n'),
  )
  const { from, to, headers, text } = await parseMessage(message)
  expect(from).toEqual([{ address: 'a@x.test', name: 'José' }])
  expect(to.map(({ name }) => name)).toEqual(['René', 'Müller, J.'])
  expect(headers.find(({ name }) => name === 'X-Other')?.value).toBe('Grüße')
  expect(text).toBe('café €')
})

test('reads names of files in UTF-8, in the charset of the encoded word, or in the declared charset', async () => {
  for (const [name, more, expected] of [
    [utf8('é.pdf'), '', 'é.pdf'],
    ['\xe9.pdf', '', 'é.pdf'],
    [`${koi8}.pdf`, '; charset=koi8-r', 'Привет.pdf'],
    [`${jis}.pdf`, '', '日本.pdf'],
    ['=?iso-8859-1?Q?\xe9?=.pdf', '', 'é.pdf'],
    [`=?iso-8859-1?Q?${utf8('é')}?=.pdf`, '', 'é.pdf'],
  ] as const)
    for (const field of [
      `Content-Type: application/pdf${more}; name="${name}"`,
      `Content-Type: application/pdf${more}\r\nContent-Disposition: attachment; filename="${name}"`,
    ]) {
      const { attachments } = await parseMessage(bytes(`From: a@x.test\r\n${field}\r\n\r\none`))
      expect(attachments.map(({ filename }) => filename)).toEqual([expected])
    }
})

test('reads the header alone in the declared charset', async () => {
  const head = bytes(
    'From: Jos\xe9 <a@x.test>\r\nContent-Type: text/plain; charset=iso-8859-1\r\nSubject: caf\xe9\r\n\r\n',
  )
  const { from, subject } = await readHeaderSummary(head, 'it is too large')
  expect([from[0]?.name, subject]).toEqual(['José', 'café'])
})

test('does not let a charset make addresses', async () => {
  const field = 'From: "\xe9 +AEA-evil.test +ADw-ceo+AEA-victim.test+AD4-" <a@x.test>'
  for (const charset of ['utf-7', 'utf-16', 'utf-16be', 'utf-32', 'utf-7-imap', 'ebcdic', 'cp037']) {
    const { from } = await readMessageSummary(
      bytes(`${field}\r\nContent-Type: text/plain; charset=${charset}\r\n\r\nx`),
    )
    expect(from.map(({ address }) => address)).toEqual(['a@x.test'])
    expect(from[0]?.name).not.toContain('@')
  }
})

test('reads long fields of such bytes quickly', async () => {
  const started = performance.now()
  for (const piece of [
    '\xe9',
    '=?iso-8859-1?Q?\xe9',
    '=?a?q?\xe9?= ',
    '=?\xe9',
    '\x1b$B',
    '\x1b$BF|\x1b(B ',
    `=?${'a'.repeat(99)}\xe9`,
  ])
    for (const field of ['Subject', 'From', 'X-Other'])
      await readMessageSummary(
        bytes(`${field}: ${piece.repeat(60_000 / piece.length)}\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\nx`),
      )
  expect(performance.now() - started).toBeLessThan(3000)
})
