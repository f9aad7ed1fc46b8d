import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type MatrixFixture, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixRequest, operations, requestFor, unknownPath, unmatched } from './operations.ts'

/** Every operation with every key that may not do it, and what is refused before what. */
let ground: MatrixFixture

beforeAll(async () => {
  ground = await openMatrixFixture()
}, 60_000)
afterAll(() => ground?.close(), 60_000)

const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })
const refusal = (status: number, code: string, param?: string) => ({ status, code, param })
const tooLarge = 16 * 1024 * 1024 + 1

test('has a row for every operation that the API describes, and no others', () => {
  expect(unmatched).toEqual([])
})

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  const { method, scopes, organizationOnly, row } = operation
  const asking = () => requestFor(operation, ground.own)

  test('refuses a request without a valid key', async () => {
    const { forged, expired, revoked } = ground.keys
    const codes = { missing_api_key: null, invalid_api_key: forged, api_key_expired: expired, api_key_revoked: revoked }
    for (const [code, key] of Object.entries(codes)) {
      const heard = await ground.send(asking(), { key })
      expect(outcome(heard)).toEqual(refusal(401, code))
      expect(heard.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('refuses a key that lacks a scope', async () => {
    for (const scope of scopes) {
      const heard = await ground.send(asking(), { key: await ground.keyWithoutScope(scope) })
      expect(outcome(heard)).toEqual(refusal(403, 'insufficient_scope'))
      expect(JSON.parse(heard.text).error.reason).toBe(scope)
    }
  })

  test('shows a key of another brand nothing of this one', async () => {
    const heard = await ground.send(asking(), { key: ground.keys.otherBrand })
    if (typeof row.otherBrand === 'object')
      return expect(outcome(heard)).toEqual(refusal(403, row.otherBrand.code, row.otherBrand.param))
    expect(heard.status).toBe(row.status)
    if (row.otherBrand === 'its requests') {
      const brands = JSON.parse(heard.text).data.map((each: { brand_id: string }) => each.brand_id)
      return expect(new Set(brands)).toEqual(new Set([ground.otherBrand]))
    }
    const { domainName, suppressed, template, ...ids } = ground.own
    const shown = JSON.parse(heard.text)
    const answered = method === 'GET' ? JSON.stringify(shown.data) : JSON.stringify(shown.updated)
    for (const secret of [domainName, suppressed, template, ...Object.values(ids)])
      expect(answered).not.toContain(secret)
  })

  if (method === 'GET') return
  test('refuses in the order of the contract, one fault put right at a time', async () => {
    const stray = unknownPath(operation)
    const at: MatrixRequest = {
      ...requestFor(operation, ground.own, stray),
      query: { ...asking().query, nonsense: '1' },
    }
    const text = { 'content-type': 'text/plain', 'idempotency-key': 'short' }
    const json = { 'content-type': 'application/json', 'idempotency-key': 'short' }
    const [scope] = scopes
    const key = scope === undefined ? ground.key : await ground.keyWithoutScope(scope)

    expect(await ground.declareBody(at, tooLarge, { key: 'x', headers: text })).toEqual(refusal(401, 'invalid_api_key'))
    if (scope !== undefined)
      expect(await ground.declareBody(at, tooLarge, { key, headers: text })).toEqual(refusal(403, 'insufficient_scope'))
    if (organizationOnly)
      expect(await ground.declareBody(at, tooLarge, { key: ground.keys.otherBrand, headers: text })).toEqual(
        refusal(403, 'brand_restricted'),
      )
    expect(await ground.declareBody(at, tooLarge, { headers: text })).toEqual(refusal(413, 'payload_too_large'))
    const ask = async (more: { raw?: string; headers: Record<string, string> }, to = at) =>
      outcome(await ground.send(to, more))
    expect(await ask({ raw: '{', headers: text })).toEqual(refusal(415, 'unsupported_media_type'))
    expect(await ask({ raw: '{', headers: json })).toEqual(refusal(400, 'invalid_json'))
    expect(await ask({ raw: '{"nonsense":1}', headers: json })).toEqual(refusal(400, 'invalid_request', 'nonsense'))
    expect(await ask({ headers: json })).toEqual(refusal(400, 'invalid_request', 'nonsense'))
    const known: MatrixRequest = { ...at, query: asking().query }
    expect(await ask({ headers: json }, known)).toEqual(
      operation.takesKey
        ? refusal(400, 'idempotency_key_invalid', 'Idempotency-Key')
        : refusal(400, 'idempotency_not_supported'),
    )
    if (stray) expect(outcome(await ground.send(known))).toEqual(refusal(404, 'not_found'))
  })
})
