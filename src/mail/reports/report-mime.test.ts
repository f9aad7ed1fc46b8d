import { expect, test } from 'bun:test'
import { notificationText } from './mail-system.ts'
import { decodeEncodedWords, parseReportMime } from './report-mime.ts'

const textOf = (lines: readonly string[]) => parseReportMime(Buffer.from(lines.join('\r\n'), 'latin1')).parts[0]?.text

test('decodes encoded words of any charset', () => {
  const words: Readonly<Record<string, string>> = {
    '=?utf-8?Q?J=C3=BC?= =?utf-8?Q?rgen?= <j@x.test>': 'Jürgen <j@x.test>',
    '=?iso-8859-1*de?q?M=FCller_?= =?windows-1252?q?=80?=': 'Müller €',
    '=?gb2312?B?zcvQxQ==?= =?iso-2022-jp?B?GyRCJWEhPCVrGyhC?=': '退信メール',
    '=?UTF-8?B?5byA?=\t=?UTF-8?B?5byA?=': '开开',
    '=?no-such-charset?q?a_b?= =?x?': 'a b =?x?',
    'none =? here': 'none =? here',
  }
  for (const [value, decoded] of Object.entries(words)) expect(decodeEncodedWords(value)).toBe(decoded)
})

test('decodes a body by its transfer encoding and charset', () => {
  const type = (charset: string) => `Content-Type: text/plain; charset=${charset}`
  const encoding = (name: string) => `Content-Transfer-Encoding: ${name}`
  expect(textOf([type('"iso-8859-1"'), encoding('Quoted-Printable'), '', 'M=FC=', 'ller  ', 'b'])).toBe('Müller\nb')
  expect(textOf([type('utf-8'), encoding('base64'), '', 'SsO8', 'cmdlbg=='])).toBe('Jürgen')
  expect(textOf([type('utf-8'), '', 'M\u00fcller'])).toBe('Müller')
  expect(textOf([type('no-such-charset'), '', 'M\u00c3\u00bcller'])).toBe('Müller')
})

test('decodes ISO-2022-JP, whatever charset is declared, in bodies and in fields', () => {
  const mail = '\x1b$B%a!<%k\x1b(B x \x1b(IR0Y\x1b(B'
  for (const charset of ['iso-2022-jp', 'ISO-2022-JP', 'us-ascii', 'utf-8', 'x-unknown'])
    expect(textOf([`Content-Type: text/plain; charset=${charset}`, '', mail])).toBe('メール x ﾒｰﾙ')
  expect(textOf(['', mail])).toBe('メール x ﾒｰﾙ')
  expect(decodeEncodedWords(mail)).toBe('メール x ﾒｰﾙ')
})

test('reads the parameters of Content-Type, continued ones too', () => {
  const head = 'Content-Type: Multipart/Report; Report-Type=delivery-status;\r\n boundary*0="a b"; boundary*1=c'
  const { type, parts } = parseReportMime(
    Buffer.from(`${head}\r\n\r\n--a bc\r\n\r\none\r\n--a bc\r\n\r\ntwo\r\n--a bc--\r\n`),
  )
  expect([type.name, type.parameters.get('report-type')]).toEqual(['multipart/report', 'delivery-status'])
  expect(parts.map(part => part.text)).toEqual(['one', 'two'])
})

test('reads a notification that is only HTML', () => {
  const html =
    '<style>p{}</style><p>Ihre Nachricht konnte nicht&nbsp;zugestellt werden:<br>&lt;bob@x.test&gt; f&uuml;r</p>'
  const message = parseReportMime(Buffer.from(`Content-Type: text/html\r\n\r\n${html}`))
  expect(notificationText(message)).toBe('Ihre Nachricht konnte nicht zugestellt werden:\n<bob@x.test> für')
})

test('reads long values of fields quickly', () => {
  for (const piece of ['=?', '=?a?b?x?=', '=?a?q?x?=   ', 'x; a*0=x', ';"\\"']) {
    const value = piece.repeat((256 * 1024) / piece.length)
    const started = performance.now()
    decodeEncodedWords(value)
    parseReportMime(Buffer.from(`Content-Type: ${value}\r\n\r\n`))
    expect(performance.now() - started).toBeLessThan(500)
  }
})
