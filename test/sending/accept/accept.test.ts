import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { reserveKeys } from '../../../src/api/idempotency/reserve.ts'
import { plusMs, systemClock, toIso } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { newSortableToken } from '../../../src/base/ids.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { acceptedResponseBody } from '../../../src/sending/accept/accepted-response.ts'
import type { SendDeps } from '../../../src/sending/accept/open-sending.ts'
import { listEmails, readEmail, readEmailContent } from '../../../src/sending/emails/emails.ts'
import type { SendEmail } from '../../../src/sending/emails/schema.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { consumeQuota } from '../../harness/quota.ts'
import { until } from '../../harness/until.ts'
import { makeDomain, makeOrganization, type Organization, sendingOn, stoppedClock, suppress } from '../fixtures.ts'

let database: FreshDatabase
let acme: Organization
let deps: SendDeps
beforeAll(async () => {
  database = await freshDatabase(16)
  acme = await makeOrganization(database.db)
  deps = sendingOn(database.db)
})
afterAll(() => database.close())

const plain: SendEmail = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Hello', text: 'Hello Bob' }

function sendAs(organization: Organization, fields: Partial<SendEmail> = {}, by = deps) {
  return send({ sender: organization.sender, fields: { ...plain, ...fields } }, by)
}

async function refusalOf(work: Promise<unknown>): Promise<readonly [string, string | undefined]> {
  const error = await work.then(
    () => new Error('it was accepted'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Refusal)) throw error
  return [error.code, error.detail.param]
}

async function rowsOf(emailId: string) {
  const id = emailId as `eml_${string}`
  const [email, recipients, events, outbox] = await Promise.all([
    database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirst(),
    database.db.selectFrom('email_recipients').selectAll().where('email_id', '=', id).orderBy('position').execute(),
    database.db.selectFrom('email_events').selectAll().where('email_id', '=', id).orderBy('type').execute(),
    database.db.selectFrom('outbox').selectAll().where('email_id', '=', id).orderBy('position').execute(),
  ])
  return { email, recipients, events, outbox }
}

