import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newId } from '../../../src/base/ids.ts'
import { replyTextOf } from '../../../src/inbox/messages/reply-text.ts'
import {
  infectedBytes,
  messageOf,
  multipart,
  openTestInbox,
  type ReceivingDomain,
  type TestInbox,
} from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain
let theirs: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  theirs = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const hello = () => `hello@${us.domain}`

const call = (path: string, json: object, key?: string, headers?: Record<string, string>) =>
  inbox.server.call('POST', `/v1/inbox/${path}`, { json, ...(key ? { key } : {}), ...(headers ? { headers } : {}) })

/** The email that a reply made, with its content. */
async function sent(path: string, json: object) {
  const answer = await call(path, json)
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
  const [detail, content] = await Promise.all(
    ['', '/content'].map(async more => (await inbox.server.call('GET', `/v1/emails/${answer.json.id}${more}`)).json),
  )
  const header = (name: string) =>
    content.headers.find((header: { name: string }) => header.name.toLowerCase() === name)?.value
  return { ...detail, ...content, header, accepted: answer.json }
}

const deliver = (fields: readonly string[] = [], body: string | Buffer = 'Hello.\r\n', more = {}) =>
  inbox.deliver(messageOf(fields, body), hello(), more)

const sharedFields = () => [
  `To: Us <${hello()}>, Ben <ben@x.example>, us+tag@${us.domain}`,
  `Cc: carl@x.example, BEN@x.example, ann@sender.example, other@${us.domain}, "no address" <nowhere>`,
]

