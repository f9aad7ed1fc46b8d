import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { acceptedInMonth } from '../../../src/accounts/organizations/quota.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { batchRoutes } from '../../../src/sending/batch/routes.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { templateRoutes } from '../../../src/sending/templates/routes.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { consumeQuota } from '../../harness/quota.ts'
import { makeDomain, sendingOn } from '../fixtures.ts'

let server: TestHttpServer
let wakeups = 0
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      const sending = sendingOn(db, clock, () => wakeups++)
      return [emailRoutes(sending), batchRoutes(sending), templateRoutes({ db, clock, renderer: sending.renderer })]
    },
  })
})
afterAll(() => server.close())

const plain = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Hello', text: 'Hello' }
/** Refused before the accepting transaction. */
const misaddressed = { ...plain, to: ['bob@b.example', 'nobody'] }
/** Refused in the accepting transaction. */
const suppressed = { ...plain, to: 'gone@b.example' }

interface Sender {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly key: string
}

/** An organization that may send from acme.example, but not to gone@b.example. */
async function newSender(plan: 'free' | 'unlimited' = 'unlimited'): Promise<Sender> {
  const { db } = server.database
  const organizationId = await server.newOrganization()
  await changeOrganization(db, server.clock, organizationId, { plan })
  const { brandId } = await makeDomain(db, organizationId, 'acme.example')
  const at = server.clock.now()
  await db
    .insertInto('suppressions')
    .values({
      id: `sup_${organizationId.slice(4)}` as Id<'sup'>,
      organization_id: organizationId,
      brand_id: brandId,
      email: 'gone@b.example',
      reason: 'manual',
      source_email_id: null,
      evidence: null,
      created_at: at,
      expires_at: null,
    })
    .execute()
  const { key } = await server.newKey({ organizationId })
  return { organizationId, brandId, key }
}

const post = ({ key }: Sender, json: unknown, headers: Record<string, string> = {}) =>
  server.call('POST', '/v1/emails/batch', { key, json, headers })

const countOf = async (table: 'emails' | 'outbox', { organizationId }: Sender) =>
  (await server.database.db.selectFrom(table).select('id').where('organization_id', '=', organizationId).execute())
    .length

const countedOf = ({ organizationId }: Sender) =>
  acceptedInMonth(server.database.db, organizationId, server.clock.now())

/** What became of each email, in short. */
const outcomes = (json: { data: { index: number; status: string; error?: { code: string; param: string } }[] }) =>
  json.data.map(({ index, status, error }) => (error ? [index, status, error.code, error.param] : [index, status]))

describe('a batch', () => {
  test('accepts emails with every field of a single send, each as a single one is', async () => {
    const sender = await newSender()
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const full = {
      ...plain,
      from: 'Ann <ann@acme.example>',
      to: ['bob@b.example', 'Cy <cy@c.example>'],
      cc: 'dee@d.example',
      bcc: ['eve@e.example'],
      reply_to: 'answers@acme.example',
      html: '<p>Hello</p>',
      headers: { 'X-Order': '1042' },
      tags: [{ name: 'kind', value: 'receipt' }],
      metadata: { order: '1042' },
      attachments: [{ filename: 'a.txt', content: 'QQ==' }],
      scheduled_at: scheduledAt,
      expires_in: 60,
    }
    wakeups = 0
    const { status, json } = await post(sender, { emails: [full, { ...plain, unsubscribe: true }] })
    expect([status, outcomes(json), wakeups]).toEqual([
      200,
      [
        [0, 'accepted'],
        [1, 'accepted'],
      ],
      1,
    ])
    const [first, second] = json.data
    expect(first.email).toMatchObject({ status: 'scheduled', brand_id: sender.brandId })
    const alone = await server.call('POST', '/v1/emails', { key: sender.key, json: full })
    expect(alone.json.recipients).toEqual(first.email.recipients)
    const detailOf = async (id: string) => {
      const {
        id: _,
        created_at,
        message_id,
        last_event_at,
        recipients,
        events,
        ...rest
      } = (await server.call('GET', `/v1/emails/${id}`, { key: sender.key })).json
      return rest
    }
    expect(await detailOf(first.email.id)).toEqual(await detailOf(alone.json.id))
    const content = await server.call('GET', `/v1/emails/${second.email.id}/content`, { key: sender.key })
    expect(content.json.headers.map(({ name }: { name: string }) => name)).toContain('List-Unsubscribe')
    expect([await countOf('emails', sender), await countOf('outbox', sender), await countedOf(sender)]).toEqual([
      3, 9, 3,
    ])
  })

  test('of 100 is accepted whole, each with an instant of its own, and listed in order', async () => {
    const sender = await newSender()
    const emails = Array.from({ length: 100 }, (_, i) => ({ ...plain, to: `r${i}@b.example`, subject: `Number ${i}` }))
    const { json } = await post(sender, { emails })
    expect(outcomes(json)).toEqual(emails.map((_, i) => [i, 'accepted']))
    const listed = (await server.call('GET', '/v1/emails?limit=200', { key: sender.key })).json.data
    expect(listed.map(({ subject }: { subject: string }) => subject)).toEqual(
      emails.map(({ subject }) => subject).reverse(),
    )
  })

  test('renders a template for each email', async () => {
    const sender = await newSender()
    const template = {
      brand_id: sender.brandId,
      slug: 'hi',
      name: 'Hi',
      subject: 'Hi {{ name }}',
      text: 'Hi {{ name }}.',
    }
    await server.call('POST', '/v1/templates', { key: sender.key, json: template })
    const to = (name: string) => ({ from: plain.from, to: plain.to, template: 'hi', variables: { name } })
    const { json } = await post(sender, { emails: [to('Ann'), { ...to('Bob'), template: 'other' }, to('Cy')] })
    expect(outcomes(json)).toEqual([
      [0, 'accepted'],
      [1, 'refused', 'template_not_found', 'emails[1].template'],
      [2, 'accepted'],
    ])
    const listed = (await server.call('GET', '/v1/emails', { key: sender.key })).json.data
    expect(listed.map(({ subject }: { subject: string }) => subject)).toEqual(['Hi Cy', 'Hi Ann'])
  })

  test('keeps large messages whole, stored before the accepting transaction', async () => {
    const sender = await newSender()
    const text = `${'x'.repeat(70)}\n`.repeat(10_000)
    const emails = Array.from({ length: 12 }, (_, i) => ({ ...plain, text: `${i}\n${text}` }))
    const { json } = await post(sender, { emails })
    for (const [i, { email }] of json.data.entries()) {
      const content = await server.call('GET', `/v1/emails/${email.id}/content`, { key: sender.key })
      expect(content.json.text.replaceAll('\r\n', '\n').trim() === `${i}\n${text}`.trim()).toBe(true)
    }
  })
})

