import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type Instant, plusMs, systemClock } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { newId } from '../../../src/base/ids.ts'
import { readEmail } from '../../../src/sending/emails/emails.ts'
import type { DeliveryEvent } from '../../../src/sending/events/delivery-event.ts'
import { recordEvents } from '../../../src/sending/events/events.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { makeOrganization, type Organization, sendingOn } from '../fixtures.ts'

let database: FreshDatabase
let acme: Organization
beforeAll(async () => {
  database = await freshDatabase(12)
  acme = await makeOrganization(database.db)
})
afterAll(() => database.close())

async function accepted(...to: string[]) {
  const fields = { from: 'ann@acme.example', to, subject: 'Hello', text: 'Hello' }
  return send({ sender: acme.sender, fields }, sendingOn(database.db))
}

function record(...events: DeliveryEvent[]) {
  return inTransaction(database.db, db => recordEvents(db, events, systemClock.now()))
}

function event(
  emailId: DeliveryEvent['emailId'],
  recipient: string | null,
  type: DeliveryEvent['type'],
): DeliveryEvent {
  return { emailId, recipient, type, occurredAt: systemClock.now(), source: 'smtp' }
}

test('updates recipient and email, with the evidence', async () => {
  const { id } = await accepted('bob@b.example', 'cy@c.example')
  const at = plusMs(systemClock.now(), 5)
  const done = await record(
    {
      ...event(id, 'bob@b.example', 'sent'),
      occurredAt: at,
      smtpCode: 250,
      enhancedCode: '2.0.0',
      detail: 'ok',
      providerMessageId: 'p1',
    },
    {
      ...event(id, 'CY@c.example', 'bounced'),
      source: 'dsn',
      smtpCode: 550,
      enhancedCode: '5.1.1',
      detail: 'no such user',
      bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
      extra: { reporter: 'mx.c.example' },
    },
  )
  expect(done).toEqual([true, true])
  const detail = await readEmail(database.db, acme.sender, id)
  expect(detail).toMatchObject({
    status: 'bounced',
    error: 'no such user',
    provider_message_id: 'p1',
    recipients: [
      { status: 'sent', smtp_code: 250, enhanced_code: '2.0.0', detail: 'ok' },
      { status: 'bounced', smtp_code: 550, enhanced_code: '5.1.1', detail: 'no such user' },
    ],
  })
  expect(detail.sent_at).toBe(detail.last_event_at)
  expect(detail.events.find(event => event.type === 'bounced')).toMatchObject({
    recipient: 'CY@c.example',
    source: 'dsn',
    bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
    data: { reporter: 'mx.c.example' },
  })
})

test('stores a late event without going back to an earlier status', async () => {
  const { id } = await accepted('bob@b.example')
  await record(event(id, 'bob@b.example', 'sent'), event(id, 'bob@b.example', 'delivered'))
  await record({ ...event(id, 'bob@b.example', 'delayed'), detail: 'late' }, event(id, 'bob@b.example', 'sent'))
  const detail = await readEmail(database.db, acme.sender, id)
  expect([detail.status, detail.recipients[0]?.status, detail.recipients[0]?.detail]).toEqual([
    'delivered',
    'delivered',
    null,
  ])
  expect(detail.events.map(event => event.type)).toEqual(['queued', 'sent', 'delivered', 'delayed', 'sent'])
  await record(event(id, 'bob@b.example', 'bounced'))
  expect((await readEmail(database.db, acme.sender, id)).status).toBe('bounced')
})

test('shows a later delay instead of the earlier one', async () => {
  const { id } = await accepted('bob@b.example')
  await record({ ...event(id, 'bob@b.example', 'delayed'), smtpCode: 451, detail: 'first' })
  await record({ ...event(id, 'bob@b.example', 'delayed'), smtpCode: 452, detail: 'second' })
  const { recipients } = await readEmail(database.db, acme.sender, id)
  expect(recipients[0]).toMatchObject({ status: 'delayed', smtp_code: 452, detail: 'second' })
})

test('records a repeated event once, also when it comes twice at the same time', async () => {
  const { id } = await accepted('bob@b.example')
  const repeated = { ...event(id, 'bob@b.example', 'delivered'), repeatKey: createHash('sha256').update(id).digest() }
  const done = await Promise.all([record(repeated, repeated), record(repeated), record(repeated)])
  expect(done.flat().filter(Boolean)).toHaveLength(1)
  const { events } = await readEmail(database.db, acme.sender, id)
  expect(events.filter(event => event.type === 'delivered')).toHaveLength(1)
})

test('records many events at once, of the same and of different emails', async () => {
  const emails = await Promise.all(Array.from({ length: 6 }, (_, i) => accepted('bob@b.example', `x${i}@b.example`)))
  await Promise.all(
    emails.flatMap((_, i) => [
      record(...emails.map(({ id }) => event(id, 'bob@b.example', 'sent'))),
      record(...emails.toReversed().map(({ id }) => event(id, `x${i}@b.example`, 'delivered'))),
    ]),
  )
  const details = await Promise.all(emails.map(({ id }) => readEmail(database.db, acme.sender, id)))
  expect(details.map(detail => detail.recipients.map(recipient => recipient.status))).toEqual(
    emails.map(() => ['sent', 'delivered']),
  )
  expect(details.map(detail => detail.events.length)).toEqual(emails.map(() => 13))
})

test('applies an event without recipient to all recipients; a reply changes no status', async () => {
  const { id } = await accepted('bob@b.example', 'cy@c.example')
  await record({ ...event(id, null, 'replied'), source: 'inbound' })
  expect((await readEmail(database.db, acme.sender, id)).status).toBe('queued')
  await record(event(id, null, 'canceled'))
  const detail = await readEmail(database.db, acme.sender, id)
  expect(detail.recipients.map(recipient => recipient.status)).toEqual(['canceled', 'canceled'])
  expect(detail.status).toBe('canceled')
})

test('records nothing for an email that does not exist', async () => {
  expect(await record(event(newId('eml'), 'bob@b.example', 'sent'))).toEqual([false])
  expect(await recordEvents(database.db, [], '' as Instant)).toEqual([])
})

test('a delay reported before our own 250 is recorded wins when it is the later of the two', async () => {
  const at = systemClock.now()
  const delayed = (id: DeliveryEvent['emailId'], seconds: number): DeliveryEvent => ({
    ...event(id, 'bob@b.example', 'delayed'),
    source: 'dsn',
    occurredAt: plusMs(at, seconds * 1000),
    detail: 'greylisted',
  })
  const taken = (id: DeliveryEvent['emailId']) => ({ ...event(id, 'bob@b.example', 'sent'), occurredAt: at })
  for (const [seconds, status, detail] of [
    [60, 'delayed', 'greylisted'],
    [-60, 'sent', null],
  ] as const)
    for (const isDelayFirst of [true, false]) {
      const { id } = await accepted('bob@b.example')
      const order = [delayed(id, seconds), taken(id)]
      for (const deliveryEvent of isDelayFirst ? order : order.toReversed()) await record(deliveryEvent)
      const email = await readEmail(database.db, acme.sender, id)
      expect([email.status, email.recipients[0]?.status, email.recipients[0]?.detail]).toEqual([status, status, detail])
      expect(email.sent_at).not.toBeNull()
    }
})
