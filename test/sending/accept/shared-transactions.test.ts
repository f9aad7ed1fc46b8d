import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { openSending } from '../../../src/sending/accept/open-sending.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { makeOrganization } from '../fixtures.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase(16)
})
afterAll(() => database.close())

test('clients that send one email after the other share their transactions', async () => {
  const { db } = database
  const { sender } = await makeOrganization(db)
  const blobs = mysqlBlobs(db, systemClock)
  const transactions: number[] = []
  const deps = openSending({
    db,
    blobs: {
      ...blobs,
      storeWithin(tx, items) {
        transactions.push(items.length)
        return blobs.storeWithin(tx, items)
      },
    },
    clock: systemClock,
    provider: 'sandbox',
    publicUrl: 'https://mail.acme.example',
    wake: () => undefined,
  })
  const clients = 16
  const emails = 10
  async function sendInTurn(client: number): Promise<void> {
    for (let i = 0; i < emails; i++) {
      const fields = { from: 'ann@acme.example', to: `c${client}@c.example`, subject: `${i}`, text: 'Hello' }
      await send({ sender, fields }, deps)
      // The response leaves, and the next request comes.
      await new Promise(setImmediate)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => sendInTurn(client)))
  expect(transactions.reduce((sum, size) => sum + size, 0)).toBe(clients * emails)
  // In halves it would be two for each email of a client.
  expect(transactions.length).toBeLessThan(emails * 1.5)
})
