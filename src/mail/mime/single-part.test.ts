import { expect, test } from 'bun:test'
import { parseMessage } from '../message.ts'

const size = 5_000_000

async function fastestMs(body: string): Promise<number> {
  const message = Buffer.from(`From: a@x.test\r\nSubject: long\r\n\r\n${body}`)
  const times = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const begunMs = performance.now()
    await parseMessage(message)
    times.push(performance.now() - begunMs)
  }
  return Math.min(...times)
}

test('a body of millions of lines costs little more than one of few', async () => {
  const few = await fastestMs(`${'x'.repeat(998)}\r\n`.repeat(size / 1000))
  expect((await fastestMs('\n'.repeat(size))) / few).toBeLessThan(10)
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
