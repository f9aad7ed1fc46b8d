import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { openLog } from '../../../src/base/observability/log.ts'
import { indexBatch } from '../../../src/inbox/search/indexer.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { messageOf, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { until } from '../../harness/until.ts'

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

/** Indexes all messages. */
async function index(): Promise<void> {
  const { db } = inbox.server.database
  const deps = { db, blobs: mysqlBlobs(db, systemClock), texts, log: openLog('silent') }
  while ((await indexBatch(deps)) > 0);
}

const query = (q: string, more = '', key?: string) =>
  inbox.server.call('GET', `/v1/inbox/search?q=${encodeURIComponent(q)}${more}`, key === undefined ? {} : { key })

async function search(q: string, more = '', key?: string): Promise<string[]> {
  const { status, json } = await query(q, more, key)
  expect([q, status]).toEqual([q, 200])
  return json.data.map((item: { id: string }) => item.id)
}

const deliver = (message: Buffer, to = `hello@${us.domain}`) => inbox.deliver(message, to)
const plain = (body: string, ...fields: readonly string[]) =>
  messageOf([...fields, 'Content-Type: text/plain; charset=utf-8'], body)

describe('finds', () => {
  let id: string
  beforeAll(async () => {
    const message = multipart(
      [
        {
          bytes:
            'The big red car is at home, it is ÉLÉGANT. Straße 東京都に行く 欢迎光临 สวัสดีครับ 안녕하세요 हिन्दी מָלוֹן it’s x1',
        },
        { disposition: "attachment; filename*=UTF-8''Jahresbericht%202026.pdf", bytes: 'x' },
      ],
      ['Subject: =?utf-8?q?Unser_Angebot_f=C3=BCr_Sie?=', 'To: Bob Builder <bob@shop.example>', 'Cc: carla@x.example'],
    )
    id = await deliver(message)
    await deliver(plain('Something else, which is always here: a car, red.'))
    await index()
  })

  test.each([
    ['a word', 'elegant'],
    ['a word in any case', 'HOME'],
    ['without accents', 'elegant fur'],
    ['with accents', 'ÉlÉgant für'],
    ['ß as ss', 'strasse'],
    ['several words, in any order', 'home car big'],
    ['a phrase', '"red car"'],
    ['a phrase over punctuation', '"home it is"'],
    ['a phrase without its end', '"big red'],
    ['words of two letters', 'at elegant is'],
    ['the shortest words', 'x1'],
    ['stop words alone', '"is at"'],
    ['the subject', 'angebot'],
    ["the sender's name and address", 'ann ann@sender.example elegant'],
    ['a recipient', '"bob builder" shop.example'],
    ['a recipient of a copy', 'carla'],
    ['the address that it came to', 'hello angebot'],
    ['an attachment by its name', 'jahresbericht'],
    ['an attachment by its whole name', '"Jahresbericht 2026.pdf"'],
    ['an apostrophe', "it's elegant"],
    ['Japanese in the middle of a sentence', '東京'],
    ['Japanese that begins inside a word', '京都'],
    ['one character', '京'],
    ['Chinese', '光临'],
    ['Thai', 'สวัสดี'],
    ['Korean', '안녕하세요'],
    ['Hindi', 'हिन्दी'],
    ['Hebrew without its points', 'מלון'],
    ['a word and no other', 'car -always'],
    ['a word and not a phrase', 'car -"car red"'],
    ['a phrase and not a word', '"red car" -always -nowhere'],
  ])('%s', async (_, q) => {
    expect(await search(q)).toEqual([id])
  })

  test.each([
    ['a part of a word', 'eleg'],
    ['words of which one is missing', 'elegant nowhere'],
    ['words that are not adjacent, as a phrase', '"big car"'],
    ['words in another order, as a phrase', '"car red big"'],
    ['a text with an excluded word', 'elegant -home'],
    ['a text with an excluded phrase', 'elegant -"red car"'],
    ['characters in another order', '都京'],
    ['signs that the server reads as operators', 'eleg* ~elegant >nowhere'],
    ['another vowel', 'हनद'],
  ])('not %s', async (_, q) => {
    expect(await search(q)).toEqual([])
  })

  test('the newest first, up to the limit, in one folder or in all but trash and quarantine', async () => {
    const words = ['one', 'two', 'three', 'four', 'five', 'six']
    const ids: string[] = []
    for (const word of words) ids.push(await deliver(plain(`zebra ${word}`)))
    const [trashed = '', quarantined = '', spam = '', archived = '', ...inInbox] = ids
    await inbox.server.call('DELETE', `/v1/inbox/${trashed}`)
    for (const [id, folder] of [
      [quarantined, 'quarantine'],
      [spam, 'spam'],
      [archived, 'archive'],
    ])
      expect((await inbox.server.call('POST', `/v1/inbox/${id}/folder`, { json: { folder } })).status).toBe(200)
    const searched = [spam, archived, ...inInbox].toReversed()
    await index()
    expect(await search('zebra')).toEqual(searched)
    expect(await search('zebra', '&limit=2')).toEqual(searched.slice(0, 2))
    expect(await search('zebra', '&folder=trash')).toEqual([trashed])
    expect(await search('zebra', '&folder=quarantine')).toEqual([quarantined])
    expect(await search('zebra', '&folder=spam')).toEqual([spam])
    expect(await search('zebra', '&folder=inbox')).toEqual(inInbox.toReversed())
  })

  test('nothing of another organization', async () => {
    const { key } = await inbox.server.newKey({ organizationId: await inbox.server.newOrganization() })
    const they = await inbox.createReceivingDomain(key)
    const theirs = await deliver(plain('The walrus is theirs.'), `hello@${they.domain}`)
    const ours = await deliver(plain('The walrus is ours.'))
    await index()
    expect([await search('walrus'), await search('walrus', '', key)]).toEqual([[ours], [theirs]])
    expect(await search('elegant', '', key)).toEqual([])
  })

  test('the text of HTML, also where the plain text has little of it', async () => {
    const html = `<style>.giraffe{}</style><p>A <b>camel</b> &amp; a llama</p><p>${'and so on '.repeat(20)}</p><!-- okapi -->`
    const part = { contentType: 'text/html; charset=utf-8', bytes: html }
    const both = multipart([{ bytes: 'Your program shows no HTML.' }, part])
    const ids = [await deliver(multipart([part])), await deliver(both)]
    await index()
    expect(await search('camel "a llama"')).toEqual(ids.toReversed())
    expect(await search('giraffe')).toEqual([])
    expect(await search('okapi')).toEqual([])
  })

  test('the addresses and file names of a message whose text is too long', async () => {
    const long = multipart([
      { bytes: `firstword ${'lorem ipsum dolor '.repeat(300_000)}` },
      { disposition: 'attachment; filename=behind.txt', bytes: 'x' },
    ])
    const id = await deliver(long)
    await index()
    expect(await search('firstword behind.txt "lorem ipsum"')).toEqual([id])
  })
})

