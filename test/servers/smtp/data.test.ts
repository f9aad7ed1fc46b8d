import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSpoolFolder } from '../../../src/servers/smtp/spool.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'
import { until } from '../../harness/until.ts'

let server: TestSmtpServer

beforeEach(async () => {
  server = await openTestSmtpServer()
})

afterEach(() => server.close())

/** A client after DATA was accepted. */
async function inData(): Promise<SmtpClient> {
  const client = await SmtpClient.ready(server.port)
  await client.commands('MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>')
  expect(await client.command('DATA')).toStartWith('354 ')
  return client
}

const smuggled = 'MAIL FROM:<evil@b.test>\r\nRCPT TO:<hello@ours.test>\r\nDATA\r\nsmuggled\r\n.\r\n'
const wrongEnds = [
  '\n.\n',
  '\n.\r\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\n',
  '\r\n.\r',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\n. \r\n',
]

describe('only CRLF.CRLF ends DATA', () => {
  for (const end of wrongEnds)
    for (const split of ['whole', 'in packets of a byte'])
      test(`${JSON.stringify(end)} does not, ${split}`, async () => {
        const client = await inData()
        const head = `From: a@b.test\r\n\r\nfirst${end}`
        if (split === 'whole') client.send(`${head}${smuggled}`)
        else await client.sendInPieces([...Buffer.from(head)].map(byte => Buffer.from([byte])))
        if (split !== 'whole') client.send(smuggled)
        expect(await client.reply()).toBe('250 2.0.0 Accepted as msg_1')
        await client.command('QUIT')
        expect(server.inbound.received.map(({ mailFrom }) => mailFrom)).toEqual(['a@b.test'])
        // The bytes are kept, except for the dot that starts a line.
        const stored = end.startsWith('\r\n.') ? end.replace('\r\n.', '\r\n') : end
        expect(server.inbound.received[0]?.bytes.toString()).toStartWith(
          `From: a@b.test\r\n\r\nfirst${stored}MAIL FROM`,
        )
      })
})

describe('the bytes are exact', () => {
  // Random bytes with sequences that the decoder looks for; lines that start with a dot are dot-stuffed.
  const pieces = ['\r\n.', '\r\n..', '\n.', '\r', '\r\n', '\0', '\r\n.\r', '\u00ff']
  const content = (bytes: number) => {
    let text = ''
    while (text.length < bytes) text += randomBytes(20).toString('latin1') + pieces[(text.length * 7) % pieces.length]
    return `${text}\r\n`
  }
  for (const bytes of [500, 30_000, 262_144, 1_000_000])
    test(`of a message of ${bytes}`, async () => {
      const message = content(bytes)
      const stuffed = `${message.startsWith('.') ? '.' : ''}${message.replaceAll('\r\n.', '\r\n..')}`
      const client = await inData()
      client.send(Buffer.from(`${stuffed}.\r\n`, 'latin1'))
      expect(await client.reply()).toStartWith('250 ')
      const [mail] = server.inbound.received
      expect(mail?.bytes.equals(Buffer.from(message, 'latin1'))).toBe(true)
      expect(mail?.content.size).toBe(message.length)
      expect(mail?.content.kind).toBe(message.length > 262_144 ? 'file' : 'memory')
      await client.command('QUIT')
      await server.waitForEmptySpool()
    })

  test('when it comes in small packets', async () => {
    const message = content(3000)
    const client = await inData()
    const wire = Buffer.from(`${message.replaceAll('\r\n.', '\r\n..')}.\r\n`, 'latin1')
    const packets = Array.from({ length: Math.ceil(wire.length / 7) }, (_, i) => wire.subarray(i * 7, i * 7 + 7))
    await client.sendInPieces(packets, 0)
    expect(await client.reply()).toStartWith('250 ')
    expect(server.inbound.received[0]?.bytes.toString('latin1')).toBe(message)
  })

  test('of an empty message', async () => {
    const client = await inData()
    expect(await client.command('.')).toStartWith('250 ')
    expect(server.inbound.received[0]?.bytes.length).toBe(0)
  })
})

