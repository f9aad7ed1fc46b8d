import { afterEach, describe, expect, test } from 'bun:test'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'
import { until } from '../../harness/until.ts'

let server: TestSmtpServer

afterEach(() => server.close())

/** A client with one open transaction to a known recipient. */
async function inTransaction(): Promise<SmtpClient> {
  const client = await SmtpClient.ready(server.port)
  await client.commands('MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>')
  return client
}

/** Sends `text` byte by byte, repeatedly, until the server closes the connection. Returns what the server sent. */
async function trickle(client: SmtpClient, text: string, pauseMs: number): Promise<string> {
  let isOver = false
  const rest = client.rest(10_000).finally(() => {
    isOver = true
  })
  for (let i = 0; !isOver; i++) {
    client.send(text[i % text.length] ?? '')
    await Bun.sleep(pauseMs)
  }
  return rest
}

/** Whether a client from another address can deliver a message now. */
async function othersAreServed(): Promise<boolean> {
  const client = await SmtpClient.ready(server.port, '127.0.0.2')
  await client.commands('MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  const reply = await client.command('Subject: x\r\n\r\nx\r\n.')
  client.hangUp()
  return reply.startsWith('250 ')
}

describe('a slow client', () => {
  test('that sends nothing is cut, before EHLO as well', async () => {
    server = await openTestSmtpServer({ idleSeconds: 0.2 })
    const silent = await SmtpClient.connect(server.port)
    expect(await silent.reply()).toStartWith('220 ')
    expect(await silent.rest()).toBe('421 4.4.2 Idle for too long\r\n')
  })

  test('that trickles a command is cut, and others are served meanwhile', async () => {
    server = await openTestSmtpServer({ idleSeconds: 0.4 })
    const client = await SmtpClient.ready(server.port)
    const reply = trickle(client, 'NOOP aaaaaaaa', 10)
    expect(await othersAreServed()).toBe(true)
    expect(await reply).toBe('421 4.4.2 Idle for too long\r\n')
  })

  test('that trickles DATA is cut, and others are served meanwhile', async () => {
    server = await openTestSmtpServer({}, { rateWindowMs: 300 })
    const client = await inTransaction()
    await client.command('DATA')
    const reply = trickle(client, 'aaaaaaaa\r\n', 10)
    expect(await othersAreServed()).toBe(true)
    expect(await reply).toBe('421 4.4.2 The message arrives too slowly\r\n')
    expect(server.inbound.received.length).toBe(1)
  })

  test('that keeps the minimum rate is not cut inside a message', async () => {
    server = await openTestSmtpServer({ sessionSeconds: 0.3, idleSeconds: 0.3 }, { rateWindowMs: 400 })
    const client = await inTransaction()
    await client.command('DATA')
    for (let i = 0; i < 12; i++) {
      client.send(`${'a'.repeat(70)}\r\n`)
      // Keeps the rate above the minimum over the whole session limit.
      await Bun.sleep(80)
    }
    expect(await client.command('.')).toStartWith('250 ')
    // The session is past its limit by now, and ends after the transaction.
    expect(await client.rest()).toBe('421 4.4.2 The session has lasted too long\r\n')
  })

  test('that is never idle is cut at the session limit', async () => {
    server = await openTestSmtpServer({ sessionSeconds: 0.5 })
    const client = await SmtpClient.ready(server.port)
    let last = ''
    for (let i = 0; i < 100 && !last.startsWith('421'); i++) {
      last = await client.command('NOOP')
      await Bun.sleep(10)
    }
    expect(last).toBe('421 4.4.2 The session has lasted too long')
  })

  test('that does not read its replies is cut', async () => {
    server = await openTestSmtpServer({ sessionSeconds: 0.5 })
    const client = await SmtpClient.ready(server.port)
    client.send('NOOP\r\n'.repeat(20_000))
    expect((await client.rest(8000)).length).toBeGreaterThan(0)
  })
})

describe('floods', () => {
  test('200 sessions from one address leave room for a second address', async () => {
    server = await openTestSmtpServer({ maxSessionsPerAddress: 20, maxSessions: 40 })
    const greetings = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = await SmtpClient.connect(server.port, '127.0.0.1')
        return { client, greeting: await client.reply() }
      }),
    )
    const served = greetings.filter(({ greeting }) => greeting.startsWith('220 '))
    expect(served.length).toBe(20)
    const refused = greetings.find(({ greeting }) => greeting.startsWith('421 '))
    expect(refused?.greeting).toBe('421 4.7.0 Too many sessions from your address, try again later')
    expect(await othersAreServed()).toBe(true)
    for (const { client } of greetings) client.hangUp()
    await until(async () => {
      const client = await SmtpClient.connect(server.port, '127.0.0.1')
      const isGreeted = (await client.reply()).startsWith('220 ')
      client.hangUp()
      return isGreeted
    })
  })

  test('the total limit of sessions holds over many addresses', async () => {
    server = await openTestSmtpServer({ maxSessionsPerAddress: 2, maxSessions: 5 })
    const greetings = []
    for (let i = 0; i < 8; i++) {
      const client = await SmtpClient.connect(server.port, `127.0.0.${2 + i}`)
      greetings.push((await client.reply()).slice(0, 9))
    }
    expect(greetings.filter(greeting => greeting.startsWith('220')).length).toBe(5)
    expect(greetings.at(-1)).toBe('421 4.7.0')
  })

  test('a session ends after a hundred errors', async () => {
    server = await openTestSmtpServer()
    const client = await SmtpClient.ready(server.port)
    client.send('MAIL FROM:a\r\n'.repeat(150))
    const replies = (await client.rest()).split('\r\n')
    expect(replies.filter(line => line.startsWith('501 5.1.7 ')).length).toBe(100)
    expect(replies.slice(100)).toEqual(['421 4.7.0 Too many errors', ''])
  })

  test('an HTTP request or an overlong line ends the session at once', async () => {
    server = await openTestSmtpServer()
    const client = await SmtpClient.ready(server.port)
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await client.rest()).toBe('421 4.7.0 HTTP requests not allowed\r\n')
    const other = await SmtpClient.ready(server.port)
    other.send('x'.repeat(5000))
    expect(await other.rest()).toBe('421 4.5.2 The command line is too long\r\n')
  })
})

