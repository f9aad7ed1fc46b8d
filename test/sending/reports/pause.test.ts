import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { plusMs } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { BlobStore } from '../../../src/ports/blobs/port.ts'
import { sandboxProvider } from '../../../src/ports/provider/sandbox.ts'
import { openSending } from '../../../src/sending/accept/open-sending.ts'
import { recordEvents } from '../../../src/sending/events/events.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { type PauseDeps, pauseBrandsOverLimits } from '../../../src/sending/reports/pause.ts'
import { send } from '../../../src/sending/send.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { runCommand } from '../../harness/cli.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
let blobs: BlobStore
let clock: TestClock
let pausing: PauseDeps
let shop: SendingDomain
let shops = 0

const log = pino({ level: 'silent' })

beforeAll(async () => {
  database = await freshDatabase()
  clock = testClock()
  blobs = mysqlBlobs(database.db, clock)
  const limits = { bouncePercent: 10, complaintPercent: 1, minSent: 20, windowMs: 24 * 3_600_000 }
  pausing = { db: database.db, clock, log, limits }
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.db.deleteFrom('outbox').execute()
  shop = await createSendingDomain(database.db, clock.now(), `shop${++shops}.test`)
})

type Became = 'sent' | 'delivered' | 'bounced' | 'complained' | 'policy' | 'soft'

/** Inserts emails of the shop, so many of each status. */
async function emails(counts: Partial<Record<Became, number>>, from = shop): Promise<void> {
  const all = Object.entries(counts).flatMap(([became, count]) => Array<Became>(count).fill(became as Became))
  const ids = await insertAcceptedEmails(
    database.db,
    blobs,
    from,
    clock.now(),
    all.map(() => ({})),
  )
  const at = clock.now()
  await inTransaction(database.db, async tx => {
    await tx.deleteFrom('outbox').where('email_id', 'in', ids).execute()
    const base = { recipient: null, occurredAt: at, source: 'smtp' as const }
    await recordEvents(
      tx,
      ids.map(emailId => ({ ...base, emailId, type: 'sent' as const })),
      at,
    )
    await recordEvents(
      tx,
      ids.flatMap((emailId, i) => {
        const became = all[i] ?? 'sent'
        const bounce = {
          type: became === 'soft' ? ('transient' as const) : ('permanent' as const),
          scope: became === 'policy' ? ('infrastructure' as const) : ('recipient' as const),
          suppressed: false,
        }
        if (became === 'sent') return []
        if (became === 'delivered' || became === 'complained') return { ...base, emailId, type: became }
        return { ...base, emailId, type: 'bounced' as const, bounce }
      }),
      at,
    )
  })
}

const isPaused = async (from = shop) => (await pauseBrandsOverLimits(pausing)).includes(from.brandId)

async function trySend(from = shop) {
  const sending = openSending({
    db: database.db,
    blobs,
    clock,
    provider: 'sandbox',
    publicUrl: 'http://127.0.0.1',
    wake: () => undefined,
  })
  const fields = { from: `hello@${from.domain}`, to: 'bob@b.example', subject: 'Hello', text: 'Hello' }
  const sender = { organizationId: from.organizationId, brandId: null, keyId: null }
  try {
    return await send({ sender, fields }, sending)
  } finally {
    await sending.renderer.close()
  }
}

const brand = async (...args: string[]) => {
  const { status, out } = await runCommand(['brand', ...args, '--json'], { MAILROOM_DATABASE_URL: database.url })
  return status === 0 ? JSON.parse(out) : status
}

describe('a brand is paused', () => {
  test('above the bounce rate, with the rate as the reason; others go on', async () => {
    const other = await createSendingDomain(database.db, clock.now(), `other${shops}.test`)
    await emails({ sent: 18, bounced: 3 })
    await emails({ sent: 30 }, other)
    expect(await isPaused()).toBe(true)
    expect(await isPaused()).toBe(false)
    await expect(trySend()).rejects.toMatchObject({
      code: 'from_not_allowed',
      detail: {
        param: 'from',
        reason: '3 of 21 emails of at most 24 hours bounced, 14.29 %; at most 10 % may.',
      },
    })
    expect(await trySend(other)).toMatchObject({ status: 'queued' })
  })

  test('above the complaint rate', async () => {
    await emails({ delivered: 99, complained: 2 })
    expect(await isPaused()).toBe(true)
  })
})

