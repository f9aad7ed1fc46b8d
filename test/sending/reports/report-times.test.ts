import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instant, plusMs, systemClock } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { selectEmailEvents } from '../../../src/sending/emails/table.ts'
import { recordEvents } from '../../../src/sending/events/events.ts'
import { recordReports } from '../../../src/sending/reports/reports.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase(2)
})
afterAll(() => database.close())

const at = (time: string) => `2026-03-01 ${time}` as Instant
const acceptedAt = at('12:00:00.200000')
const sentAt = at('12:00:05.700000')
const readAt = at('12:30:00.000000')

/** When a bounce that says it happened at `reported` counts as having happened, and what is listed before it. */
async function recorded(reported: Instant, { isSent = true, source = 'dsn' as 'dsn' | 'api' } = {}) {
  const { db } = database
  const sender = await createSendingDomain(db, acceptedAt)
  const [emailId] = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), sender, acceptedAt, [
    { to: ['a@x.test'] },
  ])
  if (!emailId) throw new Error('nothing was accepted')
  const about = {
    ...{ emailId, recipient: 'a@x.test', smtpCode: null, enhancedCode: null, detail: null, extra: {} },
    ...{ bounce: null, repeatKey: null },
  }
  await inTransaction(db, async tx => {
    if (isSent) await recordEvents(tx, [{ ...about, type: 'sent', source: 'api', occurredAt: sentAt }], sentAt)
    await recordReports(
      tx,
      [{ event: { ...about, type: 'bounced', source, occurredAt: reported }, bounce: null }],
      readAt,
    )
  })
  const events = await selectEmailEvents(db, emailId)
  return events.map(event => [event.type, event.occurred_at])
}

test('a report in whole seconds from the second in which the provider took the email comes after that', async () => {
  expect(await recorded(at('12:00:05.000000'))).toEqual([
    ['sent', sentAt],
    ['bounced', sentAt],
  ])
})

test('a report counts as of when it says, unless that is before the acceptance or in the future', async () => {
  const later = at('12:00:06.000000')
  expect((await recorded(later))[1]).toEqual(['bounced', later])
  for (const wrong of [at('11:59:59.000000'), plusMs(readAt, 1000)])
    expect((await recorded(wrong))[1]).toEqual(['bounced', readAt])
})

test('a report on an email of which it is not known that the provider took it, from the second of its acceptance', async () => {
  expect(await recorded(at('12:00:00.000000'), { isSent: false })).toEqual([['bounced', acceptedAt]])
})

test('what our own clock says is not changed', async () => {
  const before = at('12:00:03.000000')
  expect(await recorded(before, { source: 'api' })).toEqual([
    ['bounced', before],
    ['sent', sentAt],
  ])
})