describe('accepts', () => {
  test('an email: one row a recipient in the outbox, and wakes the relay once it is committed', async () => {
    let seenByRelay = -1
    const waking = sendingOn(database.db, systemClock, async () => {
      const rows = await database.db
        .selectFrom('outbox')
        .select('id')
        .where('organization_id', '=', org.organizationId)
        .execute()
      seenByRelay = rows.length
    })
    const org = await makeOrganization(database.db)
    const accepted = await sendAs(
      org,
      { from: 'Ann <ann@acme.example>', to: ['bob@b.example', 'Cy <cy@c.example>'], bcc: 'dee@d.example' },
      waking,
    )
    expect(accepted).toMatchObject({
      status: 'queued',
      brandId: org.brandId,
      messageId: `${accepted.id.slice(4)}@acme.example`,
      recipients: [
        { email: 'bob@b.example', type: 'to', status: 'queued' },
        { email: 'cy@c.example', type: 'to', status: 'queued' },
        { email: 'dee@d.example', type: 'bcc', status: 'queued' },
      ],
    })
    const { email, recipients, events, outbox } = await rowsOf(accepted.id)
    expect(email).toMatchObject({
      status: 'queued',
      created_at: accepted.createdAt,
      thread_id: accepted.id,
      provider: 'sandbox',
    })
    expect(email?.expires_at).toBe(plusMs(accepted.createdAt, 5 * 86_400_000))
    expect(recipients.map(recipient => [recipient.position, recipient.email, recipient.status])).toEqual([
      [0, 'bob@b.example', 'queued'],
      [1, 'cy@c.example', 'queued'],
      [2, 'dee@d.example', 'queued'],
    ])
    expect(events).toEqual([])
    expect(outbox.map(row => [row.position, row.destination, row.due_at, row.attempts])).toEqual([
      [0, 'b.example', accepted.createdAt, 0],
      [1, 'c.example', accepted.createdAt, 0],
      [2, 'd.example', accepted.createdAt, 0],
    ])
    const message = (await deps.blobs.readWhole(org.organizationId, email?.blob_id ?? 'blb_')).toString()
    expect(message).toContain(`Message-ID: <${accepted.messageId}>`)
    expect(message).not.toContain('dee@d.example')
    await until(() => seenByRelay >= 0, { what: 'the relay is woken' })
    expect(seenByRelay).toBe(3)
  })

  test('a Unicode domain as its A-label, on both sides', async () => {
    const org = await makeOrganization(database.db, { domain: 'xn--bcher-kva.example' })
    const accepted = await sendAs(org, { from: 'Ann <ann@BÜCHER.example>', to: 'bob@例え.example' })
    expect(accepted.messageId).toEndWith('@xn--bcher-kva.example')
    expect(accepted.recipients[0]?.email).toBe('bob@xn--r8jz45g.example')
    expect((await rowsOf(accepted.id)).outbox[0]?.destination).toBe('xn--r8jz45g.example')
  })

  test('each recipient once: to before cc before bcc, without case', async () => {
    const accepted = await sendAs(acme, {
      to: ['bob@b.example', 'Bob <BOB@B.example>'],
      cc: ['cy@c.example', 'bob@b.example'],
      bcc: ['Cy@C.example', 'dee@d.example'],
    })
    expect(accepted.recipients.map(recipient => [recipient.email, recipient.type])).toEqual([
      ['bob@b.example', 'to'],
      ['cy@c.example', 'cc'],
      ['dee@d.example', 'bcc'],
    ])
  })

  test('a scheduled email: due when it is to be sent', async () => {
    const at = plusMs(systemClock.now(), 3_600_000)
    const accepted = await sendAs(acme, { scheduled_at: toIso(at), expires_in: 60 })
    expect(accepted).toMatchObject({ status: 'scheduled', recipients: [{ status: 'scheduled' }] })
    const { email, events, outbox } = await rowsOf(accepted.id)
    expect([email?.status, email?.scheduled_at, email?.expires_at]).toEqual(['scheduled', at, plusMs(at, 60_000)])
    expect(events).toEqual([])
    expect(outbox[0]?.due_at).toBe(at)
  })

  test('replies into the thread of what they reply to', async () => {
    const first = await sendAs(acme)
    const second = await sendAs(acme, { headers: { 'In-Reply-To': `<${first.messageId}>` } })
    const third = await sendAs(acme, { headers: { References: `<unknown@x> <${second.messageId}>` } })
    expect((await rowsOf(second.id)).email?.thread_id).toBe(first.id)
    expect((await rowsOf(third.id)).email?.thread_id).toBe(first.id)
  })

  test('50 recipients, 20 attachments and exactly 10 MiB', async () => {
    const to = Array.from({ length: 50 }, (_, i) => `r${i}@b.example`)
    const content = Buffer.alloc((10 * 1024 * 1024) / 20, 7).toString('base64')
    const attachments = Array.from({ length: 20 }, (_, i) => ({ filename: `${i}.bin`, content }))
    const accepted = await sendAs(acme, { to, attachments })
    expect(accepted.recipients).toHaveLength(50)
    const detail = await readEmailContent(deps, acme.sender, accepted.id)
    expect(detail.attachments).toHaveLength(20)
    expect(detail.attachments[19]).toMatchObject({ filename: '19.bin', size: 524_288 })
  })
})

