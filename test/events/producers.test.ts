import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { hourMs, plusMs, systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { changeQuarantined } from '../../src/inbox/quarantine/quarantine.ts'
import { recordUnconfirmed } from '../../src/sending/emails/unconfirmed-events.ts'
import { pauseBrandsOverLimits, resumeBrandByOperator } from '../../src/sending/reports/pause.ts'
import { infectedBytes } from '../harness/inbox.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** What happens, through the doors of a Mailroom that runs, as the feed tells it. */
let mailroom: Mailroom
beforeAll(async () => {
  mailroom = await startMailroom()
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

// biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
type Event = any

async function eventsAfter(after: string, query = ''): Promise<{ readonly data: readonly Event[]; after: string }> {
  const { status, json } = await mailroom.api('GET', `/v1/events?after=${after}&limit=200${query}`)
  expect(status).toBe(200)
  return { data: json.data, after: json.next_after }
}

/** Waits until there are events of these types after a cursor, in this order among all. */
async function eventsUntil(after: string, types: readonly string[], about?: string): Promise<readonly Event[]> {
  const found = async () => {
    const { data } = await eventsAfter(after)
    return data.filter(event => about === undefined || JSON.stringify(event.data).includes(about))
  }
  const typesOf = (events: readonly Event[]) => events.map(event => event.type)
  await until(async () => typesOf(await found()).length >= types.length, {
    what: types.join(),
    details: async () => typesOf(await found()).join(),
  })
  const events = await found()
  expect(typesOf(events)).toEqual([...types])
  return events
}

const newest = async () => (await mailroom.api('GET', '/v1/events')).json.next_after as string
const sending = { from: 'hello@demo.test', subject: 'Hello', text: 'Hello' }

test('a domain: that it may send, and that it receives', async () => {
  const data = await until(async () => {
    const found = (await eventsAfter('0', '&types=domain.verified,domain.receiving_live')).data
    return found.length >= 2 && found
  })
  expect(data.map(event => event.type).toSorted()).toEqual(['domain.receiving_live', 'domain.verified'])
  const verified = data.find(event => event.type === 'domain.verified')
  const { json } = await mailroom.api('GET', `/v1/domains/${mailroom.demo.domain_id}`)
  expect(verified.brand_id).toBe(mailroom.demo.brand_id)
  expect(Object.keys(verified.data)).toEqual(Object.keys(json))
  expect(verified.data).toMatchObject({ id: json.id, domain: 'demo.test', status: 'verified' })
})

test('an email: each step, in order, with the evidence; the events of the email are those of the feed', async () => {
  const after = await newest()
  const tags = [{ name: 'kind', value: 'welcome' }]
  const { json: sent } = await mailroom.api('POST', '/v1/emails', {
    ...{ ...sending, to: ['bounce@simulator.test'], tags, metadata: { order: '7' } },
  })
  const events = await eventsUntil(after, ['email.queued', 'email.sent', 'email.bounced', 'suppression.created'])
  const [queued, , bounced, suppression] = events
  const about = { email_id: sent.id, message_id: sent.message_id, subject: 'Hello', tags, metadata: { order: '7' } }
  expect(queued.data).toEqual({
    ...about,
    ...{ recipient: null, status: 'queued', smtp_code: null, enhanced_code: null, detail: null, bounce: null },
    truncated: false,
  })
  expect(bounced.data).toEqual({
    ...about,
    ...{ recipient: 'bounce@simulator.test', status: 'bounced', smtp_code: 550, enhanced_code: '5.1.1' },
    detail: expect.any(String),
    bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
    truncated: false,
  })
  const { json: listed } = await mailroom.api('GET', '/v1/suppressions')
  expect(suppression.data).toEqual(listed.data[0])
  const { json: detail } = await mailroom.api('GET', `/v1/emails/${sent.id}`)
  const ids = new Set(events.map(event => event.id))
  expect(detail.events.length).toBeGreaterThanOrEqual(2)
  const recorded = detail.events.filter(({ type }: Event) => type === 'sent' || type === 'bounced')
  expect(recorded.map(({ type, id }: Event) => [type, ids.has(id)])).toEqual([
    ['sent', true],
    ['bounced', true],
  ])
})

test('an email for later, and that it was canceled; a recipient who is suppressed', async () => {
  const after = await newest()
  const scheduled_at = `${plusMs(systemClock.now(), hourMs).replace(' ', 'T')}Z`
  const to = ['bounce@simulator.test', 'bob@friend.test']
  const { json: sent } = await mailroom.api('POST', '/v1/emails', { ...sending, to, scheduled_at })
  expect((await mailroom.api('POST', `/v1/emails/${sent.id}/cancel`)).status).toBe(200)
  const [, suppressed, canceled] = await eventsUntil(after, ['email.scheduled', 'email.suppressed', 'email.canceled'])
  expect(suppressed.data).toMatchObject({ email_id: sent.id, recipient: 'bounce@simulator.test', status: 'suppressed' })
  expect(canceled.data).toMatchObject({ email_id: sent.id, recipient: null, status: 'suppressed' })
})

test('a suppression that is added and removed', async () => {
  const after = await newest()
  const { json } = await mailroom.api('POST', '/v1/suppressions', {
    email: 'cy@x.example',
    brand_id: mailroom.demo.brand_id,
  })
  await mailroom.api('DELETE', `/v1/suppressions/cy@x.example?brand_id=${mailroom.demo.brand_id}`)
  const [created, deleted] = await eventsUntil(after, ['suppression.created', 'suppression.deleted'])
  expect([created.data, deleted.data]).toEqual([json, json])
})

test('a message: as the list shows it, with what is new in its text; and that it is a reply', async () => {
  const { json: sent } = await mailroom.api('POST', '/v1/emails', { ...sending, to: ['bob@friend.test'] })
  await until(async () => (await mailroom.api('GET', `/v1/emails/${sent.id}`)).json.status !== 'queued')
  const after = await newest()
  const text = [
    'From: Bob <bob@friend.test>',
    'To: hello@demo.test',
    'Subject: Re: Hello',
    'Message-ID: <reply@friend.test>',
    'Date: Sat, 31 Jan 2026 08:15:00 +0000',
    `In-Reply-To: <${sent.message_id}>`,
    '',
    'Yes, please.',
    '',
    'On Sat, 31 Jan 2026, Demo wrote:',
    '> Hello',
    '',
  ].join('\r\n')
  const id = acceptedMessageId(await sendMail(mailroom.smtp, text))
  const [received, replied] = (await eventsUntil(after, ['message.received', 'email.replied'], id)) as [Event, Event]
  const { json: listed } = await mailroom.api('GET', '/v1/inbox?limit=1')
  expect(received.data).toEqual({ ...listed.data[0], reply_text: 'Yes, please.', truncated: false })
  expect(replied.data).toMatchObject({ email_id: sent.id, recipient: null, reply_id: id, message_id: sent.message_id })
})

test('nothing that a stranger writes stops a message from being filed', async () => {
  const after = await newest()
  const addresses = Array.from({ length: 100 }, (_, i) => `"${'é'.repeat(60)}${i}" <${'a'.repeat(60)}${i}@x.example>`)
  const text = [
    `From: =?utf-8?B?${Buffer.from('\u0001'.repeat(300)).toString('base64')}?= <ann@x.example>`,
    `To: ${addresses.join(',\r\n ')}`,
    `Subject: ${'s'.repeat(900)}`,
    '',
    '\u0002"\\'.repeat(8000),
    '',
  ].join('\r\n')
  const id = acceptedMessageId(await sendMail(mailroom.smtp, Buffer.from(text)))
  const [received] = await eventsUntil(after, ['message.received'])
  expect(received.data).toMatchObject({ id, truncated: true })
  expect(Buffer.byteLength(JSON.stringify(received.data))).toBeLessThanOrEqual(20 * 1024)
})

test('a message in quarantine, and its release', async () => {
  const after = await newest()
  const header = 'From: ann@x.example\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64'
  const reply = await sendMail(mailroom.smtp, `${header}\r\n\r\n${infectedBytes.toString('base64')}\r\n`)
  const id = acceptedMessageId(reply) as Id<'msg'>
  const operator = { actor: 'test', clock: systemClock }
  const filter = { ids: [id] }
  await changeQuarantined(mailroom.database.db, { filter, action: 'release', operator, isDryRun: false })
  const [quarantined, released] = await eventsUntil(after, ['message.quarantined', 'message.released'])
  expect(quarantined.data).toMatchObject({ id, folder: 'quarantine', scan: 'infected' })
  expect(released.data).toMatchObject({ id, folder: 'inbox', reply_text: null, truncated: true })
})

test('a brand that is paused, and resumed', async () => {
  const after = await newest()
  const { db } = mailroom.database
  const limits = { bouncePercent: 1, complaintPercent: 1, minSent: 1, windowMs: hourMs }
  const log = pino({ level: 'silent' })
  expect(await pauseBrandsOverLimits({ db, clock: systemClock, log, limits })).toEqual([
    mailroom.demo.brand_id as Id<'brd'>,
  ])
  const operator = { actor: 'test', clock: systemClock }
  expect(await resumeBrandByOperator(db, operator, mailroom.demo.brand_id as Id<'brd'>)).toBe(true)
  const [paused, resumed] = await eventsUntil(after, ['brand.paused', 'brand.resumed'])
  expect(paused.data).toMatchObject({ id: mailroom.demo.brand_id, reason: expect.stringContaining('bounced') })
  expect(resumed.data).toMatchObject({ id: mailroom.demo.brand_id, reason: null })
})

test('that nothing was heard of a recipient, once', async () => {
  const { db } = mailroom.database
  const clock = { now: () => plusMs(systemClock.now(), 49 * hourMs) }
  const { json: sent } = await mailroom.api('POST', '/v1/emails', { ...sending, to: ['dan@friend.test'] })
  await until(async () => (await mailroom.api('GET', `/v1/emails/${sent.id}`)).json.sent_at !== null)
  await db.updateTable('email_recipients').set({ status: 'sent' }).where('email_id', '=', sent.id).execute()
  await Bun.sleep(500)
  const after = await newest()
  const tell = () => recordUnconfirmed({ db, clock, afterMs: 24 * hourMs })
  while ((await tell()) === 'more');
  const [unconfirmed] = await eventsUntil(after, ['email.unconfirmed'], sent.id)
  expect(unconfirmed.data).toMatchObject({ recipient: 'dan@friend.test', status: 'sent' })
  expect(unconfirmed.data.detail).toStartWith('Unconfirmed: the provider accepted it, and no report')
  await tell()
  await Bun.sleep(500)
  await eventsUntil(after, ['email.unconfirmed'], sent.id)
})
