import { afterAll, beforeAll, expect, test } from 'bun:test'
import { inTransaction } from '../../../src/base/database/database.ts'
import { newId } from '../../../src/base/ids.ts'
import { joinThreads, type ThreadEntry } from '../../../src/sending/threads/threads.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase(12)
})
afterAll(() => database.close())

const brandId = newId('brd')

function received(messageId: string | null, ...references: string[]): ThreadEntry {
  return { brandId, itemId: newId('msg'), messageId, references, emailId: null }
}

function sent(messageId: string, ...references: string[]): ThreadEntry & { readonly emailId: `eml_${string}` } {
  const emailId = newId('eml')
  return { brandId, itemId: emailId, messageId, references, emailId }
}

async function join(...entries: ThreadEntry[]) {
  return inTransaction(database.db, db => joinThreads(db, entries))
}

test('begins a thread with the first item, and joins the replies to it', async () => {
  const email = sent('one@a.example')
  const answer = received('two@b.example', 'one@a.example')
  expect(await join(email)).toEqual([{ threadId: email.itemId, inReplyToEmailId: null }])
  expect(await join(answer)).toEqual([{ threadId: email.itemId, inReplyToEmailId: email.emailId }])
  const further = received('three@c.example', 'two@b.example', 'unseen@x.example')
  expect(await join(further)).toEqual([{ threadId: email.itemId, inReplyToEmailId: null }])
  expect((await join(received('four@c.example', 'unseen@x.example')))[0]?.threadId).toBe(email.itemId)
})

test('joins what comes in the wrong order', async () => {
  const late = received('late@b.example', 'early@b.example')
  await join(late)
  expect((await join(received('early@b.example')))[0]?.threadId).toBe(late.itemId)
})

test('lets the nearest reference decide', async () => {
  const [near, far] = [sent('near@a.example'), sent('far@a.example')]
  await join(near, far)
  expect(await join(received('r@b.example', 'near@a.example', 'far@a.example'))).toEqual([
    { threadId: near.itemId, inReplyToEmailId: near.emailId },
  ])
})

test('keeps the brands apart', async () => {
  const email = sent('brand@a.example')
  await join(email)
  const elsewhere = { ...received('x@b.example', 'brand@a.example'), brandId: newId('brd') }
  expect(await join(elsewhere)).toEqual([{ threadId: elsewhere.itemId, inReplyToEmailId: null }])
})

test('joins the items of one call to those before them', async () => {
  const first = received('c1@b.example')
  const same = received('c1@b.example')
  const answer = sent('c2@a.example', 'c1@b.example')
  const none = received(null)
  expect((await join(first, same, answer, none)).map(joinedThread => joinedThread.threadId)).toEqual([
    first.itemId,
    first.itemId,
    first.itemId,
    none.itemId,
  ])
})

test('ends in one thread when many begin it at once', async () => {
  for (let round = 0; round < 5; round++) {
    const root = `root${round}@x.example`
    const entries = Array.from({ length: 10 }, (_, i) => received(`m${round}.${i}@b.example`, root))
    const joined = await Promise.all(
      entries.map(entry => join(entry, received(`n-${entry.messageId}`, entry.messageId ?? ''))),
    )
    expect(new Set(joined.flat().map(joinedThread => joinedThread.threadId)).size).toBe(1)
    const again = await join(...entries)
    expect(new Set([...again, ...joined.flat()].map(joinedThread => joinedThread.threadId)).size).toBe(1)
  }
})
