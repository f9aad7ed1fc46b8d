import { afterAll, describe, expect, test } from 'bun:test'
import { acceptedInMonth } from '../../../src/accounts/organizations/quota.ts'
import { messageOf } from '../../harness/inbox.ts'
import { openDraftServer } from './fixtures.ts'

const { inbox, acme, call, newDraft, complete, refusalOf } = await openDraftServer()
afterAll(() => inbox.close())

async function emailsCalled(subject: string): Promise<readonly { id: string }[]> {
  const { data } = (await call('GET', '/v1/emails?limit=200')).json
  return data.filter((email: { subject: string }) => email.subject === subject)
}

describe('sending a draft', () => {
  test('accepts the email and removes the draft', async () => {
    const given = { cc: ['Cy <cy@c.example>'], bcc: 'dee@d.example', reply_to: 'eve@e.example', subject: 'Whole' }
    const { id } = await newDraft(complete(given))
    const sent = await call('POST', `/v1/drafts/${id}/send`)
    expect([sent.status, sent.json]).toMatchObject([
      202,
      {
        status: 'queued',
        brand_id: acme.brandId,
        recipients: [
          { email: 'bob@b.example', type: 'to' },
          { email: 'cy@c.example', type: 'cc' },
          { email: 'dee@d.example', type: 'bcc' },
        ],
      },
    ])
    const email = (await call('GET', `/v1/emails/${sent.json.id}`)).json
    expect(email).toMatchObject({ from: `Ann <ann@${acme.domain}>`, subject: 'Whole', reply_to: ['eve@e.example'] })
    expect((await call('GET', `/v1/emails/${sent.json.id}/content`)).json.text.trim()).toBe('Hello Bob')
    expect(await refusalOf('GET', `/v1/drafts/${id}`)).toEqual([404, 'not_found', undefined])
  })

  test('may be scheduled, and canceled until it is due', async () => {
    const { id } = await newDraft(complete({ subject: 'Later' }))
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await call('POST', `/v1/drafts/${id}/send`, { json: { scheduled_at: soon } })
    expect([sent.status, sent.json.status]).toEqual([202, 'scheduled'])
    expect((await call('GET', `/v1/emails/${sent.json.id}`)).json.scheduled_at).toBe(soon.replace('Z', '000Z'))
    const canceled = await call('POST', `/v1/emails/${sent.json.id}/cancel`)
    expect([canceled.status, canceled.json.status]).toEqual([200, 'canceled'])
    const past = await newDraft(complete())
    const refused = { json: { scheduled_at: '2020-01-01T00:00:00Z' } }
    expect(await refusalOf('POST', `/v1/drafts/${past.id}/send`, refused)).toEqual([
      400,
      'invalid_request',
      'scheduled_at',
    ])
  })

  test('names what an incomplete draft lacks, and keeps it', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ from: null }, 'from'],
      [{ to: null, cc: 'a@b.example' }, 'to'],
      [{ subject: null }, 'subject'],
      [{ subject: ' ' }, 'subject'],
      [{ text: null }, 'text'],
      [{ from: 'ann' }, 'from'],
      [{ to: ['a@b.example', 'bob'] }, 'to[1]'],
      [{ cc: 'cy@' }, 'cc[0]'],
      [{ bcc: 'a@b.example, c@d.example' }, 'bcc[0]'],
      [{ reply_to: ['<'] }, 'reply_to[0]'],
    ]
    for (const [fields, param] of cases) {
      const { id } = await newDraft(complete(fields))
      expect([fields, ...(await refusalOf('POST', `/v1/drafts/${id}/send`))]).toEqual([
        fields,
        422,
        'draft_incomplete',
        param,
      ])
      expect((await call('GET', `/v1/drafts/${id}`)).status).toBe(200)
    }
  })

  test('is refused as a send is, and keeps the draft', async () => {
    const many = Array.from({ length: 51 }, (_, i) => `a${i}@b.example`)
    const unready = await inbox.createReceivingDomain()
    const cases: readonly (readonly [object, string, string])[] = [
      [{ from: 'ann@nowhere.example' }, 'domain_not_verified', 'from'],
      [{ from: `ann@${unready.domain}` }, 'domain_not_verified', 'from'],
      [{ to: many }, 'too_many_recipients', 'to'],
    ]
    await inbox.server.database.db
      .updateTable('domains')
      .set({ status: 'pending' })
      .where('id', '=', unready.domainId)
      .execute()
    for (const [fields, code, param] of cases) {
      const { id } = await newDraft(complete(fields))
      expect(await refusalOf('POST', `/v1/drafts/${id}/send`)).toEqual([422, code, param])
      expect((await call('GET', `/v1/drafts/${id}`)).status).toBe(200)
    }
  })

  test('sends once, however many requests come at once', async () => {
    const { id } = await newDraft(complete({ subject: 'Fifty' }))
    const calls = await Promise.all(Array.from({ length: 50 }, () => call('POST', `/v1/drafts/${id}/send`)))
    expect(calls.filter(call => call.status === 202)).toHaveLength(1)
    const others = calls.filter(call => call.status !== 202)
    expect(new Set(others.map(callResult => `${callResult.status} ${callResult.json.error.code}`))).toEqual(
      new Set(['404 not_found']),
    )
    expect(await emailsCalled('Fifty')).toHaveLength(1)
  })

  test('sends once with an Idempotency-Key, and repeats the response', async () => {
    const { id } = await newDraft(complete({ subject: 'Keyed' }))
    const request = { headers: { 'idempotency-key': 'draft-sent-once' } }
    const calls = await Promise.all(Array.from({ length: 50 }, () => call('POST', `/v1/drafts/${id}/send`, request)))
    const first = calls.find(call => call.status === 202)
    for (const call of calls) {
      expect([202, 429]).toContain(call.status)
      if (call.status === 202) expect(call.text).toBe(first?.text ?? '')
    }
    const again = await call('POST', `/v1/drafts/${id}/send`, request)
    expect([again.status, again.headers.get('idempotent-replay'), again.text]).toEqual([202, 'true', first?.text ?? ''])
    expect(await emailsCalled('Keyed')).toHaveLength(1)
  })

  test('sends the latest content of the draft, or leaves it, while others change and delete it', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await newDraft(complete({ subject: `Round ${round}`, text: 'before' }))
      const at = `/v1/drafts/${id}`
      const [changed, sent, deleted] = await Promise.all([
        call('PATCH', at, { json: { text: 'after' } }),
        call('POST', `${at}/send`),
        round % 2 ? call('DELETE', at) : undefined,
      ])
      const emails = await emailsCalled(`Round ${round}`)
      expect(emails).toHaveLength(sent.status === 202 ? 1 : 0)
      expect([sent.status, deleted?.status ?? 404].filter(status => status !== 404)).toHaveLength(1)
      expect((await call('GET', at)).status).toBe(404)
      const [email] = emails
      if (!email || changed.status !== 200) continue
      // A change that was answered 200 came before the draft went.
      expect((await call('GET', `/v1/emails/${email.id}/content`)).json.text.trim()).toBe('after')
    }
  })

  test('answers 422 over quota, and keeps the draft', async () => {
    const { db } = inbox.server.database
    const month = inbox.server.clock.now().slice(0, 7)
    const organizationId = inbox.server.organizationId
    await db.updateTable('organizations').set({ plan: 'free' }).where('id', '=', organizationId).execute()
    const used = await acceptedInMonth(db, organizationId, inbox.server.clock.now())
    const accepted = 2990 - used
    await db.insertInto('usage_months').values({ organization_id: organizationId, month, slot: 40, accepted }).execute()
    try {
      const drafts = await Promise.all(Array.from({ length: 30 }, () => newDraft(complete({ subject: 'Quota' }))))
      const calls = await Promise.all(drafts.map(({ id }) => call('POST', `/v1/drafts/${id}/send`)))
      const refused = calls.filter(call => call.status !== 202)
      expect(refused).toHaveLength(20)
      expect(new Set(refused.map(callResult => `${callResult.status} ${callResult.json.error.code}`))).toEqual(
        new Set(['422 quota_exceeded']),
      )
      const left = await Promise.all(drafts.map(({ id }) => call('GET', `/v1/drafts/${id}`)))
      expect(left.filter(callResult => callResult.status === 200)).toHaveLength(20)
      expect(await emailsCalled('Quota')).toHaveLength(10)
    } finally {
      await db.updateTable('organizations').set({ plan: 'unlimited' }).where('id', '=', organizationId).execute()
    }
  })
})

