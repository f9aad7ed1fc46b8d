import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey } from '../../src/accounts/keys/keys.ts'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { scopes } from '../../src/api/scope.ts'
import { systemClock } from '../../src/base/clock.ts'
import { isLong } from '../harness/amount.ts'
import { runCommand } from '../harness/cli.ts'
import { messageOf } from '../harness/inbox.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { messageIdOf, startRetryingClients } from '../harness/retrying-clients.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** One `./mailroom serve` with two processes on the same ports. */
let mailroom: Mailroom

beforeAll(async () => {
  mailroom = await startMailroom({ MAILROOM_PROCESSES: '2' })
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
}, 60_000)

const endedMs = 30_000

/** The processes that serve, in the order in which they started. */
function workerPids(): readonly number[] {
  return mailroom.log.filter(({ msg }) => msg === 'process started').map(({ pid }) => Number(pid))
}

function pidsOf(msg: string): ReadonlySet<number> {
  return new Set(mailroom.log.filter(line => line.msg === msg).map(({ pid }) => Number(pid)))
}

async function metrics(path = '/metrics'): Promise<string> {
  const address = mailroom.log.find(({ msg }) => msg === 'serving')?.['metrics']
  return (await fetch(`http://${address}${path}`)).text()
}

/** The value of a metric with all its labels, as it is in the text; 0: it is not there. */
async function metric(name: string): Promise<number> {
  const line = (await metrics()).split('\n').find(text => text.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('both receive and serve on the same ports, and the metrics are those of both', async () => {
  const count = 16
  const messages = Array.from({ length: count }, (_, i) =>
    messageOf([`Subject: ${i}`, `Message-ID: <${i}@sender.example>`]),
  )
  await Promise.all(messages.map(message => sendMail(mailroom.smtp, message)))
  await Promise.all(
    messages.map(() =>
      fetch(`${mailroom.http}/v1/webhooks`, {
        headers: { authorization: `Bearer ${mailroom.key}`, connection: 'close' },
      }),
    ),
  )
  await until(() => pidsOf('message accepted').size === 2, { what: 'both processes accept messages' })
  expect(await metric('mailroom_received_total{outcome="inbox"}')).toBe(count)
  expect(await metric('mailroom_http_requests_total{method="GET",route="/v1/webhooks",status="200"}')).toBe(count)
  expect(await metric('mailroom_step_seconds_count{way="in",step="verify"}')).toBe(count)
  expect(await metric('mailroom_database_connections_max{pool="smtp"}')).toBe(10)
  for (const process of ['1', '2', 'parent']) {
    expect(await metric(`process_resident_memory_bytes{process="${process}"}`)).toBeGreaterThan(10_000_000)
    if (process !== 'parent') expect(await metric(`mailroom_process_up{process="${process}"}`)).toBe(1)
  }
  expect(await metrics('/health')).toBe('ok\n')
}, 30_000)

test('an idempotency key sends one email, whichever processes get the requests, and events keep their sequence', async () => {
  const keys = Array.from({ length: 6 }, () => crypto.randomUUID())
  const send = (key: string) =>
    fetch(`${mailroom.http}/v1/emails`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${mailroom.key}`, 'content-type': 'application/json', connection: 'close' },
        'idempotency-key': key,
      },
      body: JSON.stringify({ from: 'hello@demo.test', to: 'bob@dest.example', subject: key, text: 'Hi' }),
    })
  const responses = await Promise.all([...keys, ...keys, ...keys].map(send))
  const accepted = responses.filter(({ status }) => status === 202)
  const ids = new Set(await Promise.all(accepted.map(async response => ((await response.json()) as { id: string }).id)))
  // One that came while the first was under way gets 429 idempotency_in_progress.
  expect(responses.map(({ status }) => status).filter(status => ![202, 429].includes(status))).toEqual([])
  expect(ids.size).toBe(keys.length)
  await until(async () => (await eventsOf('email.sent')).length === keys.length, {
    what: 'all are sent',
    details: async () => JSON.stringify(await events()),
  })
  const sequences = (await events()).map(event => Number(event.sequence))
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  expect(new Set(sequences).size).toBe(sequences.length)
  expect((await eventsOf('email.queued')).length).toBe(keys.length)
}, 30_000)

interface ListedEvent {
  readonly type: string
  readonly sequence: number
}

async function events(): Promise<readonly ListedEvent[]> {
  return (await mailroom.api('GET', '/v1/events?after=0&limit=100')).json.data
}

async function eventsOf(type: string): Promise<readonly ListedEvent[]> {
  return (await events()).filter(event => event.type === type)
}

test('a process that is killed is started again while the other serves on, and nothing accepted is lost', async () => {
  const before = await metric('mailroom_received_total{outcome="inbox"}')
  const count = 60
  const { acceptedEmails, acceptedMessages, done } = startRetryingClients({
    ...{ count, clientsPerProtocol: 4, key: mailroom.key },
    http: () => mailroom.http,
    smtp: () => mailroom.smtp,
  })
  await until(() => acceptedMessages.size + acceptedEmails.size > count / 2)
  const [, second = 0] = workerPids()
  process.kill(second, 'SIGKILL')
  // The minute for which a dead process holds the keys of its requests is over.
  await until(() => !isRunning(second))
  await mailroom.database.db
    .updateTable('idempotency_keys')
    .set(({ ref }) => ({ leased_until: ref('created_at') }))
    .where('status', 'is', null)
    .execute()
  await done
  expect([acceptedEmails.size, acceptedMessages.size]).toEqual([count, count])
  const { db } = mailroom.database
  const stored = new Set((await db.selectFrom('messages').select('message_id').execute()).map(row => row.message_id))
  expect(Array.from({ length: count }, (_, i) => messageIdOf(i)).filter(id => !stored.has(id))).toEqual([])
  await until(() => mailroom.log.some(({ msg }) => msg === 'a process serves again'), { what: 'it is started again' })
  expect(workerPids().length).toBe(3)
  expect(mailroom.log.find(({ msg }) => msg === 'a process died: it is started again')).toMatchObject({
    ...{ process: 2, process_pid: second, status: 'SIGKILL' },
  })
  expect(await metric('mailroom_process_restarts_total{process="2"}')).toBe(1)
  // What the dead one had counted when the metrics were last collected stays in the sum.
  expect(await metric('mailroom_received_total{outcome="inbox"}')).toBeGreaterThanOrEqual(before)
}, 60_000)

test('a process that hangs makes the health bad until it goes on', async () => {
  const [first = 0] = workerPids()
  process.kill(first, 'SIGSTOP')
  expect(await metrics('/health')).toContain('does not respond')
  process.kill(first, 'SIGCONT')
  await until(async () => (await metrics('/health')) === 'ok\n', { what: 'it responds again' })
}, 30_000)

/** A key of an organization that made no request yet. */
async function newKey(): Promise<string> {
  const { id } = await createOrganization(mailroom.database.db, { name: 'Limited', plan: 'unlimited' }, systemClock)
  const request = { organizationId: id, brandId: null, name: 'test', scopes, expiresAt: null }
  return (await createKey(mailroom.database.db, request, systemClock)).key
}

/** Makes so many requests, one after the other; gives how many were not refused. */
async function countAcceptedRequests(http: string, count: number, headers: Record<string, string>): Promise<number> {
  let accepted = 0
  for (let i = 0; i < count; i++) {
    const response = await fetch(`${http}/v1/webhooks`, { headers })
    await response.bytes()
    if (response.status === 200) accepted++
  }
  return accepted
}

test('a limit of requests a minute is one of all processes, which a client may use on one connection or on many', async () => {
  const limit = 60
  const other = await mailroom.startSecondProcess({ MAILROOM_RATE_LIMIT_PER_MINUTE: `${limit}` })
  const countAccepted = async (connection: 'close' | 'keep-alive') => {
    const authorization = `Bearer ${await newKey()}`
    // All of them in one minute.
    await until(() => new Date().getSeconds() < 40, { what: 'the minute has just begun', withinMs: 30_000 })
    return countAcceptedRequests(other.http, 2 * limit, { authorization, connection })
  }
  expect(await countAccepted('keep-alive')).toBe(limit)
  const accepted = await countAccepted('close')
  expect(accepted).toBeGreaterThanOrEqual(limit)
  // A process is told with a delay, in which the requests of this client come one by one.
  expect(accepted).toBeLessThan(1.3 * limit)
  expect(await other.kill('SIGTERM')).toBe(0)
}, 90_000)

test('a process that is started again knows what was counted in that minute', async () => {
  const limit = 60
  const other = await mailroom.startSecondProcess({ MAILROOM_RATE_LIMIT_PER_MINUTE: `${limit}` })
  const authorization = `Bearer ${await newKey()}`
  const countAccepted = () => countAcceptedRequests(other.http, 2 * limit, { authorization, connection: 'close' })
  await until(() => new Date().getSeconds() < 30, { what: 'the minute has just begun', withinMs: 40_000 })
  expect(await countAccepted()).toBeGreaterThanOrEqual(limit)
  const pids = other.log.filter(({ msg }) => msg === 'process started').map(({ pid }) => Number(pid))
  process.kill(pids[1] ?? 0, 'SIGKILL')
  await until(() => other.log.some(({ msg }) => msg === 'a process serves again'), { what: 'it serves again' })
  expect(await countAccepted()).toBe(0)
  expect(await other.kill('SIGTERM')).toBe(0)
}, 90_000)

test('a second SIGTERM ends all processes at once', async () => {
  const other = await mailroom.startSecondProcess()
  const pids = other.log.filter(({ msg }) => msg === 'process started').map(({ pid }) => Number(pid))
  // One that takes long to finish its work.
  process.kill(pids[1] ?? 0, 'SIGSTOP')
  process.kill(other.pid, 'SIGTERM')
  await until(() => !isRunning(pids[0] ?? 0), { what: 'the other process has ended' })
  expect([isRunning(other.pid), isRunning(pids[1] ?? 0)]).toEqual([true, true])
  const begunAt = performance.now()
  expect(await other.kill('SIGTERM')).toBe(1)
  expect(performance.now() - begunAt).toBeLessThan(2000)
  await until(() => !pids.some(isRunning), { what: 'all have ended' })
}, 30_000)

test('SIGTERM lets all processes finish the messages under way', async () => {
  const sessions = await Promise.all(Array.from({ length: 8 }, () => SmtpClient.ready(mailroom.smtp)))
  for (const session of sessions) {
    await session.commands('MAIL FROM:<alice@sender.example>', 'RCPT TO:<hello@demo.test>', 'DATA')
    session.send(messageOf())
  }
  const pids = workerPids().filter(isRunning)
  const status = mailroom.kill('SIGTERM')
  const replies = await Promise.all(sessions.map(session => session.command('.')))
  for (const reply of replies) expect(acceptedMessageId(reply)).toStartWith('msg_')
  expect(await status).toBe(0)
  expect(pids.length).toBe(2)
  expect(pids.filter(isRunning)).toEqual([])
  expect(mailroom.log.filter(({ level, msg }) => level >= 40 && !/doctor|died|unsubscribe/.test(msg))).toEqual([])
}, 60_000)

test.if(isLong)(
  'workers end when their parent is killed',
  async () => {
    const started = await mailroom.startSecondProcess()
    const pids = started.log.filter(({ msg }) => msg === 'process started').map(({ pid }) => Number(pid))
    await started.kill('SIGKILL')
    await until(() => !pids.some(isRunning), { what: 'the workers have ended', withinMs: endedMs })
    expect(pids.length).toBe(2)
  },
  60_000,
)

test('what keeps the first process from starting is written once, and ends all with its exit status', async () => {
  const wrongKey = { ...mailroom.settings, MAILROOM_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  const { status, err } = await runCommand(['serve'], wrongKey)
  expect(status).toBe(2)
  expect(err.match(/^mailroom: The database is encrypted with the secret key/gm)?.length).toBe(1)
}, 30_000)

test('a port that another program listens on ends the start before any process is started', async () => {
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, reusePort: true, fetch: () => new Response('') })
  try {
    const { status, err } = await runCommand(['serve'], {
      ...mailroom.settings,
      MAILROOM_SMTP_LISTEN: `127.0.0.1:${other.port}`,
    })
    expect([status, err.trim().split('\n').length]).toEqual([1, 1])
    expect(err).toContain('EADDRINUSE')
  } finally {
    other.stop(true)
  }
}, 30_000)
