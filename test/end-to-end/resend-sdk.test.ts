import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Resend } from 'resend'
import { until } from '../harness/until.ts'
import { startUp, temporaryFolder, type UpProcess } from '../harness/up.ts'

/** Resend's own SDK against `./mailroom up`, as docs/api.md says that it works. */
let folder: ReturnType<typeof temporaryFolder>
let up: UpProcess
let resend: Resend

beforeAll(async () => {
  folder = temporaryFolder()
  up = await startUp(folder.path)
  resend = new Resend(up.file.key, { baseUrl: `${up.file.http}/v1` })
}, 90_000)
afterAll(async () => {
  await up?.end()
  folder?.remove()
}, 60_000)

const email = { from: 'Demo <hello@demo.test>', to: 'you@friend.test', subject: 'Your order', text: 'Thank you.' }

/** What the SDK gives of a call that succeeded. */
async function dataOf(response: Promise<{ data: unknown; error: unknown }>) {
  const { data, error } = await response
  expect(error).toBeNull()
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's types are those of Resend's responses
  return data as any
}

test('sends an email and reads it until it is sent', async () => {
  const { id } = await dataOf(resend.emails.send(email))
  await until(async () => (await dataOf(resend.emails.get(id))).status === 'sent')
  expect(await dataOf(resend.emails.get(id))).toMatchObject({
    id,
    from: 'Demo <hello@demo.test>',
    to: ['you@friend.test'],
    cc: [],
    bcc: [],
    reply_to: [],
    subject: 'Your order',
    scheduled_at: null,
    created_at: expect.stringMatching(/^\d{4}-/),
    message_id: expect.stringContaining('@demo.test'),
  })
})

test('schedules an email, reads it and cancels it', async () => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { id } = await dataOf(resend.emails.send({ ...email, scheduledAt }))
  const { status, scheduled_at } = await dataOf(resend.emails.get(id))
  expect([status, Date.parse(scheduled_at)]).toEqual(['scheduled', Date.parse(scheduledAt)])
  expect(await dataOf(resend.emails.cancel(id))).toMatchObject({ id, status: 'canceled' })
  expect(await dataOf(resend.emails.get(id))).toMatchObject({ id, status: 'canceled' })
})

test('lists emails, newest first', async () => {
  const { id: first } = await dataOf(resend.emails.send({ ...email, subject: 'First' }))
  const { id: second } = await dataOf(resend.emails.send({ ...email, subject: 'Second' }))
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  expect(idsOf(await dataOf(resend.emails.list())).slice(0, 2)).toEqual([second, first])
  const page = await dataOf(resend.emails.list({ limit: 1 }))
  expect(idsOf(page)).toEqual([second])
  expect(idsOf(await dataOf(resend.emails.list({ limit: 1, before: page.next_before })))).toEqual([first])
})

test('sends all that the SDK can put into an email', async () => {
  const content = Buffer.from('A note.')
  const { id } = await dataOf(
    resend.emails.send({
      ...email,
      to: ['you@friend.test', 'they@friend.test'],
      cc: 'copy@friend.test',
      bcc: ['blind@friend.test'],
      replyTo: 'answers@demo.test',
      html: '<p>Thank you. <img src="cid:note"></p>',
      headers: { 'X-Order': '1042' },
      tags: [{ name: 'kind', value: 'receipt' }],
      attachments: [
        { filename: 'note.txt', content },
        { filename: 'note.png', content: content.toString('base64'), contentType: 'image/png', contentId: 'note' },
      ],
    }),
  )
  const sent = await dataOf(resend.emails.get(id))
  expect(sent).toMatchObject({
    to: ['you@friend.test', 'they@friend.test'],
    cc: ['copy@friend.test'],
    bcc: ['blind@friend.test'],
    reply_to: ['answers@demo.test'],
    tags: [{ name: 'kind', value: 'receipt' }],
    attachment_count: 2,
  })
  const headers = { authorization: `Bearer ${up.file.key}` }
  const shown = await (await fetch(`${up.file.http}/v1/emails/${id}/content`, { headers })).json()
  for (const attachment of (shown as { attachments: { id: string }[] }).attachments) {
    const bytes = await fetch(`${up.file.http}/v1/emails/${id}/attachments/${attachment.id}`, { headers })
    expect(await bytes.text()).toBe('A note.')
  }
})

