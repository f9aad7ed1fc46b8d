import { Elysia, t } from 'elysia'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'
import { readBody, readJson, requireJsonContentType, requireSimpleJson } from './request-body.ts'
import { type JsonResponse, requestContextOf } from './request-context.ts'
import type { Scope } from './scope.ts'
import { bodyValidator, emptyBodySchema, requireDistinctParameters, type TypeBoxSchema } from './validation.ts'

/** What an API key needs to call a route: a scope, several scopes (all of them), or more. */
export type RouteRequirements =
  | Scope
  | readonly Scope[]
  | {
      readonly scope: Scope | readonly Scope[]
      /** Refused to keys that are restricted to a brand. */
      readonly organizationOnly?: boolean
      /** `refused`: a request with an Idempotency-Key is refused. Otherwise every method but GET supports it. */
      readonly idempotency?: 'refused'
      /** `bytes`: the handler gets the body as a Uint8Array of JSON, and parses it itself. */
      readonly body?: 'bytes'
    }

/** {@link RouteRequirements} with the defaults filled in. */
export interface OperationRequirements {
  /** The key needs all of them. */
  readonly scopes: readonly Scope[]
  readonly organizationOnly: boolean
  readonly idempotencyRefused: boolean
  readonly bodyIsBytes: boolean
}

interface RouteHooks {
  body?: TypeBoxSchema
  query?: unknown
  /** Read by operations.ts. */
  requirements?: OperationRequirements
}

/**
 * An Elysia instance for the routes of a feature, each with a `scope`. A handler gets `caller`, `params`, `query`, `body`,
 * and `reservation` where the client sent an Idempotency-Key. Checked before, in this order: scope (403), size (413), media
 * type (415), JSON (400), schema (400; unknown properties are refused, also in nested objects and the query), idempotency.
 *
 * ```ts
 * api('domains').get('/v1/domains/:id', ({ caller, params }) => readDomain(deps.db, caller, params.id), {
 *   scope: 'domains:read',
 *   params: t.Object({ id: t.String() }),
 *   response: domainSchema,
 * })
 * ```
 * A property that is null counts as absent, except on PATCH, where an empty body is refused.
 */
export function api(name: string) {
  return new Elysia({ name, normalize: false }).macro({ scope: scopeMacro })
}

function scopeMacro(route: RouteRequirements) {
  const requirements = operationRequirements(route)
  const { scopes, organizationOnly, idempotencyRefused, bodyIsBytes } = requirements
  let validate = bodyValidator(emptyBodySchema as TypeBoxSchema)
  const bodies = new WeakMap<Request, Uint8Array>()
  const storedResponses = new WeakMap<Request, JsonResponse>()
  return {
    introspect(route: object) {
      const { body } = route as RouteHooks
      if (body) {
        validate = bodyValidator(body)
        // Validated in `parse`; Elysia keeps the schema for the types and the OpenAPI document.
        ;(route as RouteHooks).body = { ...body, noValidate: true }
      }
      ;(route as RouteHooks).query ??= t.Object({}, { additionalProperties: false })
      ;(route as RouteHooks).requirements = requirements
    },
    async parse({ request }: HookContext) {
      const context = requestContextOf(request)
      requireScopes(context.caller, scopes, organizationOnly)
      const bytes = await readBody(request, context.reserveMemory)
      bodies.set(request, bytes)
      if (bytes.length > 0) requireJsonContentType(request.headers)
      if (bodyIsBytes) {
        requireSimpleJson(bytes)
        return bytes
      }
      const isPatch = request.method === 'PATCH'
      const body = validate(bytes.length > 0 ? readJson(bytes, !isPatch) : {})
      if (isPatch && Object.keys(body as object).length === 0)
        throw refuse('invalid_request', { message: 'The request changes nothing; give at least one property.' })
      return body
    },
    transform({ request }: HookContext) {
      // Elysia parses nothing on GET.
      if (request.method === 'GET') requireScopes(requestContextOf(request).caller, scopes, organizationOnly)
      requireDistinctParameters(queryOf(request))
    },
    // Elysia runs `resolve` before `beforeHandle`: the key is reserved here, so that the handler gets its reservation.
    async resolve({ request }: HookContext): Promise<{ caller: Caller; reservation: Reservation | undefined }> {
      const context = requestContextOf(request)
      const key = request.method === 'GET' ? null : request.headers.get('idempotency-key')
      if (key !== null && idempotencyRefused)
        throw refuse('idempotency_not_supported', { message: 'This operation does not support an Idempotency-Key.' })
      const stored =
        key === null ? undefined : await context.reserveIdempotencyKey(key, bodies.get(request) ?? new Uint8Array(0))
      if (stored) storedResponses.set(request, stored)
      return { caller: context.caller, reservation: context.reservation }
    },
    beforeHandle({ request }: HookContext) {
      const stored = storedResponses.get(request)
      if (stored?.status === accepted) recordEmail(request, JSON.parse(stored.body))
      return stored && replay(stored)
    },
    afterHandle({ request, response, set }: AfterHandleContext) {
      if (set.status === accepted) recordEmail(request, response)
    },
  }
}

/** The status of responses that accepted an email, and of no others. */
const accepted = 202

interface AfterHandleContext extends HookContext {
  readonly response: unknown
  readonly set: { readonly status?: number | string | undefined }
}

function recordEmail(request: Request, body: unknown): void {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined
  if (typeof id === 'string' && isId('eml', id)) requestContextOf(request).setEmailId(id)
}

interface HookContext {
  readonly request: Request
}

/** From `?` on; may be empty. */
function queryOf({ url }: Request): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}

function replay({ status, body }: JsonResponse): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json;charset=utf-8', 'idempotent-replay': 'true' },
  })
}

function operationRequirements(route: RouteRequirements): OperationRequirements {
  const {
    scope,
    organizationOnly = false,
    idempotency = undefined,
    body = undefined,
  } = typeof route === 'object' && 'scope' in route ? route : { scope: route as Scope | readonly Scope[] }
  return {
    scopes: typeof scope === 'string' ? [scope] : scope,
    organizationOnly,
    idempotencyRefused: idempotency === 'refused',
    bodyIsBytes: body === 'bytes',
  }
}

/** The refusals of a caller that may not call the route. */
export const scopeRefusals = ['insufficient_scope', 'brand_restricted'] as const

/** The refusals of an Idempotency-Key where a route does not support one. */
export const keyNotSupportedRefusals = ['idempotency_not_supported'] as const

/** @throws Refusal `insufficient_scope`, `brand_restricted` */
export function requireScopes(caller: Caller, scopes: readonly Scope[], organizationOnly = false): void {
  if (caller.denial) throw refuse(caller.denial.code, { message: caller.denial.message })
  // Checked first: another scope would not help such a key.
  if (organizationOnly && caller.brandId !== null)
    throw refuse('brand_restricted', {
      message:
        caller.keyId === null
          ? `This is for the whole organization, and not for the brand ${caller.brandId} alone.`
          : `This API key is restricted to the brand ${caller.brandId}; the operation needs a key of the organization.`,
    })
  const missing = scopes.find(scope => !caller.scopes.has(scope))
  if (missing)
    throw refuse('insufficient_scope', {
      message:
        caller.keyId === null
          ? `Your access lacks the permission ${missing}; ask an owner of the organization.`
          : `This API key lacks the scope ${missing}.`,
      reason: missing,
    })
}