describe('a reply', () => {
  test('goes to the sender, from the address that received it, in its thread, and quotes it', async () => {
    const fields = ['Subject: AW: Hello', 'References: <a@x> <b@x>', 'Date: Sat, 31 Jan 2026 09:15:00 +0100']
    const message = messageOf(fields, 'One.\r\n\r\n> two\r\n')
    const id = await inbox.deliver(message, hello())
    const ownId = /Message-ID: <(.*)>/.exec(message.toString())?.[1]
    const email = await sent(`${id}/reply`, { text: 'Thanks.\n' })
    expect(email).toMatchObject({
      from: hello(),
      to: ['Ann <ann@sender.example>'],
      cc: [],
      bcc: [],
      subject: 'Re: Hello',
      html: null,
      brand_id: us.brandId,
    })
    expect(email.accepted).toEqual({
      id: email.id,
      status: 'queued',
      message_id: email.message_id,
      brand_id: us.brandId,
      recipients: [{ email: 'ann@sender.example', type: 'to', status: 'queued' }],
      created_at: expect.any(String),
    })
    expect(email.text.trimEnd().split('\n')).toEqual([
      'Thanks.',
      '',
      'On Sat, 31 Jan 2026 at 08:15 UTC, Ann <ann@sender.example> wrote:',
      '> One.',
      '>',
      '>> two',
    ])
    expect(replyTextOf(email.text)).toBe('Thanks.')
    expect(email.header('in-reply-to')).toBe(`<${ownId}>`)
    expect(email.header('references').split(/\s+/)).toEqual(['<a@x>', '<b@x>', `<${ownId}>`])
    const { json } = await inbox.server.call('GET', `/v1/inbox/${id}`)
    expect(await threadOf(email.id)).toBe(json.thread_id)
  })

  test('may be scheduled, as may a forward', async () => {
    const id = await deliver()
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    for (const [path, more] of [
      ['reply', {}],
      ['reply-all', {}],
      ['forward', { to: 'zoe@z.example' }],
    ] as const) {
      const { json } = await call(`${id}/${path}`, { text: 'Later.', scheduled_at, ...more })
      expect(json.status).toBe('scheduled')
      const canceled = await inbox.server.call('POST', `/v1/emails/${json.id}/cancel`)
      expect(canceled.json).toMatchObject({ status: 'canceled', scheduled_at: scheduled_at.replace('Z', '000Z') })
    }
  })

  test('does not mark the message as read', async () => {
    const id = await deliver()
    await sent(`${id}/reply`, { text: 'x' })
    const { is_read } = await inbox.server.database.db
      .selectFrom('messages')
      .select('is_read')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(is_read).toBe(0)
  })

  test('goes to Reply-To, with the other fields of the request', async () => {
    const id = await deliver(['Subject: x', 'Reply-To: Desk <desk@y.example>, second@y.example'])
    const email = await sent(`${id}/reply`, {
      text: 'x',
      html: '<b>x</b>',
      cc: 'c@y.example',
      bcc: ['b@y.example'],
      subject: 'Another',
      from: `Sales <sales@${us.domain}>`,
      headers: { 'X-Ticket': '7' },
      attachments: [{ filename: 'a.txt', content: 'AAAA' }],
      quote: false,
    })
    expect(email).toMatchObject({
      from: `Sales <sales@${us.domain}>`,
      to: ['Desk <desk@y.example>', 'second@y.example'],
      cc: ['c@y.example'],
      bcc: ['b@y.example'],
      subject: 'Another',
      html: expect.stringMatching(/^<b>x<\/b>\s*$/),
      attachment_count: 1,
    })
    expect(email.text.trim()).toBe('x')
    expect(email.header('x-ticket')).toBe('7')
  })

  test('has no In-Reply-To if the message has no Message-ID, and is still in its thread', async () => {
    const id = await inbox.deliver('From: ann@sender.example\r\nSubject: nameless\r\n\r\nhi\r\n', hello())
    const email = await sent(`${id}/reply`, { text: 'x' })
    expect([email.header('in-reply-to'), email.header('references')]).toEqual([undefined, undefined])
    const answer = await deliver([`In-Reply-To: <${email.message_id}>`])
    const threads = [id, answer].map(
      async messageId => (await inbox.server.call('GET', `/v1/inbox/${messageId}`)).json.thread_id,
    )
    expect(new Set([await threadOf(email.id), ...(await Promise.all(threads))]).size).toBe(1)
  })

  test('keeps the first and the latest of many References', async () => {
    const references = Array.from({ length: 60 }, (_, i) => `<${i}.${'x'.repeat(40)}@x.example>`)
    const email = await sent(`${await deliver([`References: ${references.join('\r\n ')}`])}/reply`, { text: 'x' })
    const shortened: readonly string[] = email.header('references').split(/\s+/)
    expect(shortened[0]).toBe(references[0] as string)
    expect(shortened.slice(1, -1)).toEqual(references.slice(-(shortened.length - 2)))
    expect(shortened.length).toBeGreaterThan(10)
  })

  test('quotes sanitized HTML, with the inline images that are attached again', async () => {
    const html =
      '<p onclick="x()">Hi</p><script>alert(1)</script><img src="http://t.example/p.gif"><img src="cid:one"><img src="cid:two">'
    const id = await inbox.deliver(multipart([{ contentType: 'text/html', bytes: html }], ['Subject: h']), hello())
    const attachments = [{ filename: 'a.png', content: 'AAAA', content_id: '<one>' }]
    const email = await sent(`${id}/reply`, { html: '<html><body><i>Yes</i></body></html>', attachments })
    expect(email.html).toMatch(
      /^<html><body><i>Yes<\/i><p>On .* wrote:<\/p><blockquote type="cite".*<p>Hi<\/p>.*cid:one.*<\/blockquote><\/body><\/html>\s*$/s,
    )
    expect(email.html).not.toMatch(/script|onclick|t\.example|cid:two/)
    expect(email.text).toMatch(/^Yes\s+On .* wrote:\s+> Hi/)
  })

  test('converts what it quotes: HTML to text in a text reply, text to HTML in an HTML reply', async () => {
    const html = await inbox.deliver(multipart([{ contentType: 'text/html', bytes: '<p>Hi <b>you</b></p>' }]), hello())
    expect(await sent(`${html}/reply`, { text: 'x' })).toMatchObject({
      text: expect.stringContaining('> Hi you'),
      html: null,
    })
    const email = await sent(`${await deliver([], 'a <b>\r\nc & d\r\n')}/reply`, { html: '<p>x</p>' })
    expect(email.html).toMatch(/<p>x<\/p>.*a &lt;b&gt;<br>\s*c &amp; d/s)
    expect(email.text).toMatch(/^x\s+On .*wrote:\s+> a <b>\s+> c & d\s*$/)
  })

  test('quotes only clean messages', async () => {
    const infected = multipart([{ bytes: 'SECRET' }, { disposition: 'attachment; filename=a', bytes: infectedBytes }])
    const ids = [
      await inbox.deliver(infected, hello()),
      await inbox.deliver(messageOf([], 'SECRET\r\n'), hello(), { unscanned: true }),
    ]
    for (const id of ids) expect((await sent(`${id}/reply`, { text: 'x', quote: true })).text.trim()).toBe('x')
    const codes = ids.map(async id => (await call(`${id}/forward`, { to: 'a@x.example' })).json.error.code)
    expect(await Promise.all(codes)).toEqual(['attachment_infected', 'attachment_unscanned'])
  })

  test('has the whole of a long text, and as much of the quoted message as fits', async () => {
    const id = await deliver([], `${'quoted line ü\r\n'.repeat(100_000)}`)
    const short = await sent(`${id}/reply`, { text: 'x', html: 'x' })
    expect(short.text.length).toBeGreaterThan(60_000)
    expect(short.text.trimEnd().endsWith('> […]')).toBe(true)
    const long = 'y'.repeat(2 * 1024 * 1024 - 300)
    for (const form of ['text', 'html']) {
      const email = await sent(`${id}/reply`, { text: 'x', [form]: long })
      expect(email[form].startsWith(long)).toBe(true)
      expect(Buffer.byteLength(email[form])).toBeLessThanOrEqual(2 * 1024 * 1024 + 2)
    }
  })
})

