import { Elysia, t } from 'elysia'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'
import { readBody, readJson, requireJsonContentType, requireSimpleJson } from './request-body.ts'
import { type JsonResponse, requestContextOf } from './request-context.ts'
import type { Scope } from './scope.ts'
import { bodyValidator, emptyBodySchema, type TypeBoxSchema } from './validation.ts'

/** What a key needs for an operation: one scope, several (all of them), or with more said about it. */
export type RouteRequirements =
  | Scope
  | readonly Scope[]
  | {
      readonly scope: Scope | readonly Scope[]
      /** Closed to keys that are restricted to a brand. */
      readonly organizationOnly?: boolean
      /** `refused`: the header Idempotency-Key is refused here. Otherwise every operation but GET honours it. */
      readonly idempotency?: 'refused'
      /** `bytes`: the handler's body is a Uint8Array of JSON that it reads itself. */
      readonly body?: 'bytes'
    }

/** What a key needs for an operation, said in full. */
export interface OperationRequirements {
  /** All of them. */
  readonly scopes: readonly Scope[]
  readonly organizationOnly: boolean
  readonly idempotencyRefused: boolean
  readonly bodyIsBytes: boolean
}

interface RouteHooks {
  body?: TypeBoxSchema
  query?: unknown
  /** For whoever describes the operations. */
  requirements?: OperationRequirements
}

/**
 * A feature's routes: a named Elysia in which each route says its `scope`. Its handler gets `caller`, `params`, `query`,
 * `body`, and `reservation` where the client sent an Idempotency-Key. Before that, in this order: scope (403), size
 * (413), media type (415), JSON (400), schema (400; strict, also in nested objects and the query), idempotency.
 *
 * ```ts
 * api('domains').get('/v1/domains/:id', ({ caller, params }) => readDomain(use.db, caller, params.id), {
 *   scope: 'domains:read',
 *   params: t.Object({ id: t.String() }),
 *   response: domainShape,
 * })
 * ```
 * In a body null is as if the property were absent, except on PATCH, where an empty body is refused.
 */
export function api(name: string) {
  return new Elysia({ name, normalize: false }).macro({ scope: scopeMacro })
}

function scopeMacro(need: RouteRequirements) {
  const inFull = operationRequirements(need)
  const { scopes, organizationOnly, idempotencyRefused, bodyIsBytes } = inFull
  let check = bodyValidator(emptyBodySchema as TypeBoxSchema)
  const bodies = new WeakMap<Request, Uint8Array>()
  const answers = new WeakMap<Request, JsonResponse>()
  return {
    introspect(route: object) {
      const { body } = route as RouteHooks
      if (body) {
        check = bodyValidator(body)
        // It is checked here, in full; Elysia keeps it for the types and the API's description.
        ;(route as RouteHooks).body = { ...body, noValidate: true }
      }
      ;(route as RouteHooks).query ??= t.Object({}, { additionalProperties: false })
      ;(route as RouteHooks).requirements = inFull
    },
    async parse({ request }: HookContext) {
      const admission = requestContextOf(request)
      requireScopes(admission.caller, scopes, organizationOnly)
      const bytes = await readBody(request, admission.reserveMemory)
      bodies.set(request, bytes)
      if (bytes.length > 0) requireJsonContentType(request.headers)
      if (bodyIsBytes) {
        requireSimpleJson(bytes)
        return bytes
      }
      const isPatch = request.method === 'PATCH'
      const body = check(bytes.length > 0 ? readJson(bytes, !isPatch) : {})
      if (isPatch && Object.keys(body as object).length === 0)
        throw refuse('invalid_request', { message: 'The request changes nothing; give at least one property.' })
      return body
    },
    transform({ request }: HookContext) {
      // Elysia parses nothing on GET.
      if (request.method === 'GET') requireScopes(requestContextOf(request).caller, scopes, organizationOnly)
    },
    // Elysia runs `resolve` before `beforeHandle`: the key is taken there, so that the handler gets its reservation.
    async resolve({ request }: HookContext): Promise<{ caller: Caller; reservation: Reservation | undefined }> {
      const admission = requestContextOf(request)
      const key = request.method === 'GET' ? null : request.headers.get('idempotency-key')
      if (key !== null && idempotencyRefused)
        throw refuse('idempotency_not_supported', { message: 'This operation does not take an Idempotency-Key.' })
      const answer =
        key === null ? undefined : await admission.reserveIdempotencyKey(key, bodies.get(request) ?? new Uint8Array(0))
      if (answer) answers.set(request, answer)
      return { caller: admission.caller, reservation: admission.reservation }
    },
    beforeHandle({ request }: HookContext) {
      const answer = answers.get(request)
      if (answer?.status === accepted) noteEmail(request, JSON.parse(answer.body))
      return answer && replay(answer)
    },
    afterHandle({ request, response, set }: AfterHandleContext) {
      if (set.status === accepted) noteEmail(request, response)
    },
  }
}

/** What is answered where an email was accepted for delivery, and nowhere else. */
const accepted = 202

interface AfterHandleContext extends HookContext {
  readonly response: unknown
  readonly set: { readonly status?: number | string | undefined }
}

function noteEmail(request: Request, answer: unknown): void {
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  if (typeof id === 'string' && isId('eml', id)) requestContextOf(request).setEmailId(id)
}

interface HookContext {
  readonly request: Request
}

function replay(answer: JsonResponse): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: { 'content-type': 'application/json;charset=utf-8', 'idempotent-replay': 'true' },
  })
}

function operationRequirements(need: RouteRequirements): OperationRequirements {
  const {
    scope,
    organizationOnly = false,
    idempotency = undefined,
    body = undefined,
  } = typeof need === 'object' && 'scope' in need ? need : { scope: need as Scope | readonly Scope[] }
  return {
    scopes: typeof scope === 'string' ? [scope] : scope,
    organizationOnly,
    idempotencyRefused: idempotency === 'refused',
    bodyIsBytes: body === 'bytes',
  }
}

/** The refusals of a caller that may not use the route. */
export const scopeRefusals = ['insufficient_scope', 'brand_restricted'] as const

/** The refusals of an Idempotency-Key where a route takes none. */
export const keyNotSupportedRefusals = ['idempotency_not_supported'] as const

function requireScopes(caller: Caller, scopes: readonly Scope[], organizationOnly: boolean): void {
  if (caller.denial) throw refuse(caller.denial.code, { message: caller.denial.message })
  // First, because a scope would not help such a key.
  if (organizationOnly && caller.brandId !== null)
    throw refuse('brand_restricted', {
      message: `This API key is restricted to the brand ${caller.brandId}; the operation needs a key of the organization.`,
    })
  const missing = scopes.find(scope => !caller.scopes.has(scope))
  if (missing)
    throw refuse('insufficient_scope', { message: `This API key lacks the scope ${missing}.`, reason: missing })
}
