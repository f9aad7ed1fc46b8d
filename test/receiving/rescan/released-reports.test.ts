import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Clock, plusMs, systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { rescanDue } from '../../../src/receiving/rescan/rescan.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
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
  reportFixture,
  sentEmail,
} from '../fixtures.ts'

const fixtureId = 'eml_01kq5x9m3t8v0w2y4z6a8c1d3f'
const inAnHour: Clock = { now: () => plusMs(systemClock.now(), 3_600_000) }

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

/** A report about an email, with the From that these tests authenticate. */
function reportOn(id: Id<'eml'>, name = 'postfix'): string {
  return reportFixture(name)
    .replace(/^From: .*$/m, 'From: Mail Delivery System <a@x.test>')
    .replaceAll(fixtureId, id)
}

/** Receives it in a mailbox while the scanner is unavailable. */
async function comeUnscanned(text: string, spf: 'none' | 'fail' = 'none'): Promise<void> {
  const verdict = { result: spf, domain: 'x.test', aligned: null, detail: null } as const
  const inbound = inboundPipeline(shop, {
    scanner: fakeScanner({ kind: 'unscanned', why: 'away' }, false),
    authenticator: fakeAuthenticator({ spf: verdict }),
  })
  const recipient = await inbound.findRecipient(`hello@${shop.domain}`)
  await inbound.receive(mailTo([recipient], inMemory(Buffer.from(text, 'latin1')), { mailFrom: '' }))
}

async function rescan(scan: Parameters<typeof fakeScanner>[0] = { kind: 'clean' }): Promise<void> {
  const { db } = database
  const deps = { db, blobs: mysqlBlobs(db, systemClock), clock: inAnHour, log }
  await rescanDue({ ...deps, scanner: fakeScanner(scan), scanAttachments: 'decoded' })
}

async function foundOf(id: Id<'eml'>) {
  const events = await database.db.selectFrom('email_events').select('type').where('email_id', '=', id).execute()
  const [row] = await messagesOf(shop)
  return { events: events.map(event => event.type), folder: row?.folder, reason: row?.folder_reason }
}

test('a report that could not be scanned counts once it is released, and keeps its folder reason', async () => {
  const id = await sentEmail(shop)
  await comeUnscanned(reportOn(id))
  expect(await foundOf(id)).toEqual({ events: [], folder: 'quarantine', reason: 'unscanned' })
  await rescan()
  expect(await foundOf(id)).toEqual({ events: ['bounced'], folder: 'inbox', reason: 'report' })
})

test('a complaint that could not be scanned suppresses its recipient once it is released', async () => {
  const id = await sentEmail(shop)
  await comeUnscanned(reportOn(id, 'arf-abuse'))
  await rescan()
  expect((await foundOf(id)).events).toEqual(['complained'])
  const suppressions = database.db.selectFrom('suppressions').select('reason').where('brand_id', '=', shop.brandId)
  expect(await suppressions.execute()).toEqual([{ reason: 'complaint' }])
})

test('counts once if the process died after recording it and before releasing it', async () => {
  const id = await sentEmail(shop)
  await comeUnscanned(reportOn(id))
  const [waiting] = await messagesOf(shop)
  if (!waiting) throw new Error('nothing was filed')
  const { folder, folder_reason, scan, rescan_at, release_folder } = waiting
  for (let times = 0; times < 2; times++) {
    const asBefore = { folder, folder_reason, scan, rescan_at, release_folder }
    await database.db.updateTable('messages').set(asBefore).where('id', '=', waiting.id).execute()
    await rescan()
  }
  expect(await foundOf(id)).toEqual({ events: ['bounced'], folder: 'inbox', reason: 'report' })
})

test('does not count if it is infected or goes to spam', async () => {
  const infected = await sentEmail(shop)
  await comeUnscanned(reportOn(infected))
  await rescan({ kind: 'infected', signature: 'Evil' })
  expect(await foundOf(infected)).toEqual({ events: [], folder: 'quarantine', reason: 'infected' })
  shop = await receiver(database)
  await shop.mailbox('')
  const doubtful = await sentEmail(shop)
  await comeUnscanned(reportOn(doubtful), 'fail')
  await rescan()
  expect(await foundOf(doubtful)).toEqual({ events: [], folder: 'spam', reason: 'spf_fail' })
})

test('an auto-reply gets its folder reason when it is released, a message of a person does not', async () => {
  await comeUnscanned(message(['Auto-Submitted: auto-replied']))
  await comeUnscanned(message())
  await rescan()
  const rows = await messagesOf(shop)
  expect(rows.map(row => row.folder_reason).sort()).toEqual(['accepted', 'auto_reply'])
})
