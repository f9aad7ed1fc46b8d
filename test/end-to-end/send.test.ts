import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail, headerValues, unstuffed } from '../harness/relayed-messages.ts'
import { type RelayedMessage, type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

/** From POST /v1/emails to what a relay receives, with a Mailroom process. */
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SMARTHOST_CONNECTIONS: '4',
    MAILROOM_RETRY_FIRST_SECONDS: '1',
  })
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

afterEach(() => relay.setScript({}))

const hello = { from: 'Demo <hello@demo.test>', to: 'ann@friend.test', subject: 'Hello', text: 'Hello Ann.\n.\n..\n' }

interface Accepted {
  readonly id: string
  readonly message_id: string
  readonly status: string
}

async function post(fields: object = {}): Promise<Accepted> {
  const { status, json } = await mailroom.api('POST', '/v1/emails', { ...hello, ...fields })
  expect(status).toBe(202)
  return json
}

/** The email once it has this status. */
function once(id: string, status: string) {
  return until(
    async () => {
      const { json } = await mailroom.api('GET', `/v1/emails/${id}`)
      return json.status === status ? json : undefined
    },
    { what: `${id} ${status}` },
  )
}

/** The messages of an email that the relay accepted, in order. */
const acceptedOf = ({ id }: Accepted) => groupByEmail(relay.accepted).get(id) ?? []

/** The emails that the relay did not accept exactly once, with how often it did. */
function notOnce(emails: readonly Accepted[]): readonly (readonly [string, number])[] {
  const taken = groupByEmail(relay.accepted)
  return emails.map(({ id }) => [id, taken.get(id)?.length ?? 0] as const).filter(([, times]) => times !== 1)
}

async function arrival(email: Accepted): Promise<RelayedMessage> {
  return until(() => acceptedOf(email)[0], { what: `${email.id} at the relay` })
}

const queuedAs = { smtp_code: 250, enhanced_code: '2.0.0', detail: expect.stringContaining('queued as ABC123') }

test('what arrives is signed by the key that the domain published, dated once, and names no Bcc', async () => {
  const email = await post({
    subject: 'Grüße aus dem Haus',
    html: '<p>Grüße</p>',
    cc: ['Carl <carl@friend.test>'],
    bcc: ['hidden@friend.test'],
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(3000, 7).toString('base64') }],
  })
  await once(email.id, 'sent')
  const arrived = acceptedOf(email)
  expect(arrived.flatMap(relayedMessage => relayedMessage.to).sort()).toEqual([
    'ann@friend.test',
    'carl@friend.test',
    'hidden@friend.test',
  ])

  const { json: domain } = await mailroom.api('GET', `/v1/domains/${mailroom.demo.domain_id}`)
  const asked: string[] = []
  const resolver = async (name: string) => {
    asked.push(name)
    const records = domain.dns_records as readonly { readonly type: string; name: string; value: string }[]
    const found = records.find(record => record.type === 'TXT' && record.name === name)
    return found ? [[found.value]] : []
  }
  for (const relayedMessage of arrived) {
    const message = unstuffed(relayedMessage)
    const { results } = await dkimVerify(Buffer.from(message, 'latin1'), { strict: true, resolver } as never)
    expect(results).toEqual([expect.objectContaining({ signingDomain: 'demo.test', canonBodyLengthLimited: false })])
    expect(results[0]?.status).toMatchObject({ result: 'pass', aligned: 'demo.test' })
    expect(relayedMessage.from).toMatch(/^b\+[0-9a-z]{44}@mr-bounces\.demo\.test$/)
    expect(headerValues(message, 'Date')).toHaveLength(1)
    expect(headerValues(message, 'Message-ID')).toEqual([`<${email.message_id}>`])
    expect(headerValues(message, 'Bcc')).toEqual([])
    expect(message).not.toContain('hidden')
  }
  expect(asked[0]).toEndWith('._domainkey.demo.test')
})

test('a sent email shows the reply that its status is based on, its events in order, and its content', async () => {
  const email = await post({ html: '<p>Hello <b>Ann</b>.</p>' })
  expect(email.status).toBe('queued')
  const shown = await once(email.id, 'sent')
  expect(shown.recipients).toEqual([
    { email: 'ann@friend.test', type: 'to', status: 'sent', ...queuedAs, updated_at: shown.sent_at },
  ])
  expect(shown.events).toEqual([
    expect.objectContaining({ type: 'queued', recipient: null, source: 'api', smtp_code: null }),
    expect.objectContaining({
      ...{ type: 'sent', recipient: 'ann@friend.test', source: 'smtp', ...queuedAs },
      data: { phase: 'final-dot', attempt: 1 },
    }),
  ])
  expect(shown.last_event_at).toBe(shown.sent_at)
  expect(shown.provider).toBe('smarthost')
  const { json: content } = await mailroom.api('GET', `/v1/emails/${email.id}/content`)
  expect(content).toMatchObject({ id: email.id, subject: 'Hello', html: '<p>Hello <b>Ann</b>.</p>', available: true })
  expect(content.text.trimEnd()).toBe(hello.text.trimEnd())
})