const MiB = 1024 * 1024

describe('a message past SIZE', () => {
  const tooLarge = '552 5.3.4 The message is too large'
  for (const size of [2 * MiB + 1, 35 * MiB, 99_999_999_999])
    test(`is refused at MAIL when ${size} is declared`, async () => {
      const client = await SmtpClient.ready(server.port)
      expect(await client.command(`MAIL FROM:<a@b.test> SIZE=${size}`)).toBe(tooLarge)
    })

  test('is refused after its end when SIZE was not declared, and the session goes on', async () => {
    const client = await inData()
    client.send(Buffer.alloc(2 * MiB + 1, 'x'))
    client.send('\r\n.\r\n')
    expect(await client.reply()).toBe(tooLarge)
    expect(await client.command('MAIL FROM:<a@b.test>')).toBe('250 2.1.0 Go on')
    await server.waitForEmptySpool()
    expect(server.inbound.received).toEqual([])
    client.hangUp()
  })

  test('is cut when it does not end, with constant memory', async () => {
    const client = await inData()
    const block = Buffer.alloc(64 * 1024, 'x')
    const before = process.memoryUsage().rss
    // 64 MiB, of which the server reads at most twice the SIZE.
    for (let i = 0; i < 1024; i++) {
      client.send(block)
      // Lets the server read.
      if (i % 16 === 0) await Bun.sleep(1)
    }
    expect(await client.reply()).toBe(tooLarge)
    client.hangUp()
    // The unsent bytes of the client are in this process as well.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MiB)
    await server.waitForEmptySpool()
  })

  test('one of exactly that size is accepted', async () => {
    const client = await inData()
    client.send(Buffer.concat([Buffer.alloc(2 * MiB - 2, 'x'), Buffer.from('\r\n.\r\n')]))
    expect(await client.reply()).toBe('250 2.0.0 Accepted as msg_1')
    expect(server.inbound.received[0]?.content).toMatchObject({ kind: 'file', size: 2 * MiB })
  })
})

describe('the spool', () => {
  test('is emptied when the client disconnects during DATA', async () => {
    const client = await inData()
    client.send(Buffer.alloc(600_000, 'x'))
    await until(() => server.spoolFiles().length === 1)
    client.hangUp()
    await server.waitForEmptySpool()
  })

  test('is cleared at the start of files of processes that no longer run', async () => {
    const { spoolFolder } = server
    for (const name of ['smtp-999999999-abc', `smtp-${process.pid}-abc`, 'smtp-1-abc', 'other'])
      writeFileSync(join(spoolFolder, name), 'x')
    const second = await openTestSmtpServer({}, {}, spoolFolder)
    expect(readdirSync(spoolFolder).sort()).toEqual(['other', 'smtp-1-abc'])
    await second.close()
  })

  test('defers the message when it cannot be written, and the session goes on', async () => {
    let isHandedOver = false
    server.inbound.before = () => {
      isHandedOver = true
    }
    const client = await inData()
    rmSync(server.spoolFolder, { recursive: true })
    client.send(Buffer.alloc(600_000, 'x'))
    client.send('\r\n.\r\n')
    expect(await client.reply()).toBe('451 4.3.0 Local error in processing, try again later')
    expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
    expect(isHandedOver).toBe(false)
  })

  test('limits the memory of all messages together, and writes files beyond', async () => {
    const folder = openSpoolFolder(server.spoolFolder)
    const bytes = Buffer.alloc(256 * 1024)
    const open = (name: string) => {
      const spool = folder.open(name, 2 * MiB)
      spool.write(bytes)
      return spool
    }
    const spools = Array.from({ length: 256 }, (_, i) => open(`m${i}`))
    expect((await spools[0]?.finish())?.kind).toBe('memory')
    const overflow = open('overflow')
    expect((await overflow.finish()).kind).toBe('file')
    for (const spool of [...spools, overflow]) await spool.discard()
    const after = open('after')
    expect((await after.finish()).kind).toBe('memory')
    await after.discard()
    expect(server.spoolFiles()).toEqual([])
  })
})
