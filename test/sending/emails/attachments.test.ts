import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Instant } from '../../../src/base/clock.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { makeDomain, sendingOn } from '../fixtures.ts'

/** The bytes of attachments that were sent. */
let server: TestHttpServer
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => [emailRoutes(sendingOn(db, clock))],
  })
  await makeDomain(server.database.db, server.organizationId, 'acme.example')
})
afterAll(() => server.close())

const plain = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Files', text: 'Here they are.' }

interface Attachment {
  readonly filename: string
  readonly content: Buffer
  readonly content_type?: string
  readonly content_id?: string
}

/** Sends an email with these attachments; gives their paths, in the same order. */
async function send(attachments: readonly Attachment[], more: object = {}): Promise<{ id: string; paths: string[] }> {
  const encoded = attachments.map(({ content, ...rest }) => ({ ...rest, content: content.toString('base64') }))
  const { json } = await server.call('POST', '/v1/emails', { json: { ...plain, ...more, attachments: encoded } })
  const shown = (await server.call('GET', `/v1/emails/${json.id}/content`)).json.attachments as { id: string }[]
  return { id: json.id, paths: shown.map(({ id }) => `/v1/emails/${json.id}/attachments/${id}`) }
}

async function download(path: string): Promise<Buffer> {
  const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.key}` } })
  expect([path, response.status]).toEqual([path, 200])
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('content-disposition')).toStartWith('attachment; filename="')
  return bytes
}

const message = 'From: a@b.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nInner.\r\n--b--\r\n'

/** Files of every kind that a parser of received mail could take for something else than an attachment. */
const files: readonly Attachment[] = [
  { filename: 'one.bin', content: randomBytes(300_000) },
  { filename: 'note.txt', content: Buffer.from('A note.\nOf two lines.\n') },
  { filename: 'inline.txt', content: Buffer.from('Inline text.'), content_id: 'text' },
  { filename: 'page.html', content: Buffer.from('<p>Attached.</p>'), content_type: 'text/html' },
  { filename: 'inline.html', content: Buffer.from('<p>Inline.</p>'), content_type: 'text/html', content_id: 'page' },
  { filename: 'picture.png', content: randomBytes(1000), content_id: 'picture' },
  { filename: 'mail.eml', content: Buffer.from(message), content_type: 'message/rfc822' },
  { filename: 'inner.eml', content: Buffer.from(message), content_type: 'message/rfc822', content_id: 'mail' },
  { filename: 'dsn', content: Buffer.from('Action: failed\r\n'), content_type: 'message/delivery-status' },
  { filename: 'empty', content: Buffer.alloc(0) },
  { filename: 'note.txt', content: Buffer.from('Another of this name.') },
  { filename: 'last.bin', content: randomBytes(5) },
]

for (const [kind, more] of [
  ['text', {}],
  ['text and HTML', { html: '<p><img src="cid:picture"></p>' }],
  ['HTML alone', { text: undefined, html: '<p><img src="cid:picture"></p>' }],
] as const)
  test(`are given as they were sent with ${kind}, in whatever order they were`, async () => {
    for (const order of [files, files.toReversed()]) {
      const { paths } = await send(order, more)
      expect(paths).toHaveLength(order.length)
      for (const [i, { content }] of order.entries()) {
        const got = await download(paths[i] ?? '')
        expect([order[i]?.filename, got.equals(content)]).toEqual([order[i]?.filename, true])
      }
    }
  })

test('are given whole when they are large', async () => {
  const large = { filename: 'large.bin', content: randomBytes(10 * 1024 * 1024) }
  const { paths } = await send([large])
  expect((await download(paths[0] ?? '')).equals(large.content)).toBe(true)
})

test('keep their names in Content-Disposition, whatever is in them', async () => {
  const { paths } = await send([{ filename: 'Übersicht "1"; x=.pdf', content: Buffer.from('x') }])
  expect((await server.call('GET', paths[0] ?? '')).headers.get('content-disposition')).toBe(
    `attachment; filename="_bersicht _1__ x=.pdf"; filename*=UTF-8''%C3%9Cbersicht%20%221%22%3B%20x%3D.pdf`,
  )
})

test('are found by their own email only, with email:read, in their organization and brand', async () => {
  const [one, other] = [await send(files.slice(0, 1)), await send(files.slice(0, 1))]
  const [path = ''] = one.paths
  const codeOf = async (at: string, key?: string) => {
    const { status, json } = await server.call('GET', at, key === undefined ? {} : { key })
    return [status, json.error?.code]
  }
  const otherId = other.paths[0]?.split('/').at(-1)
  for (const id of [otherId, 'att_00000000000000000000000000', 'x', '%ff'])
    expect([id, ...(await codeOf(`/v1/emails/${one.id}/attachments/${id}`))]).toEqual([id, 404, 'not_found'])
  expect(await codeOf(path.replace(one.id, 'eml_00000000000000000000000000'))).toEqual([404, 'not_found'])
  expect(await codeOf(path, (await server.newKey({ scopes: ['email:send', 'inbox:read'] })).key)).toEqual([
    403,
    'insufficient_scope',
  ])
  const { key: foreign } = await server.newKey({ organizationId: await server.newOrganization() })
  expect(await codeOf(path, foreign)).toEqual([404, 'not_found'])
  const { brandId } = await makeDomain(server.database.db, server.organizationId, 'other.example')
  expect(await codeOf(path, (await server.newKey({ brandId })).key)).toEqual([403, 'brand_restricted'])
})

for (const column of ['attachments_purged_at', 'content_purged_at'] as const)
  test(`are gone after retention, which says when (${column})`, async () => {
    const { id, paths } = await send(files.slice(0, 1))
    await server.database.db
      .updateTable('emails')
      .set({ [column]: '2026-01-31 08:15:00.000000' as Instant })
      .where('id', '=', id as never)
      .execute()
    const { status, json } = await server.call('GET', paths[0] ?? '')
    expect([status, json.error.code]).toEqual([404, 'not_found'])
    expect(json.error.message).toEndWith(
      'was deleted at 2026-01-31T08:15:00.000000Z, at the end of its retention time.',
    )
  })
