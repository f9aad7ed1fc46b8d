import { authenticationRefusals } from '../../../accounts/keys/keys.ts'
import type { ResponseDescription } from '../../../api/describe.ts'
import { idempotencyRefusals } from '../../../api/idempotency/idempotency-keys.ts'
import type { JsonSchema } from '../../../api/json-schema.ts'
import type { OperationSpec } from '../../../api/operations.ts'
import { cursorRefusals } from '../../../api/page.ts'
import { publicBodyRefusals } from '../../../api/public-body.ts'
import { bodyRefusals } from '../../../api/request-body.ts'
import { keyNotSupportedRefusals, scopeRefusals } from '../../../api/route.ts'
import { validationRefusals } from '../../../api/validation.ts'
import { catalogueEntry, type RefusalCode, refusalCodes } from '../../../base/refusal.ts'
import { serverFaultRefusals } from '../error-classification.ts'
import { largeBodyRefusals, rateRefusals } from '../request-pipeline.ts'

const header = (description: string, schema: JsonSchema, required = true) => ({ description, required, schema })

/** The headers of answers, as components. */
export const responseHeaders = {
  'X-Request-Id': header('Identifies the request, also in the request log.', { type: 'string', pattern: '^req_' }),
  'Cache-Control': header('No answer may be kept by a cache.', { type: 'string', const: 'no-store' }),
  'X-RateLimit-Limit': header('Requests a minute that the organization may make to the process that answers.', {
    type: 'integer',
  }),
  'X-RateLimit-Remaining': header('How many of them are left.', { type: 'integer' }),
  'X-RateLimit-Reset': header('When the window ends, in Unix time (seconds).', { type: 'integer' }),
  'Retry-After': header('When to come back, in seconds.', { type: 'integer', minimum: 1 }),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', { type: 'string', const: 'Bearer' }),
  'Idempotent-Replay': header(
    'The request was answered before, and this is that answer.',
    { type: 'string', const: 'true' },
    false,
  ),
} as const

export type HeaderName = keyof typeof responseHeaders

const everywhere: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control']
const rates: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** An OpenAPI map of headers, by reference. */
export function headerRefs(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The headers of an answer that is no error. */
export function successHeaders(isApi: boolean, mayBeReplayed: boolean): readonly HeaderName[] {
  const replay: readonly HeaderName[] = mayBeReplayed ? ['Idempotent-Replay'] : []
  return [...everywhere, ...(isApi ? rates : []), ...replay]
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
        message: { type: 'string', description: 'For people; names the value at fault.' },
        requirement: {
          type: 'string',
          enum: [...new Set(refusalCodes.map(code => catalogueEntry(code).requirement))],
          description: 'What must change before the request can succeed.',
        },
        reason: { type: 'string', description: 'More about why.' },
        resolution: { type: 'string', description: 'What to do.' },
        retryable: { type: 'boolean', description: 'The same request may succeed later.' },
        param: { type: 'string', description: 'The parameter at fault, such as `to[3]`.' },
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

/** The refusals of the request pipeline and of route.ts, in the order of their checks. */
function apiRefusals(
  { method, query }: Pick<OperationSpec, 'method'> & Partial<Pick<OperationSpec, 'query'>>,
  isKeyRefused = false,
): readonly RefusalCode[] {
  const hasCursor = Object.keys(query?.properties ?? {}).some(name => name === 'cursor' || name === 'cursor_at')
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
function publicRefusals({ body, params, query }: OperationSpec): readonly RefusalCode[] {
  const isValidated = body || params || query
  return [
    ...(isValidated ? validationRefusals : []),
    ...(body ? publicBodyRefusals : largeBodyRefusals),
    ...serverFaultRefusals,
  ]
}

/** SPEC section 4: 402 is the answer of POST /v1/emails alone. */
function statusIn({ method, path }: OperationSpec, code: RefusalCode): number {
  if (code === 'quota_exceeded' && `${method} ${path}` !== 'POST /v1/emails') return 422
  return catalogueEntry(code).status
}

const phrases: Readonly<Record<number, string>> = {
  400: 'The request is not as it should be.',
  401: 'There is no API key, or not a valid one.',
  402: 'The plan allows no more.',
  403: 'The API key may not do this.',
  404: 'There is no such thing in the organization.',
  409: 'It does not go with what is there.',
  413: 'It is too large.',
  415: 'The body is not JSON.',
  422: 'It cannot be done as things are.',
  429: 'Not now; come back later.',
  500: 'Something is wrong on our side; try again.',
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

const ordinary: readonly RefusalCode[] = [
  ...apiRefusals({ method: 'GET' }),
  ...apiRefusals({ method: 'POST' }),
  'not_found',
]

/** The name of that answer among the components: `Conflict.slug_taken`. */
export function errorResponseName(status: number, codes: readonly RefusalCode[]): string {
  const isWrite = codes.includes('invalid_json') || codes.includes('idempotency_in_progress')
  const special = codes.filter(code => !ordinary.includes(code))
  return [`${names[status] ?? status}${isWrite ? 'OnWrite' : ''}`, ...special].join('.')
}

/** The answer with this status and one of these codes; `isApi`: below /v1. */
export function errorResponse(status: number, codes: readonly RefusalCode[], isApi: boolean): ResponseDescription {
  const list = codes.map(code => `\`${code}\` → \`${catalogueEntry(code).requirement}\``).join(', ')
  return {
    description: `${phrases[status] ?? 'An error.'} ${list}`,
    headers: { ...headerRefs(everywhere), ...(isApi && errorHeaders(status)) },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } },
          ],
        },
      },
    },
  }
}

function errorHeaders(status: number): Readonly<Record<string, object>> {
  switch (status) {
    case 401:
      return headerRefs(['WWW-Authenticate'])
    case 429:
      // Whoever has no valid key is limited by address, and has no rate of an organization.
      return { ...headerRefs(['Retry-After']), ...optional(rates) }
    case 500:
      // The key may not have been looked up yet.
      return optional([...rates, 'Retry-After'])
    default:
      return headerRefs(rates)
  }
}

function optional(names: readonly HeaderName[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map(name => [name, { ...responseHeaders[name], required: false }]))
}
