import { afterAll, beforeAll, expect, test } from 'bun:test'
import { multipart, openTestInbox, type ReceivingDomain, type TestInbox, type TestPart } from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const worstMs = 50
const tries = 5

/** How long other requests wait at most while `work` runs, in milliseconds. */
async function worstLatency(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  const done = work().finally(() => {
    isDone = true
  })
  let worst = 0
  while (!isDone) {
    const started = performance.now()
    await (await fetch(`${inbox.server.url}/health`)).text()
    worst = Math.max(worst, performance.now() - started)
  }
  await done
  return worst
}

/** Another program on the same machine may delay a request too: the best of some runs counts. */
async function expectOthersServed(work: () => Promise<unknown>): Promise<void> {
  await work()
  const seen: number[] = []
  for (let i = 0; i < tries && !seen.some(ms => ms < worstMs); i++) seen.push(await worstLatency(work))
  expect(Math.min(...seen)).toBeLessThan(worstMs)
}

const attachment: TestPart = {
  contentType: 'application/octet-stream',
  disposition: 'attachment; filename=a.bin',
  bytes: Buffer.alloc(14_500_000, Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7 + (i >> 8)) & 0xff))),
}
const html: TestPart = {
  contentType: 'text/html; charset=utf-8',
  bytes: '<p style="color:red">Hello <b>you</b>, see <a href="https://x.example/">this</a>.</p>\n'.repeat(20_000),
}
const text: TestPart = { bytes: `${'On Monday she wrote the quick brown fox.\n'.repeat(50_000)}` }

test('other requests wait less than 50 ms while a message of 20 MB is read and downloaded', async () => {
  const message = multipart([attachment, { bytes: 'See above.' }])
  expect(message.length).toBeGreaterThan(19_000_000)
  const path = `/v1/inbox/${await inbox.deliver(message, `hello@${us.domain}`)}`
  const { json } = await inbox.server.call('GET', path)
  expect(json).toMatchObject({ text: 'See above.', attachments: [{ size: 14_500_000 }] })
  await expectOthersServed(() => inbox.server.call('GET', path))
  await expectOthersServed(() => inbox.download(`${path}/attachments/${json.attachments[0].id}`))
  await expectOthersServed(() => inbox.download(`${path}/raw`))
})

test('other requests wait less than 50 ms while a message of much text and HTML is read', async () => {
  const path = `/v1/inbox/${await inbox.deliver(multipart([text, html]), `hello@${us.domain}`)}`
  const { json } = await inbox.server.call('GET', path)
  expect([json.text.length > 2_000_000, json.html.length > 1_000_000]).toEqual([true, true])
  await expectOthersServed(() => inbox.server.call('GET', path))
})

test('other requests wait less than 50 ms while a message of much text and HTML is quoted', async () => {
  const path = `/v1/inbox/${await inbox.deliver(multipart([text, html]), `hello@${us.domain}`)}`
  await expectOthersServed(() => inbox.server.call('POST', `${path}/reply`, { json: { text: 'x' } }))
})

test('other requests wait less than 50 ms while the content of a sent email of 10 MB is read', async () => {
  const body = 'Over the fence she threw it.\n'
  const json = {
    from: `hello@${us.domain}`,
    to: 'ann@friend.example',
    subject: 'Much',
    text: body.repeat(15_000),
    html: `<p>${body}</p>`.repeat(12_000),
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(7_000_000, 'bytes').toString('base64') }],
  }
  const sent = await inbox.server.call('POST', '/v1/emails', { json })
  expect(sent.status).toBe(202)
  const path = `/v1/emails/${sent.json.id}/content`
  const content = (await inbox.server.call('GET', path)).json
  expect([content.text.trimEnd() === json.text.trimEnd(), content.html.length, content.available]).toEqual([
    true,
    json.html.length,
    true,
  ])
  await expectOthersServed(() => inbox.server.call('GET', path))
})
