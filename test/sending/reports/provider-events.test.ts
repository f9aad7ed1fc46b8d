import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import pino from 'pino'
import { millisecondsOf } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { newId } from '../../../src/base/ids.ts'
import { registry } from '../../../src/base/observability/metrics.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { brevoWebhook } from '../../../src/ports/provider/webhooks/brevo.ts'
import { mailgunWebhook } from '../../../src/ports/provider/webhooks/mailgun.ts'
import { postmarkWebhook } from '../../../src/ports/provider/webhooks/postmark.ts'
import { sendgridWebhook } from '../../../src/ports/provider/webhooks/sendgrid.ts'
import { providerRoutes } from '../../../src/sending/reports/routes.ts'
import { joinThreads, type ThreadEntry } from '../../../src/sending/threads/threads.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'

const secret = 'a-secret-of-ours'
const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
let server: TestHttpServer
let sender: SendingDomain

beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database, clock }) => [
      providerRoutes({
        db: database.db,
        clock,
        log: pino({ level: 'silent' }),
        webhooks: [
          postmarkWebhook(secret),
          mailgunWebhook(secret),
          sendgridWebhook(keys.publicKey),
          brevoWebhook(secret),
        ],
      }),
    ],
  })
  sender = await createSendingDomain(server.database.db, server.clock.now())
}, 60_000)

afterAll(() => server.close())

async function email(to = `u${crypto.randomUUID().slice(0, 8)}@x.test`): Promise<{ id: Id<'eml'>; to: string }> {
  const { db } = server.database
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, server.clock), sender, server.clock.now(), [{ to: [to] }])
  if (!id) throw new Error('nothing was accepted')
  return { id, to }
}

const nowMs = () => millisecondsOf(server.clock.now())
const nowSeconds = () => Math.floor(nowMs() / 1000)

