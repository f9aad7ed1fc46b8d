import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../src/base/ids.ts'
import { mailboxRoutes } from '../../src/domains/mailboxes/routes.ts'
import { ownershipRecord } from '../../src/domains/ownership.ts'
import { domainRoutes } from '../../src/domains/routes.ts'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'
import { testSecrets } from '../harness/secrets.ts'
import { breakName, hostname, newBrand, publishAt } from './fixtures.ts'

let dns: TestDns
let server: TestHttpServer
let brandId: Id<'brd'>

beforeAll(async () => {
  dns = await startDns()
  server = await openTestHttpServer({
    features: ({ database, clock }) => {
      const deps = {
        db: database.db,
        clock,
        resolver: networkResolver({ servers: [dns.endpoint], timeoutMs: 300 }),
        dnsProvider: null,
        instance: { hostname, spfInclude: undefined },
        secrets: testSecrets,
      }
      return [domainRoutes(deps, () => Promise.resolve([])), mailboxRoutes(deps)]
    },
  })
  brandId = await newBrand(server.database.db, server.organizationId)
})
afterAll(async () => {
  await server.close()
  await dns.close()
})

const own = (domain: string) => publishAt(dns, ownershipRecord(server.organizationId, domain))
const create = (domain: string, more: object = {}, headers: Record<string, string> = {}) =>
  server.call('POST', '/v1/domains', { json: { brand_id: brandId, domain, ...more }, headers })

