import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Instant, plusMs, systemClock } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { ProviderEvent } from '../../../src/ports/provider/webhooks/webhook.ts'
import { recordProviderEvents } from '../../../src/sending/reports/provider-events.ts'
import { joinThreads } from '../../../src/sending/threads/threads.ts'
import { insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { inboundPipeline, inMemory, log, mailTo, message, type Receiver, receiver } from '../../receiving/fixtures.ts'

let database: FreshDatabase
let shop: Receiver

beforeAll(async () => {
  database = await freshDatabase(8)
})
afterAll(() => database.close())
beforeEach(async () => {
  shop = await receiver(database)
  await shop.mailbox('')
})

/** An email that the relay has, and in its thread. */
async function sent(references: readonly string[] = []): Promise<Id<'eml'>> {
  const { db } = database
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), shop, systemClock.now(), [
    { to: ['bob@dest.example'] },
  ])
  if (!id) throw new Error('nothing was accepted')
  const entry = { brandId: shop.brandId, itemId: id, messageId: `${id}@${shop.domain}`, references, emailId: id }
  const [joined] = await inTransaction(db, tx => joinThreads(tx, [entry]))
  await db
    .updateTable('emails')
    .set({ thread_id: joined?.threadId ?? id })
    .where('id', '=', id)
    .execute()
  return id
}

const wireIdOf = (id: Id<'eml'>) => `${id}@wire.example`

/** The provider tells what Message-ID recipients see. */
async function learn(id: Id<'eml'>, key = 'delivered'): Promise<void> {
  const news: ProviderEvent = {
    type: 'delivered',
    emailId: id,
    recipient: 'bob@dest.example',
    occurredAt: systemClock.now(),
    key: `${key} ${id}`,
    smtpCode: 250,
    enhancedCode: null,
    detail: 'ok',
    bounce: null,
    providerMessageId: null,
    wireMessageId: wireIdOf(id),
  }
  await recordProviderEvents({ db: database.db, clock: systemClock, log }, 'brevo', [news])
}

interface Written {
  readonly messageId: string
  readonly fields?: readonly string[]
  readonly receivedAt?: Instant
}

async function come({ messageId, fields = [], receivedAt = systemClock.now() }: Written): Promise<Id<'msg'>> {
  const inbound = inboundPipeline(shop)
  const text = message(fields).replace(/^Message-ID: .*$/m, `Message-ID: <${messageId}>`)
  const mail = mailTo([await inbound.findRecipient(`hello@${shop.domain}`)], inMemory(text), { receivedAt })
  return (await inbound.receive(mail)).id as Id<'msg'>
}

const answering = (...ids: readonly string[]): readonly string[] => [
  `In-Reply-To: <${ids.at(-1)}>`,
  `References: ${ids.map(id => `<${id}>`).join(' ')}`,
]

/** Each message's thread and the email that it answers, and the messages that the email was told of. */
async function stateOf(id: Id<'eml'>, messages: readonly Id<'msg'>[]) {
  const { db } = database
  const rows = await db
    .selectFrom('messages')
    .select(['id', 'thread_id', 'in_reply_to_email_id'])
    .where('id', 'in', messages)
    .execute()
  const events = await db
    .selectFrom('email_events')
    .select(['extra', 'type'])
    .where('email_id', '=', id)
    .where('type', '=', 'replied')
    .execute()
  const byId = new Map(rows.map(row => [row.id, row]))
  return {
    threads: messages.map(message => byId.get(message)?.thread_id),
    answers: messages.map(message => byId.get(message)?.in_reply_to_email_id),
    told: events.map(event => JSON.parse(event.extra).message_id as string).sort(),
  }
}

test('a reply that comes before the email’s Message-ID is known is linked once it is', async () => {
  const id = await sent()
  const early = await come({ messageId: '1@dest.example', fields: answering(wireIdOf(id)) })
  expect(await stateOf(id, [early])).toEqual({ threads: [early], answers: [null], told: [] })
  await learn(id)
  const late = await come({ messageId: '2@dest.example', fields: answering(wireIdOf(id)) })
  const further = await come({ messageId: '3@dest.example', fields: answering('1@dest.example') })
  expect(await stateOf(id, [early, late, further])).toEqual({
    threads: [id, id, id],
    answers: [id, id, null],
    told: [early, late].sort(),
  })
})

test('is recorded once, however often the provider repeats it', async () => {
  const id = await sent()
  const early = await come({ messageId: '1@dest.example', fields: answering(wireIdOf(id)) })
  for (const key of ['delivered', 'delivered', 'opened']) await learn(id, key)
  expect(await stateOf(id, [early])).toEqual({ threads: [id], answers: [id], told: [early] })
})

test('the whole thread that it began is merged into the email’s, sent emails included', async () => {
  const first = await sent()
  const id = await sent([`${first}@${shop.domain}`])
  const early = await come({ messageId: '1@dest.example', fields: answering(wireIdOf(id)) })
  const own = await sent(['1@dest.example'])
  const second = await come({ messageId: '2@dest.example', fields: answering(wireIdOf(id), '1@dest.example') })
  const toOwn = await come({ messageId: '3@dest.example', fields: answering(`${own}@${shop.domain}`) })
  expect((await stateOf(id, [early, second, toOwn])).threads).toEqual([early, early, early])
  await learn(id)
  expect(await stateOf(id, [early, second, toOwn])).toEqual({
    threads: [first, first, first],
    answers: [id, id, own],
    told: [early, second].sort(),
  })
  const thread = database.db.selectFrom('emails').select('thread_id').where('id', '=', own)
  expect(await thread.executeTakeFirst()).toEqual({ thread_id: first })
  const last = await come({ messageId: '4@dest.example', fields: answering(`${own}@${shop.domain}`) })
  expect((await stateOf(own, [last])).threads).toEqual([first])
})

test('an auto-reply joins the thread and does not count as a reply', async () => {
  const id = await sent()
  const fields = [...answering(wireIdOf(id)), 'Auto-Submitted: auto-generated']
  const early = await come({ messageId: '1@dest.example', fields })
  await learn(id)
  expect(await stateOf(id, [early])).toEqual({ threads: [id], answers: [null], told: [] })
})

test('a thread older than the email stays separate, and its reply to the email is still linked', async () => {
  const before = plusMs(systemClock.now(), -60_000)
  const older = await come({ messageId: '0@dest.example', receivedAt: before })
  const id = await sent()
  const early = await come({ messageId: '1@dest.example', fields: answering('0@dest.example', wireIdOf(id)) })
  await learn(id)
  expect(await stateOf(id, [older, early])).toEqual({ threads: [older, older], answers: [null, id], told: [early] })
})

test('a reply that comes at the same time as the provider event is linked and recorded once', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await sent()
    const fields = answering(wireIdOf(id))
    const [early] = await Promise.all([come({ messageId: `${newId('msg')}@dest.example`, fields }), learn(id)])
    expect(await stateOf(id, [early])).toEqual({ threads: [id], answers: [id], told: [early] })
  }
})

test('links no more than a hundred, in a time that the provider event can wait', async () => {
  const id = await sent()
  const all: Id<'msg'>[] = []
  for (let i = 0; i < 105; i++)
    all.push(await come({ messageId: `${i}@dest.example`, fields: answering(wireIdOf(id)) }))
  await learn(id)
  const { threads, answers, told } = await stateOf(id, all)
  const joined = threads.filter(thread => thread === id).length
  expect([joined, answers.filter(answer => answer === id).length, told.length]).toEqual([100, 100, 100])
}, 30_000)
