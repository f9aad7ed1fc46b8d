import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openRequestLog } from '../../../src/accounts/request-log/writer.ts'
import { dayMs, plusMs, systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/ids.ts'
import { openLog } from '../../../src/base/observability/log.ts'
import type { EmailOrigin } from '../../../src/sending/emails/origin.ts'
import { sentEmailRoutes } from '../../../src/sending/emails/session-routes.ts'
import { recordEvents } from '../../../src/sending/events/events.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { callAsMember, testMember, testSession } from '../../harness/session.ts'
import { makeDomain, makeOrganization, type Organization, sendingOn } from '../fixtures.ts'

let database: FreshDatabase
let acme: Organization
let routes: ReturnType<typeof sentEmailRoutes>

beforeAll(async () => {
  database = await freshDatabase()
  acme = await makeOrganization(database.db)
  routes = sentEmailRoutes({
    db: database.db,
    clock: systemClock,
    unconfirmedMs: dayMs,
    provider: { name: 'sandbox', reports: 'dsn' },
  })
}, 60_000)
afterAll(() => database.close())

const plain = { from: 'ann@acme.example', subject: 'Hello', text: 'Hello' }
const accept = (fields: object) =>
  send({ sender: acme.sender, fields: { ...plain, to: 'b@x.example', ...fields } }, sendingOn(database.db))

async function exported(query = '', member = testMember(acme.organizationId), init = {}): Promise<string> {
  const response = await callAsMember(routes, `/app/api/sent.csv${query}`, member, init)
  return response instanceof Response ? response.text() : response
}

test('a line for each recipient, the newest email first, with what a spreadsheet would run made harmless', async () => {
  const { id } = await accept({
    to: ['Bob <bob@x.example>', 'carl@x.example'],
    subject: '=HYPERLINK("http://evil.example","click, me")',
    tags: [{ name: 'kind', value: 'receipt' }],
  })
  await recordEvents(
    database.db,
    [
      {
        emailId: id,
        recipient: 'bob@x.example',
        type: 'bounced',
        occurredAt: systemClock.now(),
        source: 'dsn',
        smtpCode: 550,
        enhancedCode: '5.1.1',
        detail: '@nobody here',
      },
    ],
    systemClock.now(),
  )
  const [head, bob, carl, ...rest] = (await exported('?tag=kind:receipt')).split('\r\n')
  expect(head).toStartWith('email_id,created_at,')
  expect(bob).toContain(`"'=HYPERLINK(""http://evil.example"",""click, me"")"`)
  expect(bob).toContain(`,bob@x.example,to,bounced,550,5.1.1,'@nobody here,`)
  expect(carl).toContain(',carl@x.example,to,queued,,,,')
  expect(rest).toEqual([''])
})

test('the filter of the list holds, also for a brand', async () => {
  const other = await makeDomain(database.db, acme.organizationId, 'other.example')
  await accept({ from: 'a@other.example', to: 'only@other.example' })
  const lines = (text: string) => text.split('\r\n').length - 2
  expect(lines(await exported('?recipient=only@other.example'))).toBe(1)
  expect(lines(await exported(`?brand_id=${other.brandId}`))).toBe(1)
  expect(lines(await exported('?status=delivered'))).toBe(0)
  const member = testMember(acme.organizationId, { brandId: other.brandId, brandIds: [other.brandId], role: 'member' })
  expect(lines(await exported('', member))).toBe(1)
  expect(await exported(`?brand_id=${acme.brandId}`, member)).toBe('brand_restricted')
})

test('more emails than a page are all there once, and those that come meanwhile are not', async () => {
  const before = (await exported()).split('\r\n').length
  // On a busy machine more at once would wait too long for a connection.
  for (let i = 0; i < 11; i++) await Promise.all(Array.from({ length: 100 }, () => accept({})))
  const response = await callAsMember(routes, '/app/api/sent.csv?status=queued', testMember(acme.organizationId))
  if (typeof response === 'string') throw new Error(response)
  expect(response.headers.get('content-disposition')).toStartWith('attachment; filename="sent-')
  await accept({ to: 'late@x.example' })
  const text = await response.text()
  const ids = text.split('\r\n').map(line => line.slice(0, 30))
  expect(ids.length).toBeGreaterThan(before + 1000)
  expect(new Set(ids.filter(id => id.startsWith('eml_'))).size).toBeGreaterThanOrEqual(1100)
  expect(text).not.toContain('late@x.example')
}, 60_000)

test('whoever may not read emails, or has not confirmed who they are, is refused', async () => {
  expect(await exported('', testMember(acme.organizationId, { scopes: new Set(['inbox:read']) }))).toBe(
    'insufficient_scope',
  )
  const session = testSession({ isConfirmed: false })
  expect(await exported('', testMember(acme.organizationId), { session })).toBe('confirmation_required')
})

test('an email knows its request, its key, and what its provider reports', async () => {
  const keyId = newId('key')
  await database.db
    .insertInto('api_keys')
    .values({
      id: keyId,
      organization_id: acme.organizationId,
      brand_id: null,
      name: 'Shop',
      secret_hash: Buffer.alloc(32),
      scopes: 'email:send',
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      created_at: systemClock.now(),
      maker_id: null,
      member_id: null,
      disabled_at: null,
    })
    .execute()
  const startedAt = systemClock.now()
  const { id } = await send(
    { sender: { ...acme.sender, keyId }, fields: { ...plain, to: 'b@x.example' } },
    sendingOn(database.db),
  )
  const log = openRequestLog(database.db, openLog('silent'))
  const request = {
    organization_id: acme.organizationId,
    client_request_id: null,
    method: 'POST',
    path: '/v1/emails',
    duration_ms: 5,
    api_key_id: keyId,
    brand_id: null,
    ip: '192.0.2.1',
    user_agent: null,
    error_code: null,
    email_id: id,
  }
  const requestId = newId('req')
  log.record({ ...request, id: requestId, created_at: startedAt, status: 202, idempotent_replay: 0 })
  log.record({ ...request, id: newId('req'), created_at: plusMs(startedAt, 60_000), status: 202, idempotent_replay: 1 })
  await log.close()

  const read = async (member = testMember(acme.organizationId)) => {
    const response = await callAsMember(routes, `/app/api/sent/${id}/origin`, member)
    return response instanceof Response ? ((await response.json()) as EmailOrigin) : response
  }
  expect(await read()).toEqual({
    api_key: { id: keyId, name: 'Shop', is_revoked: false },
    request: expect.objectContaining({ id: requestId, path: '/v1/emails', status: 202 }),
    unconfirmed_after_hours: 24,
    reports: 'dsn',
  })
  const elsewhere = await makeOrganization(database.db, { domain: 'elsewhere.example' })
  expect(await read(testMember(elsewhere.organizationId))).toBe('not_found')
})
