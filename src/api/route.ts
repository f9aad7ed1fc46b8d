import { Elysia, t } from 'elysia'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'
import { readBody, readJson, requireJson, requireSimpleJson } from './request-body.ts'
import { type Answer, admissionOf } from './request-context.ts'
import type { Scope } from './scope.ts'
import { bodyReader, emptyBody, type Schema } from './validation.ts'

/** What a key needs for an operation: one scope, several (all of them), or with more said about it. */
export type Need =
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
export interface NeedInFull {
  /** All of them. */
  readonly scopes: readonly Scope[]
  readonly organizationOnly: boolean
  readonly idempotencyRefused: boolean
  readonly bodyIsBytes: boolean
}

interface Route {
  body?: Schema
  query?: unknown
  /** For whoever describes the operations. */
  need?: NeedInFull
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
  return new Elysia({ name, normalize: false }).macro({ scope: guarded })
}

function guarded(need: Need) {
  const inFull = needed(need)
  const { scopes, organizationOnly, idempotencyRefused, bodyIsBytes } = inFull
  let check = bodyReader(emptyBody as Schema)
  const bodies = new WeakMap<Request, Uint8Array>()
  const answers = new WeakMap<Request, Answer>()
  return {
    introspect(route: object) {
      const { body } = route as Route
      if (body) {
        check = bodyReader(body)
        // It is checked here, in full; Elysia keeps it for the types and the API's description.
        ;(route as Route).body = { ...body, noValidate: true }
      }
      ;(route as Route).query ??= t.Object({}, { additionalProperties: false })
      ;(route as Route).need = inFull
    },
    async parse({ request }: InRequest) {
      const admission = admissionOf(request)
      requireScopes(admission.caller, scopes, organizationOnly)
      const bytes = await readBody(request, admission.takeRoom)
      bodies.set(request, bytes)
      if (bytes.length > 0) requireJson(request.headers)
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
    transform({ request }: InRequest) {
      // Elysia parses nothing on GET.
      if (request.method === 'GET') requireScopes(admissionOf(request).caller, scopes, organizationOnly)
    },
    // Elysia runs `resolve` before `beforeHandle`: the key is taken there, so that the handler gets its reservation.
    async resolve({ request }: InRequest): Promise<{ caller: Caller; reservation: Reservation | undefined }> {
      const admission = admissionOf(request)
      const key = request.method === 'GET' ? null : request.headers.get('idempotency-key')
      if (key !== null && idempotencyRefused)
        throw refuse('idempotency_not_supported', { message: 'This operation does not take an Idempotency-Key.' })
      const answer = key === null ? undefined : await admission.reserve(key, bodies.get(request) ?? new Uint8Array(0))
      if (answer) answers.set(request, answer)
      return { caller: admission.caller, reservation: admission.reservation }
    },
    beforeHandle({ request }: InRequest) {
      const answer = answers.get(request)
      if (answer?.status === accepted) noteEmail(request, JSON.parse(answer.body))
      return answer && replay(answer)
    },
    afterHandle({ request, response, set }: Answered) {
      if (set.status === accepted) noteEmail(request, response)
    },
  }
}

/** What is answered where an email was accepted for delivery, and nowhere else. */
const accepted = 202

interface Answered extends InRequest {
  readonly response: unknown
  readonly set: { readonly status?: number | string | undefined }
}

function noteEmail(request: Request, answer: unknown): void {
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  if (typeof id === 'string' && isId('eml', id)) admissionOf(request).noteEmail(id)
}

interface InRequest {
  readonly request: Request
}

function replay(answer: Answer): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: { 'content-type': 'application/json;charset=utf-8', 'idempotent-replay': 'true' },
  })
}

function needed(need: Need): NeedInFull {
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

function requireScopes(caller: Caller, scopes: readonly Scope[], organizationOnly: boolean): void {
  if (caller.barred) throw refuse(caller.barred.code, { message: caller.barred.message })
  // First, because a scope would not help such a key.
  if (organizationOnly && caller.brandId !== null)
    throw refuse('brand_restricted', {
      message: `This API key is restricted to the brand ${caller.brandId}; the operation needs a key of the organization.`,
    })
  const missing = scopes.find(each => !caller.scopes.has(each))
  if (missing)
    throw refuse('insufficient_scope', { message: `This API key lacks the scope ${missing}.`, reason: missing })
}
