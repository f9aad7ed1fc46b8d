import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Clock, plusMs, systemClock } from '../../src/base/clock.ts'
import { listSenders, unlistSenders } from '../../src/inbox/senders/senders.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { SpamCheck, SpamFilter, SpamFilterInput } from '../../src/ports/spam-filter/port.ts'
import { rescanDue } from '../../src/receiving/rescan/rescan.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import {
  fakeAuthenticator,
  fakeScanner,
  inboundPipeline,
  inMemory,
  log,
  mailTo,
  message,
  messagesOf,
  type Receiver,
  receiver,
} from './fixtures.ts'

/** Where the inbound pipeline files what the spam filter says, and what organizations say of senders. */
let database: FreshDatabase
let shop: Receiver

beforeAll(async () => {
  database = await freshDatabase(4)
})
afterAll(() => database.close())
beforeEach(async () => {
  shop = await receiver(database)
  await shop.mailbox('')
})

const findings = {
  isSpam: true,
  score: 9.2,
  required: 6,
  symbols: [
    { name: 'BAYES_SPAM', score: 5.1 },
    { name: 'MIME_GOOD', score: -0.1 },
  ],
}
const spam: SpamCheck = { kind: 'checked', ...findings }
const ham: SpamCheck = { kind: 'checked', ...findings, isSpam: false, score: 1 }

function fakeFilter(check: SpamCheck, asked: SpamFilterInput[] = []): SpamFilter {
  return {
    async check(mail) {
      asked.push(mail)
      return check
    },
    learn: null,
    isReady: () => Promise.resolve(true),
  }
}

type Deps = Parameters<typeof inboundPipeline>[1]

/** Receives a message for `hello@` of each of these; gives the row of the first. */
async function receiveFor(receivers: readonly Receiver[], deps: Deps, mailFrom = 'bounce@x.test') {
  const inbound = inboundPipeline(shop, deps)
  const recipients = await Promise.all(receivers.map(({ domain }) => inbound.findRecipient(`hello@${domain}`)))
  await inbound.receive(mailTo(recipients, inMemory(message()), { mailFrom }))
  const [row] = await messagesOf(receivers[0] ?? shop)
  if (!row) throw new Error('nothing was filed')
  return row
}

const list = (listing: 'allow' | 'block', ...entries: readonly string[]) =>
  listSenders(database.db, systemClock, shop.organizationId, { entries, listing })

test('what the filter takes for spam is filed as spam, with what it found', async () => {
  const asked: SpamFilterInput[] = []
  const row = await receiveFor([shop], { spamFilter: fakeFilter(spam, asked) })
  expect(row).toMatchObject({ folder: 'spam', folder_reason: 'spam_filter' })
  const { isSpam: _, ...shown } = findings
  expect(JSON.parse(row.spam ?? '')).toEqual(shown)
  expect(asked).toMatchObject([
    {
      remoteIp: '192.0.2.1',
      clientName: null,
      helo: 'mx.x.test',
      mailFrom: 'bounce@x.test',
      recipients: [`hello@${shop.domain}`],
    },
  ])
})

test('what it finds in other mail is kept too; without a filter, or without its answer, nothing is', async () => {
  const found = await receiveFor([shop], { spamFilter: fakeFilter(ham) })
  expect(found).toMatchObject({ folder: 'inbox', folder_reason: 'accepted' })
  expect(JSON.parse(found.spam ?? '')).toMatchObject({ score: 1, required: 6 })
  for (const deps of [
    {},
    { spamFilter: fakeFilter({ kind: 'unchecked', why: 'away', isUnavailable: true }) },
    { spamFilter: fakeFilter({ kind: 'unchecked', why: 'too large', isUnavailable: false }) },
  ]) {
    shop = await receiver(database)
    await shop.mailbox('')
    expect(await receiveFor([shop], deps)).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', spam: null })
  }
})

test('a message that could not be scanned is released to spam where the filter asked for it', async () => {
  const scanner = fakeScanner({ kind: 'unscanned', why: 'away' }, false)
  const waiting = await receiveFor([shop], { spamFilter: fakeFilter(spam), scanner })
  expect(waiting).toMatchObject({ folder: 'quarantine', release_folder: 'spam', release_reason: 'spam_filter' })
  const inAnHour: Clock = { now: () => plusMs(systemClock.now(), 3_600_000) }
  const { db } = database
  const deps = { db, blobs: mysqlBlobs(db, systemClock), clock: inAnHour, log }
  await rescanDue({ ...deps, scanner: fakeScanner({ kind: 'clean' }), scanAttachments: 'decoded' })
  const [released] = await messagesOf(shop)
  expect(released).toMatchObject({ folder: 'spam', folder_reason: 'spam_filter', release_reason: null, scan: 'clean' })
})

test('one organization blocks, another allows, a third says nothing: each gets its folder in one transaction', async () => {
  const [allowing, silent] = [await receiver(database), await receiver(database)]
  for (const each of [allowing, silent]) await each.mailbox('')
  await list('block', 'x.test')
  await listSenders(database.db, systemClock, allowing.organizationId, { entries: ['a@x.test'], listing: 'allow' })
  await receiveFor([shop, allowing, silent], { spamFilter: fakeFilter(spam) })
  const reasons = await Promise.all(
    [shop, allowing, silent].map(async each => (await messagesOf(each))[0]?.folder_reason),
  )
  expect(reasons).toEqual(['sender_blocked', 'accepted', 'spam_filter'])
})

test('the nearest entry counts: the address, then its domain, then those above it; a reverse-path only when blocked', async () => {
  const file = async (from: string, mailFrom = 'bounce@elsewhere.test') => {
    const other = await receiver(database)
    await other.mailbox('')
    await database.db
      .updateTable('sender_listings')
      .set({ organization_id: other.organizationId })
      .where('organization_id', '=', shop.organizationId)
      .execute()
    shop = other
    const inbound = inboundPipeline(shop, {
      spamFilter: fakeFilter(spam),
      authenticator: fakeAuthenticator({ from: [from] }),
    })
    const recipient = await inbound.findRecipient(`hello@${shop.domain}`)
    const text = message().replace('Ann <a@x.test>', `Ann <${from}>`)
    await inbound.receive(mailTo([recipient], inMemory(text), { mailFrom }))
    return (await messagesOf(shop))[0]?.folder_reason
  }
  await list('allow', 'example.com', 'ann@b.example.com')
  await list('block', 'b.example.com', 'mailer.test')
  expect(await file('Zoe@Example.COM')).toBe('accepted')
  expect(await file('zoe@deep.a.example.com')).toBe('accepted')
  expect(await file('zoe@b.example.com')).toBe('sender_blocked')
  expect(await file('ANN@b.example.com')).toBe('accepted')
  expect(await file('zoe@notexample.com')).toBe('spam_filter')
  expect(await file('zoe@other.test', 'bounce+1@mailer.test')).toBe('sender_blocked')
  expect(await file('zoe@other.test', 'bounce@example.com')).toBe('spam_filter')
  expect(await file('zoe@example.com', 'bounce@mailer.test')).toBe('accepted')
})

test('an entry is dropped with its organization’s wish', async () => {
  await list('block', 'x.test')
  expect(await unlistSenders(database.db, shop.organizationId, ['x.test', 'y.test'])).toEqual(['x.test'])
  expect((await receiveFor([shop], {})).folder).toBe('inbox')
})
