import { authenticationRefusals } from '../../../accounts/keys/keys.ts'
import type { ResponseDescription } from '../../../api/describe.ts'
import { idempotencyRefusals } from '../../../api/idempotency/idempotency-keys.ts'
import type { JsonSchema } from '../../../api/json/schema.ts'
import type { OperationSpec } from '../../../api/operations.ts'
import { cursorRefusals, isCursorParam } from '../../../api/page.ts'
import { publicBodyRefusals } from '../../../api/public-body.ts'
import { bodyRefusals } from '../../../api/request-body.ts'
import { keyNotSupportedRefusals, scopeRefusals } from '../../../api/route.ts'
import { validationRefusals } from '../../../api/validation.ts'
import { catalogueEntry, type RefusalCode, refusalCodes } from '../../../base/refusal.ts'
import { rateRefusals } from '../../limits/rate-limiter.ts'
import { serverFaultRefusals } from '../error-classification.ts'
import { largeBodyRefusals } from '../request-pipeline.ts'

const header = (description: string, schema: JsonSchema, required = true) => ({ description, required, schema })

/** The response headers, as components. */
export const responseHeaders = {
  'X-Request-Id': header('The id of the request, also in the request log.', { type: 'string', pattern: '^req_' }),
  'Cache-Control': header('No response may be cached.', { type: 'string', const: 'no-store' }),
  'X-RateLimit-Limit': header('Requests per minute that the organization may make to this process.', {
    type: 'integer',
  }),
  'X-RateLimit-Remaining': header('Requests left in the current window.', { type: 'integer' }),
  'X-RateLimit-Reset': header('When the window ends, as Unix time in seconds.', { type: 'integer' }),
  'Retry-After': header('Seconds to wait before a retry.', { type: 'integer', minimum: 1 }),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', { type: 'string', pattern: '^Bearer' }),
  'Idempotent-Replay': header(
    'The request was processed before; this is the stored response.',
    { type: 'string', const: 'true' },
    false,
  ),
} as const

export type HeaderName = keyof typeof responseHeaders

const commonHeaders: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control']
const rateHeaders: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** An OpenAPI map of headers, by reference. */
export function headerRefs(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The headers of a successful response. */
export function successHeaders(isApi: boolean, mayBeReplayed: boolean): readonly HeaderName[] {
  const replay: readonly HeaderName[] = mayBeReplayed ? ['Idempotent-Replay'] : []
  return [...commonHeaders, ...(isApi ? rateHeaders : []), ...replay]
}

/** SPEC section 7. */
export const errorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requirement', 'retryable'],
      properties: {
        code: { type: 'string', enum: refusalCodes, description: 'For programs.' },
        message: { type: 'string', description: 'For people; names the invalid value.' },
        requirement: {
          type: 'string',
          enum: [...new Set(refusalCodes.map(code => catalogueEntry(code).requirement))],
          description: 'What has to change before the request can succeed.',
        },
        reason: { type: 'string', description: 'A more specific reason.' },
        resolution: { type: 'string', description: 'How to resolve it.' },
        retryable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
        param: { type: 'string', description: 'The invalid parameter, such as `to[3]`.' },
        oldest_after: { type: 'string', description: 'The cursor to go on from, where one has expired.' },
      },
    },
  },
}

/** The refusals of an operation, by status in ascending order: those that every operation of its kind has, and its own. */
export function refusalsByStatus(operation: OperationSpec): ReadonlyMap<number, readonly RefusalCode[]> {
  const byStatus = new Map<number, Set<RefusalCode>>()
  const common = operation.requirements
    ? apiRefusals(operation, operation.requirements.idempotencyRefused)
    : publicRefusals(operation)
  for (const code of [...common, ...operation.description['x-refusals']]) {
    const status = statusIn(operation, code)
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other).map(([status, codes]) => [status, [...codes]]))
}

/** The refusals of the request pipeline and of every route below /v1. */
function apiRefusals(
  { method, query }: Pick<OperationSpec, 'method'> & Partial<Pick<OperationSpec, 'query'>>,
  isKeyRefused = false,
): readonly RefusalCode[] {
  const hasCursor = Object.keys(query?.properties ?? {}).some(isCursorParam)
  const writes = method !== 'GET'
  return [
    ...validationRefusals,
    ...(hasCursor ? cursorRefusals : []),
    ...(writes ? [...bodyRefusals, ...(isKeyRefused ? keyNotSupportedRefusals : idempotencyRefusals)] : []),
    ...authenticationRefusals,
    ...scopeRefusals,
    ...rateRefusals,
    ...serverFaultRefusals,
  ]
}

/** The same for a route outside /v1. */
function publicRefusals({ body }: OperationSpec): readonly RefusalCode[] {
  return [...validationRefusals, ...(body ? publicBodyRefusals : largeBodyRefusals), ...serverFaultRefusals]
}

/** SPEC section 4: only POST /v1/emails responds 402; elsewhere it is 422. */
function statusIn({ method, path }: OperationSpec, code: RefusalCode): number {
  if (code === 'quota_exceeded' && `${method} ${path}` !== 'POST /v1/emails') return 422
  return catalogueEntry(code).status
}

const descriptions: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The API key is missing or not valid.',
  402: 'The quota of the plan is used up.',
  403: 'The API key may not do this.',
  404: 'The organization has no such resource.',
  409: 'The request conflicts with the current state.',
  413: 'The request is too large.',
  415: 'The body is not JSON.',
  422: 'The request is valid but cannot be processed in the current state.',
  429: 'Too many requests, or the same request is in progress; retry later.',
  500: 'An error of the server or of a service it depends on; try again.',
}

const names: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
}

const commonCodes: readonly RefusalCode[] = [
  ...apiRefusals({ method: 'GET' }),
  ...apiRefusals({ method: 'POST' }),
  'not_found',
]

/** The component name of an error response: `Conflict.slug_taken`. */
export function errorResponseName(status: number, codes: readonly RefusalCode[]): string {
  const isWrite = codes.includes('invalid_json') || codes.includes('idempotency_in_progress')
  const special = codes.filter(code => !commonCodes.includes(code))
  return [`${names[status] ?? status}${isWrite ? 'OnWrite' : ''}`, ...special].join('.')
}

/** Who calls an operation: clients with an API key (below /v1), everyone, or everyone and people with a browser. */
export type Audience = 'keys' | 'everyone' | 'browsers'

/** An error response with this status and one of these codes. */
export function errorResponse(status: number, codes: readonly RefusalCode[], audience: Audience): ResponseDescription {
  const list = codes.map(code => `\`${code}\` → \`${catalogueEntry(code).requirement}\``).join(', ')
  return {
    description: `${descriptions[status] ?? 'An error.'} ${list}`,
    headers: { ...headerRefs(commonHeaders), ...(audience === 'keys' && errorHeaders(status)) },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } },
          ],
        },
      },
      ...(audience === 'browsers' && { 'text/html': { schema: { type: 'string' } } }),
    },
  }
}

function errorHeaders(status: number): Readonly<Record<string, object>> {
  switch (status) {
    case 401:
      return headerRefs(['WWW-Authenticate'])
    case 429:
      // Without a valid key the limit is one of the client's address, and there are no rate headers.
      return { ...headerRefs(['Retry-After']), ...optionalHeaders(rateHeaders) }
    case 500:
      // The error may come before the key was looked up.
      return optionalHeaders([...rateHeaders, 'Retry-After'])
    default:
      return headerRefs(rateHeaders)
  }
}

function optionalHeaders(names: readonly HeaderName[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map(name => [name, { ...responseHeaders[name], required: false }]))
}
