import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { amount } from '../harness/amount.ts'
import { oddMessage, pickFrom } from './odd-messages.ts'
import { type Reading, readingOf, summaryReadingOf, unaidedReadingOf, withoutContent } from './parser-reading.ts'

// mailparser as it reads by itself, a message given whole, is the judge of what is found by bytes.

const pieceBytes = 64 * 1024

/** @returns the one reading. The messages are compared as well, so that a difference shows the message. */
async function expectEqualReadings(message: Buffer, pieceSizes: readonly (readonly number[])[]): Promise<Reading> {
  const unaided = await unaidedReadingOf(message)
  const shown = message.toString('latin1', 0, pieceBytes)
  const unread = withoutContent(unaided)
  for (const sizes of pieceSizes) {
    expect({ shown, sizes, ...(await readingOf(message, sizes)) }).toEqual({ shown, sizes: [...sizes], ...unaided })
    expect({ shown, sizes, ...(await summaryReadingOf(message, sizes)) }).toEqual({
      shown,
      sizes: [...sizes],
      ...unread,
    })
  }
  return unaided
}

const reports = new URL('../fixtures/reports/', import.meta.url)

test('each report of the fixtures is read as mailparser reads it by itself', async () => {
  const files = readdirSync(reports).filter(name => name.endsWith('.eml'))
  expect(files.length).toBeGreaterThan(100)
  for (const name of files) await expectEqualReadings(readFileSync(new URL(name, reports)), [[pieceBytes], [100]])
})

test('so is each of many odd messages, wherever its pieces end', async () => {
  const pick = pickFrom(1)
  let attachments = 0
  for (let i = 0; i < amount({ short: 80, long: 10_000 }); i++) {
    const message = oddMessage(pick)
    const anywhere = [pick(message.length) + 1, pick(100) + 1, pick(1000) + 1]
    const reading = await expectEqualReadings(message, [[pieceBytes], anywhere, [1 + pick(9)]])
    attachments += reading.attachments.length
  }
  expect(attachments).toBeGreaterThan(20)
})

const within = (...parts: readonly string[]) =>
  Buffer.from(
    `From: a@x.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`,
    'latin1',
  )
const file = (encoding: string, body: string) =>
  `Content-Type: application/pdf\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`
const base64Lines = (bytes: number) =>
  Buffer.alloc(bytes, 'The quick brown fox. ').toString('base64').replace(/.{76}/g, '$&\r\n')

const messages: Readonly<Record<string, Buffer>> = {
  'a file of many pieces': within('\r\nwords', file('base64', base64Lines(400_000)), file('base64', base64Lines(10))),
  'a file with one odd character': within(file('base64', base64Lines(200_000).replace(/.{100000}/s, '$&*'))),
  '100,000 lines': within(`\r\n${'a\r\n'.repeat(100_000)}`, file('8bit', 'b\n'.repeat(100_000))),
  'lines that all begin with dashes': within(`\r\n${'--\r\n'.repeat(30_000)}`, file('8bit', '\r--c\n'.repeat(30_000))),
  'one long line': within(`\r\n${'x'.repeat(300_000)}`, file('binary', '-'.repeat(300_000))),
  'text that names a boundary': Buffer.from(
    'From: a@x.test\r\nContent-Type: text/plain; boundary=b\r\n\r\nwords\r\n--b\r\n\r\nmore\r\n--b--\r\nend',
  ),
  'line ends of CR alone': within(`\r\n${'a\r'.repeat(100_000)}`, file('binary', '\r'.repeat(100_000))),
  'a boundary that begins as another': within(
    `Content-Type: multipart/mixed; boundary=bb\r\n\r\n--bb\r\n\r\nwords${'\r\n--b-'.repeat(20_000)}\r\n--bb--`,
  ),
}

for (const [what, message] of Object.entries(messages))
  test(`so is a message of ${what}`, async () => {
    await expectEqualReadings(message, [[pieceBytes], [pieceBytes - 1, 50_001]])
  })
