import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'

let mailroom: Mailroom

beforeAll(async () => {
  mailroom = await startMailroom({
    MAILROOM_PUBLIC_URL: 'https://mail.example',
    MAILROOM_LOG_LEVEL: 'debug',
    MAILROOM_AUTH_FAILURES_PER_MINUTE: '5',
  })
})
afterAll(() => mailroom.stop())

test('an invited person can log in and is listed, and their link is written nowhere', async () => {
  const { brand_id } = mailroom.demo
  const invited = await mailroom.api('POST', '/v1/invitations', { brand_ids: [brand_id], permissions: ['inbox:read'] })
  expect(invited.status).toBe(201)
  const path = new URL(invited.json.link).pathname
  expect(invited.json.link).toBe(`https://mail.example${path}`)

  const followed = await fetchValidated(mailroom.http + path)
  expect([followed.status, await followed.json()]).toEqual([
    200,
    expect.objectContaining({ organization: { name: 'Demo' }, permissions: ['inbox:read'] }),
  ])
  const accepted = await fetchValidated(`${mailroom.http + path}/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ann@friend.test', name: 'Ann' }),
  })
  expect([accepted.status, await accepted.json()]).toEqual([201, expect.objectContaining({ brand_ids: [brand_id] })])
  const { json } = await mailroom.api('GET', '/v1/members')
  expect(json.data).toEqual([expect.objectContaining({ email: 'ann@friend.test', role: 'member' })])

  const guesses = await Promise.all(
    Array.from({ length: 8 }, (_, i) => fetchValidated(`${mailroom.http}/invitations/${i}`)),
  )
  expect(guesses.map(guess => guess.status).sort()).toEqual([404, 404, 404, 404, 404, 429, 429, 429])
  expect(JSON.stringify(mailroom.log)).toContain('request answered')
  expect(JSON.stringify(mailroom.log)).not.toContain(path.slice('/invitations/'.length))
})
