import { type AnyElysia, Elysia } from 'elysia'
import { errorBody } from '../../src/api/error-body.ts'
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

/** Who makes a request of the dashboard, as its pipeline would have found out. */
export interface SessionSender {
  readonly session: Session | null
  readonly ip?: string
  /** By default the person is a member of no organization. */
  readonly member?: () => Promise<SessionMember>
}

/** Calls a route of the dashboard without the server in front of it. @throws Refusal */
async function dispatchInSession(
  apps: readonly AnyElysia[],
  request: Request,
  { session, ip = '192.0.2.1', member = () => Promise.reject(new Error('nobody is a member here')) }: SessionSender,
): Promise<Response> {
  setSessionContext(request, {
    requestId: newId('req'),
    session,
    ip,
    userAgent: null,
    isSecure: true,
    origin: 'https://mail.example.com',
    isLocalhost: false,
    namedOrganization: null,
    cookie: () => undefined,
    setCookie: () => undefined,
    reserveMemory: () => undefined,
    member,
  })
  const server = new Elysia({ normalize: false }).onError(({ error }) => {
    throw error
  })
  for (const app of apps) server.use(app)
  try {
    return await server.fetch(request)
  } catch (error) {
    // Elysia wraps what is thrown while a body is parsed.
    const { cause = error } = error as Error
    throw cause instanceof Refusal ? cause : error
  }
}

/** What a route of the dashboard answered. */
export interface SessionAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
}

/** The answer to a request with a JSON body; a refusal is an error body. */
export async function answerInSession(
  apps: readonly AnyElysia[],
  { method, path, body = {} }: { readonly method: string; readonly path: string; readonly body?: object | undefined },
  sender: SessionSender,
): Promise<SessionAnswer> {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
  const request = new Request(`http://localhost${path}`, { method, ...(method !== 'GET' && { body: text, headers }) })
  try {
    return await readAnswer(await dispatchInSession(apps, request, sender))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { status: error.status, headers: new Headers(), text: error.message, json: errorBody(error) }
  }
}

async function readAnswer(response: Response): Promise<SessionAnswer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
}

/** Calls a route of the dashboard as a member; gives the response, or the code of the refusal. */
export async function callAsMember(
  app: AnyElysia,
  path: string,
  member: SessionMember,
  { session = testSession(), ...init }: RequestInit & { readonly session?: Session | null } = {},
): Promise<Response | string> {
  try {
    const request = new Request(`http://localhost${path}`, init)
    return await dispatchInSession([app], request, { session, member: async () => member })
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}
