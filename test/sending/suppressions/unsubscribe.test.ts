import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import pino from 'pino'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { send } from '../../../src/sending/send.ts'
import { suppressionRoutes } from '../../../src/sending/suppressions/routes.ts'
import { unsubscribeRoutes } from '../../../src/sending/suppressions/unsubscribe-routes.ts'
import { createSendingDomain, dkimRecord, type SendingDomain } from '../../harness/accepted-emails.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { headerValues, unstuffed } from '../../harness/relayed-messages.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'
import { sendingOn } from '../fixtures.ts'

let server: TestHttpServer
let shop: SendingDomain
let key: string
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => [
      emailRoutes(sendingOn(db, clock)),
      suppressionRoutes({ db, clock }),
      unsubscribeRoutes({ db, clock }),
    ],
  })
  shop = await createSendingDomain(server.database.db, server.clock.now())
  await server.database.db.updateTable('brands').set({ name: 'Shop & <b>Co' }).where('id', '=', shop.brandId).execute()
  key = (await server.newKey({ organizationId: shop.organizationId })).key
})
afterAll(() => server.close())

const plain = { from: 'hello@shop.test', subject: 'News', text: 'News' }
const post = (json: object) => server.call('POST', '/v1/emails', { key, json: { ...plain, ...json } })
const form = { 'content-type': 'application/x-www-form-urlencoded' }

async function headersOf(id: string): Promise<Map<string, string>> {
  const { headers } = (await server.call('GET', `/v1/emails/${id}/content`, { key })).json
  return new Map(headers.map((header: { name: string; value: string }) => [header.name.toLowerCase(), header.value]))
}

/** Sends with a link, and gives the path that it leads to. */
async function linkTo(email: string): Promise<{ readonly id: string; readonly path: string }> {
  const { id } = (await post({ to: email, unsubscribe: true })).json
  const link = (await headersOf(id)).get('list-unsubscribe') ?? ''
  const [, path = ''] = /^<https:\/\/mail\.acme\.example(\/unsubscribe\/[\w-]{43})>$/.exec(link) ?? []
  return { id, path }
}

const oneClick = (path: string, body: string | FormData = 'List-Unsubscribe=One-Click', headers: object = form) =>
  fetch(server.url + path, { method: 'POST', body, headers: { ...headers }, redirect: 'manual' })
const suppressionOf = async (email: string) =>
  (await server.call('GET', `/v1/suppressions/check?email=${email}&brand_id=${shop.brandId}`, { key })).json.suppression

test('one click unsubscribes, also when repeated, and the page names brand and address', async () => {
  const { id, path } = await linkTo('Ann@a.test')
  const first = await oneClick(path)
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await first.text()).toContain('<b>Shop &amp; &lt;b&gt;Co</b> sends no more such mail to <b>ann@a.test</b>')
  const suppression = await suppressionOf('ann@a.test')
  expect(suppression).toEqual({
    email: 'ann@a.test',
    brand_id: shop.brandId,
    reason: 'unsubscribe',
    source_email_id: id,
    evidence: 'List-Unsubscribe=One-Click',
    created_at: expect.any(String),
    expires_at: null,
  })
  const others = await Promise.all(Array.from({ length: 10 }, () => oneClick(path)))
  expect(others.map(response => response.status)).toEqual(Array(10).fill(200))
  expect(await suppressionOf('ann@a.test')).toEqual(suppression)
})

test('accepts the form in the other encoding as well', async () => {
  const { path } = await linkTo('multi@a.test')
  const parts = new FormData()
  parts.set('List-Unsubscribe', 'One-Click')
  expect((await oneClick(path, parts, {})).status).toBe(200)
  expect(await suppressionOf('multi@a.test')).toMatchObject({ reason: 'unsubscribe' })
})