async function domainOf(name: string): Promise<string> {
  own(name)
  return (await create(name)).json.id
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
const record = (change: object) => ({
  priority: null,
  ttl: 300,
  status: 'pending',
  found: [],
  required: true,
  name: expect.any(String),
  value: expect.any(String),
  type: 'TXT',
  ...change,
})

test('returns the ownership record', async () => {
  const path = `/v1/domains/ownership?domain=Shape.example&brand_id=${brandId}`
  const { status, json } = await server.call('GET', path)
  expect([status, json]).toEqual([
    200,
    {
      domain: 'shape.example',
      brand_id: brandId,
      verified: false,
      checked_at: time,
      ownership: { record: record({ purpose: 'ownership', name: '_mailroom.shape.example' }) },
    },
  ])
  expect((await server.call('GET', path)).json.ownership).toEqual(json.ownership)
})

test.each(['b%C3%BCcher.example', 'B%C3%9CCHER.Example.', 'XN--Bcher-KVA.example.', 'bu%CC%88cher%E3%80%82example'])(
  'tells the same ownership record however the domain is written: %s',
  async domain => {
    const { status, json } = await server.call('GET', `/v1/domains/ownership?domain=${domain}&brand_id=${brandId}`)
    expect([status, json]).toMatchObject([
      200,
      {
        domain: 'xn--bcher-kva.example',
        ownership: { record: ownershipRecord(server.organizationId, 'xn--bcher-kva.example') },
      },
    ])
  },
)

test('returns an ownership record as unknown when its look-up fails', async () => {
  breakName(dns, '_mailroom.unanswered.example')
  const path = `/v1/domains/ownership?domain=unanswered.example&brand_id=${brandId}`
  expect((await server.call('GET', path)).json).toMatchObject({
    verified: false,
    ownership: { record: { status: 'unknown', found: [] } },
  })
})

test('shows other values at the name of the ownership record', async () => {
  publishAt(dns, { ...ownershipRecord(server.organizationId, 'others.example'), value: 'mailroom-ownership=other' })
  const path = `/v1/domains/ownership?domain=others.example&brand_id=${brandId}`
  const record = async () => (await server.call('GET', path)).json.ownership.record
  expect(await record()).toMatchObject({ status: 'mismatch', found: ['mailroom-ownership=other'] })
  own('others.example')
  const { value, status, found } = await record()
  expect([status, found]).toEqual(['verified', ['mailroom-ownership=other', value]])
})

test('the responses about a domain and its mailbox have the documented form, up to their deletion', async () => {
  own('shape.example')
  const created = await create('shape.example', { publish_dns: true })
  const shape = {
    id: expect.stringMatching(/^dom_[0-9a-z]{26}$/),
    domain: 'shape.example',
    brand_id: brandId,
    status: 'pending',
    ownership_verified: true,
    ready_to_send: false,
    dns_records: [
      record({ purpose: 'dkim' }),
      record({ purpose: 'spf', name: 'shape.example', required: false }),
      record({ purpose: 'dmarc', name: '_dmarc.shape.example', value: 'v=DMARC1; p=none', required: false }),
    ],
    receiving: {
      live: false,
      next_step: 'identity',
      mx: { record: record({ purpose: 'mx', type: 'MX', name: 'shape.example', value: hostname, priority: 10 }) },
      identity: { dns_records: [] },
    },
    last_checked_at: null,
    created_at: time,
  }
  expect([created.status, created.json]).toEqual([201, shape])
  const { id } = created.json
  expect((await server.call('GET', `/v1/domains/${id}`)).json).toEqual(created.json)
  expect((await server.call('GET', '/v1/domains')).json.data).toContainEqual(created.json)
  const checked = await server.call('POST', `/v1/domains/${id}/check`)
  expect([checked.status, checked.json]).toEqual([200, { ...shape, last_checked_at: time }])
  expect(await server.call('POST', `/v1/domains/${id}/provision`)).toMatchObject({ status: 200, json: { id } })

  const receiving = await server.call('POST', `/v1/domains/${id}/receiving`)
  const claimed = {
    ...shape.receiving,
    identity: {
      dns_records: [record({ purpose: 'receiving_identity', type: 'CNAME', name: '_mailroom-in.shape.example' })],
    },
  }
  expect([receiving.status, receiving.json]).toEqual([200, claimed])

  const mailbox = await server.call('POST', '/v1/mailboxes', { json: { domain_id: id, local_part: 'Hello' } })
  const listed = {
    id: expect.stringMatching(/^mbx_[0-9a-z]{26}$/),
    domain_id: id,
    brand_id: brandId,
    local_part: 'hello',
    address: 'hello@shape.example',
    catch_all: false,
    live: false,
    unread_count: 0,
    created_at: time,
  }
  expect([mailbox.status, mailbox.json]).toEqual([
    201,
    { ...listed, receiving: claimed, receiving_mx: claimed.mx.record },
  ])
  expect((await server.call('GET', '/v1/mailboxes')).json).toEqual({ data: [listed] })
  expect(await server.call('DELETE', `/v1/domains/${id}`)).toMatchObject({
    status: 409,
    json: { error: { code: 'domain_in_use', requirement: 'remove_dependents', retryable: false } },
  })
  const gone = await server.call('DELETE', `/v1/mailboxes/${mailbox.json.id}`)
  expect([gone.status, gone.json]).toEqual([200, { deleted: mailbox.json.id }])
  const removed = await server.call('DELETE', `/v1/domains/${id}`)
  expect([removed.status, removed.json]).toEqual([
    200,
    {
      id,
      domain: 'shape.example',
      deleted: true,
      provider_identity_removed: false,
      dns_records_removed: false,
      warning: expect.any(String),
    },
  ])
})

describe('refuses', () => {
  test('a domain without verified ownership, and names the record to publish', async () => {
    const { status, json } = await create('unproven.example')
    expect(status).toBe(422)
    expect(json.error).toMatchObject({
      code: 'ownership_not_verified',
      requirement: 'publish_ownership_record',
      retryable: false,
      param: 'domain',
      resolution: expect.stringContaining('_mailroom.unproven.example'),
    })
  })

  test('a domain whose look-up fails, as retryable', async () => {
    breakName(dns, '_mailroom.silent.example')
    expect(await create('silent.example')).toMatchObject({
      status: 500,
      json: { error: { code: 'dns_unavailable', requirement: 'retry', retryable: true } },
    })
  })

  test('a domain that is already registered', async () => {
    await domainOf('there.example')
    expect(await create('there.example')).toMatchObject({
      status: 409,
      json: { error: { code: 'domain_taken', requirement: 'choose_another', param: 'domain' } },
    })
  })

  test.each([
    ['/v1/domains', { brand_id: 'b' }, 'domain'],
    ['/v1/domains', { brand_id: 'b', domain: '' }, 'domain'],
    ['/v1/domains', { brand_id: 'b', domain: 'a.example', publish_dns: 'no' }, 'publish_dns'],
    ['/v1/domains', { brand_id: 'b', domain: 'a.example', more: 1 }, 'more'],
    ['/v1/domains', { brand_id: 'b', domain: 'not a domain' }, 'domain'],
    ['/v1/domains/dom_x/provision', { publish_dns: true, more: 1 }, 'more'],
    ['/v1/domains/dom_x/check', { more: 1 }, 'more'],
    ['/v1/domains/dom_x/receiving', { more: 1 }, 'more'],
    ['/v1/mailboxes', { local_part: 'a' }, 'domain_id'],
    ['/v1/mailboxes', { domain_id: 'd', local_part: '' }, 'local_part'],
    ['/v1/mailboxes', { domain_id: 'd', local_part: 'a+b' }, 'local_part'],
    ['/v1/mailboxes', { domain_id: 'd', local_part: { a: 1 } }, 'local_part'],
  ])('POST %s %p', async (path, json, param) => {
    expect(await server.call('POST', path, { json })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param } },
    })
  })

  test.each([
    'domain=a.example&brand_id=b&more=1',
    'brand_id=b',
    'domain=&brand_id=b',
    'domain=not%20a%20domain&brand_id=b',
    `domain=${'a.'.repeat(200)}example&brand_id=b`,
  ])('GET /v1/domains/ownership?%s', async query => {
    expect(await server.call('GET', `/v1/domains/ownership?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    })
  })

  test.each([
    ['GET', '/v1/domains/dom_x'],
    ['DELETE', '/v1/domains/dom_x'],
    ['POST', '/v1/domains/dom_x/check'],
    ['POST', '/v1/domains/dom_x/provision'],
    ['POST', '/v1/domains/dom_x/receiving'],
    ['DELETE', '/v1/mailboxes/mbx_x'],
    ['GET', '/v1/domains/ownership?domain=a.example&brand_id=brd_x'],
  ])('%s %s, which does not exist', async (method, path) => {
    expect(await server.call(method, path)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } })
  })

  test('each operation to a key without its scope', async () => {
    const { key } = await server.newKey({ scopes: ['email:send'] })
    const operations = [
      ['GET', '/v1/domains/ownership?domain=a.example&brand_id=b'],
      ['POST', '/v1/domains'],
      ['GET', '/v1/domains'],
      ['GET', '/v1/domains/x'],
      ['DELETE', '/v1/domains/x'],
      ['POST', '/v1/domains/x/provision'],
      ['POST', '/v1/domains/x/check'],
      ['POST', '/v1/domains/x/receiving'],
      ['POST', '/v1/mailboxes'],
      ['GET', '/v1/mailboxes'],
      ['DELETE', '/v1/mailboxes/x'],
    ] as const
    for (const [method, path] of operations)
      expect([method, path, (await server.call(method, path, { key })).status]).toEqual([method, path, 403])
  })

  test("another brand's to a key for one brand, and another organization's to all", async () => {
    const id = await domainOf('brand.example')
    const otherBrand = await newBrand(server.database.db, server.organizationId)
    const { key } = await server.newKey({ brandId: otherBrand })
    const stranger = await server.newKey({ organizationId: await server.newOrganization() })
    const operations = [
      ['GET', `/v1/domains/${id}`, undefined],
      ['POST', `/v1/domains/${id}/check`, undefined],
      ['POST', `/v1/domains/${id}/receiving`, undefined],
      ['DELETE', `/v1/domains/${id}`, undefined],
      ['POST', '/v1/mailboxes', { domain_id: id }],
      ['POST', '/v1/domains', { brand_id: brandId, domain: 'x.example' }],
    ] as const
    for (const [method, path, json] of operations) {
      const body = json && { json }
      expect((await server.call(method, path, { key, ...body })).json.error.code).toBe('brand_restricted')
      expect((await server.call(method, path, { key: stranger.key, ...body })).status).toBe(404)
    }
    expect((await server.call('GET', '/v1/domains', { key })).json).toEqual({ data: [] })
  })
})

describe('the brand', () => {
  const ownership = (query: string, key?: string) =>
    server.call('GET', `/v1/domains/ownership?${query}`, key === undefined ? {} : { key })

  test('is implied by a key that is restricted to it', async () => {
    const { key } = await server.newKey({ brandId })
    own('implied.example')
    const shown = await ownership('domain=implied.example', key)
    expect([shown.status, shown.json]).toMatchObject([200, { brand_id: brandId, verified: true }])
    expect((await ownership(`domain=implied.example&brand_id=${brandId}`, key)).json.ownership).toEqual(
      shown.json.ownership,
    )
    const created = await server.call('POST', '/v1/domains', { key, json: { domain: 'implied.example' } })
    expect([created.status, created.json]).toMatchObject([201, { brand_id: brandId, domain: 'implied.example' }])
    own('null-brand.example')
    const json = { domain: 'null-brand.example', brand_id: null }
    expect((await server.call('POST', '/v1/domains', { key, json })).json).toMatchObject({ brand_id: brandId })
  })

  test('must be given with a key of the organization', async () => {
    own('unbranded.example')
    const create = await server.call('POST', '/v1/domains', { json: { domain: 'unbranded.example' } })
    for (const { status, json } of [await ownership('domain=unbranded.example'), create])
      expect([status, json.error]).toMatchObject([
        400,
        { code: 'brand_required', requirement: 'fix_request', param: 'brand_id', retryable: false },
      ])
  })

  test('may not be another than that of the key, nor one of another organization', async () => {
    const { key } = await server.newKey({ brandId })
    const other = await newBrand(server.database.db, server.organizationId)
    const foreign = await newBrand(server.database.db, await server.newOrganization())
    own('others-brand.example')
    for (const [given, status, code] of [
      [other, 403, 'brand_restricted'],
      [foreign, 404, 'not_found'],
      ['brd_00000000000000000000000000', 404, 'not_found'],
    ] as const) {
      const json = { domain: 'others-brand.example', brand_id: given }
      for (const refused of [
        await ownership(`domain=others-brand.example&brand_id=${given}`, key),
        await server.call('POST', '/v1/domains', { key, json }),
      ])
        expect([refused.status, refused.json.error]).toMatchObject([status, { code, param: 'brand_id' }])
    }
  })
})

test.each([
  ['GET', '/v1/domains/%C3%A9', undefined],
  ['DELETE', '/v1/domains/%C3%A9', undefined],
  ['DELETE', '/v1/mailboxes/%C3%A9', undefined],
  ['GET', '/v1/brands/%C3%A9', undefined],
  ['GET', '/v1/domains/ownership?domain=a.test&brand_id=%C3%A9', undefined],
  ['POST', '/v1/domains', { brand_id: 'é', domain: 'a.test' }],
  ['POST', '/v1/mailboxes', { domain_id: 'é' }],
])('a malformed identifier is not found: %s %s', async (method, path, body) => {
  const { status } = await server.call(method, path, body === undefined ? {} : { json: body })
  expect(status).toBe(404)
})

test('null means omitted', async () => {
  const id = await domainOf('null.example')
  expect(await server.call('POST', '/v1/mailboxes', { json: { domain_id: id, local_part: null } })).toMatchObject({
    status: 201,
    json: { local_part: null, address: '*@null.example', catch_all: true },
  })
  expect(await server.call('POST', `/v1/domains/${id}/provision`, { json: { publish_dns: null } })).toMatchObject({
    status: 200,
  })
})

test('an Idempotency-Key replays the first response', async () => {
  own('idempotent.example')
  const headers = { 'idempotency-key': 'create-domain-1' }
  const first = await create('idempotent.example', {}, headers)
  const again = await create('idempotent.example', {}, headers)
  expect([again.status, again.headers.get('idempotent-replay'), again.json]).toEqual([201, 'true', first.json])
  const made = { json: { domain_id: first.json.id, local_part: 'a' }, headers: { 'idempotency-key': 'create-mailbox' } }
  const mailbox = await server.call('POST', '/v1/mailboxes', made)
  expect((await server.call('POST', '/v1/mailboxes', made)).json).toEqual(mailbox.json)
  const removal = { headers: { 'idempotency-key': 'remove-mailbox' } }
  for (const _ of [1, 2])
    expect((await server.call('DELETE', `/v1/mailboxes/${mailbox.json.id}`, removal)).json).toEqual({
      deleted: mailbox.json.id,
    })
})

test('the retry of an interrupted creation completes it', async () => {
  own('cut.example')
  const headers = { 'idempotency-key': 'create-domain-2' }
  const first = await create('cut.example', {}, headers)
  await server.database.db.deleteFrom('idempotency_keys').execute()
  const again = await create('cut.example', {}, headers)
  expect([again.status, again.json]).toEqual([201, first.json])
})
