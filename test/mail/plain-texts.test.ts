import { expect, test } from 'bun:test'
import { readMessageSummary, readPlainSummary } from '../../src/mail/message.ts'
import { amount } from '../harness/amount.ts'
import { oddMessage, type Pick, pickFrom } from './odd-messages.ts'

// The parser is the judge of what is read of a message that holds nothing but text without it.

const one = (pick: Pick, ...values: readonly string[]) => values[pick(values.length)] ?? ''
/** Mostly the first. */
const seldom = (pick: Pick, usual: string, ...others: readonly string[]) => (pick(12) ? usual : one(pick, ...others))

const encodings = ['7bit', '8bit', '7BIT', 'quoted-printable', 'Quoted-Printable', 'base64', '', 'binary']
const charsets = [
  '; charset=utf-8',
  ';\r\n charset="UTF-8"',
  '; charset=us-ascii',
  '',
  '; charset=iso-8859-1; format=fixed',
  '; charset=utf-8; delsp=yes',
  '; charset=windows-1252',
  '; format=flowed; charset=utf-8',
  '; charset=utf-16',
  '; charset=utf-8; charset=iso-8859-1',
  '; charset=utf-8; name=a.txt',
  '; boundary=b',
]

function textMessage(pick: Pick): Buffer {
  const fields = [
    one(pick, 'From: Alice <a@x.test>', 'From: =?utf-8?B?w6k=?= <a@x.test>'),
    one(pick, 'To: b@x.test, "C, D" <c@x.test>', 'To: Team: f@x.test, g@x.test;', 'X-To: nobody'),
    one(pick, 'Subject: Hello', 'Subject: =?utf-8?Q?caf=C3=A9?=\r\n =?utf-8?Q?!?=', 'Subject:'),
    one(pick, 'Message-ID: <1@x.test>', 'References: <1@x.test>\r\n\t<2@x.test>', 'In-Reply-To: 3@x.test'),
    seldom(pick, 'Date: Thu, 1 Jan 2026 00:00:00 +0000', 'Date: soon', 'no field', ' folded', 'X-\xe9: \xe9'),
  ]
  const isMultipart = pick(3) > 0
  const body = isMultipart ? multipart(pick) : entity(pick)
  return Buffer.from(`${fields.join('\r\n')}\r\nMIME-Version: 1.0\r\n${body}`, 'latin1')
}

function multipart(pick: Pick): string {
  const boundary = one(pick, 'b', 'b-', '=_1.2', '--b')
  const quoted = seldom(pick, `"${boundary}"`, boundary)
  const type = seldom(pick, 'multipart/alternative', 'Multipart/MIXED', 'multipart/related')
  let text = `Content-Type: ${type};\r\n boundary=${quoted}\r\n\r\n${seldom(pick, '', 'preamble\r\n', '\r\n', 'x')}`
  const parts = seldom(pick, '2', '1', '3', '0')
  const first = one(pick, 'plain', 'html')
  for (let i = 0; i < Number(parts); i++) {
    const isFirst = i === 0
    const subtype = seldom(pick, isFirst === (first === 'plain') ? 'plain' : 'html', 'plain', 'html', 'calendar')
    text += `--${boundary}${seldom(pick, '', ' ', 'x')}\r\n${entity(pick, subtype)}${seldom(pick, '\r\n', '\n', '\r', '')}`
  }
  return `${text}--${boundary}${seldom(pick, '--', '', '--x')}${one(pick, '', '\r\n', '\r\n\r\n')}${seldom(pick, '', 'end')}`
}

function entity(pick: Pick, subtype = one(pick, 'plain', 'html')): string {
  const encoding = encodings[pick(encodings.length)] ?? ''
  const fields = [
    ...(pick(9) ? [`Content-Type: text/${subtype}${charsets[pick(pick(3) ? 7 : charsets.length)]}`] : []),
    ...(encoding === '' ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
    ...(pick(20) ? [] : ['Content-Disposition: inline']),
  ]
  const header = fields.map(field => `${field}\r\n`).join('')
  return `${header}\r\n${encoded(pick, encoding.toLowerCase())}`
}

function encoded(pick: Pick, encoding: string): string {
  switch (encoding) {
    case 'base64': {
      const text = Buffer.from(textOf(pick, ['café', '\u{1f600}', '\ufeff', '\r\n', '\n', '\r', 'words', '\0']))
      const lines = text.toString('base64').replace(/.{76}/g, '$&\r\n')
      return `${lines}${seldom(pick, '', '=', '\r\n', '\r\n\r\n', ' ', '!', '-', 'QQ', 'Q')}`
    }
    case 'quoted-printable':
      return textOf(pick, [
        'words ',
        'caf=C3=A9',
        '=E2=82=AC',
        '=F0=9F=98=80',
        '=\r\n',
        'a=\r\nb',
        '=3D',
        '=0D=0A',
        'x\r\n',
        '=20\r\n',
        '=FF',
        '=C3',
        '=C3=\r\n=A9',
        '\r\n\r\n',
        ...(pick(6) ? [] : [' \r\n', '=c3=a9', '=', '= ', '=zz', '=\t\r\n', '\t']),
      ])
    default:
      return textOf(
        pick,
        ['words ', 'x\r\n', '\r\n', '<p>', '=3D', '-- \r\n', '--', '\t\r\n', '\0'].concat(pick(9) ? [] : '\xe9'),
      )
  }
}

function textOf(pick: Pick, pieces: readonly string[]): string {
  let text = ''
  for (let i = pick(12); i > 0; i--) text += pieces[pick(pieces.length)]
  return text
}

test('what is read without the parser is what the parser reads', async () => {
  const pick = pickFrom(7)
  const count = amount({ short: 1500, long: 100_000 })
  let read = 0
  for (let i = 0; i < count; i++) {
    const message = textMessage(pick)
    const plain = readPlainSummary(message)
    if (!plain) continue
    read++
    const shown = message.toString('latin1')
    expect({ shown, ...plain }).toEqual({ shown, ...(await readMessageSummary(message)) })
  }
  expect(read).toBeGreaterThan(count / 5)
})

test('so it is where a message is as nobody should write one', async () => {
  const pick = pickFrom(8)
  for (let i = 0; i < amount({ short: 1500, long: 50_000 }); i++) {
    const message = oddMessage(pick)
    const plain = readPlainSummary(message)
    if (plain) expect(plain).toEqual(await readMessageSummary(message))
  }
})

test.each([
  ['a text', 'Content-Type: text/plain; charset=utf-8\r\n\r\nHi\r\n', { text: 'Hi\n', html: null }],
  [
    'HTML in quoted-printable',
    'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>caf=C3=A9 =\r\nau lait',
    { text: null, html: '<p>café au lait' },
  ],
  [
    'two alternatives',
    'Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+SGk=\r\n--b--\r\n',
    { text: 'Hi', html: '<p>Hi' },
  ],
])('%s is read without the parser', (_, entityText, texts) => {
  expect(readPlainSummary(Buffer.from(`From: a@x.test\r\n${entityText}`))).toMatchObject(texts)
})
