import { Elysia } from 'elysia'
import { authenticate } from 'mailauth'
import { createPool, type Pool } from 'mysql2/promise'
import { createTransport } from 'nodemailer'
import type { ClamdAddress } from '../../base/config/config.ts'
import { formatDate } from '../../mail/date.ts'
import { ClamdSession } from '../../ports/scanner/clamd-session.ts'
import type { BenchSender } from './messages.ts'

const measuredMs = 4000
const warmUpMs = 1000

/** Repeats `once` for some seconds after a warm-up, `concurrency` at the same time, and gives the repetitions per second. */
async function ratePerSecond(concurrency: number, once: (i: number) => Promise<unknown>): Promise<number> {
  let i = 0
  const runFor = async (ms: number) => {
    const started = performance.now()
    let count = 0
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (performance.now() - started < ms) {
          await once(i++)
          count++
        }
      }),
    )
    return count / ((performance.now() - started) / 1000)
  }
  await runFor(warmUpMs)
  return await runFor(measuredMs)
}

/** clamd alone: the messages by INSTREAM, over `connections` sessions at the same time. Scans per second. */
export async function measureClamd(
  clamd: ClamdAddress,
  connections: number,
  messages: readonly Buffer[],
): Promise<number> {
  const idle = Array.from({ length: connections }, () => new ClamdSession(clamd, () => undefined))
  const rate = await ratePerSecond(connections, async i => {
    const session = idle.pop()
    if (!session) throw new Error('there is no idle session')
    const reply = await session.scan(messages[i % messages.length] as Buffer)
    if (reply !== 'stream: OK') throw new Error(reply)
    idle.push(session)
  })
  for (const session of idle) session.close()
  return rate
}

/** mailauth alone on one thread, with all DNS answers in memory: SPF, DKIM and DMARC of the messages. Messages per second. */
export async function measureMailauth(sender: BenchSender, messages: readonly Buffer[]): Promise<number> {
  const resolver = (name: string, type: string): Promise<string[][]> => {
    const value = type === 'TXT' ? sender.records[name] : undefined
    return value ? Promise.resolve([[value]]) : Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }))
  }
  return await ratePerSecond(1, i =>
    authenticate(
      messages[i % messages.length] as Buffer,
      {
        ip: '127.0.0.1',
        helo: `client.${sender.domain}`,
        sender: `alice@${sender.domain}`,
        mta: 'mx',
        resolver,
        disableArc: true,
        disableBimi: true,
        strict: true,
      } as Parameters<typeof authenticate>[1],
    ),
  )
}

function openPool(databaseUrl: string, connections: number): Pool {
  const url = new URL(databaseUrl)
  return createPool({
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
    connectionLimit: connections,
  })
}

/** The database alone: inserts of the messages over `connections`, a row and a commit each. Inserts per second. */
export async function measureInserts(
  databaseUrl: string,
  connections: number,
  messages: readonly Buffer[],
): Promise<number> {
  const pool = openPool(databaseUrl, connections)
  await pool.query('CREATE TABLE raw_messages (id BIGINT AUTO_INCREMENT PRIMARY KEY, bytes MEDIUMBLOB NOT NULL)')
  const rate = await ratePerSecond(connections, i =>
    pool.execute('INSERT INTO raw_messages (bytes) VALUES (?)', [messages[i % messages.length] as Buffer]),
  )
  await pool.query('DROP TABLE raw_messages')
  await pool.end()
  return rate
}

/** An Elysia server whose one route commits two rows; its port. */
export async function openTwoRowHandler(databaseUrl: string, connections: number): Promise<number> {
  const pool = openPool(databaseUrl, connections)
  await pool.query('CREATE TABLE raw_emails (id BIGINT AUTO_INCREMENT PRIMARY KEY, body TEXT NOT NULL)')
  await pool.query('CREATE TABLE raw_outbox (id BIGINT AUTO_INCREMENT PRIMARY KEY, recipient VARCHAR(320) NOT NULL)')
  const app = new Elysia()
    .post('/', async ({ body }) => {
      const connection = await pool.getConnection()
      await connection.beginTransaction()
      await connection.execute('INSERT INTO raw_emails (body) VALUES (?)', [JSON.stringify(body)])
      await connection.execute('INSERT INTO raw_outbox (recipient) VALUES (?)', ['someone@example.com'])
      await connection.commit()
      connection.release()
      return { ok: true }
    })
    .listen({ hostname: '127.0.0.1', port: 0 })
  return app.server?.port ?? 0
}

/** nodemailer's pool alone: sends `count` signed emails to `port`. Resolves when all are accepted. */
export async function sendWithNodemailer(
  sender: BenchSender,
  port: number,
  connections: number,
  count: number,
): Promise<void> {
  const transport = createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    dkim: {
      domainName: sender.domain,
      keySelector: sender.selector,
      privateKey: sender.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
  })
  let next = 0
  await Promise.all(
    Array.from({ length: connections * 2 }, async () => {
      while (next < count) await transport.sendMail({ ...sampleEmail(sender.domain, next++) })
    }),
  )
  transport.close()
}

/** The email that the measurements of accepting and relaying send. */
export function sampleEmail(fromDomain: string, i: number) {
  return {
    from: `Alice <alice@${fromDomain}>`,
    to: `person${i}@example.com`,
    subject: `Receipt ${i}`,
    text: `Thank you for order ${i}.\n${'Each line says a little.\n'.repeat(20)}`,
    html: `<p>Thank you for order <b>${i}</b>.</p>${'<p>Each line says a little.</p>\n'.repeat(20)}`,
  }
}

/** The same email as the message that a program composes. */
export function sampleMessage(fromDomain: string, i: number): Buffer {
  const { from, to, subject, text, html } = sampleEmail(fromDomain, i)
  const part = (type: string, content: string) =>
    ['--b', `Content-Type: ${type}; charset=utf-8`, '', content.replaceAll('\n', '\r\n')].join('\r\n')
  const header = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Message-ID: <${crypto.randomUUID()}@${fromDomain}>`,
    `Date: ${formatDate(Date.now())}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
  ]
  return Buffer.from(
    `${header.join('\r\n')}\r\n\r\n${part('text/plain', text)}\r\n${part('text/html', html)}\r\n--b--\r\n`,
  )
}
