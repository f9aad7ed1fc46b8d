import type { AnyElysia } from 'elysia'
import type { Session } from '../../src/api/session/session.ts'
import { answerInSession, type SessionAnswer, testSession } from './session.ts'

/** Who asks: `operator` has confirmed who they are, `unconfirmed` not within the last ten minutes. */
export type TestPerson = 'operator' | 'unconfirmed' | 'person' | 'nobody'

/** Calls routes of the dashboard as a person, without the server in front of them. */
export interface SessionClient {
  get(path: string, as?: TestPerson): Promise<SessionAnswer>
  post(path: string, body?: object, as?: TestPerson): Promise<SessionAnswer>
  call(method: string, path: string, body?: object, as?: TestPerson): Promise<SessionAnswer>
}

export const operatorEmail = 'olga@example.com'
export const operatorIp = '192.0.2.77'

const session = testSession({ email: operatorEmail, name: 'Olga', isOperator: true })

function sessionOf(as: TestPerson): Session | null {
  if (as === 'nobody') return null
  return { ...session, isOperator: as !== 'person', isConfirmed: as !== 'unconfirmed' }
}

export function sessionClient(apps: readonly AnyElysia[]): SessionClient {
  const call = (method: string, path: string, body?: object, as: TestPerson = 'operator') =>
    answerInSession(apps, { method, path, body }, { session: sessionOf(as), ip: operatorIp })
  return {
    call,
    get: (path, as) => call('GET', path, undefined, as),
    post: (path, body, as) => call('POST', path, body, as),
  }
}
