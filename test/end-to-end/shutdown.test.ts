import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { startDns, type TestDns } from '../harness/dns.ts'
import { messageOf } from '../harness/inbox.ts'
import { isWaitingForLock } from '../harness/lock-wait.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { acceptedMessageId, readMessage } from '../harness/smtp-delivery.ts'
import { startTricklingClients, type TrickleOptions, type TricklingClients } from '../harness/trickling-clients.ts'
import { until } from '../harness/until.ts'

// How long a process takes to end after SIGTERM, and what it finishes before.

const promptMs = 5000

let dns: TestDns
let relay: ScriptedRelay
let mailroom: Mailroom
let open: TricklingClients[] = []

beforeAll(async () => {
  dns = await startDns()
  relay = await startScriptedRelay()
  mailroom = await startMailroom({
    MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`,
    MAILROOM_DNS_TIMEOUT_MS: '6000',
    MAILROOM_DNS_MESSAGE_SECONDS: '6',
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_MAX_SESSIONS_PER_ADDRESS: '200',
  })
  await mailroom.kill('SIGTERM')
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
  await dns?.close()
}, 60_000)

beforeEach(() => mailroom.restart(), 60_000)

afterEach(async () => {
  for (const clients of open) clients.close()
  open = []
  relay.setScript({})
  await mailroom.kill('SIGKILL')
})

async function trickle(server: 'smtp' | 'http', options: Omit<TrickleOptions, 'count'>): Promise<TricklingClients> {
  const port = server === 'smtp' ? mailroom.smtp : Number(new URL(mailroom.http).port)
  const clients = await startTricklingClients(port, { count: 30, ...options })
  open.push(clients)
  return clients
}

/** Sends SIGTERM and waits for the end; gives how long that took, in milliseconds. */
async function stop(what: string): Promise<number> {
  const begunMs = performance.now()
  expect(await mailroom.kill('SIGTERM')).toBe(0)
  const ms = performance.now() - begunMs
  process.stdout.write(`${what}: ended ${(ms / 1000).toFixed(1)} s after SIGTERM\n`)
  return ms
}

async function sendEmail(subject: string): Promise<string> {
  const email = { from: 'hello@demo.test', to: 'ann@friend.example', subject, text: 'Hello.' }
  const { status, json } = await mailroom.api('POST', '/v1/emails', email)
  expect(status).toBe(202)
  return json.id
}

async function statusOf(id: string): Promise<string> {
  return (await mailroom.api('GET', `/v1/emails/${id}`)).json.status
}

const smtpPhases = {
  'that have only connected': [['', /^220 .*\r\n$/]],
  'after EHLO': [['EHLO client.test\r\n', /^250 .*\r\n$/m]],
  'after RCPT': [
    ['MAIL FROM:<alice@sender.example>\r\n', /^250 .*\r\n$/],
    ['RCPT TO:<hello@demo.test>\r\n', /^250 .*\r\n$/],
  ],
  'in DATA': [['DATA\r\n', /^354 .*\r\n$/]],
} as const satisfies Record<string, TrickleOptions['begin']>

describe('it ends within five seconds while', () => {
  for (const [i, phase] of Object.keys(smtpPhases).entries())
    test(`30 SMTP clients trickle ${phase}, which get 421`, async () => {
      const clients = await trickle('smtp', {
        begin: Object.values(smtpPhases)
          .slice(0, i + 1)
          .flat(),
        trickle: 'x',
      })
      expect(await stop(`30 SMTP clients ${phase}`)).toBeLessThan(promptMs)
      for (const text of clients.received()) expect(text).toMatch(/^421 4\.3\.2 [^\r]*\r\n$/)
    }, 90_000)

  const post = (...headers: readonly string[]) =>
    ['POST /v1/emails HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${mailroom.key}`, ...headers].join('\r\n')
  const json = 'Content-Type: application/json'
  const httpPhases: Readonly<Record<string, readonly [begin: () => string, trickle: string]>> = {
    'idle keep-alive connections': [() => '', ''],
    'the head of a request': [() => `${post()}\r\nX-Slow: `, 'x'],
    'a body': [() => `${post(json, 'Content-Length: 9000')}\r\n\r\n`, ' '],
    'a large body': [() => `${post(json, 'Content-Length: 9000000')}\r\n\r\n`, ' '],
    'a chunked body': [() => `${post(json, 'Transfer-Encoding: chunked')}\r\n\r\n`, '1\r\n \r\n'],
    'a form': [
      () =>
        'POST /unsubscribe/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9000\r\n\r\n',
      'x',
    ],
  }
  for (const [what, [begin, more]] of Object.entries(httpPhases))
    test(`30 HTTP clients hold ${what}`, async () => {
      const first = ['GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 200 .*ok/s] as const
      await trickle('http', { begin: [first, [begin(), /^/]], trickle: more })
      // Time for the beginning of the requests to arrive; nothing shows that from outside.
      await Bun.sleep(200)
      expect(await stop(`30 HTTP clients with ${what}`)).toBeLessThan(promptMs)
    }, 90_000)

  test('the relay keeps submissions waiting before DATA, and those are made after the next start', async () => {
    relay.setScript({ ehlo: connection => (connection % 2 === 0 ? '' : '250 relay.test'), mail: '' })
    const before = relay.connections()
    const ids = await Promise.all(Array.from({ length: 6 }, (_, i) => sendEmail(`Waiting ${i}`)))
    await until(() => relay.connections() >= before + 4)
    expect(await stop('submissions before DATA')).toBeLessThan(promptMs)
    await relay.dropConnections()
    relay.setScript({})
    await mailroom.restart()
    for (const id of ids) await until(async () => (await statusOf(id)) === 'sent')
    expect(relay.accepted.filter(({ wire }) => wire.includes('Subject: Waiting'))).toHaveLength(6)
  }, 90_000)
})

describe('it finishes', () => {
  test('a submission between DATA and the reply of a slow relay, and makes no other', async () => {
    relay.setScript({ dotAfterMs: 6000 })
    const before = relay.accepted.length
    const id = await sendEmail('Under way')
    await until(() => relay.accepted.length > before)
    const ms = await stop('a submission that the relay has not answered')
    expect(ms).toBeGreaterThan(4000)
    expect(ms).toBeLessThan(12_000)
    relay.setScript({})
    await mailroom.restart()
    expect(await statusOf(id)).toBe('sent')
    expect(relay.accepted).toHaveLength(before + 1)
  }, 90_000)

  test('a message after its final dot, while other clients trickle', async () => {
    dns.zone['slow.example'] = { behaviour: { silent: true } }
    await trickle('smtp', { begin: Object.values(smtpPhases).flat(), trickle: 'x' })
    const client = await SmtpClient.ready(mailroom.smtp)
    await client.commands('MAIL FROM:<alice@slow.example>', 'RCPT TO:<hello@demo.test>', 'DATA')
    client.send(Buffer.concat([messageOf(), Buffer.from('\r\n.\r\n')]))
    await until(() => dns.questions.some(({ name }) => name === 'slow.example'))
    const stopped = stop('a message that waits for DNS')
    const id = acceptedMessageId(await client.reply(30_000))
    expect(await client.rest()).toStartWith('421 4.3.2 ')
    expect(await stopped).toBeLessThan(12_000)
    await mailroom.restart()
    expect(await readMessage(mailroom, id)).toMatchObject({ folder: 'inbox' })
  }, 90_000)

  test('a request in work, while the bodies of others trickle', async () => {
    const { json: brand } = await mailroom.api('GET', '/v1/brands')
    const { id } = brand.data[0]
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = mailroom.database.db.transaction().execute(async tx => {
      await sql`SELECT id FROM brands WHERE id = ${id} FOR UPDATE`.execute(tx)
      isHeld.resolve()
      await held.promise
    })
    await isHeld.promise
    const renamed = mailroom.api('PATCH', `/v1/brands/${id}`, { name: 'Renamed' })
    const begin = `POST /v1/emails HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${mailroom.key}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n`
    await trickle('http', { begin: [[begin, /^/]], trickle: ' ' })
    await until(() => isWaitingForLock(mailroom.database.db, 'brands'))
    const stopped = stop('a request that waits for a lock')
    // Longer than what is not in work is waited for.
    await Bun.sleep(4500)
    held.resolve()
    await holding
    const { status, json } = await renamed
    expect([status, json.name]).toEqual([200, 'Renamed'])
    expect(await stopped).toBeLessThan(10_000)
  }, 90_000)
})