test.skipIf(process.env['MAILROOM_TEST_LONG'] !== '1')('a batch of 100 emails with 50 recipients each', async () => {
  const sender = await newSender()
  const to = Array.from({ length: 50 }, (_, i) => `r${i}@b.example`)
  const started = performance.now()
  const { status } = await post(sender, { emails: Array.from({ length: 100 }, () => ({ ...plain, to })) })
  process.stdout.write(`100 emails with 50 recipients each: ${Math.round(performance.now() - started)} ms\n`)
  expect([status, await countOf('outbox', sender)]).toEqual([200, 5000])
})

describe('a refused email of a batch', () => {
  const problems: readonly (readonly [string, object, string, string])[] = [
    ['an unknown property', { ...plain, nonsense: 1 }, 'invalid_request', 'emails[1].nonsense'],
    ['no recipient', { ...plain, to: undefined }, 'invalid_request', 'emails[1].to'],
    ['a wrong type', { ...plain, subject: 7 }, 'invalid_request', 'emails[1].subject'],
    ['an address that is none', misaddressed, 'invalid_request', 'emails[1].to[1]'],
    ['no content', { ...plain, text: undefined }, 'no_content', 'emails[1].text'],
    ['a From of nobody', { ...plain, from: 'ann@other.example' }, 'domain_not_verified', 'emails[1].from'],
    ['a suppressed recipient', suppressed, 'recipient_suppressed', 'emails[1].to'],
    [
      'an attachment that is not base64',
      { ...plain, attachments: [{ filename: 'a', content: '*' }] },
      'invalid_request',
      'emails[1].attachments[0].content',
    ],
  ]
  test.each(problems)(
    'with %s has the error of a single send; the others are accepted',
    async (_, bad, code, param) => {
      const sender = await newSender()
      const { status, json } = await post(sender, { emails: [plain, bad, plain] })
      expect([status, outcomes(json)]).toEqual([
        200,
        [
          [0, 'accepted'],
          [1, 'refused', code, param],
          [2, 'accepted'],
        ],
      ])
      const alone = await server.call('POST', '/v1/emails', { key: sender.key, json: bad })
      expect(json.data[1].error).toEqual({ ...alone.json.error, param })
      expect([await countOf('emails', sender), await countedOf(sender)]).toEqual([2, 2])
    },
  )

  test('is of another brand than the key’s', async () => {
    const sender = await newSender()
    const { brandId } = await makeDomain(server.database.db, sender.organizationId, 'other.example')
    const { key } = await server.newKey({ organizationId: sender.organizationId, brandId })
    const { json } = await post({ ...sender, key }, { emails: [plain, { ...plain, from: 'a@other.example' }] })
    expect(outcomes(json)).toEqual([
      [0, 'refused', 'from_not_allowed', 'emails[0].from'],
      [1, 'accepted'],
    ])
  })

  test.each([
    ['before', misaddressed],
    ['in', suppressed],
  ])('leaves out those behind it with on_error stop, refused %s the transaction', async (_, bad) => {
    const sender = await newSender()
    const { status, json } = await post(sender, { emails: [plain, bad, plain, bad, plain], on_error: 'stop' })
    expect(status).toBe(200)
    expect(json.data.map(({ status }: { status: string }) => status)).toEqual(['accepted', 'refused'])
    expect([await countOf('emails', sender), await countOf('outbox', sender), await countedOf(sender)]).toEqual([
      1, 1, 1,
    ])
  })

  test('is beyond the quota, which counts what was accepted', async () => {
    const sender = await newSender('free')
    const { db } = server.database
    const taken = { organizationId: sender.organizationId, plan: 'free', count: 2998 } as const
    await inTransaction(db, tx => consumeQuota(tx, [taken], server.clock.now()))
    const { json } = await post(sender, { emails: [plain, misaddressed, plain, plain] })
    expect(outcomes(json)).toEqual([
      [0, 'accepted'],
      [1, 'refused', 'invalid_request', 'emails[1].to[1]'],
      [2, 'accepted'],
      [3, 'refused', 'quota_exceeded', 'emails[3]'],
    ])
    expect([await countOf('emails', sender), await countedOf(sender)]).toEqual([2, 3000])
    const list = await post(sender, [plain])
    expect([list.status, list.json.error.code]).toEqual([422, 'quota_exceeded'])
  })

  test('may be each of them', async () => {
    const sender = await newSender()
    const { status, json } = await post(sender, { emails: [misaddressed, misaddressed] })
    expect([status, json.data.length, await countOf('emails', sender)]).toEqual([200, 2, 0])
  })
})

