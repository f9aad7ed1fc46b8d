import { expect, test } from 'bun:test'
import { parseMessage } from '../message.ts'

const size = 5_000_000

const messageOf = (body: string, encoding: string) =>
  Buffer.from(`From: a@x.test\r\nSubject: long\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`)

/** The processor time of this process that it takes, in milliseconds. */
async function measureParsing(message: Buffer): Promise<number> {
  const begun = process.cpuUsage()
  await parseMessage(message)
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

test('a body of millions of lines costs little more than the same text in few', async () => {
  const text = '\n'.repeat(size)
  const few = messageOf(Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n'), 'base64')
  const many = messageOf(text, '8bit')
  let [leastOfFew, leastOfMany] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  // In turn, so that a machine that is busy for a while is so for both; where each line costs, it is three times as much.
  for (let attempt = 0; attempt < 3; attempt++) {
    leastOfFew = Math.min(leastOfFew, await measureParsing(few))
    leastOfMany = Math.min(leastOfMany, await measureParsing(many))
  }
  expect(leastOfMany / leastOfFew).toBeLessThan(2)
})

test('a transfer encoding is decoded wherever the pieces of a body end', async () => {
  const text = 'Grüße aus Köln, 99 € = ✓ '.repeat(20_000).trim()
  const bytes = Buffer.from(text)
  const bodies = {
    base64: bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
    'quoted-printable': [...bytes]
      .map((byte, i) => `=${byte.toString(16).toUpperCase()}${i % 20 ? '' : '=\r\n'}`)
      .join(''),
  }
  for (const [encoding, body] of Object.entries(bodies)) {
    const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
    expect((await parseMessage(Buffer.from(`From: a@x.test\r\n${head}${body}`))).text?.trim()).toBe(text)
  }
})
