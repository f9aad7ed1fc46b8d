import { afterAll, beforeAll, expect, test } from 'bun:test'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { claimDueRows } from '../../../src/sending/relay/claim-table.ts'
import { endBeforeSubmission } from '../../../src/sending/relay/outcome.ts'
import { newSettlementWriter } from '../../../src/sending/relay/settlement.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

test('what the operator releases while a relay puts it back is due at once, and what is still held is not', async () => {
  const { db } = database
  const from = await createSendingDomain(db, systemClock.now())
  const emails = [{ to: ['released@x.test'] }, { to: ['held@x.test'] }]
  await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), from, systemClock.now(), ...[emails])
  await db.updateTable('outbox').set({ held_at: systemClock.now() }).execute()
  const now = plusMs(systemClock.now(), 1000)
  const { recipients } = await claimDueRows(
    db,
    {
      ...{ maxRows: 10, now, leaseMs: 30_000, expiredOnly: false, isBacklog: false },
      ...{ roomOf: () => 10, isInHand: () => false },
    },
    async () => [],
  )
  expect(recipients).toHaveLength(2)
  const released = recipients.find(({ recipient }) => recipient === 'released@x.test')
  if (!released) throw new Error('it was not claimed')
  await db.updateTable('outbox').set({ held_at: null }).where('id', '=', released.id).execute()
  const write = newSettlementWriter(db, systemClock)
  for (const claimed of recipients) {
    const next = endBeforeSubmission(claimed, false, now)
    if (!next) throw new Error('it would be submitted')
    expect(await write({ claimed, next, isOutcome: false })).toBe('written')
  }
  const rows = await db.selectFrom('outbox').select(['id', 'lease', 'due_at', 'expires_at']).execute()
  for (const row of rows)
    expect(row).toEqual({ ...row, lease: null, due_at: row.id === released.id ? now : row.expires_at })
})