test('GET and HEAD only show a button, load nothing from elsewhere, and change nothing', async () => {
  const { path } = await linkTo('bob@b.test')
  for (const method of ['GET', 'HEAD']) {
    const shown = await fetch(server.url + path, { method })
    expect([shown.status, shown.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    const page = await shown.text()
    if (method === 'HEAD') continue
    expect(page).toContain('<form method="post"><button name="List-Unsubscribe" value="One-Click">')
    expect(page).toContain('<b>Shop &amp; &lt;b&gt;Co</b>')
    expect(page).not.toMatch(/https?:|<script|<link|<img|src=/)
  }
  expect(await suppressionOf('bob@b.test')).toBeNull()
})

describe('does nothing for', () => {
  const bodies: readonly (readonly [string, string, object])[] = [
    ['another value', 'List-Unsubscribe=Later', form],
    ['no body', '', form],
    ['JSON', '{"List-Unsubscribe":"One-Click"}', { 'content-type': 'application/json' }],
    ['a body of no type', 'List-Unsubscribe=One-Click', { 'content-type': 'text/plain' }],
  ]
  for (const [name, body, headers] of bodies)
    test(name, async () => {
      const { path } = await linkTo('cy@c.test')
      expect((await oneClick(path, body, headers)).status).toBe(400)
      expect(await suppressionOf('cy@c.test')).toBeNull()
    })

  test('a link that is incomplete, unknown, or changed by one letter', async () => {
    const { path } = await linkTo('dee@d.test')
    const changed = path.slice(0, 30) + (path.charAt(30) === 'A' ? 'B' : 'A') + path.slice(31)
    for (const value of [path.slice(0, -1), `${path}A`, changed, '/unsubscribe/x', `${path.toUpperCase()}`])
      for (const method of ['GET', 'POST']) {
        const init = method === 'POST' ? { body: 'List-Unsubscribe=One-Click', headers: form } : {}
        expect((await fetch(server.url + value, { method, ...init })).status).toBe(404)
      }
    expect(await suppressionOf('dee@d.test')).toBeNull()
  })
})

test('each link is unique, and the database stores none that could be used', async () => {
  const paths = await Promise.all(Array.from({ length: 20 }, async () => (await linkTo('eve@e.test')).path))
  expect(new Set(paths).size).toBe(20)
  const rows = await server.database.db.selectFrom('unsubscribe_links').selectAll().execute()
  const kept = JSON.stringify(rows.map(row => ({ ...row, token_hash: row.token_hash.toString('base64url') })))
  for (const path of paths) expect(kept).not.toContain(path.slice('/unsubscribe/'.length))
})

test('suppresses emails with an unsubscribe link, no others, and only of that brand', async () => {
  const { path } = await linkTo('flo@f.test')
  await oneClick(path)
  const blocked = await post({ to: 'FLO@f.test', unsubscribe: true })
  expect([blocked.status, blocked.json.error.code]).toEqual([422, 'recipient_suppressed'])
  expect((await post({ to: 'flo@f.test' })).status).toBe(202)
  const other = await createSendingDomain(server.database.db, server.clock.now(), 'other.test')
  const { key: otherKey } = await server.newKey({ organizationId: other.organizationId })
  const json = { ...plain, from: 'a@other.test', to: 'flo@f.test', unsubscribe: true }
  expect((await server.call('POST', '/v1/emails', { key: otherKey, json })).status).toBe(202)
})

test('an email without it has no such headers', async () => {
  for (const more of [{}, { unsubscribe: false }]) {
    const headers = await headersOf((await post({ to: 'gus@g.test', ...more })).json.id)
    expect([headers.has('list-unsubscribe'), headers.has('list-unsubscribe-post')]).toEqual([false, false])
  }
})

test('refuses more than one recipient, and the client’s own List-Unsubscribe headers', async () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ to: ['a@a.test', 'b@b.test'] }, 'unsubscribe'],
    [{ to: 'a@a.test', cc: 'b@b.test' }, 'unsubscribe'],
    [{ to: 'a@a.test', bcc: ['b@b.test'] }, 'unsubscribe'],
    [{ to: 'a@a.test', headers: { 'list-unsubscribe': '<mailto:x@shop.test>' } }, 'headers.list-unsubscribe'],
    [{ to: 'a@a.test', headers: { 'List-Unsubscribe-Post': 'x' } }, 'headers.List-Unsubscribe-Post'],
    [{ to: 'a@a.test', unsubscribe: 'yes' }, 'unsubscribe'],
  ]
  for (const [more, param] of cases) {
    const { status, json } = await post({ unsubscribe: true, ...more })
    expect([status, json.error]).toMatchObject([400, { code: 'invalid_request', param }])
  }
  expect((await post({ to: ['a@a.test', 'A@a.test'], unsubscribe: true })).status).toBe(202)
  expect((await post({ to: 'a@a.test', headers: { 'List-Unsubscribe': '<mailto:x@shop.test>' } })).status).toBe(202)
})