test('sends once with one idempotency key', async () => {
  const send = () => dataOf(resend.emails.send(email, { idempotencyKey: 'order-1042-confirmation' }))
  expect(await send()).toEqual(await send())
})

test('differs from Resend as the documentation says', async () => {
  /** The SDK hands on our error body, whatever its types say. */
  const refusalOf = async (response: Promise<{ data: unknown; error: unknown }>) => {
    const { data, error } = await response
    expect(data).toBeNull()
    const { code, param, message } = (error as { error: { code: string; param?: string; message: string } }).error
    expect(message).not.toBe('')
    return [code, param]
  }
  expect(await refusalOf(resend.emails.send({ ...email, from: 'me@other.test' }))).toEqual([
    'domain_not_verified',
    'from',
  ])
  expect(await refusalOf(resend.emails.send({ ...email, scheduledAt: 'in 1 hour' }))).toEqual([
    'invalid_request',
    'scheduled_at',
  ])
  expect(await refusalOf(resend.emails.send({ ...email, attachments: [{ path: 'https://x.test/a' }] }))).toEqual([
    'invalid_request',
    'attachments[0].path',
  ])
  expect(await refusalOf(resend.emails.send(email, { idempotencyKey: 'short' }))).toEqual([
    'idempotency_key_invalid',
    'Idempotency-Key',
  ])
  expect(await refusalOf(resend.emails.list({ after: 'eml_1' }))).toEqual(['invalid_request', 'after'])
  expect(await refusalOf(resend.emails.list({ before: 'eml_1' }))).toEqual(['invalid_cursor', 'before'])
  expect(await refusalOf(resend.emails.update({ id: 'eml_1', scheduledAt: '2026-01-01' }))).toEqual([
    'not_found',
    undefined,
  ])
})

test('sends a batch: all of it or nothing, or what is valid of it', async () => {
  const misaddressed = { ...email, to: 'nobody' }
  const { data } = await dataOf(resend.batch.send([email, { ...email, subject: 'Second of a batch' }]))
  expect(data).toHaveLength(2)
  const second = await dataOf(resend.emails.get(data[1].id))
  expect(second.subject).toBe('Second of a batch')

  const refused = await resend.batch.send([email, misaddressed])
  expect(refused).toMatchObject({ data: null, error: { error: { code: 'invalid_request', param: '[1].to' } } })

  const partly = await dataOf(resend.batch.send([misaddressed, email], { batchValidation: 'permissive' }))
  expect(partly).toEqual({
    data: [{ id: expect.stringMatching(/^eml_/) }],
    errors: [{ index: 0, message: expect.stringContaining('nobody') }],
  })

  const once = () => dataOf(resend.batch.send([email, email], { idempotencyKey: 'batch-1042' }))
  expect(await once()).toEqual(await once())
})

test('reads domains', async () => {
  const { data } = await dataOf(resend.domains.list())
  expect(data).toEqual([expect.objectContaining({ domain: 'demo.test', ready_to_send: true })])
  expect(await dataOf(resend.domains.get(data[0].id))).toMatchObject({ id: data[0].id, domain: 'demo.test' })
})

test('takes its base URL from RESEND_BASE_URL', async () => {
  const send = `const { Resend } = await import(process.env.SDK)
    const { data, error } = await new Resend(process.env.MAILROOM_KEY).emails.send(${JSON.stringify(email)})
    console.log(JSON.stringify({ status: data?.status, error }))`
  const running = Bun.spawn([process.execPath, '-e', send], {
    env: {
      ...process.env,
      SDK: import.meta.resolve('resend'),
      MAILROOM_KEY: up.file.key,
      RESEND_BASE_URL: `${up.file.http}/v1`,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(JSON.parse(await new Response(running.stdout).text())).toEqual({ status: 'queued', error: null })
})
