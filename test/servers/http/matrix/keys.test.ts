import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type MatrixFixture, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixRequest, operations, requestFor, unknownPath, unmatched } from './operations.ts'

/** Every operation with every key that may not use it, and the order of its refusals. */
let fixture: MatrixFixture

beforeAll(async () => {
  fixture = await openMatrixFixture()
}, 60_000)
afterAll(() => fixture?.close(), 60_000)

const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })
const refusal = (status: number, code: string, param?: string) => ({ status, code, param })
const tooLarge = 16 * 1024 * 1024 + 1

test('has a row for every operation of the OpenAPI document, and no others', () => {
  expect(unmatched).toEqual([])
})

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  const { method, scopes, organizationOnly, row } = operation
  const request = () => requestFor(operation, fixture.own)

  test('refuses a request without a valid key', async () => {
    const { forged, expired, revoked } = fixture.keys
    const codes = { missing_api_key: null, invalid_api_key: forged, api_key_expired: expired, api_key_revoked: revoked }
    for (const [code, key] of Object.entries(codes)) {
      const response = await fixture.send(request(), { key })
      expect(outcome(response)).toEqual(refusal(401, code))
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('refuses a key that lacks a scope', async () => {
    for (const scope of scopes) {
      const response = await fixture.send(request(), { key: await fixture.keyWithoutScope(scope) })
      expect(outcome(response)).toEqual(refusal(403, 'insufficient_scope'))
      expect(JSON.parse(response.text).error.reason).toBe(scope)
    }
  })

  test('shows nothing of this brand to a key of another one', async () => {
    const response = await fixture.send(request(), { key: fixture.keys.otherBrand })
    if (typeof row.otherBrand === 'object' && 'code' in row.otherBrand)
      return expect(outcome(response)).toEqual(refusal(403, row.otherBrand.code, row.otherBrand.param))
    expect(response.status).toBe(row.status)
    if (row.otherBrand === 'its requests') {
      const brands = JSON.parse(response.text).data.map((row: { brand_id: string }) => row.brand_id)
      return expect(new Set(brands)).toEqual(new Set([fixture.otherBrand]))
    }
    if (typeof row.otherBrand === 'object') {
      const codes = JSON.parse(response.text).data.map((entry: { error?: { code: string } }) => entry.error?.code)
      return expect(new Set(codes)).toEqual(new Set([row.otherBrand.everyEntry]))
    }
    const { domainName, suppressed, template, ...ids } = fixture.own
    const shown = JSON.parse(response.text)
    const answered = method === 'GET' ? JSON.stringify(shown.data) : JSON.stringify(shown.updated)
    for (const secret of [domainName, suppressed, template, ...Object.values(ids)])
      expect(answered).not.toContain(secret)
  })

  if (method === 'GET') return
  test('refuses in the order of the specification, with one error corrected at a time', async () => {
    const unknown = unknownPath(operation)
    const at: MatrixRequest = {
      ...requestFor(operation, fixture.own, unknown),
      query: { ...request().query, nonsense: '1' },
    }
    const text = { 'content-type': 'text/plain', 'idempotency-key': 'short' }
    const json = { 'content-type': 'application/json', 'idempotency-key': 'short' }
    const [scope] = scopes
    const key = scope === undefined ? fixture.key : await fixture.keyWithoutScope(scope)

    expect(await fixture.declareBody(at, tooLarge, { key: 'x', headers: text })).toEqual(
      refusal(401, 'invalid_api_key'),
    )
    if (scope !== undefined)
      expect(await fixture.declareBody(at, tooLarge, { key, headers: text })).toEqual(
        refusal(403, 'insufficient_scope'),
      )
    if (organizationOnly)
      expect(await fixture.declareBody(at, tooLarge, { key: fixture.keys.otherBrand, headers: text })).toEqual(
        refusal(403, 'brand_restricted'),
      )
    expect(await fixture.declareBody(at, tooLarge, { headers: text })).toEqual(refusal(413, 'payload_too_large'))
    const ask = async (more: { raw?: string; headers: Record<string, string> }, to = at) =>
      outcome(await fixture.send(to, more))
    expect(await ask({ raw: '{', headers: text })).toEqual(refusal(415, 'unsupported_media_type'))
    expect(await ask({ raw: '{', headers: json })).toEqual(refusal(400, 'invalid_json'))
    expect(await ask({ raw: '{"nonsense":1}', headers: json })).toEqual(refusal(400, 'invalid_request', 'nonsense'))
    expect(await ask({ headers: json })).toEqual(refusal(400, 'invalid_request', 'nonsense'))
    const known: MatrixRequest = { ...at, query: request().query }
    expect(await ask({ headers: json }, known)).toEqual(
      operation.acceptsIdempotencyKey
        ? refusal(400, 'idempotency_key_invalid', 'Idempotency-Key')
        : refusal(400, 'idempotency_not_supported'),
    )
    if (unknown) expect(outcome(await fixture.send(known))).toEqual(refusal(404, 'not_found'))
  })
})
