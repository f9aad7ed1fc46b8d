import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../src/base/database/database.ts'
import { insertNewReferences } from '../../src/sending/threads/table.ts'
import { referenceOf } from '../../src/sending/threads/threads.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { countWaitingForLock } from '../harness/lock-wait.ts'
import { until } from '../harness/until.ts'
import { inboundPipeline, inMemory, mailTo, message, messagesOf, type Receiver, receiver } from './fixtures.ts'

// Two pipelines on one database, as in two processes: their transactions file into one mailbox at the same time.

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.close())

async function twoPipelines() {
  const ours = await receiver(database)
  await ours.mailbox('hello')
  const [one, two] = [inboundPipeline(ours), inboundPipeline(ours)]
  const recipient = await one.findRecipient(`hello@${ours.domain}`)
  const file = (pipeline: typeof one, raw: string, mailFrom = 'bounce@x.test') =>
    pipeline.receive(mailTo([recipient], inMemory(raw), { mailFrom }))
  return { ours, one, two, recipient, file }
}

const date = 'Date: Tue, 1 Jul 2025 10:00:00 +0200'
const messageId = 'at-once@x.test'

/** Of both tests below: the same Message-ID, so that a lock on it stops a transaction after it has stored the bytes. */
const raw = ['From: a@x.test', date, `Message-ID: <${messageId}>`, '', 'Hello.'].join('\r\n')

/** Runs `work` while whoever files a message with this Message-ID waits in the middle of its transaction. */
async function whileMessageIdIsLocked(ours: Receiver, work: (db: Db) => Promise<unknown>): Promise<void> {
  const reference = { brandId: ours.brandId, reference: referenceOf(messageId), threadId: 'test', emailId: null }
  await inTransaction(database.db, async tx => {
    const isNew = (await insertNewReferences(tx, [reference])) > 0
    if (!isNew) await sql`SELECT 1 FROM thread_references WHERE brand_id = ${ours.brandId} FOR UPDATE`.execute(tx)
    await work(tx)
    if (isNew) await sql`DELETE FROM thread_references WHERE brand_id = ${ours.brandId}`.execute(tx)
  })
}

const waiting = (db: Db, count: number, table: string) =>
  until(async () => (await countWaitingForLock(db, table)) === count, { what: `${count} wait for ${table}` })

test('a message is filed while another transaction files into the same mailbox', async () => {
  const { ours, one, two, file } = await twoPipelines()
  let waited: Promise<unknown> | undefined
  await whileMessageIdIsLocked(ours, async db => {
    waited = file(one, raw)
    await waiting(db, 1, 'thread_references')
    await file(two, message())
    expect(await messagesOf(ours)).toHaveLength(1)
  })
  await waited
  expect(await messagesOf(ours)).toHaveLength(2)
})

describe('the same message in two transactions at once is filed once', () => {
  test('where its bytes are new', async () => {
    const { ours, one, two, file } = await twoPipelines()
    const filed: Promise<unknown>[] = []
    await whileMessageIdIsLocked(ours, async db => {
      filed.push(file(one, raw))
      await waiting(db, 1, 'thread_references')
      filed.push(file(two, raw))
      await waiting(db, 1, 'blobs')
    })
    const [first, second] = await Promise.all(filed)
    expect(await messagesOf(ours)).toHaveLength(1)
    expect(second).toEqual(first)
  })

  test('where its bytes have come before, from another sender', async () => {
    const { ours, one, two, file } = await twoPipelines()
    await file(one, raw, 'other@x.test')
    const filed: Promise<unknown>[] = []
    await whileMessageIdIsLocked(ours, async db => {
      filed.push(file(one, raw), file(two, raw))
      await waiting(db, 2, 'thread_references')
    })
    const [first, second] = await Promise.all(filed)
    expect(await messagesOf(ours)).toHaveLength(2)
    expect(second).toEqual(first)
  })

  test('where it is large', async () => {
    const { ours, one, two, file } = await twoPipelines()
    const large = raw + '\r\n0123456789'.repeat(20_000)
    const filed: Promise<unknown>[] = []
    await whileMessageIdIsLocked(ours, async db => {
      filed.push(file(one, large))
      await waiting(db, 1, 'thread_references')
      filed.push(file(two, large))
      await waiting(db, 1, 'mailboxes')
    })
    const [first, second] = await Promise.all(filed)
    expect(await messagesOf(ours)).toHaveLength(1)
    expect(second).toEqual(first)
  })
})
