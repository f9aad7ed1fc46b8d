import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'

/** Where the links lead that Mailroom gives to people. */
let mailroom: Mailroom

beforeAll(async () => {
  mailroom = await startMailroom()
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

/** The links of a new invitation and of a new email. */
async function newLinks(): Promise<readonly string[]> {
  const invitation = { brand_ids: [mailroom.demo.brand_id], permissions: [] }
  const { link } = (await mailroom.api('POST', '/v1/invitations', invitation)).json
  const email = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'News', text: 'News.', unsubscribe: true }
  const { id } = (await mailroom.api('POST', '/v1/emails', email)).json
  const { headers } = (await mailroom.api('GET', `/v1/emails/${id}/content`)).json
  const unsubscribe = headers.find(({ name }: { name: string }) => name === 'List-Unsubscribe').value
  return [link, unsubscribe.slice(1, -1)]
}

test('without MAILROOM_PUBLIC_URL they lead to the port that was bound, and work', async () => {
  expect(mailroom.settings['MAILROOM_HTTP_LISTEN']).toEndWith(':0')
  for (const link of await newLinks()) {
    expect(link).toStartWith(`http://localhost:${new URL(mailroom.http).port}/`)
    expect((await fetch(link)).status).toBe(200)
  }
})

test('a process that listens on all addresses names one that works on its machine', async () => {
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_HTTP_LISTEN: '0.0.0.0:0' })
  for (const link of await newLinks()) {
    expect(link).toStartWith(`http://localhost:${new URL(mailroom.http).port}/`)
    expect((await fetch(link)).status).toBe(200)
  }
})

test('with it they begin with it', async () => {
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_PUBLIC_URL: 'https://mail.acme.example/' })
  for (const link of await newLinks()) expect(link).toMatch(/^https:\/\/mail\.acme\.example\/[a-z]+\/[\w-]{43}$/)
})