describe('a recipient flood', () => {
  test('of 5,000 gets as many as a message may have, and then the session ends', async () => {
    server = await openTestSmtpServer()
    const client = await SmtpClient.ready(server.port)
    await client.command('MAIL FROM:<a@b.test>')
    for (let i = 0; i < 5000; i += 100)
      client.send(Array.from({ length: 100 }, (_, j) => `RCPT TO:<r${i + j}@ours.test>\r\n`).join(''))
    const replies = (await client.rest()).split('\r\n')
    expect(replies.filter(line => line.startsWith('250 2.1.5 ')).length).toBe(100)
    expect(replies.filter(line => line.startsWith('452 4.5.3 ')).length).toBe(1000)
    expect(replies.slice(1100)).toEqual(['421 4.7.0 Too many errors', ''])
    expect(server.inbound.lookedUp.length).toBe(100)
  })

  test('past the limit does not prevent delivery to the accepted ones', async () => {
    server = await openTestSmtpServer()
    const client = await SmtpClient.ready(server.port)
    await client.command('MAIL FROM:<a@b.test>')
    for (let i = 0; i < 300; i++) client.send(`RCPT TO:<r${i}@ours.test>\r\n`)
    for (let i = 0; i < 300; i++) await client.reply()
    await client.command('DATA')
    expect(await client.command('x\r\n.')).toStartWith('250 ')
    expect(server.inbound.received[0]?.recipients.length).toBe(100)
  })

  test('of unknown ones gets slower and slower replies, and is then cut', async () => {
    server = await openTestSmtpServer({}, { unknownDelayMs: 5 })
    const client = await SmtpClient.ready(server.port)
    await client.command('MAIL FROM:<a@b.test>')
    const waits: number[] = []
    for (let i = 0; i < 20; i++) {
      const startedAt = performance.now()
      expect(await client.command(`RCPT TO:<gone${i}@ours.test>`)).toStartWith('550 5.1.1 ')
      waits.push(performance.now() - startedAt)
    }
    expect(Math.max(...waits.slice(0, 3))).toBeLessThan(50)
    expect(Math.min(...waits.slice(15))).toBeGreaterThan(50)
    expect(await client.command('RCPT TO:<gone20@ours.test>')).toBe('421 4.7.0 Too many unknown recipients')
    expect(await client.rest()).toBe('')
  })
})
