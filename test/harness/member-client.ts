import { type AnyElysia, Elysia } from 'elysia'
import { addMember, type MemberAccess } from '../../src/accounts/members/members.ts'
import { findMembership } from '../../src/accounts/sessions/member.ts'
import { startSession } from '../../src/accounts/sessions/sessions.ts'
import { addUser } from '../../src/accounts/users/users.ts'
import { type Session, type SessionContext, setSessionContext } from '../../src/api/session/session.ts'
import type { Clock } from '../../src/base/clock.ts'
import { type Db, inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { Refusal } from '../../src/base/refusal.ts'

/** A person who is signed in, as tests of the dashboard's routes need them. */
export interface TestMember {
  readonly memberId: Id<'mem'>
  readonly organizationId: Id<'org'>
  readonly session: Session
}

export interface MemberCall {
  readonly body?: object
  /** The brand that the request names. */
  readonly brand?: string
  /** Have they presented a factor within the last ten minutes? By default they have. */
  readonly isConfirmed?: boolean
}

export interface MemberResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
}

export const memberIp = '192.0.2.44'

let count = 0

/** Adds a person with a session to an organization. */
export function newSessionMember(
  db: Db,
  clock: Clock,
  organizationId: Id<'org'>,
  access: MemberAccess,
): Promise<TestMember> {
  const email = `${access.role}-${++count}@people.test`
  return inTransaction(db, async tx => {
    const user = await addUser(tx, { email, name: `Person ${count}` }, clock)
    const member = await addMember(tx, { organizationId, email, name: user.name, access }, clock)
    await tx.updateTable('members').set({ user_id: user.id }).where('id', '=', member.id).execute()
    const { id } = await startSession(tx, user.id, { ip: memberIp, userAgent: null }, clock)
    const session: Session = {
      id,
      userId: user.id,
      email,
      name: user.name,
      isOperator: false,
      needsFactor: false,
      confirmedAt: clock.now(),
      isConfirmed: true,
    }
    return { memberId: member.id, organizationId, session }
  })
}

/** Calls routes of the dashboard as members, without the server in front of them. */
export function openMemberClient(db: Db, apps: readonly AnyElysia[]) {
  const server = new Elysia().onError(({ error }) => {
    throw error
  })
  for (const app of apps) server.use(app)
  return async (
    method: string,
    path: string,
    { session, organizationId }: TestMember,
    { body, brand, isConfirmed = true }: MemberCall = {},
  ): Promise<MemberResponse> => {
    const text = JSON.stringify(body ?? {})
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    const request = new Request(`http://localhost${path}`, { method, ...(method !== 'GET' && { body: text, headers }) })
    const now = { ...session, isConfirmed }
    const context: SessionContext = {
      requestId: 'req_00000000000000000000000001',
      session: now,
      ip: memberIp,
      userAgent: null,
      isSecure: true,
      isLocalhost: false,
      namedOrganization: null,
      origin: 'https://mail.example.com',
      cookie: () => undefined,
      setCookie: () => undefined,
      reserveMemory: () => undefined,
      member: async () => (await findMembership(db, now, { organization: organizationId, brand, ip: memberIp })).member,
    }
    setSessionContext(request, context)
    try {
      return await readResponse(await server.fetch(request))
    } catch (error) {
      const { cause = error } = error as Error
      if (!(cause instanceof Refusal)) throw error
      const { code, status, message, detail } = cause
      const json = { error: { code, message, param: detail.param } }
      return { status, headers: new Headers(), json, text: message }
    }
  }
}

async function readResponse(response: Response): Promise<MemberResponse> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
}
