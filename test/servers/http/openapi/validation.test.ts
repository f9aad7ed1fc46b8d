import { expect, test } from 'bun:test'
import { type ObservedResponse, validateResponse } from '../../../harness/openapi-validation.ts'

/** What the tests' own look at every answer would not let pass. */
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

function answer(
  change: Partial<ObservedResponse> & { body?: unknown; without?: string; header?: readonly [string, string] } = {},
) {
  const { body = brand, without, header, ...more } = change
  const headers = new Headers(ordinary)
  if (without !== undefined) headers.delete(without)
  if (header) headers.set(...header)
  return { method: 'GET', path: '/v1/brands/brd_x', status: 200, headers, text: JSON.stringify(body), ...more }
}

test('lets an answer pass that is as described', () => {
  validateResponse(answer())
  validateResponse(answer({ status: 404, body: failure }))
  validateResponse(answer({ method: 'HEAD', text: '' }))
  validateResponse(answer({ method: 'PUT', status: 404, body: failure, header: ['allow', 'GET'] }))
  validateResponse(answer({ path: '/v1/unheard-of', status: 404, body: failure }))
})

const wrong: readonly (readonly [string, ObservedResponse, RegExp])[] = [
  ['a status that it does not have', answer({ status: 409, body: failure }), /no status 409/],
  ['no header that it has', answer({ without: 'x-ratelimit-reset' }), /no header X-RateLimit-Reset/],
  ['no request id', answer({ without: 'x-request-id' }), /no header X-Request-Id/],
  ['a header of another value', answer({ header: ['cache-control', 'public'] }), /header Cache-Control: public/],
  ['another media type', answer({ header: ['content-type', 'text/html'] }), /Content-Type text\/html/],
  ['a property that it does not have', answer({ body: { ...brand, secret: 1 } }), /additionalProperty":"secret"/],
  ['a property less', answer({ body: { ...brand, slug: undefined } }), /required property 'slug'/],
  ['a value of another type', answer({ body: { ...brand, name: null } }), /\/name must be string/],
  ['a date that is none', answer({ body: { ...brand, created_at: 'today' } }), /\/created_at must match format/],
  [
    'a code that the operation does not have',
    answer({ status: 404, body: { error: { ...failure.error, code: 'slug_taken' } } }),
    /\/error\/code must be equal to one of the allowed values/,
  ],
  ['a path that it does not have', answer({ path: '/v1/unheard-of' }), /no such operation/],
  ['another method without Allow', answer({ method: 'PUT', status: 404, body: failure }), /no header Allow/],
  ['a body for HEAD', answer({ method: 'HEAD' }), /a body on HEAD/],
]

test.each(wrong)('does not let %s pass', (_, heard, said) => {
  expect(() => validateResponse(heard)).toThrow(said)
})