describe('a reply to all', () => {
  test('goes to the other recipients too, without our addresses and nobody twice', async () => {
    const email = await sent(`${await deliver(sharedFields())}/reply-all`, { text: 'x', cc: ['new@y.example'] })
    expect(email.to).toEqual(['Ann <ann@sender.example>'])
    expect(email.cc).toEqual(['new@y.example', 'Ben <ben@x.example>', 'carl@x.example'])
  })

  test("leaves out only our own brand's addresses", async () => {
    const id = await deliver([`To: ${hello()}, them@${theirs.domain}`])
    expect((await sent(`${id}/reply-all`, { text: 'x' })).cc).toEqual([`them@${theirs.domain}`])
  })

  test('goes directly to the other recipients if the message is our own', async () => {
    const own = `From: us@${us.domain}\r\nTo: ben@x.example\r\nCc: ${hello()}, carl@x.example\r\n\r\nx\r\n`
    const email = await sent(`${await inbox.deliver(own, hello())}/reply-all`, { text: 'x' })
    expect([email.to, email.cc]).toEqual([['ben@x.example', 'carl@x.example'], []])
  })
})

describe('a reply is refused', () => {
  test('with 422 if there is nobody to reply to', async () => {
    const auto = ['Auto-Submitted: auto-replied', `To: ${hello()}`]
    const alone = `From: us@${us.domain}\r\nTo: ${hello()}\r\n\r\nx\r\n`
    const refused = [
      await call(`${await deliver([], 'x', { mailFrom: '' })}/reply`, { text: 'x' }),
      await call(`${await deliver(sharedFields(), 'x', { mailFrom: '' })}/reply-all`, { text: 'x' }),
      await call(`${await inbox.deliver(alone, hello())}/reply-all`, { text: 'x' }),
      await call(`${await deliver(auto)}/reply`, { text: 'x', headers: { 'Auto-Submitted': 'auto-replied' } }),
      await call(`${await deliver(['Precedence: bulk'])}/reply`, {
        text: 'x',
        headers: { 'auto-submitted': 'auto-generated' },
      }),
    ]
    for (const callResult of refused)
      expect(callResult).toMatchObject({
        status: 422,
        json: { error: { code: 'no_reply_address', requirement: 'specify_recipient', retryable: false } },
      })
  })

  test('but not from a person to a program, or from a program to a person', async () => {
    await sent(`${await deliver(['Auto-Submitted: auto-generated'])}/reply`, { text: 'x' })
    await sent(`${await deliver(['Auto-Submitted: no'])}/reply`, {
      text: 'x',
      headers: { 'Auto-Submitted': 'auto-replied' },
    })
  })

  test('without text and html', async () => {
    const id = await deliver()
    for (const json of [{}, { text: '' }, { subject: 'x', html: '' }])
      expect(await call(`${id}/reply`, json)).toMatchObject({
        status: 422,
        json: { error: { code: 'no_content', param: 'text' } },
      })
  })

  test.each([
    [{ text: 'x', to: 'a@x.example' }, 'to'],
    [{ text: 'x', quote: 'no' }, 'quote'],
    [{ text: 'x', from: 'nobody' }, 'from'],
    [{ text: 'x', cc: ['a@x.example', 'b'] }, 'cc[1]'],
    [{ text: 'x', subject: 'a\r\nBcc: e@x.example' }, 'subject'],
    [{ text: 'x', headers: { 'in-reply-to': '<a@b>' } }, 'headers.in-reply-to'],
    [{ text: 'x', headers: { References: '<a@b>' } }, 'headers.References'],
    [{ text: 'x', headers: { To: 'a@x.example' } }, 'headers.To'],
  ])('with 400 for %p', async (json, param) => {
    expect(await call(`${await deliver(sharedFields())}/reply-all`, json)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param } },
    })
  })

  test('with 403 from another brand, with 422 from a domain that is not ours', async () => {
    const id = await deliver()
    const { key } = await inbox.server.newKey({ brandId: us.brandId })
    for (const callerKey of [undefined, key])
      for (const operation of ['reply', 'reply-all', 'forward'])
        expect(
          await call(`${id}/${operation}`, { text: 'x', from: `a@${theirs.domain}`, ...toOf(operation) }, callerKey),
        ).toMatchObject({ status: 403, json: { error: { code: 'from_not_allowed', param: 'from' } } })
    expect(await call(`${id}/reply`, { text: 'x', from: 'a@unknown.example' })).toMatchObject({
      status: 422,
      json: { error: { code: 'domain_not_verified', param: 'from' } },
    })
  })

  test('for keys without both scopes, and for messages of others', async () => {
    const id = await deliver()
    const other = await inbox.server.newOrganization()
    const keys = await Promise.all(
      [
        { scopes: ['email:send'] as const },
        { scopes: ['inbox:read'] as const },
        { brandId: theirs.brandId },
        { organizationId: other },
      ].map(async options => (await inbox.server.newKey(options)).key),
    )
    for (const operation of ['reply', 'reply-all', 'forward']) {
      const codes = keys.map(
        async key => (await call(`${id}/${operation}`, { text: 'x', ...toOf(operation) }, key)).json.error.code,
      )
      expect(await Promise.all(codes)).toEqual([
        'insufficient_scope',
        'insufficient_scope',
        'brand_restricted',
        'not_found',
      ])
    }
    await inbox.server.database.db.deleteFrom('messages').where('id', '=', id).execute()
    expect((await call(`${id}/reply`, { text: 'x' })).status).toBe(404)
  })

  test('with 422 over the quota, with too many recipients, or to suppressed ones', async () => {
    const many = Array.from({ length: 60 }, (_, i) => `a${i}@x.example`).join(',\r\n ')
    expect((await call(`${await deliver([`To: ${many}`])}/reply-all`, { text: 'x' })).json.error.code).toBe(
      'too_many_recipients',
    )
    const { db } = inbox.server.database
    await db
      .insertInto('suppressions')
      .values({
        id: newId('sup'),
        organization_id: inbox.server.organizationId,
        brand_id: us.brandId,
        email: 'gone@x.example',
        reason: 'manual',
        source_email_id: null,
        evidence: null,
        created_at: inbox.server.clock.now(),
        expires_at: null,
      })
      .execute()
    expect((await call(`${await deliver(['Reply-To: Gone@x.example'])}/reply`, { text: 'x' })).json.error.code).toBe(
      'recipient_suppressed',
    )
    const month = inbox.server.clock.now().slice(0, 7)
    const { organizationId } = inbox.server
    await db.updateTable('organizations').set({ plan: 'free' }).where('id', '=', organizationId).execute()
    await db
      .insertInto('usage_months')
      .values({ organization_id: organizationId, month, slot: 31, accepted: 3000 })
      .onDuplicateKeyUpdate({ accepted: 3000 })
      .execute()
    const id = await deliver()
    for (const operation of ['reply', 'reply-all', 'forward'])
      expect(await call(`${id}/${operation}`, { text: 'x', ...toOf(operation) })).toMatchObject({
        status: 422,
        json: { error: { code: 'quota_exceeded', requirement: 'upgrade_plan' } },
      })
    await db.updateTable('organizations').set({ plan: 'unlimited' }).where('id', '=', organizationId).execute()
  })
})

