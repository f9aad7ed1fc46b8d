import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import pino from 'pino'
import { millisecondsOf, plusMs, systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { snsWebhook } from '../../../src/ports/provider/ses/sns-webhook.ts'
import { providerRoutes } from '../../../src/sending/reports/routes.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import {
  confirmation,
  newSnsSigner,
  notification,
  type SnsMessage,
  type SnsOptions,
  topicArn,
} from '../../harness/sns.ts'

const amazon = newSnsSigner()
let server: TestHttpServer
let sender: SendingDomain
let asked: string[] = []
let isAway = false

beforeAll(async () => {
  const get = async (url: string) => {
    asked.push(url)
    if (isAway) throw new Error('no route to host')
    if (url.includes('ConfirmSubscription')) return '<ConfirmSubscriptionResponse/>'
    return url === amazon.url ? amazon.certificate : null
  }
  server = await openTestHttpServer({
    features: ({ database, clock }) => [
      providerRoutes({
        db: database.db,
        clock,
        log: pino({ level: 'silent' }),
        webhooks: [snsWebhook({ topicArn, fetchText: get })],
      }),
    ],
  })
  sender = await createSendingDomain(server.database.db, server.clock.now())
}, 60_000)

afterAll(() => server.close())

beforeEach(() => {
  asked = []
  isAway = false
})

type Status = 'bounced' | 'rejected' | 'complained' | 'delayed'

interface About {
  readonly id: Id<'eml'>
  readonly to: string
}

async function email(): Promise<About> {
  const to = `u${crypto.randomUUID().slice(0, 8)}@x.test`
  const { db } = server.database
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, server.clock), sender, server.clock.now(), [{ to: [to] }])
  if (!id) throw new Error('nothing was accepted')
  return { id, to }
}

const now = () => new Date(millisecondsOf(server.clock.now()))

