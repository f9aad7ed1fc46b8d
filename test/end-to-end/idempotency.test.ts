import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DatabaseProxy, startDatabaseProxy } from '../harness/database-proxy.ts'
import { type ApiResponse, type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'
import { SmtpClient } from '../harness/smtp-client.ts'

let mailroom: Mailroom
let gate: DatabaseProxy

beforeAll(async () => {
  mailroom = await startMailroom()
  gate = await startDatabaseProxy(mailroom.database.url)
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
  gate?.close()
}, 60_000)

async function call(method: string, path: string, idempotencyKey: string, body?: object): Promise<ApiResponse> {
  const response = await fetchValidated(mailroom.http + path, {
    method,
    headers: {
      authorization: `Bearer ${mailroom.key}`,
      'idempotency-key': idempotencyKey,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) }
}

const email = (subject: string) => ({ from: 'hello@demo.test', to: 'you@friend.test', subject, text: 'Hello.' })

async function countEmails(subject: string): Promise<number> {
  const rows = await mailroom.database.db.selectFrom('emails').select('id').where('subject', '=', subject).execute()
  return rows.length
}

test('50 identical concurrent sends create one email, and all 202 responses are identical', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call('POST', '/v1/emails', 'fifty-at-once', email('fifty'))),
  )
  expect(await countEmails('fifty')).toBe(1)
  const accepted = answers.filter(answer => answer.status === 202)
  expect(new Set(accepted.map(apiResponse => apiResponse.text)).size).toBe(1)
  expect(accepted.filter(apiResponse => apiResponse.headers.get('idempotent-replay') === null).length).toBe(1)
  for (const answer of answers.filter(apiResponse => apiResponse.status !== 202)) {
    expect([answer.status, answer.json.error.code]).toEqual([429, 'idempotency_in_progress'])
    expect(answer.headers.get('retry-after')).toBe('1')
  }
})

/** Sends the request, kills the process with -9 while its commit is blocked, and restarts it. */
async function dieAtCommit(when: 'before' | 'after', idempotencyKey: string, send: () => Promise<unknown>) {
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_DATABASE_URL: gate.url, MAILROOM_ROLES: 'http' })
  const held = gate.pauseCommit(when, idempotencyKey)
  const unanswered = send().then(
    () => false,
    () => true,
  )
  await held
  await mailroom.kill('SIGKILL')
  expect(await unanswered).toBe(true)
  await mailroom.restart({ MAILROOM_DATABASE_URL: mailroom.database.url, MAILROOM_ROLES: 'smtp,http,relay' })
  const { db } = mailroom.database
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['status', 'leased_until'])
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row?.status ?? null
}

/** As if the leases of a dead process had expired. */
async function letLeaseRunOut(idempotencyKey: string): Promise<void> {
  await mailroom.database.db
    .updateTable('idempotency_keys')
    .set({ leased_until: '2000-01-01 00:00:00.000000' as never })
    .where('idempotency_key', '=', idempotencyKey)
    .execute()
}

describe('a process killed', () => {
  test('between the commit of an email and its response has sent it: the retry gets that response', async () => {
    const send = () => call('POST', '/v1/emails', 'died-after', email('died after'))
    expect(await dieAtCommit('after', 'died-after', send)).toBe(202)
    expect(await countEmails('died after')).toBe(1)
    const retried = await send()
    expect([retried.status, retried.headers.get('idempotent-replay')]).toEqual([202, 'true'])
    const sent = await mailroom.api('GET', `/v1/emails/${retried.json.id}`)
    expect([sent.status, sent.json.subject]).toEqual([200, 'died after'])
    expect(await countEmails('died after')).toBe(1)
  }, 60_000)

  test('before the commit has sent nothing: the retry, once it is admitted, sends once', async () => {
    const send = () => call('POST', '/v1/emails', 'died-before', email('died before'))
    expect(await dieAtCommit('before', 'died-before', send)).toBeNull()
    expect(await countEmails('died before')).toBe(0)
    expect((await send()).json.error.code).toBe('idempotency_in_progress')
    await letLeaseRunOut('died-before')
    const retried = await send()
    expect([retried.status, retried.headers.get('idempotent-replay')]).toEqual([202, null])
    expect((await send()).text).toBe(retried.text)
    expect(await countEmails('died before')).toBe(1)
  }, 60_000)

  test.each(['before', 'after'] as const)(
    '%s the commit of a batch has sent all of it or nothing: the retry sends the rest',
    async when => {
      const key = `died-${when}-batch`
      const emails = Array.from({ length: 100 }, () => email(key))
      const send = () => call('POST', '/v1/emails/batch', key, { emails })
      const isCommitted = when === 'after'
      expect(await dieAtCommit(when, key, send)).toBe(isCommitted ? 200 : null)
      expect(await countEmails(key)).toBe(isCommitted ? 100 : 0)
      if (!isCommitted) await letLeaseRunOut(key)
      const retried = await send()
      expect([retried.status, retried.headers.get('idempotent-replay')]).toEqual([200, isCommitted ? 'true' : null])
      expect(retried.json.data).toHaveLength(100)
      expect((await send()).text).toBe(retried.text)
      expect(await countEmails(key)).toBe(100)
    },
    60_000,
  )

  test('between the commit of a flag and its response has set it: the retry does not set it again', async () => {
    const id = await deliver()
    const star = () => call('POST', `/v1/inbox/${id}/star`, 'died-starring', { starred: true })
    expect(await dieAtCommit('after', 'died-starring', star)).toBe(200)
    await mailroom.api('POST', `/v1/inbox/${id}/star`, { starred: false })
    const retried = await star()
    expect([retried.status, retried.json, retried.headers.get('idempotent-replay')]).toEqual([
      200,
      { id, starred: true },
      'true',
    ])
    expect((await mailroom.api('GET', '/v1/inbox')).json.data[0].starred).toBe(false)
  }, 60_000)
})