test('a scheduled email leaves at its time and is dated with it', async () => {
  const at = new Date(Date.now() + 2500)
  const email = await post({ scheduled_at: at.toISOString() })
  expect(email.status).toBe('scheduled')
  const before = await mailroom.api('GET', `/v1/emails/${email.id}`)
  expect(before.json.events).toEqual([expect.objectContaining({ type: 'scheduled' })])
  const arrived = await arrival(email)
  const lateMs = Date.now() - at.getTime()
  expect(lateMs).toBeWithin(0, 1500)
  expect(Date.parse(headerValues(unstuffed(arrived), 'Date')[0] ?? '')).toBe(Math.floor(at.getTime() / 1000) * 1000)
  expect((await once(email.id, 'sent')).scheduled_at).toStartWith(at.toISOString().slice(0, -1))
})

test('a relay that refuses one of two recipients bounces that one and accepts the other', async () => {
  relay.setScript({ rcpt: to => (to.startsWith('gone@') ? '550 5.1.1 no such user' : '250 2.1.5 ok') })
  const email = await post({ to: ['gone@friend.test', 'here@friend.test'] })
  await until(
    async () => {
      const { json } = await mailroom.api('GET', `/v1/emails/${email.id}`)
      return json.events.length === 3 ? json : undefined
    },
    { what: 'both outcomes' },
  )
  const shown = await once(email.id, 'bounced')
  const refused = { smtp_code: 550, enhanced_code: '5.1.1', detail: 'no such user' }
  expect(shown.recipients).toEqual([
    expect.objectContaining({ email: 'gone@friend.test', status: 'bounced', ...refused }),
    expect.objectContaining({ email: 'here@friend.test', status: 'sent', ...queuedAs }),
  ])
  const bounced = shown.events.find((event: { type: string }) => event.type === 'bounced')
  expect(bounced).toMatchObject({ ...refused, data: { phase: 'rcpt' }, bounce: { type: 'permanent' } })
  expect(shown.error).toBe('no such user')
  expect(acceptedOf(email).map(relayedMessage => relayedMessage.to)).toEqual([['here@friend.test']])
})

test('a recipient that is greylisted is delayed, then sent with the same message', async () => {
  const asked: number[] = []
  relay.setScript({ rcpt: () => (asked.push(Date.now()) === 1 ? '451 4.7.1 greylisted' : '250 2.1.5 ok') })
  const email = await post()
  const delayed = await once(email.id, 'delayed')
  expect(delayed.recipients).toEqual([
    expect.objectContaining({ status: 'delayed', smtp_code: 451, enhanced_code: '4.7.1', detail: 'greylisted' }),
  ])
  const sent = await once(email.id, 'sent')
  expect(sent.events.map((event: { type: string; data: object }) => [event.type, event.data])).toEqual([
    ['queued', {}],
    ['delayed', { phase: 'rcpt', attempt: 1 }],
    ['sent', { phase: 'final-dot', attempt: 2 }],
  ])
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(750)
  expect(acceptedOf(email)).toHaveLength(1)
})

test('a shutdown while it relays waits for the replies, leaves the rest queued, and sends nothing twice', async () => {
  const before = relay.accepted.length
  relay.setScript({ dotAfterMs: 300 })
  const emails = await Promise.all(Array.from({ length: 40 }, () => post()))
  await until(() => relay.accepted.length - before >= 6, { what: 'the first at the relay' })
  expect(await mailroom.kill('SIGTERM')).toBe(0)
  const taken = relay.accepted.length - before
  expect(taken).toBeWithin(6, 13)
  const { db } = mailroom.database
  const statuses = await db.selectFrom('emails').select(['id', 'status']).execute()
  const waiting = emails.filter(({ id }) => statuses.find(status => status.id === id)?.status === 'queued')
  expect(waiting.filter(accepted => acceptedOf(accepted).length > 0)).toEqual([])
  expect(waiting).toHaveLength(emails.length - taken)
  const rows = await db.selectFrom('outbox').select(['email_id', 'lease', 'attempts']).execute()
  expect(rows).toEqual(expect.arrayContaining(waiting.map(({ id }) => ({ email_id: id, lease: null, attempts: 0 }))))
  expect(rows).toHaveLength(waiting.length)

  relay.setScript({})
  await mailroom.restart()
  for (const { id } of emails) await once(id, 'sent')
  expect(notOnce(emails)).toEqual([])
}, 60_000)

test('two processes that relay from one outbox submit each of 300 emails once', async () => {
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_ROLES: 'http' })
  const relays = await Promise.all([1, 2].map(() => mailroom.startSecondProcess({ MAILROOM_ROLES: 'relay' })))
  relay.setScript({ dotAfterMs: 10 })
  const emails: Accepted[] = []
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let i = 0; i < 50; i++) emails.push(await post())
    }),
  )
  await until(
    async () => {
      const left = await mailroom.database.db.selectFrom('outbox').select('id').execute()
      return left.length === 0
    },
    { what: 'the end of the outbox' },
  )
  expect(notOnce(emails)).toEqual([])
  const countSubmitted = () => relays.map(relay => relay.log.filter(line => line.msg === 'submitted').length)
  const submitted = await until(
    async () => {
      const counts = countSubmitted()
      return counts.reduce((sum, count) => sum + count) >= 300 ? counts : undefined
    },
    { what: 'the last line of their logs' },
  )
  expect(submitted.reduce((sum, value) => sum + value)).toBe(300)
  expect(Math.min(...submitted)).toBeGreaterThan(20)
  const statuses = await mailroom.database.db.selectFrom('emails').select(['id', 'status']).execute()
  const byId = new Map(statuses.map(status => [status.id as string, status.status]))
  expect(emails.filter(({ id }) => byId.get(id) !== 'sent')).toEqual([])
}, 60_000)