test('accepts the maximum length of everything', async () => {
  const quotes = `"${'\\"'.repeat(256)}"`
  const far = (i: number) => `${'l'.repeat(62)}${10 + i}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(49)}.example`
  const org = await makeOrganization(database.db, { domain: far(0).slice(65) })
  expect(far(0)).toHaveLength(250)
  const accepted = await sendAs(org, {
    from: `${quotes} <${far(0)}>`,
    to: Array.from({ length: 25 }, (_, i) => `${quotes} <${far(i)}>`),
    cc: Array.from({ length: 25 }, (_, i) => `${'語'.repeat(256)} <${far(25 + i)}>`),
    reply_to: Array.from({ length: 50 }, (_, i) => `${quotes} <${far(i)}>`),
    subject: '語'.repeat(998),
    headers: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${'X'.repeat(118)}${10 + i}`, 'y'.repeat(870)])),
    tags: Array.from({ length: 20 }, () => ({ name: '語'.repeat(120), value: '"'.repeat(256) })),
    metadata: Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`${'語'.repeat(118)}${10 + i}`, '"'.repeat(2048)]),
    ),
    attachments: Array.from({ length: 20 }, () => ({ filename: '語'.repeat(255), content: 'AAAA' })),
  })
  const { from, to, metadata } = await readEmail(database.db, org.sender, accepted.id)
  expect([from, to[24], Object.keys(metadata).length]).toEqual([`${quotes} <${far(0)}>`, `${quotes} <${far(24)}>`, 20])
})

describe('refuses, with code and param', () => {
  const bytes = (count: number) => Buffer.alloc(count).toString('base64')
  const file = { filename: 'a.bin', content: 'AAAA' }
  const later = (days: number) => toIso(plusMs(systemClock.now(), days * 86_400_000))
  const cases: readonly (readonly [string, Partial<SendEmail>, string, string?])[] = [
    ['a From that is none', { from: 'ann' }, 'invalid_request', 'from'],
    ['two Froms', { from: 'a@acme.example, b@acme.example' }, 'invalid_request', 'from'],
    ['a From with a line break', { from: 'a@acme.example\r\nBcc: x@y.z' }, 'invalid_request', 'from'],
    ['a non-ASCII local part', { from: 'änn@acme.example' }, 'invalid_request', 'from'],
    ['a recipient that is none', { to: 'bob' }, 'invalid_request', 'to'],
    ['the fourth recipient', { to: ['a@b.example', 'b@b.example', 'c@b.example', 'd'] }, 'invalid_request', 'to[3]'],
    ['a smuggled recipient', { to: ['a@b.c>\r\nRCPT TO:<evil@x.y'] }, 'invalid_request', 'to[0]'],
    ['a group', { cc: 'g: a@b.c, e@x.y;' }, 'invalid_request', 'cc'],
    ['a source route', { bcc: ['@r.example:a@b.example'] }, 'invalid_request', 'bcc[0]'],
    ['a non-ASCII recipient', { to: 'bøb@b.example' }, 'invalid_request', 'to'],
    ['nobody', { to: [] }, 'invalid_request', 'to'],
    ['a Reply-To that is none', { reply_to: ['a@b.example', ''] }, 'invalid_request', 'reply_to[1]'],
    [
      '51 recipients',
      { to: Array.from({ length: 50 }, (_, i) => `r${i}@b.example`), bcc: 'r1@b.example' },
      'too_many_recipients',
      'to',
    ],
    ['51 times the same', { to: Array.from({ length: 51 }, () => 'bob@b.example') }, 'too_many_recipients', 'to'],
    ['no subject', { subject: '' }, 'no_content', 'subject'],
    ['a blank subject', { subject: ' \t' }, 'no_content', 'subject'],
    ['a subject of two lines', { subject: 'a\nb' }, 'invalid_request', 'subject'],
    ['no body', { text: '' }, 'no_content', 'text'],
    ['NUL in text', { text: 'a\u0000b' }, 'invalid_request', 'text'],
    ['text past 2 MiB', { text: 'x'.repeat(2 * 1024 * 1024 + 1) }, 'invalid_request', 'text'],
    ['html past 2 MiB', { html: 'ü'.repeat(1024 * 1024 + 1) }, 'invalid_request', 'html'],
    ['a header of ours', { headers: { 'Message-ID': '<x@y>' } }, 'invalid_request', 'headers.Message-ID'],
    ['a header of ours, in capitals', { headers: { DATE: 'now' } }, 'invalid_request', 'headers.DATE'],
    ['a MIME header', { headers: { 'Content-Type': 'text/html' } }, 'invalid_request', 'headers.Content-Type'],
    ['an ARC header', { headers: { 'ARC-Seal': 'x' } }, 'invalid_request', 'headers.ARC-Seal'],
    ['a Mailroom header', { headers: { 'X-Mailroom-Id': 'x' } }, 'invalid_request', 'headers.X-Mailroom-Id'],
    ['a Bcc header', { headers: { bcc: 'x@y.z' } }, 'invalid_request', 'headers.bcc'],
    ['a header that is none', { headers: { 'X A': 'x' } }, 'invalid_request', 'headers.X A'],
    ['a header with a colon', { headers: { 'Bcc:': 'x' } }, 'invalid_request', 'headers.Bcc:'],
    ['a line break in a header', { headers: { 'X-A': 'x\r\nBcc: e@x.y' } }, 'invalid_request', 'headers.X-A'],
    ['a line break in its name', { headers: { 'X-A\r\nBcc': 'e@x.y' } }, 'invalid_request', 'headers'],
    ['the same header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'invalid_request', 'headers.x-a'],
    [
      'a header of a word too long for a line',
      { headers: { 'X-A': 'x'.repeat(998) } },
      'invalid_request',
      'headers.X-A',
    ],
    [
      '51 headers',
      { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, 'x'])) },
      'invalid_request',
      'headers',
    ],
    [
      'an attachment without name',
      { attachments: [{ ...file, filename: ' ' }] },
      'invalid_request',
      'attachments[0].filename',
    ],
    [
      'a path as name',
      { attachments: [file, { ...file, filename: '../x' }] },
      'invalid_request',
      'attachments[1].filename',
    ],
    [
      'a line break in a name',
      { attachments: [{ ...file, filename: 'x\r\ny' }] },
      'invalid_request',
      'attachments[0].filename',
    ],
    [
      'base64 with a space',
      { attachments: [{ ...file, content: 'AAAA AAAA' }] },
      'invalid_request',
      'attachments[0].content',
    ],
    [
      'base64 without padding',
      { attachments: [{ ...file, content: 'AAA' }] },
      'invalid_request',
      'attachments[0].content',
    ],
    [
      'base64 with stray bits',
      { attachments: [{ ...file, content: 'AAB=' }] },
      'invalid_request',
      'attachments[0].content',
    ],
    ['base64url', { attachments: [{ ...file, content: '__--' }] }, 'invalid_request', 'attachments[0].content'],
    [
      'a media type that is none',
      { attachments: [{ ...file, content_type: 'pdf' }] },
      'invalid_request',
      'attachments[0].content_type',
    ],
    [
      'a multipart',
      { attachments: [{ ...file, content_type: 'multipart/mixed' }] },
      'invalid_request',
      'attachments[0].content_type',
    ],
    [
      'a content id with spaces',
      { attachments: [{ ...file, content_id: 'a b' }] },
      'invalid_request',
      'attachments[0].content_id',
    ],
    [
      'one content id twice',
      {
        attachments: [
          { ...file, content_id: 'a' },
          { ...file, content_id: '<a>' },
        ],
      },
      'invalid_request',
      'attachments[1].content_id',
    ],
    ['21 attachments', { attachments: Array.from({ length: 21 }, () => file) }, 'too_many_attachments', 'attachments'],
    [
      'one byte past 10 MiB',
      {
        attachments: [
          { ...file, content: bytes(10 * 1024 * 1024) },
          { ...file, content: 'AA==' },
        ],
      },
      'attachments_too_large',
      'attachments',
    ],
    ['a colon in a tag', { tags: [{ name: 'a:b', value: 'x' }] }, 'invalid_request', 'tags[0].name'],
    [
      '21 keys of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'x'])) },
      'invalid_request',
      'metadata',
    ],
    ['a schedule in the past', { scheduled_at: later(-0.01) }, 'invalid_request', 'scheduled_at'],
    ['a schedule past 30 days', { scheduled_at: later(30.01) }, 'invalid_request', 'scheduled_at'],
    ['a schedule that is none', { scheduled_at: 'tomorrow' }, 'invalid_request', 'scheduled_at'],
    ['a domain that is not registered', { from: 'a@other.example' }, 'domain_not_verified', 'from'],
    ['a parent of a registered domain', { from: 'a@sub.acme.example' }, 'domain_not_verified', 'from'],
  ]
  for (const [name, fields, code, param] of cases)
    test(name, async () => {
      expect(await refusalOf(sendAs(acme, fields))).toEqual([code, param])
    })

  test('a domain that is registered and not verified, or another organization has', async () => {
    await makeDomain(database.db, acme.organizationId, 'pending.example', 'pending')
    await makeOrganization(database.db, { domain: 'theirs.example' })
    expect(await refusalOf(sendAs(acme, { from: 'a@pending.example' }))).toEqual(['domain_not_verified', 'from'])
    expect(await refusalOf(sendAs(acme, { from: 'a@theirs.example' }))).toEqual(['domain_not_verified', 'from'])
  })

  test("a From of another brand than the key's", async () => {
    const other = await makeDomain(database.db, acme.organizationId, 'other-brand.example')
    const restricted = { ...acme, sender: { ...acme.sender, brandId: other.brandId } }
    expect(await refusalOf(sendAs(restricted))).toEqual(['from_not_allowed', 'from'])
    const accepted = await sendAs(restricted, { from: 'a@other-brand.example' })
    expect(accepted.brandId).toBe(other.brandId)
  })

  test('by the first failed check, in their order', async () => {
    const { db } = database
    const org = await makeOrganization(db, { plan: 'free', domain: 'checks.example' })
    const { organizationId, brandId } = org
    const at = systemClock.now()
    await db.updateTable('domains').set({ status: 'pending' }).where('id', '=', org.domainId).execute()
    const pause = { brand_id: brandId, paused_at: at, reason: 'Too many bounces.', counted_from: at }
    await db.insertInto('brand_pauses').values(pause).execute()
    await suppress(db, org, 'bob@b.example')
    await inTransaction(db, tx => consumeQuota(tx, [{ organizationId, plan: 'free', count: 3000 }], at))
    const restricted = { ...org, sender: { ...org.sender, brandId: acme.brandId } }
    const fields = { from: 'a@checks.example', to: 'bob@b.example' }

    const unknown = sendAs(restricted, { ...fields, from: 'a@unknown.example' })
    expect(await refusalOf(unknown)).toEqual(['domain_not_verified', 'from'])
    expect(await refusalOf(sendAs(restricted, fields))).toEqual(['from_not_allowed', 'from'])
    expect(await refusalOf(sendAs(org, fields))).toEqual(['domain_not_verified', 'from'])
    await db.updateTable('domains').set({ status: 'verified' }).where('id', '=', org.domainId).execute()
    expect(await refusalOf(sendAs(org, fields))).toEqual(['from_not_allowed', 'from'])
    await db.deleteFrom('brand_pauses').where('brand_id', '=', brandId).execute()
    expect(await refusalOf(sendAs(org, fields))).toEqual(['recipient_suppressed', 'to'])
    await db.deleteFrom('suppressions').where('brand_id', '=', brandId).execute()
    expect(await refusalOf(sendAs(org, fields))).toEqual(['quota_exceeded', undefined])
  })
})

describe('suppression', () => {
  test('leaves out suppressed recipients, and refuses when nobody is left', async () => {
    const org = await makeOrganization(database.db)
    await suppress(database.db, org, 'bob@b.example', 'hard_bounce')
    const accepted = await sendAs(org, { to: ['BOB@b.example', 'cy@c.example'] })
    expect(accepted.recipients.map(recipient => [recipient.email, recipient.status])).toEqual([
      ['BOB@b.example', 'suppressed'],
      ['cy@c.example', 'queued'],
    ])
    const { email, events, outbox } = await rowsOf(accepted.id)
    expect(email?.status).toBe('queued')
    expect(events.map(event => [event.type, event.recipient])).toEqual([['suppressed', 'BOB@b.example']])
    expect(outbox.map(row => row.position)).toEqual([1])
    expect(await refusalOf(sendAs(org, { to: 'Bob <bob@B.example>' }))).toEqual(['recipient_suppressed', 'to'])
  })

  test("is each brand's own, ends when it expires, and an unsubscription does not stop other mail", async () => {
    const org = await makeOrganization(database.db)
    const other = await makeDomain(database.db, org.organizationId, 'other.example')
    await suppress(database.db, { ...org, ...other }, 'bob@b.example')
    await suppress(database.db, org, 'cy@c.example', 'manual', plusMs(systemClock.now(), -1000))
    await suppress(database.db, org, 'dee@d.example', 'unsubscribe')
    const accepted = await sendAs(org, { to: ['bob@b.example', 'cy@c.example', 'dee@d.example'] })
    expect(accepted.recipients.map(recipient => recipient.status)).toEqual(['queued', 'queued', 'queued'])
    expect(await refusalOf(sendAs(org, { from: 'a@other.example' }))).toEqual(['recipient_suppressed', 'to'])
  })
})

describe('many at once', () => {
  test('each get their own created_at, also from two processes whose clocks stand still', async () => {
    const org = await makeOrganization(database.db)
    const clock = stoppedClock('2026-05-01T00:00:00Z')
    const processes = [sendingOn(database.db, clock), sendingOn(database.db, clock)] as const
    const accepted = await Promise.all(
      Array.from({ length: 50 }, (_, i) => sendAs(org, { subject: `${i}` }, processes[i % 2 ? 1 : 0])),
    )
    expect(new Set(accepted.map(acceptedEmail => acceptedEmail.createdAt)).size).toBe(50)
    const pages: string[] = []
    let before: string | null | undefined
    do {
      const page = await listEmails(database.db, org.sender, { limit: '7', ...(before ? { before } : {}) })
      pages.push(...page.data.map(email => email.id))
      before = page.next_before
    } while (before !== null)
    expect(pages).toHaveLength(50)
    expect(new Set(pages)).toEqual(new Set(accepted.map(acceptedEmail => acceptedEmail.id)))
  })

  test('stop on a free plan at exactly 3,000, and go on on a paid one', async () => {
    const free = await makeOrganization(database.db, { plan: 'free' })
    const paid = await makeOrganization(database.db, { plan: 'paid' })
    const month = systemClock.now().slice(0, 7)
    for (const [org, accepted] of [
      [free, 2975],
      [paid, 50_000],
    ] as const)
      await database.db
        .insertInto('usage_months')
        .values({ organization_id: org.organizationId, month, slot: 5, accepted })
        .execute()
    const processes = [deps, sendingOn(database.db), sendingOn(database.db)]
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        sendAs(free, { subject: `${i}` }, processes[i % 3]).then(
          () => 'accepted',
          (error: Refusal) => `${error.code} ${error.status}`,
        ),
      ),
    )
    expect(outcomes.filter(outcome => outcome === 'accepted')).toHaveLength(25)
    expect(outcomes.filter(outcome => outcome === 'quota_exceeded 402')).toHaveLength(15)
    const rows = await database.db
      .selectFrom('usage_months')
      .selectAll()
      .where('organization_id', '=', free.organizationId)
      .execute()
    expect(rows.reduce((sum, row) => sum + row.accepted, 0)).toBe(3000)
    const { length } = await database.db
      .selectFrom('emails')
      .select('id')
      .where('organization_id', '=', free.organizationId)
      .execute()
    expect(length).toBe(25)
    await sendAs(paid)
  })

  test('share a transaction, and one that is refused affects no other', async () => {
    const org = await makeOrganization(database.db)
    await suppress(database.db, org, 'bad@b.example')
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        sendAs(org, { to: i % 3 === 0 ? 'bad@b.example' : `good${i}@b.example` }).then(
          accepted => accepted.recipients[0]?.email,
          (error: Refusal) => error.code,
        ),
      ),
    )
    expect(outcomes).toEqual(
      Array.from({ length: 24 }, (_, i) => (i % 3 === 0 ? 'recipient_suppressed' : `good${i}@b.example`)),
    )
  })
})

describe('with an Idempotency-Key', () => {
  const ask = (organization: Organization, key: string) => ({
    organizationId: organization.organizationId,
    key,
    fingerprint: createHash('sha256').update('x').digest(),
  })
  async function reserve(organization: Organization, key: string) {
    const [claim] = await reserveKeys(database.db, [ask(organization, key)], systemClock)
    if (claim?.kind !== 'reserved') throw new Error('the key was not free')
    return claim.reservation
  }

  test('the response is stored with the email', async () => {
    const reservation = await reserve(acme, 'key-one-1')
    const accepted = await send({ sender: acme.sender, fields: plain, reservation }, deps)
    const [again] = await reserveKeys(database.db, [ask(acme, 'key-one-1')], systemClock)
    expect(again).toEqual({ kind: 'completed', response: { status: 202, body: acceptedResponseBody(accepted) } })
  })

  test('a refusal stores nothing, so that the key is free again', async () => {
    const reservation = await reserve(acme, 'key-two-2')
    await suppress(database.db, acme, 'nobody@b.example')
    const refused = send({ sender: acme.sender, fields: { ...plain, to: 'nobody@b.example' }, reservation }, deps)
    expect(await refusalOf(refused)).toEqual(['recipient_suppressed', 'to'])
    const row = await database.db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('idempotency_key', '=', 'key-two-2')
      .executeTakeFirst()
    expect(row?.status).toBeNull()
  })

  test('a request that lost its key sends nothing, and the others of the batch do', async () => {
    const org = await makeOrganization(database.db)
    const reservations = await Promise.all(Array.from({ length: 8 }, (_, i) => reserve(org, `key-lost-${i}`)))
    await database.db
      .updateTable('idempotency_keys')
      .set({ token: newSortableToken() })
      .where('organization_id', '=', org.organizationId)
      .where('idempotency_key', 'in', ['key-lost-2', 'key-lost-5'])
      .execute()
    const outcomes = await Promise.all(
      reservations.map(reservation =>
        send({ sender: org.sender, fields: plain, reservation }, deps).then(
          () => 'accepted',
          (error: Refusal) => `${error.code} ${error.detail.retryAfterSeconds}`,
        ),
      ),
    )
    expect(outcomes).toEqual(
      Array.from({ length: 8 }, (_, i) => ([2, 5].includes(i) ? 'idempotency_in_progress 1' : 'accepted')),
    )
    const { length } = await database.db
      .selectFrom('emails')
      .select('id')
      .where('organization_id', '=', org.organizationId)
      .execute()
    expect(length).toBe(6)
    const usage = await database.db
      .selectFrom('usage_months')
      .select('accepted')
      .where('organization_id', '=', org.organizationId)
      .execute()
    expect(usage.reduce((sum, row) => sum + row.accepted, 0)).toBe(6)
  })
})

describe('reading', () => {
  test('shows an email with its events and its content', async () => {
    const accepted = await sendAs(acme, {
      from: 'Ann <ann@acme.example>',
      to: ['Bob <bob@b.example>'],
      html: '<p>Hi</p>',
      reply_to: 'r@acme.example',
      tags: [{ name: 'kind', value: 'welcome' }],
      metadata: { order: '17' },
      attachments: [{ filename: 'a.png', content: 'SGk=', content_id: 'x' }],
    })
    const detail = await readEmail(database.db, acme.sender, accepted.id)
    expect(detail).toMatchObject({
      from: 'Ann <ann@acme.example>',
      to: ['Bob <bob@b.example>'],
      cc: [],
      bcc: [],
      reply_to: ['r@acme.example'],
      status: 'queued',
      message_id: accepted.messageId,
      tags: [{ name: 'kind', value: 'welcome' }],
      metadata: { order: '17' },
      recipients: [{ email: 'bob@b.example', type: 'to', status: 'queued', smtp_code: null }],
      events: [
        { type: 'queued', source: 'api', metadata: { order: '17' }, tags: [{ name: 'kind', value: 'welcome' }] },
      ],
      replies: [],
      sent_at: null,
      created_at: toIso(accepted.createdAt),
    })
    const content = await readEmailContent(deps, acme.sender, accepted.id)
    expect(content).toMatchObject({
      subject: 'Hello',
      html: '<p>Hi</p>',
      available: true,
      attachments: [{ filename: 'a.png', content_type: 'image/png', size: 2, content_id: 'x' }],
    })
    expect(content.text?.trim()).toBe('Hello Bob')
  })

  test('parses large content in the worker, with the same result as on this thread; refuses when that fails', async () => {
    const texts = openTextWorker()
    let calls = 0
    const withWorker: SendDeps = {
      ...deps,
      parseLargeMessage(chunks, limits) {
        calls++
        return texts.readSummary(chunks, limits)
      },
    }
    const withFailingWorker: SendDeps = { ...deps, parseLargeMessage: () => Promise.resolve(null) }
    try {
      const held = 'Over the fence she threw it.\n'.repeat(10_000)
      const attachments = [{ filename: 'a.bin', content: Buffer.alloc(1_000_000, 7).toString('base64') }]
      const large = await sendAs(acme, { text: held, html: `<p>${held}</p>`.repeat(6), attachments })
      const small = await sendAs(acme)
      for (const { id } of [small, large])
        expect(await readEmailContent(withWorker, acme.sender, id)).toEqual(
          await readEmailContent(deps, acme.sender, id),
        )
      expect(calls).toBe(1)
      const failing = readEmailContent(withFailingWorker, acme.sender, large.id)
      expect(await failing.catch((error: Refusal) => error.code)).toBe('unavailable')
    } finally {
      texts.close()
    }
  })

  test('filters by status, brand, tag and recipient', async () => {
    const org = await makeOrganization(database.db)
    const other = await makeDomain(database.db, org.organizationId, 'other.example')
    const tagged = await sendAs(org, {
      tags: [
        { name: 'a', value: 'x:y' },
        { name: 'b', value: 'q' },
      ],
    })
    const there = await sendAs(org, { from: 'a@other.example', to: ['Deep@b.example', 'x@b.example'] })
    const later = await sendAs(org, { scheduled_at: toIso(plusMs(systemClock.now(), 60_000)) })
    const list = async (query: Parameters<typeof listEmails>[2], brandId: typeof org.brandId | null = null) =>
      (await listEmails(database.db, { ...org.sender, brandId }, query)).data.map(email => email.id)
    expect(await list({})).toEqual([later.id, there.id, tagged.id])
    expect(await list({ limit: '2' })).toEqual([later.id, there.id])
    expect((await listEmails(database.db, org.sender, { limit: '3' })).next_before).toBeNull()
    expect((await listEmails(database.db, org.sender, { limit: '2' })).next_before).toBe(toIso(there.createdAt))
    expect(await list({ status: 'scheduled' })).toEqual([later.id])
    expect(await list({ tag: 'a:x:y' })).toEqual([tagged.id])
    expect(await list({ tag: 'a:q' })).toEqual([])
    expect(await list({ recipient: 'deep@B.example' })).toEqual([there.id])
    expect(await list({ brand_id: other.brandId })).toEqual([there.id])
    expect(await list({}, other.brandId)).toEqual([there.id])
    const asOther = { ...org.sender, brandId: other.brandId }
    expect(await refusalOf(readEmail(database.db, asOther, tagged.id))).toEqual(['brand_restricted', undefined])
    expect(await refusalOf(listEmails(database.db, asOther, { brand_id: org.brandId }))).toEqual([
      'brand_restricted',
      'brand_id',
    ])
    expect(await refusalOf(readEmail(database.db, acme.sender, tagged.id))).toEqual(['not_found', undefined])
    expect(await refusalOf(listEmails(database.db, org.sender, { before: 'yesterday' }))).toEqual([
      'invalid_cursor',
      'before',
    ])
    expect(await refusalOf(listEmails(database.db, org.sender, { tag: 'x' }))).toEqual(['invalid_request', 'tag'])
  })
})
