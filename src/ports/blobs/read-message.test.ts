import { expect, test } from 'bun:test'
import { newId } from '../../base/ids.ts'
import { attachmentBytes } from '../../mail/part-bytes.ts'
import { readStoredMessage } from './read-message.ts'

const chunk = Buffer.from('abcdefgh'.repeat(64 * 1024))
const head = `From: a@x.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
const part = (name: string, content: string) =>
  `--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=${name}\r\n\r\n${content}\r\n`

/** A message of two attachments, the second of 40 MiB, read from a store of 512 KiB chunks, and how many were consumed. */
function largeMessage({ breaksAt = Number.POSITIVE_INFINITY } = {}) {
  const consumed = { chunks: 0, isEnded: false }
  async function* read() {
    try {
      yield Buffer.from(`${head}${part('a', 'first')}${part('b', '').slice(0, -2)}`)
      for (; consumed.chunks < 80; consumed.chunks++) {
        if (consumed.chunks === breaksAt) throw new Error('a chunk is missing')
        yield chunk
      }
      yield Buffer.from('\r\n--b--\r\n')
    } finally {
      consumed.isEnded = true
    }
  }
  return { consumed, message: readStoredMessage({ read }, newId('org'), newId('blb')) }
}

test('extracts one attachment of a message', async () => {
  expect(await new Response(attachmentBytes(largeMessage().message, 0)).text()).toBe('first')
  expect((await new Response(attachmentBytes(largeMessage().message, 1)).bytes()).length).toBe(40 * 1024 * 1024)
})

test('reads little ahead of its consumer, and stops when that is gone', async () => {
  const { message, consumed } = largeMessage()
  const reader = attachmentBytes(message, 1).getReader()
  await reader.read()
  await Bun.sleep(100)
  expect(consumed.chunks).toBeLessThan(5)
  await reader.cancel()
  await Bun.sleep(100)
  expect([consumed.chunks < 5, consumed.isEnded]).toEqual([true, true])
})

test('fails when the message cannot be read to its end', () => {
  const { message } = largeMessage({ breaksAt: 3 })
  expect(new Response(attachmentBytes(message, 1)).bytes()).rejects.toThrow('a chunk is missing')
})
