import { afterAll, beforeAll, expect, test } from 'bun:test'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import type { EmailStatus } from '../../../src/base/database/schema.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { countUnsent } from '../../../src/sending/accept/table.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

/** An email of a new domain to two recipients, of whom the first `done` are no longer in the outbox; gives the domain. */
async function domainWith({ status, done }: { readonly status: EmailStatus; readonly done: number }) {
  const { db } = database
  const now = systemClock.now()
  const sender = await createSendingDomain(db, now)
  const scheduledAt = status === 'scheduled' ? { scheduledAt: plusMs(now, 60_000) } : {}
  const emails = [{ to: ['a@x.test', 'b@y.test'], ...scheduledAt }]
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), sender, now, emails)
  if (!id) throw new Error('nothing was accepted')
  await db.updateTable('emails').set({ status }).where('id', '=', id).execute()
  await db.deleteFrom('outbox').where('email_id', '=', id).where('position', '<', done).execute()
  return sender.domainId
}

test.each([
  ['scheduled', 0, 1],
  ['queued', 0, 1],
  ['queued', 1, 1],
  ['delayed', 1, 1],
  ['bounced', 1, 1],
  ['failed', 1, 1],
  ['rejected', 1, 1],
  ['sent', 2, 0],
  ['bounced', 2, 0],
  // Its recipients' servers reported the delay, after it was sent.
  ['delayed', 2, 0],
] as const)('an email that is %s, with %d of 2 recipients done: %d to be sent', async (status, done, count) => {
  expect(await countUnsent(database.db, await domainWith({ status, done }))).toBe(count)
})
