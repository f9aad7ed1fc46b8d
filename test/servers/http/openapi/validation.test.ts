import { expect, test } from 'bun:test'
import { type ObservedResponse, validateResponse } from '../../../harness/openapi-validation.ts'

/** The validation of responses that the other tests rely on. */
const brand = {
  id: 'brd_x',
  organization_id: 'org_x',
  name: 'A',
  slug: 'a',
  status: 'pending',
  created_at: '2026-01-31T08:15:00.000000Z',
  updated_at: '2026-01-31T08:15:00.000000Z',
}
const ordinary = {
  'x-request-id': 'req_x',
  'cache-control': 'no-store',
  'content-type': 'application/json;charset=utf-8',
  'x-ratelimit-limit': '600',
  'x-ratelimit-remaining': '599',
  'x-ratelimit-reset': '1769847360',
}
const failure = { error: { code: 'not_found', message: 'No.', requirement: 'check_identifier', retryable: false } }

function response(
  change: Partial<ObservedResponse> & { body?: unknown; without?: string; header?: readonly [string, string] } = {},
) {
  const { body = brand, without, header, ...more } = change
  const headers = new Headers(ordinary)
  if (without !== undefined) headers.delete(without)
  if (header) headers.set(...header)
  return { method: 'GET', path: '/v1/brands/brd_x', status: 200, headers, text: JSON.stringify(body), ...more }
}

test('accepts documented responses', () => {
  validateResponse(response())
  validateResponse(response({ status: 404, body: failure }))
  validateResponse(response({ method: 'HEAD', text: '' }))
  validateResponse(response({ method: 'PUT', status: 404, body: failure, header: ['allow', 'GET'] }))
  validateResponse(response({ path: '/v1/unheard-of', status: 404, body: failure }))
})

const invalid: readonly (readonly [string, ObservedResponse, RegExp])[] = [
  ['an undocumented status', response({ status: 409, body: failure }), /no status 409/],
  ['a missing header', response({ without: 'x-ratelimit-reset' }), /no header X-RateLimit-Reset/],
  ['a missing request id', response({ without: 'x-request-id' }), /no header X-Request-Id/],
  ['a header of another value', response({ header: ['cache-control', 'public'] }), /header Cache-Control: public/],
  ['another media type', response({ header: ['content-type', 'text/html'] }), /Content-Type text\/html/],
  ['an undocumented property', response({ body: { ...brand, secret: 1 } }), /additionalProperty":"secret"/],
  ['a missing property', response({ body: { ...brand, slug: undefined } }), /required property 'slug'/],
  ['a value of another type', response({ body: { ...brand, name: null } }), /\/name must be string/],
  ['an invalid date', response({ body: { ...brand, created_at: 'today' } }), /\/created_at must match format/],
  [
    'an error code that the operation does not declare',
    response({ status: 404, body: { error: { ...failure.error, code: 'slug_taken' } } }),
    /\/error\/code must be equal to one of the allowed values/,
  ],
  ['an undocumented path', response({ path: '/v1/unheard-of' }), /no such operation/],
  ['another method without Allow', response({ method: 'PUT', status: 404, body: failure }), /no header Allow/],
  ['a body for HEAD', response({ method: 'HEAD' }), /a body on HEAD/],
]

test.each(invalid)('refuses %s', (_, response, violation) => {
  expect(() => validateResponse(response)).toThrow(violation)
})
