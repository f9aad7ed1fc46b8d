import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { acceptedInMonth } from '../../src/accounts/organizations/quota.ts'
import { systemClock } from '../../src/base/clock.ts'
import { amount } from '../harness/amount.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { until } from '../harness/until.ts'

const kills = amount({ short: 2, long: 4 })
const clients = 16
const acceptedBetweenKills = 60

let mailroom: Mailroom
beforeAll(async () => {
  mailroom = await startMailroom()
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

test(`counts exactly what it accepted, killed ${kills} times while it accepts`, async () => {
  const { db } = mailroom.database
  const { organization_id } = await db.selectFrom('domains').select('organization_id').executeTakeFirstOrThrow()
  const countEmails = async () =>
    (await db.selectFrom('emails').select('id').where('organization_id', '=', organization_id).execute()).length
  let acknowledged = 0
  let isOver = false
  const sending = Array.from({ length: clients }, async (_, i) => {
    while (!isOver) {
      const email = { from: 'hello@demo.test', to: `r${i}@friend.test`, subject: 'Count me', text: 'Once.' }
      const answer = await mailroom.api('POST', '/v1/emails', email).catch(() => undefined)
      if (answer?.status === 202) acknowledged++
      else await Bun.sleep(20)
    }
  })
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const enough = acknowledged + acceptedBetweenKills
      await until(() => acknowledged >= enough)
      await killWhileAccepting()
      await mailroom.restart()
    }
  } finally {
    isOver = true
    await Promise.all(sending)
  }
  await untilIdle()
  const emails = await countEmails()
  expect(emails).toBeGreaterThanOrEqual(acknowledged)
  expect(await acceptedInMonth(db, organization_id, systemClock.now())).toBe(emails)
  process.stdout.write(`acknowledged ${acknowledged}, accepted and counted ${emails}\n`)
}, 120_000)

/** Kills it after it has counted, while it is blocked in the rest of the same transaction. */
async function killWhileAccepting(): Promise<void> {
  await mailroom.database.db.connection().execute(async db => {
    await sql.raw('LOCK TABLES email_events WRITE').execute(db)
    try {
      await until(async () => (await statementsUnderWay('INSERT INTO email_events')) > 0, {
        what: 'a send waits for the table',
      })
      await mailroom.kill('SIGKILL')
    } finally {
      await sql.raw('UNLOCK TABLES').execute(db)
    }
  })
}

/** The database rolls back the transactions of a dead process when it notices that the connection is gone. */
async function untilIdle(): Promise<void> {
  await until(async () => (await statementsUnderWay('INSERT')) === 0, { what: 'no send is under way' })
}

/** How many connections to this database run a statement that begins so. */
async function statementsUnderWay(beginning: string): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM information_schema.processlist
    WHERE db = DATABASE() AND command <> 'Sleep' AND info LIKE ${`${beginning}%`}`.execute(mailroom.database.db)
  return Number(rows[0]?.count)
}