test('the words of many long messages fit into one statement', async () => {
  const chinese = Array.from({ length: 150_000 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 20_000))).join(
    '',
  )
  const ids = []
  for (let i = 0; i < 8; i++) ids.push(await deliver(plain(`platypus${i} ${chinese}`)))
  await index()
  expect(await search('platypus7')).toEqual(ids.slice(7))
  expect(await search(chinese.slice(1000, 1010))).toEqual(ids.toReversed())
})

describe('refuses', () => {
  test.each(['-red', '-"red car"', '-red -blue', '*', '"', '""', '-', '+', '…', '%', '\\', ' '])(
    'q=%s, which asks for nothing',
    async q => {
      expect(await query(q)).toMatchObject({ status: 400, json: { error: { code: 'invalid_request', param: 'q' } } })
    },
  )

  test.each([
    ['/v1/inbox/search', 'q'],
    ['/v1/inbox/search?q=', 'q'],
    [`/v1/inbox/search?q=${'x'.repeat(257)}`, 'q'],
    ['/v1/inbox/search?q=a&limit=0', 'limit'],
    ['/v1/inbox/search?q=a&folder=drafts', 'folder'],
    ['/v1/inbox/search?q=a&cursor=x', 'cursor'],
  ])('%s', async (path, param) => {
    expect(await inbox.server.call('GET', path)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param } },
    })
  })
})

test.each(['@distance 5', '"a b"@3', '(x)', '>>x <<y', "x' OR 1=1", '+-x', '"x', '\u0000x', '😀 x', 'x'.repeat(256)])(
  'does no harm with q=%j',
  async q => {
    expect([q, (await query(q)).status]).toEqual([q, 200])
  },
)

test('a message that cannot be read does not stop the others from being indexed', async () => {
  const lost = await deliver(plain(`The aardvark is lost.${' Long.'.repeat(50_000)}`, 'Subject: aardvark'))
  const { db } = inbox.server.database
  const row = await db.selectFrom('messages').select('blob_id').where('id', '=', lost).executeTakeFirstOrThrow()
  await db.deleteFrom('blob_chunks').where('blob_id', '=', row.blob_id).execute()
  const found = await deliver(plain('The aardvark is found.'))
  await index()
  expect(await search('aardvark')).toEqual([found, lost])
  expect(await search('"aardvark is"')).toEqual([found])
})

test('messages are found within two seconds, also while many arrive', async () => {
  const live = await openTestInbox({ indexes: true })
  try {
    const { domain } = await live.createReceivingDomain()
    await Promise.all(Array.from({ length: 60 }, (_, i) => live.deliver(plain(`crowd ${i}`), `hello@${domain}`)))
    const id = await live.deliver(plain('needle'), `hello@${domain}`)
    const found = async () => (await live.server.call('GET', '/v1/inbox/search?q=needle')).json.data
    await until(async () => (await found()).length > 0, { withinMs: 2000 })
    expect(await found()).toMatchObject([{ id }])
    expect((await live.server.call('GET', '/v1/inbox/search?q=crowd&limit=200')).json.data).toHaveLength(60)
  } finally {
    await live.close()
  }
})

test('two indexers at once index each message once', async () => {
  const ids = []
  for (let i = 0; i < 10; i++) ids.push(await deliver(plain(`quokka ${i}`)))
  await Promise.all([index(), index(), index()])
  expect(await search('quokka')).toEqual(ids.toReversed())
})