test('the same Idempotency-Key sends one reply', async () => {
  const id = await deliver()
  for (const operation of ['reply', 'reply-all', 'forward']) {
    const headers = { 'Idempotency-Key': `answer-${operation}` }
    const json = { text: 'x', ...toOf(operation) }
    const [first, ...more] = [
      await call(`${id}/${operation}`, json, undefined, headers),
      await call(`${id}/${operation}`, json, undefined, headers),
      await call(`${id}/${operation}`, { ...json, text: 'y' }, undefined, headers),
    ]
    expect(
      more.map(callResult => [
        callResult.status,
        callResult.headers.get('idempotent-replay'),
        callResult.text === first?.text,
      ]),
    ).toEqual([
      [202, 'true', true],
      [400, null, false],
    ])
  }
})

describe('a forwarded message', () => {
  test('is quoted whole, also if it is long', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} of many`)
    const email = await sent(`${await deliver([], `${lines.join('\r\n')}\r\n`)}/forward`, { to: 'd@y.example' })
    expect(email.text.trimEnd().split('\n').slice(-60_000)).toEqual(lines)
    const full = { to: 'd@y.example', text: '&'.repeat(2 * 1024 * 1024 - 100) }
    expect((await call(`${await deliver()}/forward`, full)).json.error).toMatchObject({ param: 'text' })
  })

  test('has the header fields and text of the original, without its attachments', async () => {
    const parts = [
      { bytes: 'Plain part' },
      { contentType: 'text/html', bytes: '<p>Rich <b>part</b></p><script>x</script>' },
      { disposition: 'attachment; filename=a.txt', bytes: 'file' },
    ]
    const id = await inbox.deliver(multipart(parts, [...sharedFields(), 'Subject: News']), hello())
    const email = await sent(`${id}/forward`, {
      to: ['d@y.example'],
      cc: 'e@y.example',
      bcc: 'f@y.example',
      text: 'See\n<this>',
    })
    expect(email).toMatchObject({
      from: hello(),
      to: ['d@y.example'],
      cc: ['e@y.example'],
      bcc: ['f@y.example'],
      subject: 'Fwd: News',
      attachment_count: 0,
    })
    expect(email.text).toMatch(
      /^See\n<this>\n\n-+ Forwarded message -+\nFrom: Ann <ann@sender\.example>\nDate: .* UTC\nSubject: News\nTo: Us <.*\nCc: .*\n\nPlain part/,
    )
    expect(email.html).toMatch(
      /^<div>See<br>\s*&lt;this&gt;<\/div><p>-+ Forwarded.*Ann &lt;ann@.*<p>Rich <b>part<\/b><\/p>/s,
    )
    expect(email.html).not.toContain('script')
    expect(email.header('in-reply-to')).toBeUndefined()
    const { json } = await inbox.server.call('GET', `/v1/inbox/${id}`)
    expect([await threadOf(email.id), email.header('references')]).toEqual([json.thread_id, `<${json.message_id}>`])
  })

  test('needs no text, and may be a delivery report', async () => {
    const id = await deliver(['Subject: Fwd: x'], 'Body.\r\n', { mailFrom: '' })
    const email = await sent(`${id}/forward`, { to: 'a@y.example' })
    expect([email.subject, email.html]).toEqual(['Fwd: x', null])
    expect(email.text).toMatch(/^---------- Forwarded message.*Body\.\s*$/s)
    const attachments = [{ filename: 'a', content: 'AAAA' }]
    expect((await sent(`${id}/forward`, { to: 'a@y.example', attachments })).attachment_count).toBe(1)
  })

  test.each([
    [{}, 'to'],
    [{ to: [] }, 'to'],
    [{ to: 'a@y.example', subject: 'x' }, 'subject'],
    [{ to: 'a@y.example', quote: false }, 'quote'],
  ])('is refused with %p', async (json, param) => {
    expect(await call(`${await deliver()}/forward`, json)).toMatchObject({ status: 400, json: { error: { param } } })
  })
})

test('a message full of control characters, NUL and lone surrogates can be replied to', async () => {
  const body = Buffer.concat([
    Buffer.from('a\0b\x1b[31m\r.\r\nc\rd\n.\n\x85\r\n'),
    Buffer.from([0xed, 0xa0, 0x80, 0xff]),
  ])
  const id = await deliver(['Subject: a\0b\x1bc', 'Content-Type: text/html'], body)
  for (const json of [{ text: 'x' }, { html: 'x' }, { text: 'x', html: 'x' }]) await sent(`${id}/reply`, json)
  await sent(`${id}/forward`, { to: 'a@y.example' })
})

const toOf = (operation: string) => (operation === 'forward' ? { to: 'a@x.example' } : {})

async function threadOf(emailId: string): Promise<string> {
  const { thread_id } = await inbox.server.database.db
    .selectFrom('emails')
    .select('thread_id')
    .where('id', '=', emailId as `eml_${string}`)
    .executeTakeFirstOrThrow()
  return thread_id
}
