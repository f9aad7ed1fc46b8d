import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { startSession } from '../../../../src/accounts/sessions/sessions.ts'
import { systemClock } from '../../../../src/base/clock.ts'
import type { Id } from '../../../../src/base/ids.ts'
import { joinAs, newUser } from '../../../accounts/people.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { acceptedMessageId, sendMail } from '../../../harness/smtp-delivery.ts'
import { until } from '../../../harness/until.ts'

/**
 * What the dashboard's first screens ask for, with few messages and emails and with many: it takes as long. Set
 * MAILROOM_TEST_ROWS=500000 for as many as a busy organization has after some years.
 */
const many = Number(process.env['MAILROOM_TEST_ROWS'] ?? 20_000)
const few = 1000
const runs = 15

let mailroom: Mailroom
let cookie: string

beforeAll(async () => {
  mailroom = await startMailroom()
  const { db } = mailroom.database
  const user = await newUser(db, systemClock)
  await joinAs(db, user, mailroom.demo.organization_id as Id<'org'>, { role: 'owner' }, systemClock)
  cookie = (await startSession(db, user.id, { ip: '127.0.0.1', userAgent: null }, systemClock)).cookie
  await deliver('First')
  const mail = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'Hello', text: 'Hello' }
  expect((await mailroom.api('POST', '/v1/emails', mail)).status).toBe(202)
  await copyRows('messages', 'msg', 'received_at', few)
  await copyRows('emails', 'eml', 'created_at', few)
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

async function deliver(subject: string): Promise<string> {
  const text = `From: ann@sender.example\r\nTo: hello@demo.test\r\nSubject: ${subject}\r\n\r\nHello.\r\n`
  return acceptedMessageId(await sendMail(mailroom.smtp, text, { to: ['hello@demo.test'] }))
}

const copied: Record<string, number> = { messages: 0, emails: 0 }
const digit =
  '(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)'
/** 0 to 9999. */
const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM ${digit} a, ${digit} b, ${digit} c, ${digit} e) numbers`

/** Copies the newest row of a table until there are so many copies, each a second older than the one before. */
async function copyRows(table: 'messages' | 'emails', prefix: string, at: string, count: number): Promise<void> {
  const { db } = mailroom.database
  const { rows } = await sql<{ COLUMN_NAME: string }>`SELECT COLUMN_NAME FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table}`.execute(db)
  const names = rows.map(row => row.COLUMN_NAME)
  for (let from = copied[table] ?? 0; from < count; from += 10_000) {
    const values = names.map(name => {
      if (name === 'id') return `CONCAT('${prefix}_', LPAD(${from} + n, 26, '0'))`
      // Of those that are many, the first ones are unread.
      if (name === 'is_read') return `IF(${from} + n < ${few}, 0, 1)`
      if (name === 'thread_id') return `LPAD(${from} + n, 30, '0')`
      return name === at ? `${at} - INTERVAL (${from} + n + 1) SECOND` : name
    })
    await sql`INSERT INTO ${sql.raw(table)} (${sql.raw(names.join(', '))}) SELECT ${sql.raw(values.join(', '))}
      FROM (SELECT * FROM ${sql.raw(table)} ORDER BY ${sql.raw(at)} DESC LIMIT 1) newest, ${sql.raw(numbers)}
      WHERE n < ${count - from}`.execute(db)
  }
  copied[table] = count
}

async function ask(path: string): Promise<unknown> {
  const response = await fetch(mailroom.http + path, { headers: { cookie: `mailroom=${cookie}` } })
  const body = await response.json()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
  return body
}

const screens = {
  'message list': '/app/api/v1/inbox?folder=inbox&limit=50',
  'sent emails': '/app/api/v1/emails?limit=50',
  'sent emails by status': '/app/api/v1/emails?limit=50&status=queued',
  'unread counts': '/app/api/mail/unread',
  'status strip': '/app/api/status',
  today: '/app/api/today',
} as const

/** The median time of each, in milliseconds; asked in turn, so that what else the machine does falls on all. */
async function medians(): Promise<Readonly<Record<string, number>>> {
  const times = new Map<string, number[]>()
  for (let run = 0; run < runs; run++)
    for (const [name, path] of Object.entries(screens)) {
      const startedAt = performance.now()
      await ask(path)
      times.set(name, [...(times.get(name) ?? []), performance.now() - startedAt])
    }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[runs >> 1] ?? 0
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)]))
}

test(`the first screens open as fast with ${many} messages and emails as with ${few}`, async () => {
  await medians()
  const before = await medians()
  await copyRows('messages', 'msg', 'received_at', many)
  await copyRows('emails', 'eml', 'created_at', many)
  await sql`ANALYZE TABLE messages, emails`.execute(mailroom.database.db)
  await medians()
  const after = await medians()
  for (const name of Object.keys(screens))
    process.stdout.write(
      `${name}: ${before[name]?.toFixed(1)} ms at ${few}, ${after[name]?.toFixed(1)} ms at ${many}\n`,
    )
  for (const name of Object.keys(screens))
    expect([name, (after[name] ?? 0) < 2 * (before[name] ?? 0) + 15]).toEqual([name, true])
}, 900_000)

test('a received message rings within two seconds', async () => {
  const connection = new AbortController()
  const response = await fetch(`${mailroom.http}/app/api/live`, {
    headers: { cookie: `mailroom=${cookie}` },
    signal: connection.signal,
  })
  let heard = ''
  void (async () => {
    for await (const bytes of response.body ?? []) heard += Buffer.from(bytes).toString()
  })().catch(() => undefined)
  await until(() => heard.includes('retry'))
  await Bun.sleep(2000)
  heard = ''
  await deliver('Second')
  const startedAt = performance.now()
  await until(() => /^data: .*messages/m.test(heard))
  expect(performance.now() - startedAt).toBeLessThan(2000)
  connection.abort()
})
