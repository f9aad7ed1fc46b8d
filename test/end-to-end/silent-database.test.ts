import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { amount } from '../harness/amount.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../harness/database-proxy.ts'
import { type ApiResponse, type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { startRetryingClients } from '../harness/retrying-clients.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** A database that stops answering on open connections, and does not close them: a stopped process, a network that drops packets. */
const serverKey = 'MAILROOM_TEST_DATABASE_URL'
const usualServer = process.env[serverKey]
const folder = makeMemoryFolder('mailroom-silent-')
const timeoutMs = 2000
/** The wait for the database, twice where work is tried twice, and a machine that is busy. */
const inTimeMs = 2 * timeoutMs + 3000
const count = amount({ short: 150, long: 300 })

let mariadb: PrivateMariadb
let proxy: DatabaseProxy
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  ;[mariadb, relay] = await Promise.all([
    startMariadb({ folder: join(folder, 'mariadb') }),
    startScriptedRelay({ dotAfterMs: 20 }),
  ])
  process.env[serverKey] = mariadb.url
  mailroom = await startMailroom({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url })
  proxy = await startDatabaseProxy(mailroom.database.url)
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_DATABASE_URL: `${proxy.url}?timeoutMs=${timeoutMs}` })
}, 120_000)

afterAll(async () => {
  if (mariadb) process.kill(mariadb.pid, 'SIGCONT')
  proxy?.resume()
  await mailroom?.stop()
  proxy?.close()
  await Promise.all([mariadb?.stop(), relay?.close()])
  if (usualServer === undefined) delete process.env[serverKey]
  else process.env[serverKey] = usualServer
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

interface TimedResponse extends ApiResponse {
  readonly ms: number
}

async function request(method: string, path: string, body?: object, headers: object = {}): Promise<TimedResponse> {
  const started = performance.now()
  const response = await fetch(mailroom.http + path, {
    method,
    headers: {
      authorization: `Bearer ${mailroom.key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const json = isJson ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json, ms: performance.now() - started }
}

const letter = (subject: string) => `From: ann@client.test\r\nSubject: ${subject}\r\n\r\nHello\r\n`
const emailOf = (subject: string) => ({ from: 'hello@demo.test', to: 'you@friend.test', subject, text: 'Hello.' })

async function countEmails(subject: string): Promise<number> {
  const rows = await mailroom.database.db.selectFrom('emails').select('id').where('subject', '=', subject).execute()
  return rows.length
}

function expectUnavailable({ status, json, headers, ms }: TimedResponse): void {
  expect([status, json?.error.code]).toEqual([500, 'unavailable'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(ms).toBeLessThan(inTimeMs)
}

/** What everybody gets while the database is silent. */
async function expectAnswersDuringSilence(session: SmtpClient, key: string): Promise<void> {
  const pending = [
    request('GET', '/v1/emails'),
    request('POST', '/v1/emails', emailOf(`no key ${key}`)),
    request('POST', '/v1/emails', emailOf(key), { 'idempotency-key': key }),
    request('DELETE', '/v1/suppressions/nobody@friend.test'),
    ...Array.from({ length: 40 }, (_, i) => request('GET', `/v1/inbox?limit=${(i % 90) + 1}`)),
  ]
  // One whose RCPT comes in the silence, and one whose DATA does.
  const rcpt = sendMail(mailroom.smtp, letter(key))
  session.send('This is late.\r\n.\r\n')
  const data = session.reply(30_000)
  const ready = request('GET', '/ready')

  const health = await request('GET', '/health')
  expect([health.status, health.ms < 500]).toEqual([200, true])
  expect((await ready).status).toBe(503)
  expect((await ready).json.database.ready).toBe(false)
  expect((await ready).ms).toBeLessThan(5000)
  const metrics = await fetch(metricsUrl())
  expect(metrics.status).toBe(200)
  for (const response of await Promise.all(pending)) expectUnavailable(response)
  expect(await rcpt).toMatch(/^451 /)
  expect(await data).toMatch(/^451 /)
  expect((await (await fetch(metricsUrl())).text()).includes('timeouts_total{pool="http"} 0')).toBe(false)
}

function metricsUrl(): string {
  const line = mailroom.log.find(({ msg }) => msg === 'serving')
  return `http://${line?.['metrics']}/metrics`
}

/** A session that has got its 354. */
async function sessionAtData(key: string): Promise<SmtpClient> {
  const session = await SmtpClient.ready(mailroom.smtp)
  const replies = await session.commands('MAIL FROM:<ann@client.test>', 'RCPT TO:<hello@demo.test>', 'DATA')
  expect(replies.at(-1)).toMatch(/^354 /)
  session.send(`From: ann@client.test\r\nSubject: ${key}\r\nMessage-ID: <${key}@client.test>\r\n\r\n`)
  return session
}

async function untilReady(): Promise<void> {
  await until(async () => (await request('GET', '/ready')).status === 200, { withinMs: 30_000 })
}

const silences = [
  {
    what: 'the process is stopped',
    begin: () => process.kill(mariadb.pid, 'SIGSTOP'),
    end: () => process.kill(mariadb.pid, 'SIGCONT'),
  },
  { what: 'packets are dropped both ways', begin: () => proxy.silence('both'), end: () => proxy.resume() },
  { what: 'answers are dropped', begin: () => proxy.silence('answers'), end: () => proxy.resume() },
  { what: 'a firewall forgets the connections', begin: () => proxy.silence('both'), end: () => proxy.forget() },
]

test.each(silences)(
  '$what: everybody gets an answer in time, and all is as before afterwards',
  async ({ what, begin, end }) => {
    const key = `silence ${what}`
    await untilReady()
    const session = await sessionAtData(key)
    const { pid } = mailroom
    begin()
    try {
      await expectAnswersDuringSilence(session, key)
    } finally {
      end()
    }
    await untilReady()
    expect(mailroom.pid).toBe(pid)
    session.hangUp()
    // The client that tries again gets the first answer, or the only one.
    const again = await until(
      async () => {
        const response = await request('POST', '/v1/emails', emailOf(key), { 'idempotency-key': key })
        return response.status === 202 && response
      },
      { withinMs: 10_000 },
    )
    expect(await countEmails(key)).toBe(1)
    const replay = await request('POST', '/v1/emails', emailOf(key), { 'idempotency-key': key })
    expect([replay.status, replay.text]).toEqual([202, again.text])
    expect((await request('GET', '/v1/emails')).status).toBe(200)
    expect(await sendMail(mailroom.smtp, letter(`after ${key}`))).toMatch(/^250 /)
    // Four pools of ten, the readiness check included; nothing of the connections from before is left.
    expect(proxy.connections).toBeLessThanOrEqual(40)
  },
  90_000,
)

test('mail and sends that flow while the database falls silent again and again: what is acknowledged is there, once', async () => {
  const { acceptedEmails, acceptedMessages, done } = startRetryingClients({
    count,
    clientsPerProtocol: 4,
    key: mailroom.key,
    http: () => mailroom.http,
    smtp: () => mailroom.smtp,
    giveUpMs: 90_000,
  })
  let acknowledged = 0
  const again = amount({ short: 0, long: 3 })
  for (const { begin, end } of [...silences, ...silences.slice(0, again)]) {
    const before = acknowledged
    await until(() => acceptedEmails.size + acceptedMessages.size > before + 30 * Math.random(), { withinMs: 30_000 })
    acknowledged = acceptedEmails.size + acceptedMessages.size
    begin()
    // How long it is silent is the test.
    await Bun.sleep(timeoutMs * (0.5 + 1.5 * Math.random()))
    end()
  }
  await done
  expect([acceptedEmails.size, acceptedMessages.size]).toEqual([count, count])
  const { db } = mailroom.database
  const emails = await db.selectFrom('emails').select(['id', 'subject']).where('subject', 'like', 'Email %').execute()
  expect(emails.map(({ id }) => id).sort() as string[]).toEqual([...acceptedEmails.values()].sort())
  const messages = await db.selectFrom('messages').select('message_id').where('subject', 'like', 'Message %').execute()
  expect(new Set(messages.map(row => row.message_id)).size).toBe(count)
  expect(messages.length).toBe(count)
  await until(async () => (await db.selectFrom('outbox').select('id').limit(1).execute()).length === 0, {
    what: 'an empty outbox',
    withinMs: 60_000,
  })
  const relayed = groupByEmail(relay.accepted)
  expect([...acceptedEmails.values()].filter(id => !relayed.has(id))).toEqual([])
}, 240_000)

test('SIGTERM during the silence ends the process in time', async () => {
  await untilReady()
  const session = await sessionAtData('sigterm')
  process.kill(mariadb.pid, 'SIGSTOP')
  try {
    const pending = request('GET', '/v1/emails').catch(() => undefined)
    session.send('.\r\n')
    await Bun.sleep(200)
    const started = performance.now()
    expect(await mailroom.kill('SIGTERM')).toBe(0)
    expect(performance.now() - started).toBeLessThan(20_000)
    await pending
  } finally {
    process.kill(mariadb.pid, 'SIGCONT')
    session.hangUp()
  }
  await mailroom.restart()
  await untilReady()
}, 90_000)

test('nothing was thrown that nobody caught', () => {
  expect(mailroom.log.filter(line => line.level >= 60 || /unhandled|uncaught/i.test(JSON.stringify(line)))).toEqual([])
})