async function deliver(): Promise<string> {
  const client = await SmtpClient.ready(mailroom.smtp)
  await client.commands('MAIL FROM:<you@friend.test>', 'RCPT TO:<hello@demo.test>', 'DATA')
  const reply = await client.command('From: you@friend.test\r\nSubject: x\r\n\r\nx\r\n.')
  if (!reply.startsWith('250 ')) throw new Error(reply)
  return (await mailroom.api('GET', '/v1/inbox')).json.data[0].id
}

describe('a repetition', () => {
  /** What each operation that changes something is asked, in an order in which each succeeds; `$` of an answer's fields. */
  const operations: readonly (readonly [string, string, object?])[] = [
    ['POST', '/v1/brands', { name: 'Repeated', slug: 'repeated' }],
    ['PATCH', '/v1/brands/$id', { name: 'Repeated again' }],
    ['POST', '/v1/brands/$id/provision'],
    ['POST', '/v1/domains/$domain/provision', {}],
    ['POST', '/v1/domains/$domain/check'],
    ['POST', '/v1/domains/$domain/publish-dns'],
    ['POST', '/v1/domains/$domain/receiving'],
    ['POST', '/v1/mailboxes', { domain_id: '$domain', local_part: 'repeated' }],
    ['DELETE', '/v1/mailboxes/$id'],
    ['POST', '/v1/emails', email('repeated')],
    ['POST', '/v1/emails', { ...email('repeated later'), scheduled_at: '$tomorrow' }],
    ['POST', '/v1/emails/$id/cancel'],
    ['POST', '/v1/inbox/$message/star', { starred: true }],
    ['POST', '/v1/inbox/$message/read', { read: true }],
    ['POST', '/v1/inbox/$message/folder', { folder: 'archive' }],
    ['DELETE', '/v1/inbox/$message'],
    ['POST', '/v1/inbox/$message/restore'],
    ['POST', '/v1/inbox/bulk', { ids: ['$message'], starred: false }],
    ['POST', '/v1/inbox/$message/reply', { text: 'Yes.' }],
    ['POST', '/v1/inbox/$message/reply-all', { text: 'Yes, all.' }],
    ['POST', '/v1/inbox/$message/forward', { to: 'other@friend.test' }],
    ['POST', '/v1/suppressions', { email: 'gone@friend.test', brand_id: '$brand' }],
    ['DELETE', '/v1/suppressions/gone@friend.test?brand_id=$brand'],
    ['POST', '/v1/templates', { brand_id: '$brand', slug: 'repeated', name: 'Repeated', subject: 'A', text: 'B' }],
    ['PATCH', '/v1/templates/repeated?brand_id=$brand', { name: 'Repeated again' }],
    ['DELETE', '/v1/templates/repeated?brand_id=$brand'],
    ['POST', '/v1/drafts', { to: 'you@friend.test', subject: 'repeated', text: 'x', from: 'hello@demo.test' }],
    ['PATCH', '/v1/drafts/$id', { subject: 'repeated again' }],
    ['POST', '/v1/drafts/$id/send'],
  ]

  test('of each operation that changes something gets the same status and body, and changes nothing', async () => {
    const { brand_id: brand, domain_id: domain } = mailroom.demo
    const known: Record<string, string> = {
      brand,
      domain,
      message: await deliver(),
      tomorrow: new Date(Date.now() + 86_400_000).toISOString(),
    }
    const fill = (text: string) => text.replace(/\$([a-z]+)/g, (_, name: string) => known[name] ?? `no ${name}`)
    for (const [i, [method, path, body]] of operations.entries()) {
      const given = body && (JSON.parse(fill(JSON.stringify(body))) as object)
      const key = `repeated-${i}`
      const first = await call(method, fill(path), key, given)
      const what = `${method} ${path}: ${first.status} ${first.text}`
      expect([what, first.status < 300, first.headers.get('idempotent-replay')]).toEqual([what, true, null])
      const second = await call(method, fill(path), key, given)
      expect([what, second.status, second.text]).toEqual([what, first.status, first.text])
      expect([what, second.headers.get('idempotent-replay')]).toEqual([what, 'true'])
      expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
      if (typeof first.json.id === 'string') known['id'] = first.json.id
    }
    expect(await countEmails('repeated')).toBe(1)
    expect(await countEmails('repeated later')).toBe(1)
    expect(await countEmails('repeated again')).toBe(1)
  }, 60_000)
})

test('the request log has the email id of a request and of its repetition', async () => {
  const [first, second] = [
    await call('POST', '/v1/emails', 'logged-send', email('logged')),
    await call('POST', '/v1/emails', 'logged-send', email('logged')),
  ]
  const { data } = (await mailroom.api('GET', '/v1/requests?limit=2&method=POST')).json
  expect(data).toMatchObject([
    { id: second.headers.get('x-request-id'), status: 202, idempotent_replay: true, email_id: first.json.id },
    { id: first.headers.get('x-request-id'), status: 202, idempotent_replay: false, email_id: first.json.id },
  ])
})