describe('a draft that replies to a message', () => {
  const question = ['Subject: Question', 'To: hello@x.example', 'References: <first@a.example> <second@a.example>']

  test('is sent with its In-Reply-To and References, into its thread, as a reply is', async () => {
    const message = await inbox.deliver(messageOf(question), `hello@${acme.domain}`)
    const { message_id, thread_id } = (await call('GET', `/v1/inbox/${message}`)).json
    const { id } = await newDraft(complete({ in_reply_to: message, to: 'ann@sender.example', subject: 'Re: Question' }))
    const sent = (await call('POST', `/v1/drafts/${id}/send`)).json
    const reply = (await call('POST', `/v1/inbox/${message}/reply`, { json: { text: 'x' } })).json
    const headersOf = async (email: string) => {
      const { headers } = (await call('GET', `/v1/emails/${email}/content`)).json
      const named = headers.filter((header: { name: string }) => /^(in-reply-to|references)$/i.test(header.name))
      return named.map((field: { name: string; value: string }) => `${field.name}: ${field.value}`).sort()
    }
    expect(await headersOf(sent.id)).toEqual([
      `In-Reply-To: <${message_id}>`,
      `References: <first@a.example> <second@a.example> <${message_id}>`,
    ])
    expect(await headersOf(reply.id)).toEqual(await headersOf(sent.id))
    const { db } = inbox.server.database
    const rows = await db.selectFrom('emails').select('thread_id').where('id', 'in', [sent.id, reply.id]).execute()
    expect(rows.map(row => row.thread_id)).toEqual([thread_id, thread_id])
  })

  test('must reply to a message of the organization, from its brand', async () => {
    const other = await inbox.createReceivingDomain()
    const message = await inbox.deliver(messageOf(question), `hello@${other.domain}`)
    const { id } = await newDraft(complete({ in_reply_to: message }))
    expect(await refusalOf('POST', `/v1/drafts/${id}/send`)).toEqual([403, 'from_not_allowed', 'from'])
    const { key } = await inbox.server.newKey({ organizationId: await inbox.server.newOrganization() })
    for (const [in_reply_to, more] of [
      [message, { key }],
      ['msg_00000000000000000000000000', {}],
      ['<a@b.example>', {}],
    ] as const)
      expect(await refusalOf('POST', '/v1/drafts', { ...more, json: { in_reply_to } })).toEqual([
        404,
        'not_found',
        'in_reply_to',
      ])
    expect((await call('PATCH', `/v1/drafts/${id}`, { json: { in_reply_to: null } })).json.in_reply_to).toBeNull()
    expect((await call('POST', `/v1/drafts/${id}/send`)).status).toBe(202)
  })
})
