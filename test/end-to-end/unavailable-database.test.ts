import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** A database that answers, and refuses: read-only, out of connections, locked by others. */
const serverKey = 'MAILROOM_TEST_DATABASE_URL'
const usualServer = process.env[serverKey]
const folder = makeMemoryFolder('mailroom-unavailable-')
const timeoutMs = 2000
/** Five waits of a second for a lock, twice where work is tried twice, and a machine that is busy. */
const inTimeMs = 15_000

let mariadb: PrivateMariadb
let mailroom: Mailroom
/** The operator, who may still write and connect when Mailroom's account may not. */
let operator: Connection

beforeAll(async () => {
  mariadb = await startMariadb({ folder: join(folder, 'mariadb') })
  process.env[serverKey] = mariadb.url
  mailroom = await startMailroom()
  operator = await createConnection(mailroom.database.url)
  await operator.query("CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app'")
  await operator.query(`GRANT ALL ON ${new URL(mailroom.database.url).pathname.slice(1)}.* TO app@'127.0.0.1'`)
  const url = new URL(mailroom.database.url)
  url.username = 'app'
  url.password = 'app'
  url.searchParams.set('timeoutMs', String(timeoutMs))
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_DATABASE_URL: url.href })
}, 120_000)

afterAll(async () => {
  await operator?.end()
  await mailroom?.stop()
  await mariadb?.stop()
  if (usualServer === undefined) delete process.env[serverKey]
  else process.env[serverKey] = usualServer
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

/** Closes Mailroom's connections, so that it has to open others. */
async function closeConnections(): Promise<void> {
  const [rows] = await operator.query("SELECT id FROM information_schema.processlist WHERE user = 'app'")
  for (const { id } of rows as { readonly id: number }[]) await operator.query(`KILL ${id}`).catch(() => undefined)
}

async function hogConnections(): Promise<() => Promise<void>> {
  const hogs = await Promise.all(Array.from({ length: 15 }, () => createConnection(mariadb.url)))
  await operator.query('SET GLOBAL max_connections = 10')
  await closeConnections()
  return async () => {
    await operator.query('SET GLOBAL max_connections = 300')
    await Promise.all(hogs.map(hog => hog.end()))
  }
}

async function lockRows(): Promise<() => Promise<unknown>> {
  await operator.query('BEGIN')
  for (const table of ['organizations', 'mailboxes']) await operator.query(`SELECT id FROM ${table} FOR UPDATE`)
  return () => operator.query('ROLLBACK')
}

async function lockTables(): Promise<() => Promise<unknown>> {
  await operator.query('LOCK TABLES emails WRITE, messages WRITE')
  return () => operator.query('UNLOCK TABLES')
}

async function makeReadOnly(): Promise<() => Promise<unknown>> {
  await operator.query('SET GLOBAL read_only = 1')
  return () => operator.query('SET GLOBAL read_only = 0')
}

const letter = (subject: string) => `From: ann@client.test\r\nSubject: ${subject}\r\n\r\nHello\r\n`
const email = (subject: string) => ({ from: 'hello@demo.test', to: 'you@friend.test', subject, text: 'Hello.' })

test.each([
  { what: 'read-only', begin: makeReadOnly, isReadable: true },
  { what: 'out of connections', begin: hogConnections, isReadable: false },
  { what: 'with rows locked by others', begin: lockRows, isReadable: true },
  { what: 'with tables locked by others', begin: lockTables, isReadable: false },
])(
  'a database that is $what: sends get unavailable, mail 451, and all is as before afterwards',
  async ({ what, begin, isReadable }) => {
    const end = await begin()
    try {
      const started = performance.now()
      const [sent, listed, received, health] = await Promise.all([
        mailroom.api('POST', '/v1/emails', email(what)),
        mailroom.api('GET', '/v1/emails'),
        sendMail(mailroom.smtp, letter(what)),
        mailroom.api('GET', '/health'),
      ])
      expect([sent.status, sent.json.error?.code]).toEqual([500, 'unavailable'])
      expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(listed.status).toBe(isReadable ? 200 : 500)
      expect(received).toMatch(/^451 /)
      expect(health.status).toBe(200)
      expect(performance.now() - started).toBeLessThan(inTimeMs)
    } finally {
      await end()
    }
    await until(async () => (await mailroom.api('GET', '/ready')).status === 200)
    expect((await mailroom.api('POST', '/v1/emails', email(`after ${what}`))).status).toBe(202)
    expect(await sendMail(mailroom.smtp, letter(`after ${what}`))).toMatch(/^250 /)
    const { db } = mailroom.database
    expect(await db.selectFrom('emails').select('id').where('subject', '=', what).execute()).toEqual([])
    expect(await db.selectFrom('messages').select('id').where('subject', '=', what).execute()).toEqual([])
  },
  60_000,
)