/** Submits all that is due at `server.clock` to a scripted relay; gives the messages. */
async function relayed(isDone: () => Promise<boolean>): Promise<readonly Buffer[]> {
  const { db } = server.database
  const sink = await startScriptedRelay()
  const provider = testSmarthost(sink.url, { connections: 2 })
  const relay = startRelay({
    db,
    blobs: mysqlBlobs(db, server.clock),
    provider,
    signingKeys,
    clock: server.clock,
    log: pino({ level: 'silent' }),
    attemptMs: 5000,
    retryFirstMs: 50,
  })
  try {
    await until(isDone, { what: 'the outbox is empty' })
    return sink.accepted.map(message => message.wire)
  } finally {
    await relay.stop()
    await provider.close()
    await sink.close()
  }
}

describe('on the wire', () => {
  const isEmpty = async () =>
    (await server.database.db.selectFrom('outbox').select('id').limit(1).execute()).length === 0

  test('both fields are signed, so that mail programs trust them (RFC 8058 §4)', async () => {
    await server.database.db.deleteFrom('outbox').execute()
    const { path } = await linkTo('hal@h.test')
    const [wire = Buffer.alloc(0)] = await relayed(isEmpty)
    const text = unstuffed({ wire } as Parameters<typeof unstuffed>[0])
    expect(headerValues(text, 'List-Unsubscribe')).toEqual([`<https://mail.acme.example${path}>`])
    expect(headerValues(text, 'List-Unsubscribe-Post')).toEqual(['List-Unsubscribe=One-Click'])
    const signed =
      /h=([^;]*);/
        .exec(text.replace(/\r\n[ \t]+/g, ' '))?.[1]
        ?.toLowerCase()
        .split(/\s*:\s*/) ?? []
    expect(signed).toContain('list-unsubscribe')
    expect(signed).toContain('list-unsubscribe-post')
    const { results } = await dkimVerify(wire, { strict: true, resolver: async () => [[dkimRecord]] } as never)
    expect(results.map(result => result.status.result)).toEqual(['pass'])
    const changed = Buffer.from(wire.toString('latin1').replace(path, path.replace(/.$/, '!')), 'latin1')
    const broken = await dkimVerify(changed, { strict: true, resolver: async () => [[dkimRecord]] } as never)
    expect(broken.results.map(result => result.status.result)).toEqual(['fail'])
  })

  test('who unsubscribed after a send was scheduled does not get it when it is due, but gets the rest', async () => {
    const deps = sendingOn(server.database.db, server.clock)
    const { organizationId } = shop
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const later = (unsubscribe: boolean) =>
      send(
        {
          sender: { organizationId, brandId: null, keyId: null },
          fields: { ...plain, to: 'ida@i.test', scheduled_at, unsubscribe },
        },
        deps,
      )
    const [news, receipt] = [await later(true), await later(false)]
    await oneClick((await linkTo('ida@i.test')).path)
    await server.database.db.deleteFrom('outbox').where('email_id', 'not in', [news.id, receipt.id]).execute()
    server.clock.forward(2 * 3_600_000)
    const taken = await relayed(isEmpty)
    expect(taken.map(wire => /X-Mailroom-Id: (\S+)/i.exec(wire.toString())?.[1])).toEqual([receipt.id])
    const shown = (await server.call('GET', `/v1/emails/${news.id}`, { key })).json
    expect(shown).toMatchObject({ status: 'suppressed', recipients: [{ status: 'suppressed' }], sent_at: null })
  })
})
