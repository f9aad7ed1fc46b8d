import { type AnyElysia, Elysia } from 'elysia'
import { type Session, type SessionContext, setSessionContext } from '../../src/api/session/session.ts'
import type { Instant } from '../../src/base/clock.ts'
import { Refusal } from '../../src/base/refusal.ts'

/** Who asks: `operator` has confirmed who they are, `unconfirmed` not within the last ten minutes. */
export type TestPerson = 'operator' | 'unconfirmed' | 'person' | 'nobody'

export interface SessionAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
  readonly text: string
}

/** Calls routes of the dashboard as a person, without the server in front of them. */
export interface SessionClient {
  get(path: string, as?: TestPerson): Promise<SessionAnswer>
  post(path: string, body?: object, as?: TestPerson): Promise<SessionAnswer>
  call(method: string, path: string, body?: object, as?: TestPerson): Promise<SessionAnswer>
}

export const operatorEmail = 'olga@example.com'
export const operatorIp = '192.0.2.77'

const session: Session = {
  id: 'ses_00000000000000000000000001',
  userId: 'usr_00000000000000000000000001',
  email: operatorEmail,
  name: 'Olga',
  isOperator: true,
  needsFactor: false,
  confirmedAt: '2026-01-01 00:00:00.000000' as Instant,
  isConfirmed: true,
}

function sessionOf(as: TestPerson): Session | null {
  if (as === 'nobody') return null
  return { ...session, isOperator: as !== 'person', isConfirmed: as !== 'unconfirmed' }
}

export function sessionClient(apps: readonly AnyElysia[]): SessionClient {
  const root = new Elysia({ normalize: false }).onError(({ error }) => {
    throw error
  })
  for (const app of apps) root.use(app)
  const call = async (method: string, path: string, body?: object, as: TestPerson = 'operator') => {
    const text = JSON.stringify(body ?? {})
    const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
    const request = new Request(`http://localhost${path}`, { method, ...(method !== 'GET' && { body: text, headers }) })
    const context: SessionContext = {
      requestId: 'req_00000000000000000000000001',
      session: sessionOf(as),
      ip: operatorIp,
      userAgent: null,
      isSecure: true,
      origin: 'https://mail.example.com',
      isLocalhost: false,
      namedOrganization: null,
      cookie: () => undefined,
      setCookie: () => undefined,
      reserveMemory: () => undefined,
      member: async () => Promise.reject(new Error('the instance has no members')),
    }
    setSessionContext(request, context)
    try {
      const response = await root.fetch(request)
      const answer = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') === true
      return {
        status: response.status,
        headers: response.headers,
        text: answer,
        json: isJson ? JSON.parse(answer) : null,
      }
    } catch (error) {
      const { cause = error } = error as Error
      if (!(cause instanceof Refusal)) throw error
      const json = { error: { code: cause.code, message: cause.message } }
      return { status: cause.status, headers: new Headers(), json, text: cause.message }
    }
  }
  return {
    call,
    get: (path, as) => call('GET', path, undefined, as),
    post: (path, body, as) => call('POST', path, body, as),
  }
}
