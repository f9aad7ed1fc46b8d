import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/ids.ts'
import { openLog } from '../../../src/base/observability/log.ts'
import { buildSegments } from '../../../src/inbox/search/build-segments.ts'
import { indexBatch } from '../../../src/inbox/search/indexer.ts'
import { segmentSize } from '../../../src/inbox/search/segment.ts'
import { openSegmentRounds } from '../../../src/inbox/search/segment-round.ts'
import { insertSearchTexts } from '../../../src/inbox/search/table.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { messageOf, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain
const texts = openTextWorker()

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(async () => {
  await inbox.close()
  texts.close()
})

const database = () => inbox.server.database.db
const deps = () => ({ db: database(), blobs: mysqlBlobs(database(), systemClock), texts, log: openLog('silent') })

type MessageId = Awaited<ReturnType<TestInbox['deliver']>>

async function stateOf(id: MessageId) {
  const message = await database()
    .selectFrom('messages')
    .select('indexed')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const text = await database()
    .selectFrom('search_texts')
    .select(['words', 'bytes', 'place'])
    .where('message_id', '=', id)
    .executeTakeFirst()
  return { ...message, text }
}

const sorted = (words: string | undefined) => words?.trim().split(' ').toSorted()

/** The words that the job makes of the stored bytes. */
async function wordsOfJob(id: MessageId): Promise<string | undefined> {
  await database().deleteFrom('search_texts').where('message_id', '=', id).execute()
  await database().updateTable('messages').set({ indexed: 0 }).where('id', '=', id).execute()
  while ((await indexBatch(deps())) > 0);
  return (await stateOf(id)).text?.words
}

const html = (body: string) => `<html><head><style>p{color:red}</style></head><body>${body}</body></html>`
const messages = {
  'plain text': messageOf(
    ['Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=', 'To: Bob <bob@shop.example>', 'Cc: Carla <carla@x.example>'],
    'The big red car.\r\n',
  ),
  'HTML alone': messageOf(
    ['Content-Type: text/html'],
    html('<p>Caf&eacute; <b>cr&egrave;me</b></p><script>no()</script>'),
  ),
  'a note beside HTML': multipart([
    { contentType: 'text/plain', bytes: 'See the HTML.' },
    { contentType: 'text/html', bytes: html(`<p>${'The offer of this week is a bicycle. '.repeat(20)}</p>`) },
  ]),
  attachments: multipart([
    { bytes: 'Hello' },
    {
      disposition: "attachment; filename*=UTF-8''Jahresbericht%202026.pdf",
      bytes: 'the text of a file is not searched',
    },
  ]),
  'scripts without spaces': messageOf(['Content-Type: text/plain; charset=utf-8'], '東京都に行く 欢迎光临 สวัสดีครับ\r\n'),
  'no text': messageOf([], ''),
  'a text of 60 KB': messageOf([], 'So many words, '.repeat(4000)),
  'HTML of 60 KB': messageOf(['Content-Type: text/html'], '<p>So many words</p>\r\n'.repeat(2600)),
  'a header alone': Buffer.from('From: a@x.test\r\nSubject: Alone\r\n\r\n'),
}

test.each(Object.entries(messages))(
  'the words of %s are stored with it, and are those that the job makes',
  async (_, bytes) => {
    const id = await inbox.deliver(bytes, `hello@${us.domain}`)
    const { indexed, text } = await stateOf(id)
    expect(indexed).toBe(1)
    expect(text).toMatchObject({ bytes: text?.words.length ?? 0, place: null })
    expect(text?.words).toMatch(/^ (?:\S+ )+$/)
    expect(sorted(text?.words)).toEqual(sorted(await wordsOfJob(id)))
  },
)

test('each address of a message finds its own', async () => {
  await inbox.deliver(messageOf([], 'Together\r\n'), [`hello@${us.domain}`, `hello+tag@${us.domain}`])
  const { json } = await inbox.server.call('GET', '/v1/inbox/search?q=tag+together', {})
  expect(json.data).toHaveLength(1)
})

test('a text of more than 256 KiB is left to the job', async () => {
  const long = await inbox.deliver(messageOf([], `${'word '.repeat(60_000)}unicorn\r\n`), `hello@${us.domain}`)
  expect(await stateOf(long)).toEqual({ indexed: 0, text: undefined })
  while ((await indexBatch(deps())) > 0);
  const { indexed, text } = await stateOf(long)
  expect([indexed, text?.words.includes(' 0unicorn ')]).toEqual([1, true])
})

test('more words than a statement takes go into several', async () => {
  const organizationId = newId('org')
  const words = ` ${'0word '.repeat(40_000)}`
  const rows = Array.from({ length: 90 }, () => ({
    message_id: newId('msg'),
    organization_id: organizationId,
    brand_id: newId('brd'),
    words,
  }))
  await insertSearchTexts(database(), rows)
  const { count } = await database()
    .selectFrom('search_texts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  expect(Number(count)).toBe(90)
})

test('segments are built of messages that were there before, and of those that come, until none is due', async () => {
  const placesOf = async (organizationId: string) => {
    const { count } = await database()
      .selectFrom('search_texts')
      .select(({ fn }) => fn.count<number>('place').as('count'))
      .where('organization_id', '=', organizationId as ReturnType<typeof newId<'org'>>)
      .executeTakeFirstOrThrow()
    return Number(count)
  }
  const fill = async (organizationId: ReturnType<typeof newId<'org'>>, count: number) => {
    const brand_id = newId('brd')
    const rows = Array.from({ length: count }, () => ({
      message_id: newId('msg'),
      organization_id: organizationId,
      brand_id,
      words: ' 0word ',
    }))
    await insertSearchTexts(database(), rows)
  }
  const [before, later] = [newId('org'), newId('org')]
  await fill(before, 2 * segmentSize + 5)
  await fill(later, segmentSize - 1)
  const round = openSegmentRounds({ db: database(), texts })
  while ((await round()) === 'more');
  expect([await placesOf(before), await placesOf(later)]).toEqual([2 * segmentSize, 0])
  await fill(later, 2)
  while ((await round()) === 'more');
  expect([await placesOf(before), await placesOf(later)]).toEqual([2 * segmentSize, segmentSize])
})

test('a segment takes no more words than memory allows, however many messages wait', async () => {
  const organization_id = newId('org')
  const words = ` ${'0word '.repeat(150_000)}`
  const rows = Array.from({ length: 12 }, () => ({
    message_id: newId('msg'),
    organization_id,
    brand_id: newId('brd'),
    words,
  }))
  await insertSearchTexts(database(), rows)
  expect(await buildSegments({ db: database(), texts }, [organization_id])).toEqual([organization_id])
  const placed = await database()
    .selectFrom('search_texts')
    .select('message_id')
    .where('organization_id', '=', organization_id)
    .where('place', 'is not', null)
    .orderBy('message_id')
    .execute()
  expect(placed.map(row => row.message_id)).toEqual(
    rows
      .map(row => row.message_id)
      .toSorted()
      .slice(0, 5),
  )
})