/** SNS posts JSON and calls it text. */
function post(message: SnsMessage) {
  const headers = { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': message['Type'] ?? '' }
  return server.call('POST', '/provider/ses/events', { key: null, headers, body: JSON.stringify(message) })
}

const tell = (event: object, given: Partial<SnsOptions> = {}) =>
  post(notification(amazon, event, { at: now(), ...given }))

/** As https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html shows them. */
function event({ id, to }: About, eventType: string, more: object) {
  const mail = {
    timestamp: now().toISOString(),
    source: 'Shop <hello@shop.test>',
    messageId: `0102018f-${id}`,
    destination: [to],
    headersTruncated: false,
    tags: { 'ses:configuration-set': ['mail'], 'mailroom-id': [id] },
  }
  return { eventType, mail, ...more }
}

const delivery = (about: About) =>
  event(about, 'Delivery', {
    delivery: {
      timestamp: now().toISOString(),
      processingTimeMillis: 546,
      recipients: [about.to],
      smtpResponse: '250 2.6.0 Message received',
      reportingMTA: 'a4-21.smtp-out.eu-west-1.amazonses.com',
    },
  })

function bounce(about: About, bounceType: string, bounceSubType: string, diagnosticCode?: string, status = '5.0.0') {
  const recipient = { emailAddress: about.to, action: 'failed', status, ...(diagnosticCode && { diagnosticCode }) }
  return event(about, 'Bounce', {
    bounce: {
      bounceType,
      bounceSubType,
      bouncedRecipients: [recipient],
      timestamp: now().toISOString(),
      feedbackId: crypto.randomUUID(),
      reportingMTA: 'dsn; mta.example.com',
    },
  })
}

const complaint = (about: About, more: object = { complaintFeedbackType: 'abuse' }) =>
  event(about, 'Complaint', {
    complaint: {
      complainedRecipients: [{ emailAddress: about.to }],
      timestamp: now().toISOString(),
      feedbackId: crypto.randomUUID(),
      complaintSubType: null,
      ...more,
    },
  })

async function stateOf({ id, to }: About) {
  const { db } = server.database
  const { status } = await db
    .selectFrom('email_recipients')
    .select('status')
    .where('email_id', '=', id)
    .executeTakeFirstOrThrow()
  const { wire_message_id } = await db
    .selectFrom('emails')
    .select('wire_message_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const events = await db.selectFrom('email_events').selectAll().where('email_id', '=', id).orderBy('id').execute()
  const suppression = await db.selectFrom('suppressions').selectAll().where('email', '=', to).executeTakeFirst()
  return {
    status,
    wire_message_id,
    events: events.map(row => ({ ...row, bounce: row.bounce === null ? null : fromJson(row.bounce) })),
    suppression,
  }
}

test.each(['1', '2'] as const)(
  'a delivery signed in version %s is told once, however often it comes',
  async version => {
    const about = await email()
    const message = notification(amazon, delivery(about), { at: now(), version })
    const answers = await Promise.all([post(message), post(message), post(message)])
    expect(answers.map(answer => answer.status)).toEqual([200, 200, 200])
    expect(await stateOf(about)).toMatchObject({
      status: 'delivered',
      wire_message_id: `0102018f-${about.id}@eu-west-1.amazonses.com`,
      events: [{ type: 'delivered', source: 'provider_webhook', detail: '250 2.6.0 Message received' }],
    })
  },
)

test('the same event in two messages is recorded once', async () => {
  const about = await email()
  const told = delivery(about)
  expect([(await tell(told)).status, (await tell(told)).status]).toEqual([200, 200])
  expect((await stateOf(about)).events).toHaveLength(1)
})

test('the certificate is fetched once', async () => {
  for (let i = 0; i < 3; i++) await tell(delivery(await email()))
  expect(asked.length).toBeLessThanOrEqual(1)
})

const meanings: readonly [string, (about: About) => object, Status, object | null, string | undefined][] = [
  [
    'a mailbox that is not there',
    about => bounce(about, 'Permanent', 'General', 'smtp; 550 5.1.1 user unknown', '5.1.1'),
    'bounced',
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'a mailbox that SES knows not to be there',
    about => bounce(about, 'Permanent', 'NoEmail'),
    'bounced',
    { type: 'permanent', scope: 'recipient', suppressed: true },
    'hard_bounce',
  ],
  [
    'a refusal for what we are',
    about => bounce(about, 'Permanent', 'General', 'smtp; 550 5.7.1 blocked by policy', '5.7.1'),
    'bounced',
    { type: 'permanent', scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'a full mailbox',
    about => bounce(about, 'Transient', 'MailboxFull', 'smtp; 452 4.2.2 over quota', '4.2.2'),
    'bounced',
    { type: 'transient', suppressed: false },
    undefined,
  ],
  [
    'content that is refused',
    about => bounce(about, 'Transient', 'ContentRejected', 'smtp; 550 5.1.1 spam'),
    'bounced',
    { type: 'transient', scope: 'infrastructure', suppressed: false },
    undefined,
  ],
  [
    'a bounce that SES cannot read',
    about => bounce(about, 'Undetermined', 'Undetermined'),
    'bounced',
    { type: 'undetermined', suppressed: false },
    undefined,
  ],
  ['a list of SES', about => bounce(about, 'Permanent', 'Suppressed'), 'rejected', null, undefined],
  [
    'a list of the account',
    about => bounce(about, 'Permanent', 'OnAccountSuppressionList'),
    'rejected',
    null,
    undefined,
  ],
  ['a complaint', about => complaint(about), 'complained', null, 'complaint'],
  [
    'a complaint of long ago',
    about => complaint(about, { complaintSubType: 'OnAccountSuppressionList' }),
    'rejected',
    null,
    undefined,
  ],
  [
    'a message that SES does not carry',
    about => event(about, 'Reject', { reject: { reason: 'Bad content' } }),
    'rejected',
    null,
    undefined,
  ],
  [
    'a template that does not render',
    about => event(about, 'Rendering Failure', { failure: { errorMessage: 'Attribute x', templateName: 't' } }),
    'rejected',
    null,
    undefined,
  ],
  [
    'a delay',
    about =>
      event(about, 'DeliveryDelay', {
        deliveryDelay: {
          timestamp: now().toISOString(),
          delayType: 'TransientCommunicationFailure',
          expirationTime: now().toISOString(),
          delayedRecipients: [{ emailAddress: about.to, status: '4.4.1', diagnosticCode: 'smtp; 421 4.4.1 later' }],
        },
      }),
    'delayed',
    null,
    undefined,
  ],
]

test.each(meanings)(
  '%s is recorded as what it is, and only that suppresses',
  async (_, told, status, means, reason) => {
    const about = await email()
    expect((await tell(told(about))).status).toBe(200)
    const state = await stateOf(about)
    expect([state.status, state.events.length]).toEqual([status, 1])
    if (means === null) expect(state.events[0]?.bounce).toBeNull()
    else expect(state.events[0]?.bounce).toMatchObject(means)
    expect(state.suppression?.reason).toBe(reason as 'hard_bounce')
  },
)

test('an event without news changes nothing', async () => {
  const about = await email()
  const nothing = [
    event(about, 'Send', { send: {} }),
    event(about, 'Open', { open: {} }),
    complaint(about, { complaintFeedbackType: 'not-spam' }),
    { eventType: 'Delivery' },
    { eventType: 'Bounce', mail: 1, bounce: [] },
  ]
  for (const told of nothing) expect((await tell(told)).status).toBe(200)
  const plain = notification(amazon, 'Successfully validated SNS topic for Amazon SES.', { at: now() })
  expect((await post(plain)).status).toBe(200)
  expect(await stateOf(about)).toMatchObject({ status: 'queued', events: [] })
})

test('a late bounce beats a delivery, and a late delivery no bounce', async () => {
  const about = await email()
  await tell(delivery(about))
  await tell(bounce(about, 'Permanent', 'General', 'smtp; 550 5.1.1 user unknown'))
  await tell(delivery(about))
  expect((await stateOf(about)).status).toBe('bounced')
})

test('a message that does not prove to be from our topic is refused', async () => {
  const about = await email()
  const good = () => notification(amazon, delivery(about), { at: now() })
  const other = newSnsSigner()
  const forged: Readonly<Record<string, SnsMessage>> = {
    'another event': { ...good(), Message: JSON.stringify(complaint(about)) },
    'another time': { ...good(), Timestamp: new Date(+now() - 1000).toISOString() },
    'another version': { ...good(), SignatureVersion: '1' },
    'no version': { ...good(), SignatureVersion: '' },
    'no signature': { ...good(), Signature: '' },
    'another key': notification(other, delivery(about), { at: now() }),
    'another topic': notification(amazon, delivery(about), {
      at: now(),
      fields: { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail' },
    }),
    'a day and more ago': notification(amazon, delivery(about), { at: new Date(+now() - 26 * 3600 * 1000) }),
    'of the future': notification(amazon, delivery(about), { at: new Date(+now() + 3600 * 1000) }),
    'no time': notification(amazon, delivery(about), { at: now(), fields: { Timestamp: 'soon' } }),
  }
  const wrongPlaces = [
    'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-west-1.amazonaws.com.evil.test/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-west-1.amazonaws.com@evil.test/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem',
    'https://evil.test/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-west-1.amazonaws.com/other.pem',
    'https://sns.eu-west-1.amazonaws.com/x/../SimpleNotificationService-0123456789abcdef.pem?',
    '',
  ]
  for (const [what, message] of Object.entries(forged))
    expect([what, (await post(message)).status]).toEqual([what, 401])
  asked = []
  for (const SigningCertURL of wrongPlaces) expect((await post({ ...good(), SigningCertURL })).status).toBe(401)
  expect(asked).toEqual([])
  const elsewhere = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-ffff.pem'
  expect((await post({ ...good(), SigningCertURL: elsewhere })).status).toBe(401)
  expect(asked).toEqual([elsewhere])
  expect(await stateOf(about)).toMatchObject({ status: 'queued', events: [] })
})

test('a body that is not an SNS message is refused', async () => {
  for (const body of ['', 'x', '[]', '{}', 'null', JSON.stringify(delivery(await email()))])
    expect((await server.call('POST', '/provider/ses/events', { key: null, body })).status).toBe(401)
  const signed = notification(amazon, '{"eventType":', { at: now() })
  expect((await post(signed)).status).toBe(400)
})

test('an expired certificate proves nothing', async () => {
  const about = await email()
  const expired = newSnsSigner('SimpleNotificationService-eeee', 1)
  const get = async () => expired.certificate
  const webhook = snsWebhook({ topicArn, fetchText: get })
  const read = (aheadMs: number) => {
    const at = new Date(Date.now() + aheadMs)
    const body = Buffer.from(JSON.stringify(notification(expired, delivery(about), { at })))
    const receivedAt = plusMs(systemClock.now(), aheadMs)
    return webhook.read({ headers: new Headers(), query: new URLSearchParams(), body, receivedAt })
  }
  expect((await read(0)).kind).toBe('events')
  expect((await read(25 * 3600 * 1000)).kind).toBe('forged')
})

test('the subscription to our topic is confirmed, and to no other', async () => {
  expect((await post(confirmation(amazon, { at: now() }))).status).toBe(200)
  expect(asked.filter(url => url.includes('ConfirmSubscription'))).toHaveLength(1)
  asked = []
  const others = [
    confirmation(amazon, { at: now(), fields: { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail' } }),
    confirmation(newSnsSigner(), { at: now() }),
    { ...confirmation(amazon, { at: now() }), Token: 'x' },
  ]
  for (const snsMessage of others) expect((await post(snsMessage)).status).toBe(401)
  const elsewhere = confirmation(amazon, { at: now(), fields: { SubscribeURL: 'https://evil.test/?Action=x' } })
  expect((await post(elsewhere)).status).toBe(400)
  expect(asked.filter(url => !url.endsWith('.pem'))).toEqual([])
})

test('while Amazon cannot be reached SNS is asked to repeat the message', async () => {
  isAway = true
  const { status, headers } = await post(confirmation(amazon, { at: now() }))
  expect([status, headers.has('retry-after')]).toEqual([500, true])
})
