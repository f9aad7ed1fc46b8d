import { expect, test } from 'bun:test'
import { newId } from '../../base/ids.ts'
import { readStoredAttachment, readStoredMessage } from './stored-message.ts'

const chunk = Buffer.from('abcdefgh'.repeat(64 * 1024))
const head = `From: a@x.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
const part = (name: string, content: string) =>
  `--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=${name}\r\n\r\n${content}\r\n`

/** A message of two attachments, the second of 40 MiB, read from a store of 512 KiB chunks, and how many were taken. */
function largeMessage({ breaksAt = Number.POSITIVE_INFINITY } = {}) {
  const taken = { chunks: 0, isEnded: false }
  async function* read() {
    try {
      yield Buffer.from(`${head}${part('a', 'first')}${part('b', '').slice(0, -2)}`)
      for (; taken.chunks < 80; taken.chunks++) {
        if (taken.chunks === breaksAt) throw new Error('a chunk is missing')
        yield chunk
      }
      yield Buffer.from('\r\n--b--\r\n')
    } finally {
      taken.isEnded = true
    }
  }
  return { taken, message: readStoredMessage({ read }, newId('org'), newId('blb')) }
}

test('extracts one attachment of a message', async () => {
  expect(await new Response(readStoredAttachment(largeMessage().message, 0)).text()).toBe('first')
  expect((await new Response(readStoredAttachment(largeMessage().message, 1)).bytes()).length).toBe(40 * 1024 * 1024)
})

test('reads little ahead of its consumer, and stops when that is gone', async () => {
  const { message, taken } = largeMessage()
  const reader = readStoredAttachment(message, 1).getReader()
  await reader.read()
  await Bun.sleep(100)
  expect(taken.chunks).toBeLessThan(5)
  await reader.cancel()
  await Bun.sleep(100)
  expect([taken.chunks < 5, taken.isEnded]).toEqual([true, true])
})

test('fails when the message cannot be read to its end', () => {
  const { message } = largeMessage({ breaksAt: 3 })
  expect(new Response(readStoredAttachment(message, 1)).bytes()).rejects.toThrow('a chunk is missing')
})
