import type { Instant } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { Caller, CallerPerson } from '../caller.ts'

/** A person who is signed in to the dashboard, as the database has it at the moment of the request. */
export interface Session {
  readonly id: Id<'ses'>
  readonly userId: Id<'usr'>
  readonly email: string
  readonly name: string
  /** Named by the operator's command: may use the instance's screens. */
  readonly isOperator: boolean
  /** Must add a passkey or an authenticator before anything but their own account is shown to them. */
  readonly needsFactor: boolean
  /** When a factor was last presented in this session. */
  readonly confirmedAt: Instant
  /** Was that within the last ten minutes? Some operations want it (step-up). */
  readonly isConfirmed: boolean
}

/** A signed-in person as a member of the organization that the request names, in the brand that it names. */
export interface SessionMember extends Caller {
  readonly keyId: null
  /** For the audit log of what they change, also through the routes of /v1. */
  readonly person: CallerPerson
  readonly memberId: Id<'mem'>
  /** The brands of a `member`; null: an owner or admin, who has all. */
  readonly brandIds: readonly Id<'brd'>[] | null
  /** May create API keys: an owner, an admin, or a `member` with API access. */
  readonly hasApiAccess: boolean
}

/** A request of the dashboard under way: what its route needs of the server. */
export interface SessionContext {
  /** Shown in X-Request-Id. */
  readonly requestId: Id<'req'>
  /** null: nobody is signed in. */
  readonly session: Session | null
  /** The client's address. */
  readonly ip: string
  readonly userAgent: string | null
  /** Was the request sent to https? Cookies are `Secure` and `__Host-` then. */
  readonly isSecure: boolean
  /** The origin that the browser shows, without a final slash: `https://mail.example.com`. WebAuthn signs it. */
  readonly origin: string
  /** Made on the machine itself, on an instance without a public URL: a trial, where a password alone will do. */
  readonly isLocalhost: boolean
  /** The organization that the request names; null: it names none. */
  readonly namedOrganization: string | null
  /** The value of a cookie of the request. */
  cookie(name: string): string | undefined
  /** Sets a cookie in the response: HttpOnly, SameSite=Strict, Path=/. A `maxAgeSeconds` of 0 deletes it. */
  setCookie(name: string, value: string, maxAgeSeconds: number): void
  /** Reserves memory for more bytes of the body. @throws Refusal `unavailable` when too many bytes are in flight */
  reserveMemory(bytes: number): void
  /**
   * The member that the person is in the organization that the request names: in the header Mailroom-Organization, or,
   * for a link, in the query parameter `organization`; the only one they have, when it names none.
   * @throws Refusal `organization_required`, `not_found` (also for an organization that is not theirs), `brand_restricted`
   */
  member(): Promise<SessionMember>
}

const sessionContexts = new WeakMap<Request, SessionContext>()

/** Makes `context` the one that the request's route finds with {@link sessionContextOf}. */
export function setSessionContext(request: Request, context: SessionContext): void {
  sessionContexts.set(request, context)
}

/** @throws when the request did not come through `/app/api` */
export function sessionContextOf(request: Request): SessionContext {
  const context = sessionContexts.get(request)
  if (!context) throw new Error('a route of the dashboard was reached outside /app/api')
  return context
}
