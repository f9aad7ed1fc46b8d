import { type AnyElysia, Elysia } from 'elysia'
import { scopes } from '../../src/api/scope.ts'
import { type Session, type SessionMember, setSessionContext } from '../../src/api/session/session.ts'
import type { Instant } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { Refusal } from '../../src/base/refusal.ts'

/** A session that was confirmed just now. */
export function testSession(changes: Partial<Session> = {}): Session {
  return {
    id: newId('ses'),
    userId: newId('usr'),
    email: 'ann@example.com',
    name: 'Ann',
    isOperator: false,
    needsFactor: false,
    confirmedAt: '2026-01-01 00:00:00.000000' as Instant,
    isConfirmed: true,
    ...changes,
  }
}

/** An owner of the organization. */
export function testMember(organizationId: Id<'org'>, changes: Partial<SessionMember> = {}): SessionMember {
  return {
    keyId: null,
    organizationId,
    person: { email: 'ann@example.com', ip: '192.0.2.1' },
    brandId: null,
    scopes: new Set(scopes),
    memberId: newId('mem'),
    role: 'owner',
    denial: null,
    brandIds: null,
    hasApiAccess: true,
    ...changes,
  }
}

/** Calls a route below /app/api as a member; gives the response, or the code of the refusal. */
export async function callAsMember(
  app: AnyElysia,
  path: string,
  member: SessionMember,
  { session = testSession(), ...init }: RequestInit & { readonly session?: Session | null } = {},
): Promise<Response | string> {
  const request = new Request(`http://localhost${path}`, init)
  setSessionContext(request, {
    requestId: newId('req'),
    session,
    ip: '192.0.2.1',
    userAgent: null,
    isSecure: true,
    origin: 'https://mail.example.com',
    isLocalhost: false,
    namedOrganization: null,
    cookie: () => undefined,
    setCookie: () => undefined,
    reserveMemory: () => undefined,
    member: async () => member,
  })
  try {
    return await new Elysia()
      .onError(({ error }) => {
        throw error
      })
      .use(app)
      .fetch(request)
  } catch (error) {
    // Elysia wraps what is thrown while a body is parsed.
    const { cause = error } = error as Error
    if (cause instanceof Refusal) return cause.code
    throw error
  }
}