describe('a brand goes on', () => {
  test('at the rate, and below the least number of emails', async () => {
    await emails({ sent: 18, bounced: 2 })
    const small = await createSendingDomain(database.db, clock.now(), `small${shops}.test`)
    await emails({ bounced: 19 }, small)
    expect([await isPaused(), await isPaused(small)]).toEqual([false, false])
  })

  test('when the bounces were not about recipients, or not permanent', async () => {
    await emails({ sent: 10, policy: 10, soft: 10 })
    expect(await isPaused()).toBe(false)
  })

  test('once the bounces are older than the window', async () => {
    await emails({ sent: 10, bounced: 20 })
    clock.forward(25 * 3_600_000)
    await emails({ sent: 30 })
    expect(await isPaused()).toBe(false)
  })

  test('when no rate is set', async () => {
    await emails({ bounced: 30 })
    const never = { ...pausing.limits, bouncePercent: 0, complaintPercent: 0 }
    expect(await pauseBrandsOverLimits({ ...pausing, limits: never })).toEqual([])
  })
})

test('an accepted email of a paused brand waits, gets one event, and is sent when the brand is resumed', async () => {
  await emails({ sent: 10, bounced: 20 })
  const soon = plusMs(clock.now(), 1000)
  const ids = await insertAcceptedEmails(database.db, blobs, shop, clock.now(), [{}, { scheduledAt: soon }])
  expect(await isPaused()).toBe(true)
  const submitted: string[] = []
  const provider = sandboxProvider({ store: async email => void submitted.push(JSON.stringify(email)) })
  clock.forward(2000)
  const relay = startRelay({
    db: database.db,
    blobs,
    provider,
    signingKeys,
    clock,
    log,
    attemptMs: 5000,
    retryFirstMs: 50,
  })
  const statuses = async () =>
    (await database.db.selectFrom('emails').select('status').where('id', 'in', ids).execute()).map(row => row.status)
  const untilAll = (status: string) =>
    until(async () => (await statuses()).every(current => current === status), { what: `${status}`, details: statuses })
  const again = async () => {
    clock.forward(121_000)
    relay.wake()
  }
  try {
    await untilAll('delayed')
    await again()
    const outbox = () => database.db.selectFrom('outbox').select('due_at').where('email_id', 'in', ids).execute()
    await until(async () => (await outbox()).every(row => row.due_at > plusMs(clock.now(), 60_000)), {
      what: 'both are postponed again',
    })
    const events = database.db
      .selectFrom('email_events')
      .select(['type', 'detail', 'source'])
      .where('email_id', 'in', ids)
    expect(await events.execute()).toEqual(
      ids.map(() => ({ type: 'delayed', detail: 'Sending of the brand is paused.', source: 'api' })),
    )
    expect(submitted).toEqual([])

    expect(await brand('paused')).toContainEqual({
      id: shop.brandId,
      organization_id: shop.organizationId,
      name: 'Shop',
      paused_at: expect.stringMatching(/Z$/),
      reason: expect.stringContaining('20 of 30 emails'),
    })
    expect(await brand('resume', shop.brandId)).toEqual({ id: shop.brandId, resumed: true })
    // The command's clock is behind the test's; so that earlier bounces are not counted any more:
    await database.db.updateTable('brand_pauses').set({ counted_from: clock.now() }).execute()
    await again()
    await untilAll('sent')
    expect(submitted).toHaveLength(2)
  } finally {
    await relay.stop()
    await provider.close()
  }
  expect(await isPaused()).toBe(false)
  expect(await trySend()).toMatchObject({ status: 'queued' })
  expect(await brand('resume', shop.brandId)).toEqual({ id: shop.brandId, resumed: false })
  await emails({ sent: 10, bounced: 20 })
  expect(await isPaused()).toBe(true)
}, 60_000)

test('no other brand is resumed', async () => {
  expect(await brand('resume', 'brd_00000000000000000000000000' satisfies Id<'brd'>)).toBe(1)
  expect(await brand('resume', 'shop')).toBe(2)
})
