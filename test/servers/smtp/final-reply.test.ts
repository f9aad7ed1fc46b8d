import { afterEach, describe, expect, test } from 'bun:test'
import type { IncomingMessage } from '../../../src/receiving/incoming-message.ts'
import { refuseMail, type SmtpRefusalCode } from '../../../src/receiving/smtp-refusal.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'
import { until } from '../../harness/until.ts'

let server: TestSmtpServer

afterEach(() => server.close())

const message = 'From: a@b.test\r\n\r\nx\r\n.'

/** A client after DATA was accepted. */
async function inData(): Promise<SmtpClient> {
  const client = await SmtpClient.ready(server.port)
  await client.commands('MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  return client
}

/** Pauses the inbound pipeline until `release` is called. */
function pausePipeline(): { readonly mails: IncomingMessage[]; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const mails: IncomingMessage[] = []
  server.inbound.before = mail => {
    mails.push(mail)
    return promise
  }
  return { mails, release: resolve }
}

const replies: Readonly<Partial<Record<SmtpRefusalCode, string>>> = {
  from_malformed: '550 5.7.1 There must be one From field with one address',
  dmarc_reject: '550 5.7.26 The message fails the DMARC policy of the domain in From',
  mail_loop: '554 5.4.6 The message has gone through too many servers',
  mailbox_gone: '451 4.2.0 The mailbox has just been removed',
  scanner_away: '451 4.3.2 The message cannot be scanned now, try again later',
  resolver_away: '451 4.4.3 DNS lookups fail now, try again later',
  disk_full: '452 4.3.1 Insufficient system storage, try again later',
  message_too_large: '552 5.3.4 The message is too large',
}

describe('the final reply to DATA', () => {
  test('is the refusal, byte-exact', async () => {
    server = await openTestSmtpServer()
    for (const [code, reply] of Object.entries(replies)) {
      server.inbound.before = () => {
        throw refuseMail(code as SmtpRefusalCode)
      }
      const client = await inData()
      expect(await client.command(message)).toBe(reply)
      expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
    }
  })

  test('includes the detail of a refusal, as one line of ASCII', async () => {
    server = await openTestSmtpServer()
    server.inbound.before = () => {
      throw refuseMail('dmarc_reject', { detail: 'no\r\n250 good ü' })
    }
    expect(await (await inData()).command(message)).toBe('550 5.7.26 no 250 good')
  })

  test('defers when something fails, and logs the error', async () => {
    server = await openTestSmtpServer()
    server.inbound.before = () => {
      throw new TypeError('a bug of ours')
    }
    expect(await (await inData()).command(message)).toBe('451 4.3.0 Local error in processing, try again later')
    expect(server.logged.find(line => line.includes('"level":50'))).toContain('a bug of ours')
  })

  test('defers with 452 when the disk is full', async () => {
    server = await openTestSmtpServer()
    server.inbound.before = () => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    expect(await (await inData()).command(message)).toBe('452 4.3.1 Insufficient system storage, try again later')
  })

  test('comes in time, and aborts the pipeline when that is late', async () => {
    server = await openTestSmtpServer({ answerSeconds: 0.3 })
    const { mails, release } = pausePipeline()
    const client = await inData()
    expect(await client.command(message)).toBe('451 4.3.2 Processing took too long, try again later')
    expect(mails[0]?.signal.aborted).toBe(true)
    release()
    expect(await client.command('NOOP')).toBe('250 2.0.0 OK')
    expect(server.inbound.received).toEqual([])
  })

  test('does not count as idle time of the client', async () => {
    server = await openTestSmtpServer({ idleSeconds: 0.2, sessionSeconds: 0.3 })
    const { release } = pausePipeline()
    const client = await inData()
    client.send(`${message}\r\n`)
    // Longer than the idle and session limits.
    await Bun.sleep(500)
    release()
    expect(await client.reply()).toStartWith('250 2.0.0 ')
  })

  test('is not sent to a client that has gone, and nothing is filed', async () => {
    server = await openTestSmtpServer()
    const { mails, release } = pausePipeline()
    const client = await inData()
    client.send(`${message}\r\n`)
    await until(() => mails.length > 0)
    expect(mails[0]?.signal.aborted).toBe(false)
    client.hangUp()
    await until(() => mails[0]?.signal.aborted)
    release()
    // Proves that nothing happens.
    await Bun.sleep(20)
    expect(server.inbound.received).toEqual([])
  })

  test('leaves the spool file until the pipeline is done with it, even when the client has gone', async () => {
    server = await openTestSmtpServer()
    const { mails, release } = pausePipeline()
    const client = await inData()
    client.send(`${'x'.repeat(600_000)}\r\n.\r\n`)
    await until(() => mails.length > 0)
    client.hangUp()
    await until(() => mails[0]?.signal.aborted)
    expect(server.spoolFiles().length).toBe(1)
    release()
    await server.waitForEmptySpool()
  })
})

describe('a look-up of a recipient', () => {
  test('that takes too long is deferred', async () => {
    server = await openTestSmtpServer({ answerSeconds: 0.2 })
    server.inbound.findRecipient = () => new Promise(() => undefined)
    const client = await SmtpClient.ready(server.port)
    await client.command('MAIL FROM:<a@b.test>')
    expect(await client.command('RCPT TO:<hello@ours.test>')).toBe(
      '451 4.3.2 Processing took too long, try again later',
    )
    expect(await client.command('QUIT')).toStartWith('221 ')
  })

  test('that fails is deferred', async () => {
    server = await openTestSmtpServer()
    server.inbound.findRecipient = () => Promise.reject(new Error('no database'))
    const client = await SmtpClient.ready(server.port)
    await client.command('MAIL FROM:<a@b.test>')
    expect(await client.command('RCPT TO:<hello@ours.test>')).toBe(
      '451 4.3.0 Local error in processing, try again later',
    )
    client.hangUp()
  })
})

describe('closing', () => {
  test('ends idle sessions, finishes the transaction under way and accepts no other', async () => {
    server = await openTestSmtpServer({}, { drainMs: 5000 })
    const { mails, release } = pausePipeline()
    const idle = await SmtpClient.ready(server.port)
    const busy = await inData()
    const closed = server.close()
    expect(await idle.rest()).toBe('421 4.3.2 The server is shutting down, try again later\r\n')
    await expect(SmtpClient.connect(server.port)).rejects.toThrow()
    busy.send(`${message}\r\nMAIL FROM:<a@b.test>\r\n`)
    await until(() => mails.length > 0)
    release()
    expect(await busy.rest()).toMatch(/^250 2\.0\.0 Accepted as msg_1\r\n421 4\.3\.2 /)
    await closed
    expect(server.inbound.received.length).toBe(1)
  })

  test('does not wait for ever: a message without a reply by then is not filed', async () => {
    server = await openTestSmtpServer({}, { drainMs: 300 })
    const { mails, release } = pausePipeline()
    const client = await inData()
    client.send(`${message}\r\n`)
    await until(() => mails.length > 0)
    const closed = server.close()
    expect(await client.rest()).toBe('421 4.3.2 The server is shutting down, try again later\r\n')
    expect(mails[0]?.signal.aborted).toBe(true)
    release()
    await closed
    expect(server.inbound.received).toEqual([])
  })
})