interface Posted {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

function post({ path, headers, body }: Posted) {
  return server.call('POST', path, { key: null, headers: { 'content-type': 'application/json', ...headers }, body })
}

const basic = { authorization: `Basic ${Buffer.from(`mailroom:${secret}`).toString('base64')}` }

function postmark(record: object, headers: Record<string, string> = basic): Posted {
  return { path: '/provider/postmark/events', headers, body: JSON.stringify(record) }
}

function mailgun(event: object, signed: { timestamp?: number; token?: string; key?: string } = {}): Posted {
  const { timestamp = nowSeconds(), token = crypto.randomUUID(), key = secret } = signed
  const signature = createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex')
  const body = { signature: { timestamp: String(timestamp), token, signature }, 'event-data': event }
  return { path: '/provider/mailgun/events', headers: {}, body: JSON.stringify(body) }
}

function sendgrid(events: readonly object[], timestamp = nowSeconds(), key = keys.privateKey): Posted {
  const body = JSON.stringify(events)
  return {
    path: '/provider/sendgrid/events',
    headers: {
      'x-twilio-email-event-webhook-timestamp': String(timestamp),
      'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(timestamp + body), key).toString('base64'),
    },
    body,
  }
}

function brevo(events: object): Posted {
  return {
    path: '/provider/brevo/events',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify(events),
  }
}

interface About {
  readonly id: string
  readonly to: string
}

/** What each provider sends, in the forms that its documentation shows. */
const says = {
  postmark: {
    record: (about: About, more: object) => ({
      ServerID: 23,
      MessageStream: 'outbound',
      MessageID: '00000000-0000-0000-0000-000000000001',
      Metadata: { 'mailroom-id': about.id },
      ...more,
    }),
    delivered: (about: About) =>
      postmark(
        says.postmark.record(about, {
          RecordType: 'Delivery',
          Recipient: about.to,
          DeliveredAt: new Date(nowMs()).toISOString(),
          Details: 'smtp;250 2.0.0 OK 1637087466 a1si1',
        }),
      ),
    bounce: (about: About, type: string, details: string, id = 4323372036854) =>
      postmark(
        says.postmark.record(about, {
          RecordType: 'Bounce',
          ID: id,
          Type: type,
          TypeCode: 1,
          Email: about.to,
          BouncedAt: new Date(nowMs()).toISOString(),
          Description: 'The server was unable to deliver your message.',
          Details: details,
          Inactive: true,
        }),
      ),
    complaint: (about: About) =>
      postmark(
        says.postmark.record(about, {
          RecordType: 'SpamComplaint',
          ID: 42,
          Type: 'SpamComplaint',
          TypeCode: 512,
          Email: about.to,
          BouncedAt: new Date(nowMs()).toISOString(),
        }),
      ),
    unsubscribed: (about: About) =>
      postmark(
        says.postmark.record(about, {
          RecordType: 'SubscriptionChange',
          ChangedAt: new Date(nowMs()).toISOString(),
          Recipient: about.to,
          Origin: 'Recipient',
          SuppressSending: true,
          SuppressionReason: 'ManualSuppression',
        }),
      ),
  },
  mailgun: {
    event: (about: About, more: object) => ({
      id: crypto.randomUUID(),
      timestamp: nowMs() / 1000,
      recipient: about.to,
      message: { headers: { to: about.to, 'message-id': `${about.id}@shop.test` } },
      'user-variables': { 'mailroom-id': about.id },
      ...more,
    }),
    delivered: (about: About) =>
      mailgun(
        says.mailgun.event(about, {
          event: 'delivered',
          'delivery-status': { code: 250, message: 'OK', 'attempt-no': 1, 'mx-host': 'mx.x.test' },
        }),
      ),
    failed: (about: About, severity: string, reason: string, status: object) =>
      mailgun(says.mailgun.event(about, { event: 'failed', severity, reason, 'delivery-status': status })),
    complaint: (about: About) => mailgun(says.mailgun.event(about, { event: 'complained' })),
    unsubscribed: (about: About) => mailgun(says.mailgun.event(about, { event: 'unsubscribed' })),
  },
  sendgrid: {
    event: (about: About, event: string, more: object = {}) => ({
      email: about.to,
      timestamp: nowSeconds(),
      'smtp-id': `<${about.id}@shop.test>`,
      event,
      category: [],
      sg_event_id: crypto.randomUUID(),
      sg_message_id: 'sg.filter0001.1234.5678.0',
      mailroom_id: about.id,
      ...more,
    }),
    delivered: (about: About) => sendgrid([says.sendgrid.event(about, 'delivered', { response: '250 OK' })]),
    complaint: (about: About) => sendgrid([says.sendgrid.event(about, 'spamreport')]),
    unsubscribed: (about: About) => sendgrid([says.sendgrid.event(about, 'unsubscribe')]),
  },
  brevo: {
    event: (about: About, event: string, more: object = {}) => ({
      event,
      email: about.to,
      id: 26224,
      date: '2020-10-09 00:00:00',
      ts: 1604933619,
      'message-id': `<${about.id}@smtp-relay.mailin.fr>`,
      ts_event: nowSeconds(),
      ts_epoch: nowMs(),
      subject: 'Hello',
      'X-Mailin-custom': JSON.stringify({ 'mailroom-id': about.id }),
      sending_ip: '192.0.2.1',
      ...more,
    }),
    delivered: (about: About) => brevo(says.brevo.event(about, 'delivered')),
    complaint: (about: About) => brevo(says.brevo.event(about, 'spam')),
    unsubscribed: (about: About) => brevo(says.brevo.event(about, 'unsubscribed')),
  },
}

const providers = ['postmark', 'mailgun', 'sendgrid', 'brevo'] as const

async function stateOf({ id, to }: About) {
  const { db } = server.database
  const recipient = await db
    .selectFrom('email_recipients')
    .selectAll()
    .where('email_id', '=', id as Id<'eml'>)
    .executeTakeFirstOrThrow()
  const events = await db
    .selectFrom('email_events')
    .selectAll()
    .where('email_id', '=', id as Id<'eml'>)
    .orderBy('id')
    .execute()
  const suppression = await db
    .selectFrom('suppressions')
    .selectAll()
    .where('email', '=', to.toLowerCase())
    .executeTakeFirst()
  return {
    status: recipient.status,
    recipient,
    events: events.map(row => ({ ...row, bounce: row.bounce === null ? null : fromJson(row.bounce) })),
    suppression,
  }
}

async function counted(name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get()
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0)
}