describe('the whole request is refused', () => {
  const cases: readonly (readonly [string, unknown, string | undefined])[] = [
    ['without emails', { emails: [] }, 'emails'],
    ['with 101 emails', { emails: Array.from({ length: 101 }, () => plain) }, 'emails'],
    ['with an empty list', [], undefined],
    ['with a list of 101', Array.from({ length: 101 }, () => plain), undefined],
    ['with an email that is no object', { emails: [plain, 'x'] }, 'emails[1]'],
    ['with a list of something else', [plain, 7], '[1]'],
    ['with another on_error', { emails: [plain], on_error: 'abort' }, 'on_error'],
    ['with an unknown property', { emails: [plain], atomic: true }, 'atomic'],
    ['with an unknown property alone', { atomic: true }, 'atomic'],
  ]
  test.each(cases)('%s', async (_, json, param) => {
    const sender = await newSender()
    const response = await post(sender, json)
    expect([response.status, response.json.error.code, response.json.error.param]).toEqual([
      400,
      'invalid_request',
      param,
    ])
    expect(await countOf('emails', sender)).toBe(0)
  })
})

describe('an Idempotency-Key', () => {
  test('holds for all emails of the batch: the repetition gets the first answer and sends nothing', async () => {
    const sender = await newSender()
    const batch = { emails: [plain, suppressed, plain] }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(sender, batch, { 'idempotency-key': 'a-batch-of-three' })),
    )
    const first = answers.find(({ status }) => status === 200)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect([answer.status, answer.json.error.code]).toEqual([429, 'idempotency_in_progress'])
    const again = await post(sender, batch, { 'idempotency-key': 'a-batch-of-three' })
    expect([again.status, again.text, again.headers.get('idempotent-replay')]).toEqual([200, first?.text ?? '', 'true'])
    expect(await countOf('emails', sender)).toBe(2)
    const other = await post(sender, { emails: [plain] }, { 'idempotency-key': 'a-batch-of-three' })
    expect(other.json.error.code).toBe('idempotency_key_reused')
  })

  test('is free again after a list that was refused', async () => {
    const sender = await newSender()
    const headers = { 'idempotency-key': 'a-list-of-two' }
    expect((await post(sender, [plain, suppressed], headers)).status).toBe(422)
    expect((await post(sender, [plain, plain], headers)).status).toBe(200)
    expect(await countOf('emails', sender)).toBe(2)
  })
})

describe('a list without an object around it', () => {
  test.each([
    ['before', misaddressed, 400, 'invalid_request', '[1].to[1]'],
    ['in', suppressed, 422, 'recipient_suppressed', '[1].to'],
  ])('is accepted whole, or not at all, refused %s the transaction', async (_, bad, status, code, param) => {
    const sender = await newSender()
    const whole = await post(sender, [plain, plain])
    expect(whole.json).toEqual({
      data: [{ id: expect.stringMatching(/^eml_/) }, { id: expect.stringMatching(/^eml_/) }],
    })
    const refused = await post(sender, [plain, bad, plain])
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([status, code, param])
    expect(refused.json.error.message).toStartWith('[1]: to')
    expect([await countOf('emails', sender), await countedOf(sender)]).toEqual([2, 2])
  })

  test('is accepted in part when it asks for that', async () => {
    const sender = await newSender()
    const { json } = await post(sender, [plain, suppressed, misaddressed, plain], {
      'x-batch-validation': 'permissive',
    })
    expect(json.data).toHaveLength(2)
    expect(json.errors).toEqual([
      { index: 1, message: expect.stringContaining('gone@b.example') },
      { index: 2, message: expect.stringContaining('nobody') },
    ])
    expect(await countOf('emails', sender)).toBe(2)
    const other = await post(sender, [plain], { 'x-batch-validation': 'lenient' })
    expect([other.status, other.json.error.param]).toEqual([400, 'x-batch-validation'])
  })
})
