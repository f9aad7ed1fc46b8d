import { describe, expect, test } from 'bun:test'
import { readMessageSummary, readSummaryWithoutText } from '../message.ts'
import { readTextOnly } from './text-only.ts'

const header = 'From: Alice <a@x.test>\r\nTo: b@x.test, "C, D" <c@x.test>\r\nSubject: =?utf-8?Q?caf=C3=A9?=\r\n'
const message = (more: string, body: string) => Buffer.from(`${header}${more}\r\n${body}`, 'latin1')
const multipart = (body: string, type = 'multipart/alternative; boundary="b"') =>
  message(`MIME-Version: 1.0\r\nContent-Type: ${type}\r\n`, body)
const textPart =
  '--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nHi=20\r\n'
const htmlPart = '--b\r\nContent-Type: text/html;\r\n charset="us-ascii"\r\n\r\n<p>Hi\r\n'

/** A summary without the text, which is what an summary is. */
async function summaryOf(bytes: Buffer) {
  const { text: _, html: __, ...summary } = await readMessageSummary(bytes)
  return summary
}

describe('a message of text only is not parsed, and reads the same', () => {
  test.each([
    ['no type', message('', 'Hi\r\n')],
    ['no body', message('', '')],
    ['text', message('Content-Type: text/plain; charset=UTF-8; format=flowed; delsp=yes\r\n', 'Hi\r\n')],
    ['HTML in base64', message('Content-Type: Text/HTML\r\nContent-Transfer-Encoding: BASE64\r\n', 'PHA+SGk=\r\n')],
    ['lines that look like a multipart', message('', '--b\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n')],
    ['alternatives', multipart(`${textPart}${htmlPart}--b--\r\n`)],
    ['a preamble and empty lines after the end', multipart(`See below.\r\n${textPart}${htmlPart}--b--\r\n\r\n\r\n`)],
    ['a part without fields', multipart(`--b\r\n\r\nHi\r\n${htmlPart}--b--`, 'multipart/mixed; boundary=b')],
    ['several fields of a kind', message('To: e@x.test\r\nCc: Team: f@x.test, g@x.test;\r\nReceived: by x\r\n', 'Hi')],
  ])('%s', async (_, bytes) => {
    expect(readTextOnly(bytes, 1000)).toBeDefined()
    expect(await readSummaryWithoutText(bytes)).toMatchObject(await summaryOf(bytes))
  })
})

describe('any other message is parsed', () => {
  test.each([
    ['an attachment', multipart(`${textPart}--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n`)],
    ['a text with a name', multipart(`${textPart}--b\r\nContent-Type: text/plain; name=a.txt\r\n\r\nx\r\n--b--\r\n`)],
    ['a disposition', multipart(`${textPart}--b\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n`)],
    ['a message that is a file', message('Content-Disposition: attachment; filename=a.txt\r\n', 'x')],
    [
      'a multipart in a multipart',
      multipart(`--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\n--b--\r\n`),
    ],
    ['an attached message', multipart(`--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nx\r\n--b--\r\n`)],
    ['a digest', multipart(`--b\r\n\r\nSubject: x\r\n\r\nx\r\n--b--\r\n`, 'multipart/digest; boundary=b')],
    ['no end', multipart(textPart)],
    ['text after the end', multipart(`${textPart}--b--\r\nmore`)],
    ['a part after the end', multipart(`${textPart}--b--\r\n${textPart}--b--\r\n`)],
    ['white space after a delimiter', multipart(`--b \r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n`)],
    ['a longer line that begins with the delimiter', multipart(`${textPart}--bb\r\n--b--\r\n`)],
    ['a delimiter within a line', multipart(`x--b\r\n${textPart}--b--\r\n`)],
    ['a line in the header of a part that is no field', multipart(`--b\r\nHi\r\n\r\nx\r\n--b--\r\n`)],
    [
      'a line of white space in the header of a part',
      multipart(`--b\r\nX: y\r\n \r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n`),
    ],
    ['a part without an empty line', multipart(`--b\r\nContent-Type: image/png\r\n--b--\r\n`)],
    ['two types', message('Content-Type: text/plain\r\nContent-Type: image/png\r\n', 'x')],
    ['a type with a comment', message('Content-Type: text/plain (image/png)\r\n', 'x')],
    ['uuencode', message('Content-Transfer-Encoding: x-uuencode\r\n', 'begin 644 a\r\nend\r\n')],
    ['a boundary in two parameters', multipart(`${textPart}--b--\r\n`, 'multipart/mixed; boundary*0=b; boundary*1=c')],
    ['bytes beyond ASCII', message('X: \xe9\r\n', 'x')],
    ['ISO-2022', message('Subject: \x1b$B$"\x1b(B\r\n', 'x')],
    ['a delimiter after a bare LF', multipart(`${textPart}x\n--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n`)],
    ['a line in the header that is no field', message('Hi\r\n', 'x')],
    ['no empty line', Buffer.from(header)],
  ])('%s', async (_, bytes) => {
    expect(readTextOnly(bytes, 1000)).toBeUndefined()
    expect(await readSummaryWithoutText(bytes)).toMatchObject(await summaryOf(bytes))
  })
})

test('what is said of addresses that are left out is the same', async () => {
  const bytes = message(`Cc: ${Array.from({ length: 3000 }, (_, i) => `p${i}@x.test`).join(',\r\n ')}\r\n`, 'Hi')
  const summary = await readSummaryWithoutText(bytes)
  expect(summary.problem).toMatch(/^addresses past/)
  expect(summary).toMatchObject(await summaryOf(bytes))
})

test('what was left out of one message is not said of the next', async () => {
  await readSummaryWithoutText(message(`To: ${'a@x.test, '.repeat(3000)}b@x.test\r\n`, 'Hi'))
  const { problem, to } = await readSummaryWithoutText(message('', 'Hi'))
  expect({ problem, recipients: to.length }).toEqual({ problem: null, recipients: 2 })
})