test.each(providers)('%s: a delivery is recorded once, however often it is repeated', async provider => {
  const about = await email()
  const posted = says[provider].delivered(about)
  expect([await post(posted), await post(posted)].map(callResult => callResult.status)).toEqual([200, 200])
  const { status, events } = await stateOf(about)
  expect(status).toBe('delivered')
  expect(events.map(event => [event.type, event.source, event.recipient])).toEqual([
    ['delivered', 'provider_webhook', about.to],
  ])
})

test.each(providers)('%s: a concurrent repetition is recorded once', async provider => {
  const about = await email()
  const posted = says[provider].delivered(about)
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(posted)))
  expect(answers.map(answer => answer.status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect((await stateOf(about)).events.length).toBe(1)
})

test.each(providers)('%s: who complains is suppressed, with the email that caused it', async provider => {
  const about = await email()
  expect((await post(says[provider].complaint(about))).status).toBe(200)
  const { status, suppression } = await stateOf(about)
  expect(status).toBe('complained')
  expect(suppression).toMatchObject({ reason: 'complaint', source_email_id: about.id, brand_id: sender.brandId })
})

test.each(providers)(
  '%s: who unsubscribes is suppressed from such mail, and what became of the email stays',
  async provider => {
    const about = await email()
    const posted = says[provider].unsubscribed(about)
    expect((await post(posted)).status).toBe(200)
    const { status, events, suppression } = await stateOf(about)
    expect([status, events.length, suppression?.reason]).toEqual(['queued', 0, 'unsubscribe'])
    await server.database.db.deleteFrom('suppressions').where('email', '=', about.to).execute()
    expect((await post(posted)).status).toBe(200)
    expect((await stateOf(about)).suppression).toBeUndefined()
  },
)

