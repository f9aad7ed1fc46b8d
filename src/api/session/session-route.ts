import { Elysia, t } from 'elysia'
import { refuse } from '../../base/refusal.ts'
import { readBody, readJson, requireJsonContentType } from '../request-body.ts'
import { bodyValidator, emptyBodySchema, requireDistinctParameters, type TypeBoxSchema } from '../validation.ts'
import { type Session, type SessionContext, type SessionMember, sessionContextOf } from './session.ts'

/** What a route wants of a session: that it lasts, or that a factor was presented within the last ten minutes (step-up). */
type SessionProof = 'session' | 'confirmed'

/**
 * An Elysia instance for the dashboard's own routes, below `/app/api`. Each has one of these:
 *
 * - `visitor: true`: for everyone; the handler gets `context` (and so does that of each other kind);
 * - `account: 'session'`: for whoever is signed in; the handler gets `session`;
 * - `member: 'session'`: for a member of the organization that the request names; the handler gets `session` and `member`;
 * - `operator: 'session'`: for operators; the handler gets `session`.
 *
 * With `'confirmed'` a factor must have been presented within the last ten minutes as well. The body is JSON, validated as
 * strictly as under /v1; a property that is null counts as absent.
 *
 * ```ts
 * sessionApi('keys').post('/app/api/keys', ({ member, body }) => createMemberKey(deps, member, body), {
 *   member: 'confirmed',
 *   body: newKeySchema,
 *   response: { 201: createdKeySchema },
 * })
 * ```
 */
export function sessionApi(name: string) {
  return new Elysia({ name, normalize: false }).macro({
    visitor: (_: true) => sessionMacro(async context => ({ context })),
    account: (proof: SessionProof) =>
      sessionMacro(async context => ({ context, session: requireSession(context, proof) })),
    member: (proof: SessionProof) =>
      sessionMacro(async context => {
        const session = requireFactor(requireSession(context, proof))
        return { context, session, member: await requireUsableMember(context) }
      }),
    operator: (proof: SessionProof) =>
      sessionMacro(async context => {
        const session = requireFactor(requireSession(context, proof))
        if (!session.isOperator)
          throw refuse('operator_required', { message: `${session.email} is not an operator of this instance.` })
        return { context, session }
      }),
  })
}

/** The refusals of a route that needs a session. */
export const sessionRefusals = [
  'session_required',
  'factor_required',
  'confirmation_required',
  'operator_required',
] as const

/** @throws Refusal `session_required`, `confirmation_required` */
export function requireSession({ session }: Pick<SessionContext, 'session'>, proof: SessionProof): Session {
  if (!session) throw refuse('session_required', { message: 'Nobody is signed in, or the session has ended.' })
  if (proof === 'confirmed' && !session.isConfirmed)
    throw refuse('confirmation_required', { message: 'Confirm with your passkey or password that it is you.' })
  return session
}

/** @throws Refusal `factor_required` */
export function requireFactor(session: Session): Session {
  if (session.needsFactor)
    throw refuse('factor_required', {
      message: 'Owners, administrators and operators need a passkey or an authenticator code: add one first.',
    })
  return session
}

/** The member that the person is. @throws Refusal those of {@link SessionContext.member}, and that of a denial */
export async function requireUsableMember(context: Pick<SessionContext, 'member'>): Promise<SessionMember> {
  const member = await context.member()
  if (member.denial) throw refuse(member.denial.code, { message: member.denial.message })
  return member
}

interface HookContext {
  readonly request: Request
}

interface RouteHooks {
  body?: TypeBoxSchema
  query?: unknown
  /** Read by operations.ts. */
  isOfDashboard?: true
}

/** `admit` finds out who asks, or refuses them, before the body is read. */
function sessionMacro<Admitted extends object>(admit: (context: SessionContext) => Promise<Admitted>) {
  let validate = bodyValidator(emptyBodySchema as TypeBoxSchema)
  const admitted = new WeakMap<Request, Admitted>()
  const admitRequest = async (request: Request) => admitted.set(request, await admit(sessionContextOf(request)))
  return {
    introspect(route: object) {
      const hooks = route as RouteHooks
      if (hooks.body) {
        validate = bodyValidator(hooks.body)
        // Validated in `parse`; Elysia keeps the schema for the types and the OpenAPI document.
        hooks.body = { ...hooks.body, noValidate: true }
      }
      hooks.query ??= t.Object({}, { additionalProperties: false })
      hooks.isOfDashboard = true
    },
    async parse({ request }: HookContext) {
      await admitRequest(request)
      const bytes = await readBody(request, sessionContextOf(request).reserveMemory)
      if (bytes.length > 0) requireJsonContentType(request.headers)
      return validate(bytes.length > 0 ? readJson(bytes, true) : {})
    },
    async transform({ request }: HookContext) {
      // Elysia parses nothing on GET.
      if (request.method === 'GET') await admitRequest(request)
      const { url } = request
      requireDistinctParameters(url.includes('?') ? url.slice(url.indexOf('?')) : '')
    },
    resolve({ request }: HookContext): Admitted {
      const found = admitted.get(request)
      if (!found) throw new Error('a route of the dashboard was reached without asking who it is')
      return found
    },
  }
}
