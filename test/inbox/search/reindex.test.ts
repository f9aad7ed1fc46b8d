import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import * as migration from '../../../src/base/database/migrations/0017-search-reindex.ts'
import type { Id } from '../../../src/base/ids.ts'
import { openLog } from '../../../src/base/observability/log.ts'
import { buildSegments } from '../../../src/inbox/search/build-segments.ts'
import { indexRound } from '../../../src/inbox/search/indexer.ts'
import { buildPostings, readPostings } from '../../../src/inbox/search/segment.ts'
import { insertSegment } from '../../../src/inbox/search/table.ts'
import { toSearchText } from '../../../src/inbox/search/tokenizer.ts'
import { openTextWorker, type TextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain
const texts = openTextWorker()

beforeAll(async () => {
  inbox = await openTestInbox()
})
beforeEach(async () => {
  us = await inbox.createReceivingDomain()
})
afterAll(async () => {
  await inbox.close()
  texts.close()
})

const database = () => inbox.server.database.db
const deps = () => ({ db: database(), blobs: mysqlBlobs(database(), systemClock), texts, log: openLog('silent') })

/** As migrate does on a database of the version before, where messages are indexed. */
const upgrade = () => migration.up(database() as never)

async function search(query: string): Promise<readonly string[]> {
  const { status, json } = await inbox.server.call('GET', `/v1/inbox/search?q=${encodeURIComponent(query)}`, {})
  expect(status).toBe(200)
  return json.data.map((item: { id: string }) => item.id)
}

/** A message whose words are as the version before made them of its HTML. */
async function indexedBefore(html: string): Promise<{ readonly id: Id<'msg'>; readonly organizationId: Id<'org'> }> {
  const id = await inbox.deliver(messageOf(['Content-Type: text/html'], html), `hello@${us.domain}`)
  while ((await indexRound(deps())) === 'more');
  const words = toSearchText(html.replace(/<[^>]*>/g, ' '))
  const { organization_id } = await database()
    .selectFrom('search_texts')
    .select('organization_id')
    .where('message_id', '=', id)
    .executeTakeFirstOrThrow()
  await database()
    .updateTable('search_texts')
    .set({ words, bytes: words.length })
    .where('message_id', '=', id)
    .execute()
  return { id, organizationId: organization_id }
}

test('finds a message by its letters that was indexed with undecoded entities', async () => {
  const { id } = await indexedBefore('<p>Gr&uuml;&szlig;e aus M&uuml;nchen</p>')
  expect([await search('München'), await search('nchen')]).toEqual([[], [id]])
  await upgrade()
  await indexRound(deps())
  expect([await search('München'), await search('Grüsse'), await search('nchen')]).toEqual([[id], [id], []])
})

test('takes such a message out of its segment, and deletes the posting lists of an empty segment', async () => {
  const { id, organizationId } = await indexedBefore('<p>Gr&ouml;&szlig;e in K&ouml;ln</p>')
  const words = toSearchText('Gr&ouml;&szlig;e in K&ouml;ln')
  await database()
    .transaction()
    .execute(tx => insertSegment(tx, organizationId, 0, [id], readPostings(buildPostings(words))))
  expect(await search('szlig')).toContain(id)
  await upgrade()
  await indexRound(deps())
  expect([await search('Köln'), await search('szlig')]).toEqual([[id], []])
  const { postings } = await database()
    .selectFrom('search_postings')
    .select(({ fn }) => fn.countAll<number>().as('postings'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  expect(Number(postings)).toBe(0)
})

test('does not insert a segment that was built of words that have changed meanwhile', async () => {
  const { id, organizationId } = await indexedBefore('<p>Sm&oslash;rrebr&oslash;d</p>')
  const manyBytes = 5 * 1024 * 1024
  await database().updateTable('search_texts').set({ bytes: manyBytes }).where('message_id', '=', id).execute()
  await upgrade()
  const slowTexts = {
    ...texts,
    run: async (_name: string, words: string) => {
      const postings = await texts.run('buildPostings', words)
      await indexRound(deps())
      return postings
    },
  } as TextWorker
  expect(await buildSegments({ db: database(), texts: slowTexts }, [organizationId])).toEqual([])
  expect(await search('smørrebrød')).toEqual([id])
})

test('leaves the words of a message whose bytes retention has deleted', async () => {
  const { id } = await indexedBefore('<p>Caf&eacute; removed</p>')
  await database().updateTable('messages').set({ raw_purged_at: systemClock.now() }).where('id', '=', id).execute()
  await upgrade()
  await indexRound(deps())
  expect([await search('"eacute removed"'), await search('café')]).toEqual([[id], []])
})

test('looks through all texts once', async () => {
  await indexedBefore('<p>na&iuml;ve</p>')
  await upgrade()
  const cursors = () => database().selectFrom('search_reindex').selectAll().execute()
  expect(await cursors()).toEqual([{ name: 'html_entities', position: '' }])
  await indexRound(deps())
  expect(await cursors()).toEqual([])
})
