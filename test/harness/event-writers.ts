import { sql } from 'kysely'
import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { inTransaction, openDatabase } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { appendEvents, type NewEvent } from '../../src/events/append-events.ts'
import { startSequencer } from '../../src/events/sequencer.ts'

/**
 * Writes events and numbers them, until it is killed: `event-writers.ts <database URL> <organization> <writers> <emails> <transactions a
 * second>`. Each transaction counts an email's row up, which it locks, writes an event with each number, and often waits before it
 * commits. The table `counted (email, n)` is the caller's.
 */
const [databaseUrl = '', organizationId = '', writers = '4', emails = '20', rate = '100'] = process.argv.slice(2)
const database = openDatabase(databaseUrl, Number(writers) + 2)
const { db } = database
startSequencer({ db, log: pino({ level: 'error' }, process.stderr), onNumbered: () => undefined })

async function writeSome(): Promise<void> {
  const email = Math.floor(Math.random() * Number(emails))
  const count = 1 + Math.floor(Math.random() * 3)
  await inTransaction(db, async tx => {
    await sql`UPDATE counted SET n = n + ${sql.lit(count)} WHERE email = ${sql.lit(email)}`.execute(tx)
    const { rows } = await sql<{ n: number }>`SELECT n FROM counted WHERE email = ${sql.lit(email)}`.execute(tx)
    const last = Number(rows[0]?.n)
    const delayMs = Math.random() < 0.3 ? Math.random() * 120 : Math.random() * 5
    const at = Date.now() + delayMs
    await appendEvents(
      tx,
      Array.from({ length: count }, (_, i): NewEvent => {
        const data = { email, n: last - count + 1 + i, at }
        const key = { organizationId: organizationId as Id<'org'>, brandId: null }
        return { ...key, type: 'email.sent', occurredAt: systemClock.now(), data }
      }),
    )
    await Bun.sleep(delayMs)
  })
}

async function write(): Promise<void> {
  const everyMs = (1000 * Number(writers)) / Number(rate)
  for (let next = performance.now() + Math.random() * everyMs; ; next += everyMs) {
    await Bun.sleep(Math.max(0, next - performance.now()))
    await writeSome()
  }
}

process.stdout.write('writing\n')
await Promise.all(Array.from({ length: Number(writers) }, write))