const bounces: readonly [string, (about: About) => Posted, object, string | undefined][] = [
  [
    'postmark: a hard bounce with the server’s code',
    about => says.postmark.bounce(about, 'HardBounce', "smtp;550 5.1.1 The email account doesn't exist."),
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'postmark: a hard bounce without any',
    about => says.postmark.bounce(about, 'HardBounce', 'Test bounce details'),
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'postmark: a hard bounce for a policy of the server',
    about => says.postmark.bounce(about, 'HardBounce', 'smtp;550 5.7.1 Message rejected due to policy'),
    { type: 'permanent', scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'postmark: a soft bounce',
    about => says.postmark.bounce(about, 'SoftBounce', 'smtp;452 4.2.2 The mailbox is over quota'),
    { type: 'transient', scope: 'recipient', suppressed: false },
    undefined,
  ],
  [
    'postmark: blocked',
    about => says.postmark.bounce(about, 'Blocked', 'smtp;550 5.1.1 blocked by reputation'),
    { type: 'permanent', scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'mailgun: a permanent failure',
    about =>
      says.mailgun.failed(about, 'permanent', 'bounce', {
        code: 550,
        'enhanced-code': '5.1.1',
        'bounce-type': 'hard',
        message: '5.1.1 The email account that you tried to reach does not exist.',
      }),
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'mailgun: blocked by the recipient’s side',
    about => says.mailgun.failed(about, 'permanent', 'espblock', { code: 550, message: '5.7.1 spam' }),
    { type: 'permanent', scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'sendgrid: a bounce',
    about =>
      sendgrid([
        says.sendgrid.event(about, 'bounce', {
          type: 'bounce',
          status: '5.1.1',
          reason: '550 5.1.1 <x>: Recipient address rejected: User unknown',
          bounce_classification: 'Invalid Address',
        }),
      ]),
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'sendgrid: blocked',
    about =>
      sendgrid([
        says.sendgrid.event(about, 'bounce', { type: 'blocked', status: '5.0.0', reason: '550 unknown user' }),
      ]),
    { scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'brevo: a hard bounce',
    about => brevo(says.brevo.event(about, 'hard_bounce', { reason: '550 5.1.1 User unknown' })),
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'brevo: a soft bounce',
    about => brevo(says.brevo.event(about, 'soft_bounce', { reason: '550 5.1.1 User unknown' })),
    { type: 'transient', suppressed: false },
    undefined,
  ],
]

test.each(bounces)('%s is a bounce of its class, and only that suppresses', async (_, posted, bounce, reason) => {
  const about = await email()
  expect((await post(posted(about))).status).toBe(200)
  const { status, events, suppression } = await stateOf(about)
  expect([status, events.length]).toEqual(['bounced', 1])
  expect(events[0]?.bounce).toMatchObject(bounce)
  expect(suppression?.reason).toBe(reason as 'hard_bounce')
  if (reason) expect(suppression?.evidence).toContain(events[0]?.detail ?? '?')
})

test('a disabled mailbox suppresses when it bounces again a day later', async () => {
  const to = 'closed@x.test'
  const closed = (about: About) =>
    says.postmark.bounce(about, 'HardBounce', 'smtp;550 5.2.1 The account is disabled', Math.random())
  const first = await email(to)
  await post(closed(first))
  const soon = await email(to)
  await post(closed(soon))
  expect((await stateOf(soon)).suppression).toBeUndefined()
  server.clock.forward(24 * 3600 * 1000 + 1000)
  const later = await email(to)
  await post(closed(later))
  const { events, suppression } = await stateOf(later)
  expect(events[0]?.bounce).toMatchObject({ suppressed: true })
  expect(suppression).toMatchObject({ reason: 'hard_bounce', source_email_id: later.id })
})

test('rejections and delays by the provider itself are recorded as such', async () => {
  const [dropped, deferred, suppressed, waiting, blocked] = await Promise.all(Array.from({ length: 5 }, () => email()))
  if (!dropped || !deferred || !suppressed || !waiting || !blocked) throw new Error('no emails')
  await post(sendgrid([says.sendgrid.event(dropped, 'dropped', { reason: 'Bounced Address' })]))
  await post(sendgrid([says.sendgrid.event(deferred, 'deferred', { response: '451 4.7.1 Try later', attempt: '1' })]))
  await post(says.mailgun.failed(suppressed, 'permanent', 'suppress-bounce', { code: 605, message: 'Not delivering' }))
  await post(says.mailgun.failed(waiting, 'temporary', 'generic', { code: 421, message: '4.3.2 later' }))
  await post(brevo(says.brevo.event(blocked, 'blocked', { reason: 'blocked : due to blacklist user' })))
  const states = await Promise.all([dropped, deferred, suppressed, waiting, blocked].map(stateOf))
  expect(states.map(state => state.status)).toEqual(['rejected', 'delayed', 'rejected', 'delayed', 'rejected'])
  expect(states.map(state => state.suppression)).toEqual(states.map(() => undefined))
  expect(states[1]?.recipient).toMatchObject({ smtp_code: 451, enhanced_code: '4.7.1' })
})

test('events in any order end in the status of the best evidence', async () => {
  const about = await email()
  await post(sendgrid([says.sendgrid.event(about, 'spamreport')]))
  await post(sendgrid([says.sendgrid.event(about, 'delivered'), says.sendgrid.event(about, 'deferred')]))
  const { status, events } = await stateOf(about)
  expect([status, events.length]).toEqual(['complained', 3])
})

test('a batch of a thousand is recorded whole, without what is not about deliveries', async () => {
  const { db } = server.database
  const to = Array.from({ length: 1000 }, (_, i) => `b${i}@y.test`)
  const ids = await insertAcceptedEmails(
    db,
    mysqlBlobs(db, server.clock),
    sender,
    server.clock.now(),
    to.map(value => ({ to: [value], message: Buffer.from('Subject: x\r\n\r\nx\r\n') })),
  )
  const batch = ids.flatMap((id, i) => [
    says.sendgrid.event({ id, to: to[i] ?? '' }, 'delivered'),
    says.sendgrid.event({ id, to: to[i] ?? '' }, 'open'),
    says.sendgrid.event({ id: newId('eml'), to: 'x@x.test' }, 'delivered'),
  ])
  expect((await post(sendgrid(batch))).status).toBe(200)
  const rows = await db.selectFrom('email_recipients').select('status').where('email_id', 'in', ids).execute()
  expect(new Set(rows.map(row => row.status))).toEqual(new Set(['delivered']))
}, 30_000)

test('the Message-ID that recipients see is recorded, and replies to it join the email’s thread', async () => {
  const about = await email()
  const { db } = server.database
  const joined = (entry: Pick<ThreadEntry, 'itemId' | 'messageId' | 'references' | 'emailId'>) =>
    inTransaction(db, tx => joinThreads(tx, [{ brandId: sender.brandId, ...entry }]))
  await joined({ itemId: about.id, messageId: `${about.id}@shop.test`, references: [], emailId: about.id })
  await post(says.brevo.delivered(about))
  const row = await db.selectFrom('emails').selectAll().where('id', '=', about.id).executeTakeFirstOrThrow()
  expect(row.wire_message_id).toBe(`${about.id}@smtp-relay.mailin.fr`)
  for (const seen of [row.message_id, row.wire_message_id ?? ''])
    expect(await joined({ itemId: newId('msg'), messageId: null, references: [seen], emailId: null })).toEqual([
      { threadId: about.id, inReplyToEmailId: about.id },
    ])
})

test('the same Message-ID as ours is not recorded as another', async () => {
  const about = await email()
  await post(says.mailgun.delivered(about))
  const row = await server.database.db
    .selectFrom('emails')
    .select('wire_message_id')
    .where('id', '=', about.id)
    .executeTakeFirstOrThrow()
  expect(row.wire_message_id).toBeNull()
})

test('events of an unknown email, or of a recipient that it does not have, change nothing', async () => {
  const about = await email()
  for (const wrong of [
    { ...about, to: 'other@x.test' },
    { ...about, id: newId('eml') },
    { ...about, id: "' OR 1=1" },
  ])
    for (const provider of providers) expect((await post(says[provider].complaint(wrong))).status).toBe(200)
  const { events, suppression } = await stateOf(about)
  expect([events, suppression]).toEqual([[], undefined])
})

const otherKeys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const forgeries: readonly [string, (about: About) => Posted][] = [
  ['postmark without a secret', about => ({ ...says.postmark.complaint(about), headers: {} })],
  ['postmark with another', about => ({ ...says.postmark.complaint(about), headers: { authorization: 'Bearer x' } })],
  [
    'postmark with the secret as a user',
    about => ({
      ...says.postmark.complaint(about),
      headers: { authorization: `Basic ${Buffer.from(`${secret}:x`).toString('base64')}` },
    }),
  ],
  ['mailgun with another key', about => mailgun(says.mailgun.event(about, { event: 'complained' }), { key: 'x' })],
  ['mailgun unsigned', about => ({ ...says.mailgun.complaint(about), body: '{"event-data":{"event":"complained"}}' })],
  [
    'mailgun of two days ago',
    about => mailgun(says.mailgun.event(about, { event: 'complained' }), { timestamp: nowSeconds() - 2 * 86_400 }),
  ],
  [
    'mailgun of tomorrow',
    about => mailgun(says.mailgun.event(about, { event: 'complained' }), { timestamp: nowSeconds() + 86_400 }),
  ],
  ['sendgrid unsigned', about => ({ ...says.sendgrid.complaint(about), headers: {} })],
  [
    'sendgrid with another key',
    about => sendgrid([says.sendgrid.event(about, 'spamreport')], nowSeconds(), otherKeys.privateKey),
  ],
  [
    'sendgrid with a body that was changed',
    about => {
      const signed = says.sendgrid.delivered(about)
      return { ...signed, body: signed.body.replace('delivered', 'spamreport') }
    },
  ],
  [
    'sendgrid of two days ago',
    about => sendgrid([says.sendgrid.event(about, 'spamreport')], nowSeconds() - 2 * 86_400),
  ],
  ['brevo without a token', about => ({ ...says.brevo.complaint(about), headers: {} })],
]

test.each(forgeries)('%s is refused, changes nothing and is counted', async (_, posted) => {
  const about = await email()
  const before = await counted('mailroom_provider_news_forged_total')
  const answer = await post(posted(about))
  expect([answer.status, answer.json?.error?.code]).toEqual([401, 'invalid_api_key'])
  const { events, suppression } = await stateOf(about)
  expect([events, suppression]).toEqual([[], undefined])
  expect(await counted('mailroom_provider_news_forged_total')).toBe(before + 1)
})

test('a signature of Mailgun cannot be reused for another event', async () => {
  const about = await email()
  const seen = { timestamp: nowSeconds(), token: crypto.randomUUID() }
  expect((await post(mailgun(says.mailgun.event(about, { event: 'opened' }), seen))).status).toBe(200)
  expect((await post(mailgun(says.mailgun.event(about, { event: 'complained' }), seen))).status).toBe(401)
  expect((await stateOf(about)).events).toEqual([])
})

test('the webhook of a provider that is not configured answers 404', async () => {
  expect((await post({ ...says.postmark.complaint(await email()), path: '/provider/sparkpost/events' })).status).toBe(
    404,
  )
})

test.each([
  ['no JSON', 'x'],
  ['a list of numbers', '[1]'],
  ['no record', '{}'],
  ['a record deep in arrays', `${'['.repeat(5000)}${']'.repeat(5000)}`],
])('a body that is %s is refused and is no fault of ours', async (_, body) => {
  const answer = await post({ path: '/provider/postmark/events', headers: basic, body })
  expect([answer.status, answer.json?.error?.code]).toEqual([400, 'invalid_request'])
})

test('a body past 4 MiB is refused, and a chunked one is accepted', async () => {
  const large = postmark({ RecordType: 'Delivery', Details: 'x'.repeat(4 * 1024 * 1024) })
  expect((await post(large)).status).toBe(413)
  const about = await email()
  const { path, headers, body } = says.postmark.delivered(about)
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of body.match(/.{1,50}/gs) ?? []) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })
  expect((await server.call('POST', path, { key: null, headers, body: stream })).status).toBe(200)
  expect((await stateOf(about)).status).toBe('delivered')
})

test('fields of the wrong type, and names of object properties, are ignored', async () => {
  for (const record of [
    { RecordType: 'Bounce', Type: '__proto__', Email: 'x@x.test', Metadata: { 'mailroom-id': newId('eml') } },
    { RecordType: 'Bounce', Type: 'constructor', Email: 'x@x.test', Metadata: { 'mailroom-id': newId('eml') } },
    { RecordType: 'Delivery', Recipient: { a: 1 }, Metadata: [], DeliveredAt: 5 },
    { RecordType: 'Delivery', Recipient: 'x@x.test', Metadata: { 'mailroom-id': { a: 1 } } },
  ])
    expect((await post(postmark(record))).status).toBe(200)
})
